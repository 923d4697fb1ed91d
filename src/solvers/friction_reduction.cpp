#include "tendril/solvers/friction_reduction.h"
#include "solvers/pivoted_cholesky.h"
#include "tendril/solvers/rank.h"
#include "tendril/solvers/sparse_ldlt.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tendril {

namespace {

using Matrix = GlobalFrictionProblem::Matrix;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;
constexpr int bodySize = 6;

template <class... Values> [[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

bool isFinite(const Matrix& A) {
  for (int k = 0; k < A.outerSize(); ++k)
    for (Matrix::InnerIterator entry(A, k); entry; ++entry)
      if (!std::isfinite(entry.value())) return false;
  return true;
}

void checkSizes(const GlobalFrictionProblem& p, Eigen::Index rows) {
  const Eigen::Index n = p.M.rows();
  if (p.M.cols() != n) refuse("M is {} x {}; it must be square", n, p.M.cols());
  if (p.H.rows() != n || p.H.cols() != rows)
    refuse("H is {} x {}; {} velocities and {} rows of contacts need {} x {}", p.H.rows(), p.H.cols(), n, rows, n, rows);
  if (p.G.cols() > 0 && p.G.rows() != n) refuse("G has {} rows; {} velocities need as many", p.G.rows(), n);
  if (p.f.size() != n) refuse("f has {} entries; {} velocities need as many", p.f.size(), n);
  if (p.w.size() != rows) refuse("w has {} entries; {} rows of contacts need as many", p.w.size(), rows);
  if (p.b.size() != p.G.cols()) refuse("b has {} entries; {} columns of G need as many", p.b.size(), p.G.cols());
}

void checkValues(const GlobalFrictionProblem& p) {
  for (const auto& [name, matrix] : {std::pair{"M", &p.M}, {"H", &p.H}, {"G", &p.G}})
    if (!isFinite(*matrix)) refuse("{} holds an entry that is not finite", name);
  for (const auto& [name, vector] : {std::pair{"f", &p.f}, {"w", &p.w}, {"b", &p.b}})
    if (!vector->allFinite()) refuse("{} holds an entry that is not finite", name);
  // Files carry symmetric matrices to their own precision.
  const double size = p.M.nonZeros() > 0 ? p.M.coeffs().abs().maxCoeff() : 0;
  const Matrix skew = p.M - Matrix(p.M.transpose());
  if (skew.nonZeros() > 0 && skew.coeffs().abs().maxCoeff() > 1e-6 * size) refuse("M is not symmetric");
}

/// Whether M couples the velocities of one block of six only, and each contact at most two of these.
bool consistsOfBodies(const GlobalFrictionProblem& p, const std::vector<int>& firstRow) {
  if (p.G.cols() > 0 || p.M.rows() % bodySize != 0) return false;
  for (int k = 0; k < p.M.outerSize(); ++k)
    for (Matrix::InnerIterator entry(p.M, k); entry; ++entry)
      if (entry.row() / bodySize != entry.col() / bodySize) return false;
  for (std::size_t i = 0; i + 1 < firstRow.size(); ++i) {
    std::array<int, 2> touched{-1, -1};
    for (int row = firstRow[i]; row < firstRow[i + 1]; ++row) {
      for (Matrix::InnerIterator entry(p.H, row); entry; ++entry) {
        const int body = int(entry.row()) / bodySize;
        if (body == touched[0] || body == touched[1]) continue;
        if (touched[1] >= 0) return false;
        (touched[0] < 0 ? touched[0] : touched[1]) = body;
      }
    }
  }
  return true;
}

std::vector<Eigen::Matrix<double, bodySize, bodySize>> inverseBlocks(const Matrix& M) {
  using Block = Eigen::Matrix<double, bodySize, bodySize>;
  std::vector<Block> blocks(M.rows() / bodySize, Block::Zero());
  for (int k = 0; k < M.outerSize(); ++k)
    for (Matrix::InnerIterator entry(M, k); entry; ++entry)
      blocks[k / bodySize](entry.row() % bodySize, entry.col() % bodySize) += entry.value();
  for (std::size_t body = 0; body < blocks.size(); ++body) {
    const Eigen::LLT<Block> llt(blocks[body]);
    if (llt.info() != Eigen::Success) refuse("the block of M that belongs to body {} is not positive definite", body);
    blocks[body] = llt.solve(Block::Identity());
  }
  return blocks;
}

FrictionBodies makeBodies(const GlobalFrictionProblem& p, const std::vector<int>& firstRow) {
  FrictionBodies bodies{inverseBlocks(p.M), std::vector<std::array<int, 2>>(firstRow.size() - 1, {-1, -1}),
                        FrictionBodies::Levers::Zero(p.H.cols(), 2 * bodySize)};
  for (std::size_t i = 0; i + 1 < firstRow.size(); ++i) {
    std::array<int, 2>& touched = bodies.touched[i];
    for (int row = firstRow[i]; row < firstRow[i + 1]; ++row) {
      for (Matrix::InnerIterator entry(p.H, row); entry; ++entry) {
        const int body = int(entry.row()) / bodySize;
        if (touched[0] < 0) touched[0] = body;
        if (touched[0] != body) touched[1] = body;
        bodies.H(row, (touched[0] == body ? 0 : bodySize) + int(entry.row()) % bodySize) += entry.value();
      }
    }
  }
  return bodies;
}

/// Parts of the velocities that M and G hold together.
class Parts {
 public:
  Parts(const Matrix& M, const Matrix& G) : parent(M.rows()) {
    std::iota(parent.begin(), parent.end(), 0);
    for (int k = 0; k < M.outerSize(); ++k)
      for (Matrix::InnerIterator entry(M, k); entry; ++entry) join(int(entry.row()), k);
    for (int k = 0; k < G.outerSize(); ++k) {
      int first = -1;
      for (Matrix::InnerIterator entry(G, k); entry; ++entry) {
        if (first < 0) first = int(entry.row());
        join(first, int(entry.row()));
      }
    }
  }
  int find(int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  }

 private:
  void join(int i, int j) { parent[find(i)] = find(j); }
  std::vector<int> parent;
};

/// For each contact, in ascending order, the contacts that share a part with it (itself among them).
std::vector<std::vector<int>> neighbours(const GlobalFrictionProblem& p, const std::vector<int>& firstRow) {
  const int contacts = int(firstRow.size()) - 1;
  Parts parts(p.M, p.G);
  std::vector<std::vector<int>> contactsOf(p.M.rows()), partsOf(contacts);
  for (int i = 0; i < contacts; ++i) {
    for (int row = firstRow[i]; row < firstRow[i + 1]; ++row)
      for (Matrix::InnerIterator entry(p.H, row); entry; ++entry) partsOf[i].push_back(parts.find(int(entry.row())));
    std::sort(partsOf[i].begin(), partsOf[i].end());
    partsOf[i].erase(std::unique(partsOf[i].begin(), partsOf[i].end()), partsOf[i].end());
    for (const int part : partsOf[i]) contactsOf[part].push_back(i);
  }
  std::vector<std::vector<int>> result(contacts);
  for (int i = 0; i < contacts; ++i) {
    std::vector<int>& list = result[i] = {i};
    for (const int part : partsOf[i]) list.insert(list.end(), contactsOf[part].begin(), contactsOf[part].end());
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return result;
}

Matrix withoutColumns(const Matrix& G, const std::vector<int>& dropped) {
  Triplets entries;
  int column = 0;
  for (int k = 0; k < G.outerSize(); ++k) {
    if (std::binary_search(dropped.begin(), dropped.end(), k)) continue;
    for (Matrix::InnerIterator entry(G, k); entry; ++entry) entries.emplace_back(int(entry.row()), column, entry.value());
    ++column;
  }
  Matrix kept(G.rows(), column);
  kept.setFromTriplets(entries.begin(), entries.end());
  return kept;
}

Matrix saddlePoint(const Matrix& M, const Matrix& G) {
  Triplets entries;
  for (int k = 0; k < M.outerSize(); ++k)
    for (Matrix::InnerIterator entry(M, k); entry; ++entry) {
      entries.emplace_back(int(entry.row()), k, 0.5 * entry.value());
      entries.emplace_back(k, int(entry.row()), 0.5 * entry.value());
    }
  const int n = int(M.rows());
  for (int k = 0; k < G.outerSize(); ++k)
    for (Matrix::InnerIterator entry(G, k); entry; ++entry) {
      entries.emplace_back(n + k, int(entry.row()), entry.value());
      entries.emplace_back(int(entry.row()), n + k, entry.value());
    }
  Matrix K(n + G.cols(), n + G.cols());
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

}

struct FrictionReduction::Impl {
  GlobalFrictionProblem global;
  FrictionProblem local;
  std::vector<int> dropped, kept; ///< columns of G
  std::optional<SparseLdlt> factor;

  void setUp();
  void useBodies();
  void factorise();
  void formDelassus();
  void checkConstraints(const Eigen::VectorXd& v) const;
  Motion motion(const Eigen::VectorXd& contactForce) const;
};

FrictionReduction::Motion FrictionReduction::Impl::motion(const Eigen::VectorXd& impulse) const {
  const Eigen::Index n = global.M.rows();
  Motion result{Eigen::VectorXd(n), Eigen::VectorXd::Zero(global.G.cols())};
  if (!factor) {
    for (std::size_t body = 0; body < local.bodies.inverseInertia.size(); ++body)
      result.v.segment<bodySize>(bodySize * body) = local.bodies.inverseInertia[body] * impulse.segment<bodySize>(bodySize * body);
    return result;
  }
  Eigen::VectorXd x(n + Eigen::Index(kept.size()));
  x.head(n) = impulse;
  for (std::size_t k = 0; k < kept.size(); ++k) x[n + k] = -global.b[kept[k]];
  factor->solve(x);
  result.v = x.head(n);
  for (std::size_t k = 0; k < kept.size(); ++k) result.lambda[kept[k]] = -x[n + k];
  return result;
}

void FrictionReduction::Impl::useBodies() { local.bodies = makeBodies(global, local.firstRow); }

void FrictionReduction::Impl::factorise() {
  const Matrix transposed = global.G.transpose();
  if (global.G.cols() > 0) dropped = findDependentRows(transposed).dependentRows;
  for (int k = 0; k < global.G.cols(); ++k)
    if (!std::binary_search(dropped.begin(), dropped.end(), k)) kept.push_back(k);
  factor.emplace();
  const bool regular = factor->factorise(saddlePoint(global.M, withoutColumns(global.G, dropped)));
  const std::optional<Inertia> inertia = factor->inertia();
  const Inertia expected{int(global.M.rows()), int(kept.size()), 0};
  if (!regular || (inertia && *inertia != expected))
    refuse("M is not positive definite on the motions that G allows: a part without mass, or a sign that is wrong");
}

void FrictionReduction::Impl::checkConstraints(const Eigen::VectorXd& v) const {
  const Eigen::VectorXd defect = global.G.transpose() * v + global.b;
  const double scale = (global.G.cwiseAbs().transpose() * v.cwiseAbs() + global.b.cwiseAbs()).lpNorm<Eigen::Infinity>();
  for (const int k : dropped)
    if (std::abs(defect[k]) > 1e-8 * scale) refuse("column {} of G depends on others, but its entry of b contradicts theirs", k);
}

void FrictionReduction::Impl::formDelassus() {
  const std::vector<std::vector<int>> shared = neighbours(global, local.firstRow);
  const Eigen::Index n = global.M.rows();
  const auto columns = [this](int contact) { return global.H.middleCols(local.firstRow[contact], local.laws[contact].size); };
  Eigen::MatrixXd X;
  Eigen::VectorXd x(n + Eigen::Index(kept.size()));
  for (int i = 0; i < local.contacts(); ++i) {
    X = columns(i);
    for (int k = 0; k < X.cols(); ++k) {
      x << X.col(k), Eigen::VectorXd::Zero(Eigen::Index(kept.size()));
      factor->solve(x);
      X.col(k) = x.head(n);
    }
    local.W.start.push_back(int(local.W.blocks.size()));
    for (const int j : shared[i]) {
      const Eigen::MatrixXd block = (columns(j).transpose() * X).transpose();
      local.W.blocks.push_back({j, local.W.values.size()});
      local.W.values.insert(local.W.values.end(), block.data(), block.data() + block.size());
    }
  }
  local.W.start.push_back(int(local.W.blocks.size()));
}

void FrictionReduction::Impl::setUp() {
  if (global.G.cols() == 0) global.G.resize(global.M.rows(), 0);
  local.laws = global.laws;
  local.layOut();
  checkSizes(global, local.rows());
  checkValues(global);
  if (consistsOfBodies(global, local.firstRow))
    useBodies();
  else {
    factorise();
    formDelassus();
  }
  const Motion free = motion(global.f);
  checkConstraints(free.v);
  local.q = global.H.transpose() * free.v + global.w;
}

FrictionReduction::FrictionReduction(GlobalFrictionProblem global) : impl_(std::make_unique<Impl>()) {
  impl_->global = std::move(global);
  impl_->setUp();
}

FrictionReduction::~FrictionReduction() = default;
FrictionReduction::FrictionReduction(FrictionReduction&&) noexcept = default;
FrictionReduction& FrictionReduction::operator=(FrictionReduction&&) noexcept = default;

const FrictionProblem& FrictionReduction::problem() const { return impl_->local; }

const GlobalFrictionProblem& FrictionReduction::global() const { return impl_->global; }

const std::vector<int>& FrictionReduction::redundant() const { return impl_->dropped; }

FrictionReduction::Motion FrictionReduction::motion(const Eigen::VectorXd& r) const {
  return impl_->motion(impl_->global.H * r + impl_->global.f);
}

BlockMatrix toBlocks(const RowMatrix& W, const std::vector<int>& firstRow) {
  const int contacts = int(firstRow.size()) - 1;
  std::vector<int> contactOf(W.cols());
  for (int i = 0; i < contacts; ++i) std::fill(contactOf.begin() + firstRow[i], contactOf.begin() + firstRow[i + 1], i);
  BlockMatrix blocks;
  std::vector<int> columns;
  std::vector<std::size_t> offset(contacts);
  for (int i = 0; i < contacts; ++i) {
    columns = {i};
    for (int row = firstRow[i]; row < firstRow[i + 1]; ++row)
      for (RowMatrix::InnerIterator entry(W, row); entry; ++entry)
        if (entry.value() != 0) columns.push_back(contactOf[entry.col()]);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const int size = firstRow[i + 1] - firstRow[i];
    blocks.start.push_back(int(blocks.blocks.size()));
    for (const int j : columns) {
      blocks.blocks.push_back({j, offset[j] = blocks.values.size()});
      blocks.values.resize(blocks.values.size() + std::size_t(size) * (firstRow[j + 1] - firstRow[j]), 0.0);
    }
    for (int row = firstRow[i]; row < firstRow[i + 1]; ++row)
      for (RowMatrix::InnerIterator entry(W, row); entry; ++entry) {
        if (entry.value() == 0) continue;
        const int j = contactOf[entry.col()];
        blocks.values[offset[j] + std::size_t(entry.col() - firstRow[j]) * size + (row - firstRow[i])] = entry.value();
      }
  }
  blocks.start.push_back(int(blocks.blocks.size()));
  return blocks;
}

RowMatrix toSparse(const FrictionProblem& problem) {
  const BlockMatrix formed = problem.hasBodies() ? delassus(problem) : BlockMatrix{};
  const BlockMatrix& W = problem.hasBodies() ? formed : problem.W;
  RowMatrix sparse(problem.rows(), problem.rows());
  sparse.reserve(Eigen::Index(W.values.size()));
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int row = 0; row < problem.laws[i].size; ++row) {
      sparse.startVec(problem.firstRow[i] + row);
      for (int k = W.start[i]; k < W.start[i + 1]; ++k) {
        const int j = W.blocks[k].column;
        for (int column = 0; column < problem.laws[j].size; ++column)
          sparse.insertBack(problem.firstRow[i] + row, problem.firstRow[j] + column) =
              W.values[W.blocks[k].offset + std::size_t(column) * problem.laws[i].size + row];
      }
    }
  }
  sparse.finalize();
  return sparse;
}

namespace {

/// Rows of contacts that W couples, island by island.
std::vector<std::vector<int>> islandRows(const FrictionProblem& problem) {
  std::vector<int> parent(problem.contacts());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&parent](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (int i = 0; i < problem.contacts(); ++i)
    for (int k = problem.W.start[i]; k < problem.W.start[i + 1]; ++k) parent[find(i)] = find(problem.W.blocks[k].column);
  std::vector<std::vector<int>> islands(problem.contacts());
  for (int i = 0; i < problem.contacts(); ++i)
    for (int row = problem.firstRow[i]; row < problem.firstRow[i + 1]; ++row) islands[find(i)].push_back(row);
  return islands;
}

Matrix sparseLevers(const FrictionProblem& problem) {
  Triplets entries;
  for (int i = 0; i < problem.contacts(); ++i)
    for (int row = problem.firstRow[i]; row < problem.firstRow[i + 1]; ++row)
      for (int k = 0; k < 2 * bodySize; ++k)
        if (const int body = problem.bodies.touched[i][k / bodySize]; body >= 0)
          entries.emplace_back(row, bodySize * body + k % bodySize, problem.bodies.H(row, k));
  Matrix H(problem.rows(), bodySize * Eigen::Index(problem.bodies.inverseInertia.size()));
  H.setFromTriplets(entries.begin(), entries.end());
  return H;
}

}

std::optional<int> rankOf(const FrictionProblem& problem) {
  if (problem.hasBodies()) return findDependentRows(sparseLevers(problem)).rank;
  constexpr std::size_t largestIsland = 4000;
  const RowMatrix W = toSparse(problem);
  std::vector<int> place(problem.rows());
  int rank = 0;
  for (const std::vector<int>& rows : islandRows(problem)) {
    if (rows.size() > largestIsland) return std::nullopt;
    for (std::size_t k = 0; k < rows.size(); ++k) place[rows[k]] = int(k);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(Eigen::Index(rows.size()), Eigen::Index(rows.size()));
    for (const int row : rows)
      for (RowMatrix::InnerIterator entry(W, row); entry; ++entry) {
        dense(place[row], place[entry.col()]) += 0.5 * entry.value();
        dense(place[entry.col()], place[row]) += 0.5 * entry.value();
      }
    rank += int(pivotedCholesky(dense, 1e-9).cols());
  }
  return rank;
}

GlobalFrictionProblem toGlobal(const FrictionProblem& problem) {
  if (!problem.hasBodies()) refuse("the problem has no bodies: its masses are no longer known");
  const FrictionBodies& bodies = problem.bodies;
  const int n = bodySize * int(bodies.inverseInertia.size());
  GlobalFrictionProblem global;
  Triplets mass, contact, joint;
  for (int body = 0; body < n / bodySize; ++body) {
    const Eigen::Matrix<double, bodySize, bodySize> M = bodies.inverseInertia[body].inverse();
    for (int row = 0; row < bodySize; ++row)
      for (int column = 0; column < bodySize; ++column) {
        const double value = 0.5 * (M(row, column) + M(column, row));
        if (value != 0) mass.emplace_back(bodySize * body + row, bodySize * body + column, value);
      }
  }
  std::vector<double> w, b;
  for (int i = 0; i < problem.contacts(); ++i) {
    const bool held = problem.laws[i].kind == FrictionLaw::Kind::Bilateral;
    if (!held) global.laws.push_back(problem.laws[i]);
    for (int row = problem.firstRow[i]; row < problem.firstRow[i + 1]; ++row) {
      const int column = int((held ? b : w).size());
      for (int k = 0; k < 2 * bodySize; ++k)
        if (const int body = bodies.touched[i][k / bodySize]; body >= 0 && bodies.H(row, k) != 0)
          (held ? joint : contact).emplace_back(bodySize * body + k % bodySize, column, bodies.H(row, k));
      (held ? b : w).push_back(problem.q[row]);
    }
  }
  global.M.resize(n, n);
  global.H.resize(n, int(w.size()));
  global.G.resize(n, int(b.size()));
  global.M.setFromTriplets(mass.begin(), mass.end());
  global.H.setFromTriplets(contact.begin(), contact.end());
  global.G.setFromTriplets(joint.begin(), joint.end());
  global.f = Eigen::VectorXd::Zero(n);
  global.w = Eigen::Map<Eigen::VectorXd>(w.data(), Eigen::Index(w.size()));
  global.b = Eigen::Map<Eigen::VectorXd>(b.data(), Eigen::Index(b.size()));
  return global;
}

}
