#include "tendril/solvers/lcp.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tendril {

namespace {

constexpr double pivotTolerance = 1e-11; ///< of entries of the scaled tableau, whose columns begin with entries of order one

Eigen::VectorXd scaling(const Eigen::MatrixXd& M) {
  return M.diagonal().unaryExpr([](double entry) { return entry > 0 ? std::sqrt(entry) : 1.0; });
}

/// Lemke's tableau, columns: w, z, z0, right-hand side. The first n are the inverse of the basis and order the rows lexicographically.
class Tableau {
 public:
  Tableau(const Eigen::MatrixXd& M, const Eigen::VectorXd& q) : n(q.size()), rows(n, 2 * n + 2), basis(n) {
    rows << Eigen::MatrixXd::Identity(n, n), -M, -Eigen::VectorXd::Ones(n), q;
    for (Eigen::Index i = 0; i < n; ++i) basis[i] = i;
  }

  Eigen::Index artificial() const { return 2 * n; }
  Eigen::Index complement(Eigen::Index variable) const { return variable < n ? variable + n : variable - n; }
  const std::vector<Eigen::Index>& variables() const { return basis; }

  /// The row that leaves when z0 enters: after it, all basic variables are (lexicographically) positive.
  Eigen::Index firstRow() const {
    Eigen::Index lowest = 0;
    for (Eigen::Index i = 1; i < n; ++i)
      if (precedes(i, 1, lowest, 1)) lowest = i;
    return lowest;
  }
  /// -1: nothing blocks the entering variable.
  Eigen::Index blockingRow(Eigen::Index entering) const {
    Eigen::Index blocking = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (rows(i, entering) <= pivotTolerance) continue;
      if (blocking < 0 || precedes(i, rows(i, entering), blocking, rows(blocking, entering))) blocking = i;
    }
    // z0 leaves as soon as it may: that is the solution.
    for (Eigen::Index i = 0; blocking >= 0 && i < n; ++i)
      if (basis[i] == artificial() && rows(i, entering) > pivotTolerance &&
          rhs(i) / rows(i, entering) <= rhs(blocking) / rows(blocking, entering) + 1e-14)
        return i;
    return blocking;
  }
  /// Returns the variable that left.
  Eigen::Index pivot(Eigen::Index row, Eigen::Index entering) {
    rows.row(row) /= rows(row, entering);
    for (Eigen::Index i = 0; i < n; ++i) {
      if (i == row || rows(i, entering) == 0) continue;
      rows.row(i) -= rows(i, entering) * rows.row(row);
      rows(i, entering) = 0;
    }
    return std::exchange(basis[row], entering);
  }

 private:
  double rhs(Eigen::Index i) const { return rows(i, 2 * n + 1); }
  bool precedes(Eigen::Index i, double divisorI, Eigen::Index j, double divisorJ) const {
    double difference = rhs(i) / divisorI - rhs(j) / divisorJ;
    for (Eigen::Index k = 0; k < n && difference == 0; ++k) difference = rows(i, k) / divisorI - rows(j, k) / divisorJ;
    return difference < 0;
  }

  Eigen::Index n;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows;
  std::vector<Eigen::Index> basis;
};

struct LemkePath {
  PivotStatus status = PivotStatus::PivotLimit;
  std::vector<Eigen::Index> basic; ///< indices of z in the final basis
  int pivots = 0;
};

LemkePath followPath(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, int limit) {
  LemkePath path;
  Tableau tableau(M, q);
  Eigen::Index leaving = tableau.pivot(tableau.firstRow(), tableau.artificial());
  for (path.pivots = 1; path.pivots < limit; ++path.pivots) {
    const Eigen::Index entering = tableau.complement(leaving);
    const Eigen::Index row = tableau.blockingRow(entering);
    if (row < 0) {
      path.status = PivotStatus::Infeasible;
      break;
    }
    leaving = tableau.pivot(row, entering);
    if (leaving == tableau.artificial()) {
      path.status = PivotStatus::Solved;
      break;
    }
  }
  for (const Eigen::Index variable : tableau.variables())
    if (variable >= q.size() && variable != tableau.artificial()) path.basic.push_back(variable - q.size());
  std::sort(path.basic.begin(), path.basic.end());
  return path;
}

/// z of a basis: M_bb z_b = -q_b.
Eigen::VectorXd solveBasis(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const std::vector<Eigen::Index>& basic) {
  Eigen::VectorXd z = Eigen::VectorXd::Zero(q.size());
  if (!basic.empty()) z(basic) = M(basic, basic).completeOrthogonalDecomposition().solve(-q(basic)).cwiseMax(0.0);
  return z;
}

