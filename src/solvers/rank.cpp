#include "tendril/solvers/rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>

#include <Eigen/SparseCholesky>
#include <fmt/format.h>

namespace tendril {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// Columns ascending, one value each.
struct SparseRow {
  std::vector<int> columns;
  std::vector<double> values;

  bool empty() const { return columns.empty(); }
  int lead() const { return columns.front(); }
  void push(int column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void clear() {
    columns.clear();
    values.clear();
  }
  void dropLead() {
    columns.erase(columns.begin());
    values.erase(values.begin());
  }
};

/// R of G^T = Q R for the scaled rows of G, which are the columns here, in order of priority.
class RowFactor {
 public:
  RowFactor(const Sparse& G, double tolerance, std::span<const int> priority);

  RankReport report() const;
  /// Basis Z of null(G^T), one column per dependent row of G; rows as in G.
  Sparse nullSpace() const;

 private:
  void order(const Sparse& G, std::span<const int> priority);
  void scale(const Sparse& G);
  void insert(SparseRow& row);
  void rotate(SparseRow& pivot, SparseRow& row);
  void settle(int k);

  int m_;
  double tolerance_;
  std::vector<int> rowOf_, positionOf_;
  std::vector<double> length_;
  std::vector<SparseRow> R_;
  std::vector<double> distance_;
  SparseRow mergedPivot_, mergedRow_;
};

RowFactor::RowFactor(const Sparse& G, double tolerance, std::span<const int> priority)
    : m_(int(G.rows())), tolerance_(tolerance), R_(G.rows()) {
  order(G, priority);
  scale(G);
  std::vector<SparseRow> rows(G.cols());
  for (int j = 0; j < G.cols(); ++j) {
    std::vector<std::pair<int, double>> entries;
    for (Sparse::InnerIterator it(G, j); it; ++it)
      if (it.value() != 0) entries.emplace_back(positionOf_[it.row()], it.value() / length_[it.row()]);
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, value] : entries) rows[j].push(column, value);
  }
  // Rows that begin late go last: a row then meets few others, which keeps the fill in flight small.
  std::vector<int> sequence(rows.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  const auto lead = [&](int j) { return rows[j].empty() ? m_ : rows[j].lead(); };
  std::stable_sort(sequence.begin(), sequence.end(), [&](int a, int b) { return lead(a) < lead(b); });
  distance_.assign(m_, 0);
  int settled = 0;
  for (int j : sequence) {
    for (; settled < lead(j); ++settled) settle(settled);
    insert(rows[j]);
  }
  for (; settled < m_; ++settled) settle(settled);
}

void RowFactor::order(const Sparse& G, std::span<const int> priority) {
  if (!priority.empty() && priority.size() != std::size_t(G.rows()))
    throw std::invalid_argument(fmt::format("rank analysis: {} priorities for {} rows", priority.size(), G.rows()));
  rowOf_.resize(m_);
  positionOf_.resize(m_);
  std::iota(rowOf_.begin(), rowOf_.end(), 0);
  if (!priority.empty()) std::stable_sort(rowOf_.begin(), rowOf_.end(), [&](int a, int b) { return priority[a] > priority[b]; });
  for (int k = 0; k < m_; ++k) positionOf_[rowOf_[k]] = k;
}

/// Euclidean lengths of the rows, free of overflow.
void RowFactor::scale(const Sparse& G) {
  std::vector<double> largest(m_, 0);
  for (int j = 0; j < G.cols(); ++j)
    for (Sparse::InnerIterator it(G, j); it; ++it) {
      if (!std::isfinite(it.value()))
        throw std::invalid_argument(fmt::format("rank analysis: row {} has an entry that is not finite", it.row()));
      largest[it.row()] = std::max(largest[it.row()], std::abs(it.value()));
    }
  length_.assign(m_, 0);
  for (int j = 0; j < G.cols(); ++j)
    for (Sparse::InnerIterator it(G, j); it; ++it)
      if (it.value() != 0) length_[it.row()] += std::pow(it.value() / largest[it.row()], 2);
  for (int i = 0; i < m_; ++i) length_[i] = std::sqrt(length_[i]) * largest[i];
}

/// Rotates a row into R; it ends as a new row of R or as nothing.
void RowFactor::insert(SparseRow& row) {
  while (!row.empty()) {
    SparseRow& pivot = R_[row.lead()];
    if (pivot.empty()) {
      std::swap(pivot, row);
      return;
    }
    rotate(pivot, row);
  }
}

/// Givens rotation of two rows with the same lead, which vanishes from the second.
void RowFactor::rotate(SparseRow& pivot, SparseRow& row) {
  const double r = std::hypot(pivot.values[0], row.values[0]);
  if (r == 0) return row.dropLead();
  const double c = pivot.values[0] / r, s = row.values[0] / r;
  if (pivot.columns == row.columns) {
    for (std::size_t k = 0; k < row.values.size(); ++k) {
      const double p = pivot.values[k], q = row.values[k];
      pivot.values[k] = c * p + s * q;
      row.values[k] = c * q - s * p;
    }
    return row.dropLead();
  }
  mergedPivot_.clear();
  mergedRow_.clear();
  for (std::size_t a = 0, b = 0; a < pivot.columns.size() || b < row.columns.size();) {
    const int columnA = a < pivot.columns.size() ? pivot.columns[a] : m_, columnB = b < row.columns.size() ? row.columns[b] : m_;
    const int column = std::min(columnA, columnB);
    const double p = columnA == column ? pivot.values[a++] : 0, q = columnB == column ? row.values[b++] : 0;
    mergedPivot_.push(column, c * p + s * q);
    mergedRow_.push(column, c * q - s * p);
  }
  mergedRow_.dropLead();
  std::swap(pivot, mergedPivot_);
  std::swap(row, mergedRow_);
}

/// Decides column k, once no row can begin there any more. The row of a dependent column has no use there: what stands right of the
/// diagonal belongs to later columns. Done before rows that begin later come in, since the rest then stays near; a full R would hand it
/// down to its end.
void RowFactor::settle(int k) {
  if (R_[k].empty()) return;
  distance_[k] = std::abs(R_[k].values[0]);
  if (distance_[k] > tolerance_) return;
  SparseRow rest;
  std::swap(rest, R_[k]);
  rest.dropLead();
  insert(rest);
}

RankReport RowFactor::report() const {
  RankReport report;
  report.tolerance = tolerance_;
  for (int k = 0; k < m_; ++k) {
    if (distance_[k] > tolerance_) {
      ++report.rank;
      report.smallestKept = std::min(report.smallestKept, distance_[k]);
    } else {
      report.dependentRows.push_back(rowOf_[k]);
      report.largestDropped = std::max(report.largestDropped, distance_[k]);
    }
  }
  std::sort(report.dependentRows.begin(), report.dependentRows.end());
  return report;
}

/// For a dependent column d: R_kept c = r_d, so that g_d = sum c_k g_k and z = e_d - sum c_k e_k. Substitution from the bottom visits only
/// what it reaches; coefficients at the level of rounding are not followed, since those of local redundancies are zero far away.
Sparse RowFactor::nullSpace() const {
  std::vector<Eigen::Triplet<double>> entries;
  for (int k = 0; k < m_; ++k)
    for (std::size_t e = 0; e < R_[k].columns.size(); ++e) entries.emplace_back(k, R_[k].columns[e], R_[k].values[e]);
  Sparse R(m_, m_);
  R.setFromTriplets(entries.begin(), entries.end());

  entries.clear();
  std::vector<double> rest(m_, 0);
  std::vector<char> queued(m_, 0);
  std::priority_queue<int> below;
  int column = 0;
  const auto eliminate = [&](int j, double factor) {
    for (Sparse::InnerIterator it(R, j); it && it.row() < j; ++it) {
      const int k = int(it.row());
      rest[k] += factor * it.value();
      if (!queued[k]) below.push(k), queued[k] = 1;
    }
  };
  for (int d = 0; d < m_; ++d) {
    if (distance_[d] > tolerance_) continue;
    const int row = rowOf_[d];
    entries.emplace_back(row, column, length_[row] > 0 ? 1 / length_[row] : 1);
    eliminate(d, 1);
    while (!below.empty()) {
      const int k = below.top();
      below.pop();
      queued[k] = 0;
      const double c = rest[k] / R_[k].values[0];
      rest[k] = 0;
      if (std::abs(c) < 1e-15) continue;
      entries.emplace_back(rowOf_[k], column, -c / length_[rowOf_[k]]);
      eliminate(k, -c);
    }
    ++column;
  }
  Sparse Z(m_, column);
  Z.setFromTriplets(entries.begin(), entries.end());
  return Z;
}

void requireWeights(const Eigen::VectorXd& weights, Eigen::Index rows) {
  if (weights.size() == 0) return;
  if (weights.size() != rows) throw std::invalid_argument(fmt::format("multipliers: {} weights for {} rows", weights.size(), rows));
  for (Eigen::Index i = 0; i < rows; ++i)
    if (!(weights[i] > 0) || !std::isfinite(weights[i]))
      throw std::invalid_argument(fmt::format("multipliers: weight {} is {}, it must be positive", i, weights[i]));
}

}