/// The rows of a program in coordinates where the metric is the identity, each of unit length.
class Rows {
 public:
  Rows(const QuadraticProgram& program, const Eigen::LLT<Eigen::MatrixXd>& metric) : normals(program.N.transpose()), limit(program.b) {
    if (normals.cols() > 0) metric.matrixL().solveInPlace(normals);
    length = normals.colwise().norm();
    const double longest = length.size() > 0 ? length.maxCoeff() : 0;
    for (Eigen::Index i = 0; i < length.size(); ++i) {
      if (length[i] <= 1e-14 * longest) length[i] = 0; // a row that constrains nothing
      normals.col(i) *= length[i] > 0 ? 1 / length[i] : 0.0;
      limit[i] *= length[i] > 0 ? 1 / length[i] : 1.0;
    }
  }
  Eigen::MatrixXd normals; ///< columns
  Eigen::VectorXd length, limit;
};

constexpr double dependence = 1e-10; ///< distance of a unit normal to the span of others

/// Goldfarb & Idnani for min 1/2 |y - y0|^2 subject to n_i . y >= limit_i.
class DualActiveSet {
 public:
  DualActiveSet(const Eigen::MatrixXd& unitNormals, const Eigen::VectorXd& limits, const Eigen::VectorXd& start)
      : normals(unitNormals), limit(limits), y0(start), y(start), scale(1e-13 * (start.norm() + limits.lpNorm<Eigen::Infinity>())) {}

  PivotStatus solve(int maxPivots) {
    for (;;) {
      const int row = mostViolated();
      if (row < 0) break;
      for (double own = 0; !takeIn(row, own);) {
        if (!conflict.empty()) return PivotStatus::Infeasible;
        if (++pivots > maxPivots) return PivotStatus::PivotLimit;
      }
      if (++pivots > maxPivots) return PivotStatus::PivotLimit;
    }
    recompute();
    return PivotStatus::Solved;
  }
  double slack(int row) const { return normals.col(row).dot(y) - limit[row]; }
  bool holds(int row) const { return std::find(active.begin(), active.end(), row) != active.end(); }
  bool isTight(int row) const { return std::abs(slack(row)) <= 1e3 * scale; }
  /// What the held normals leave of a normal.
  Eigen::VectorXd remainder(int row, Eigen::VectorXd& coefficients) const {
    coefficients.resize(Eigen::Index(active.size()));
    if (active.empty()) return normals.col(row);
    const Eigen::MatrixXd held = normals(Eigen::all, active);
    coefficients = held.householderQr().solve(normals.col(row));
    return normals.col(row) - held * coefficients;
  }

  std::vector<int> active, conflict;
  std::vector<double> multiplier;
  int pivots = 0;
  const Eigen::VectorXd& point() const { return y; }

 private:
  int mostViolated() const {
    int worst = -1;
    double lowest = -scale;
    for (int i = 0; i < normals.cols(); ++i) {
      if (holds(i)) continue;
      if (const double s = slack(i); s < lowest) lowest = s, worst = i;
    }
    return worst;
  }
  /// One step towards a violated row; true once it is held. `own` gathers its multiplier.
  bool takeIn(int row, double& own) {
    Eigen::VectorXd coefficients;
    const Eigen::VectorXd direction = remainder(row, coefficients);
    const double reach = direction.norm();
    const double full = reach > dependence ? -slack(row) / (reach * reach) : std::numeric_limits<double>::infinity();
    double step = full;
    int blocking = -1;
    for (std::size_t k = 0; k < active.size(); ++k) {
      if (coefficients[k] <= dependence) continue;
      if (const double possible = multiplier[k] / coefficients[k]; possible < step) step = possible, blocking = int(k);
    }
    if (std::isinf(step)) {
      conflict = active;
      conflict.push_back(row);
      return false;
    }
    if (reach > dependence) y += step * direction;
    for (std::size_t k = 0; k < active.size(); ++k) multiplier[k] -= step * coefficients[k];
    own += step;
    if (blocking < 0) {
      active.push_back(row);
      multiplier.push_back(own);
      return true;
    }
    active.erase(active.begin() + blocking);
    multiplier.erase(multiplier.begin() + blocking);
    return false;
  }
  /// The point that belongs to the rows held, free of what the steps rounded.
  void recompute() {
    if (active.empty()) return;
    const Eigen::MatrixXd held = normals(Eigen::all, active);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(held);
    const auto R = qr.matrixQR().topRows(held.cols()).triangularView<Eigen::Upper>();
    const Eigen::VectorXd rhs = limit(active) - held.transpose() * y0;
    const Eigen::VectorXd lambda = R.solve(R.transpose().solve(rhs));
    y = y0 + held * lambda;
    for (std::size_t k = 0; k < active.size(); ++k) multiplier[k] = std::max(0.0, lambda[k]);
  }

  const Eigen::MatrixXd& normals;
  const Eigen::VectorXd& limit;
  const Eigen::VectorXd y0;
  Eigen::VectorXd y;
  double scale;
};

void checkProgram(const QuadraticProgram& p) {
  const Eigen::Index n = p.v0.size();
  if (p.A.rows() != n || p.A.cols() != n || p.N.cols() != n || p.b.size() != p.N.rows() || p.equalities < 0 || p.equalities > p.N.rows())
    throw std::invalid_argument("quadratic program: the sizes of A, v0, N and b do not fit");
  if (!p.A.allFinite() || !p.v0.allFinite() || !p.N.allFinite() || !p.b.allFinite())
    throw std::invalid_argument("quadratic program: an entry is not finite");
}

/// The subspace in which the equalities hold, y = origin + basis t.
struct Subspace {
  Eigen::VectorXd origin;
  Eigen::MatrixXd basis;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> equalities; ///< of their normals as rows
  bool empty = false;

  Subspace(const Eigen::MatrixXd& rows, const Eigen::VectorXd& values, const Eigen::VectorXd& y0) : origin(y0) {
    const Eigen::Index n = y0.size();
    if (rows.rows() == 0) {
      basis = Eigen::MatrixXd::Identity(n, n);
      return;
    }
    equalities.setThreshold(dependence);
    equalities.compute(rows);
    origin += equalities.solve(values - rows * y0);
    const double scale = y0.norm() + values.lpNorm<Eigen::Infinity>();
    empty = (rows * origin - values).lpNorm<Eigen::Infinity>() > 1e-9 * scale;
    const Eigen::MatrixXd Q = rows.transpose().colPivHouseholderQr().householderQ();
    basis = Q.rightCols(n - equalities.rank());
  }
};

/// The stages of solveProximal: unit metric, equalities, inequalities, and back.
class Projection {
 public:
  explicit Projection(const QuadraticProgram& given)
      : program(given), metric(factorise(given.A)), rows(given, metric), equal(given.equalities) {
    result.v = given.v0;
    result.lambda = Eigen::VectorXd::Zero(given.b.size());
    y0 = metric.matrixU() * given.v0;
  }

  ProximalPoint solve(int maxPivots) {
    for (int i = 0; i < int(program.b.size()); ++i)
      if (rows.length[i] == 0 && (i < equal ? program.b[i] != 0 : program.b[i] > 0)) return infeasible({i});
    const Subspace subspace(rows.normals.leftCols(equal).transpose(), rows.limit.head(equal), y0);
    std::vector<int> equalities(equal);
    std::iota(equalities.begin(), equalities.end(), 0);
    if (subspace.empty) return infeasible(equalities);
    if (const int row = restrictTo(subspace); row >= 0) {
      equalities.push_back(row);
      return infeasible(equalities);
    }
    DualActiveSet method(normals, limit, Eigen::VectorXd::Zero(subspace.basis.cols()));
    result.status = method.solve(maxPivots);
    result.pivots = method.pivots;
    if (result.status == PivotStatus::Infeasible) {
      for (const int i : method.conflict) equalities.push_back(equal + i);
      return infeasible(equalities);
    }
    if (result.status == PivotStatus::PivotLimit)
      result.message = fmt::format("the active set has not settled after {} pivots", method.pivots);
    report(subspace, method);
    return result;
  }