RankReport findDependentRows(const Sparse& G, double relativeTolerance, std::span<const int> priority) {
  return RowFactor(G, relativeTolerance, priority).report();
}

Eigen::VectorXd minimumNormMultipliers(const Sparse& G, const Eigen::VectorXd& lambda, const Eigen::VectorXd& weights,
                                       double relativeTolerance) {
  if (lambda.size() != G.rows()) throw std::invalid_argument(fmt::format("multipliers: {} numbers for {} rows", lambda.size(), G.rows()));
  if (!lambda.allFinite()) throw std::invalid_argument("multipliers: a number is not finite");
  requireWeights(weights, G.rows());
  Sparse Z = RowFactor(G, relativeTolerance, {}).nullSpace();
  if (Z.cols() == 0) return lambda;

  // With y = W^(1/2) lambda the norm is plain; unit columns keep the normal equations of the few null vectors well scaled.
  const Eigen::VectorXd root = weights.size() ? Eigen::VectorXd(weights.cwiseSqrt()) : Eigen::VectorXd::Ones(G.rows());
  Z = root.asDiagonal() * Z;
  for (int j = 0; j < Z.cols(); ++j) Z.col(j) /= Z.col(j).norm();
  const Eigen::SimplicialLDLT<Sparse> normal(Sparse(Z.transpose() * Z));
  if (normal.info() != Eigen::Success)
    throw std::runtime_error("multipliers: the null vectors of the constraints are not independent; raise the rank tolerance");
  Eigen::VectorXd y = root.cwiseProduct(lambda);
  for (int pass = 0; pass < 2; ++pass) y -= Z * normal.solve(Z.transpose() * y);
  return y.cwiseQuotient(root);
}

}