 private:
  static Eigen::LLT<Eigen::MatrixXd> factorise(const Eigen::MatrixXd& A) {
    Eigen::LLT<Eigen::MatrixXd> factor(A);
    if (factor.info() != Eigen::Success) throw std::invalid_argument("quadratic program: A is not positive definite");
    return factor;
  }
  ProximalPoint infeasible(std::vector<int> conflict) {
    result.status = PivotStatus::Infeasible;
    result.message = fmt::format("no velocity satisfies the rows {} together", fmt::join(conflict, ", "));
    result.conflict = std::move(conflict);
    return result;
  }
  /// The inequalities as seen from the subspace, of unit length there. One that the equalities determine is dropped, or returned if they
  /// contradict it; otherwise -1.
  int restrictTo(const Subspace& subspace) {
    const auto inequalities = rows.normals.rightCols(rows.normals.cols() - equal);
    normals = subspace.basis.transpose() * inequalities;
    limit = rows.limit.tail(inequalities.cols()) - inequalities.transpose() * subspace.origin;
    length = normals.colwise().norm();
    const double rounding = 1e-9 * (y0.norm() + rows.limit.lpNorm<Eigen::Infinity>());
    for (int i = 0; i < int(length.size()); ++i) {
      if (length[i] > dependence) {
        normals.col(i) /= length[i];
        limit[i] /= length[i];
        continue;
      }
      const bool zero = rows.length[equal + i] == 0;
      if (!zero && limit[i] > rounding) return equal + i;
      if (!zero && limit[i] >= -rounding) result.dependent.push_back(equal + i);
      length[i] = 0;
      normals.col(i).setZero();
      limit[i] = -1; // open for good
    }
    return -1;
  }
  void report(const Subspace& subspace, const DualActiveSet& method) {
    const Eigen::VectorXd y = subspace.origin + subspace.basis * method.point();
    result.v = metric.matrixU().solve(y);
    Eigen::VectorXd force = y - y0;
    for (std::size_t k = 0; k < method.active.size(); ++k) {
      const int row = equal + method.active[k];
      const double unit = method.multiplier[k] / length[method.active[k]];
      result.active.push_back(row);
      result.lambda[row] = unit / rows.length[row];
      force -= unit * rows.normals.col(row);
    }
    if (equal > 0) {
      const Eigen::VectorXd unit = rows.normals.leftCols(equal).completeOrthogonalDecomposition().solve(force);
      for (int i = 0; i < equal; ++i) result.lambda[i] = rows.length[i] > 0 ? unit[i] / rows.length[i] : 0.0;
    }
    Eigen::VectorXd coefficients;
    for (int i = 0; i < int(length.size()); ++i)
      if (length[i] > 0 && method.isTight(i) && !method.holds(i) && method.remainder(i, coefficients).norm() <= dependence)
        result.dependent.push_back(equal + i);
    std::sort(result.active.begin(), result.active.end());
    std::sort(result.dependent.begin(), result.dependent.end());
  }

  const QuadraticProgram& program;
  const Eigen::LLT<Eigen::MatrixXd> metric;
  const Rows rows;
  const int equal;
  Eigen::VectorXd y0;
  Eigen::MatrixXd normals; ///< of inequalities, in the subspace
  Eigen::VectorXd limit, length;
  ProximalPoint result;
};

}

LcpResult solveLcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, int maxPivots) {
  const Eigen::Index n = q.size();
  if (M.rows() != n || M.cols() != n) throw std::invalid_argument("linear complementarity problem: the sizes of M and q do not fit");
  if (!M.allFinite() || !q.allFinite()) throw std::invalid_argument("linear complementarity problem: an entry is not finite");
  LcpResult result{PivotStatus::Solved, Eigen::VectorXd::Zero(n), q, 0, 0, {}};
  if (n == 0 || q.minCoeff() >= 0) return result;
  const Eigen::VectorXd s = scaling(M).cwiseInverse();
  const Eigen::MatrixXd scaled = s.asDiagonal() * M * s.asDiagonal();
  const double size = s.cwiseProduct(q).lpNorm<Eigen::Infinity>();
  const Eigen::VectorXd load = s.cwiseProduct(q) / size;
  const LemkePath path = followPath(scaled, load, maxPivots > 0 ? maxPivots : 50 * int(n) + 100);
  result.status = path.status;
  result.pivots = path.pivots;
  const Eigen::VectorXd z = solveBasis(scaled, load, path.basic);
  result.residual = z.cwiseMin(scaled * z + load).lpNorm<Eigen::Infinity>();
  result.z = size * s.cwiseProduct(z);
  result.w = M * result.z + q;
  if (path.status == PivotStatus::Infeasible)
    result.message =
        fmt::format("Lemke's path ended on a ray after {} pivots; if M is positive semidefinite, no solution exists", path.pivots);
  if (path.status == PivotStatus::PivotLimit) result.message = fmt::format("Lemke's method has not ended after {} pivots", path.pivots);
  return result;
}

ProximalPoint solveProximal(const QuadraticProgram& program, int maxPivots) {
  checkProgram(program);
  return Projection(program).solve(maxPivots > 0 ? maxPivots : 50 * int(program.b.size()) + 100);
}

}
