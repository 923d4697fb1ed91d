#include "tendril/solvers/p_matrix.h"

#include "tendril/solvers/lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <stdexcept>

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <fmt/format.h>

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Eigen::Index fewRows = 14; ///< all sets are looked at: cheaper than bounds
constexpr double dependent = 1e-12;  ///< columns of unit length: relative pivot of a piece that counts as singular

void checkSquare(const MatrixXd& M, const char* what) {
  if (M.rows() != M.cols()) throw std::invalid_argument(fmt::format("{}: the matrix is {} x {}, not square", what, M.rows(), M.cols()));
  if (!M.allFinite()) throw std::invalid_argument(fmt::format("{}: an entry is not finite", what));
}

void checkSize(Eigen::Index rows, const char* what) {
  if (rows > maxEnumeratedRows)
    throw std::invalid_argument(
        fmt::format("{}: {} rows are too many to look through all subsets, at most {}", what, rows, maxEnumeratedRows));
}

// ---- P-matrices ------------------------------------------------------------------------------------------------------------------------

/// The recursion of Tsatsomeros & Li. `taken` are the rows that the Schur complement was taken of, `rest` those of A.
class MinorSearch {
 public:
  explicit MinorSearch(double tolerance) { report.tolerance = tolerance, report.smallestPivot = infinity; }

  bool visit(const MatrixXd& A, std::vector<int>& taken, std::vector<int> rest) {
    if (rest.empty()) return true;
    const int row = rest.front();
    const double pivot = A(0, 0);
    report.smallestPivot = std::min(report.smallestPivot, pivot);
    taken.push_back(row);
    if (!(pivot > report.tolerance)) {
      report.isP = false;
      report.witness = taken;
      std::sort(report.witness.begin(), report.witness.end());
      return false;
    }
    rest.erase(rest.begin());
    const Eigen::Index n = A.rows() - 1;
    const MatrixXd block = A.bottomRightCorner(n, n);
    const MatrixXd schur = block - A.bottomLeftCorner(n, 1) * A.topRightCorner(1, n) / pivot;
    const bool isWith = visit(schur, taken, rest);
    taken.pop_back();
    return isWith && visit(block, taken, rest);
  }

  PMatrixReport report;
};

// ---- beta_2 ----------------------------------------------------------------------------------------------------------------------------

double largestSingularValue(const MatrixXd& A) { return A.size() ? Eigen::JacobiSVD<MatrixXd>(A).singularValues()[0] : 0; }

/// A box of corners: coordinates are 0, 1 or free.
struct Box {
  std::vector<signed char> side; ///< 0, 1, or -1 where free
  double upper = infinity;

  bool operator<(const Box& other) const { return upper < other.upper; }
};

class RadiusSearch {
 public:
  RadiusSearch(const MatrixXd& M, double tolerance) : M_(M), K_(M - MatrixXd::Identity(M.rows(), M.cols())), tolerance_(tolerance) {}

  PMatrixRadius tryAllSets() {
    const int n = int(M_.rows());
    for (int set = 1; set < 1 << n; ++set) {
      Box corner{std::vector<signed char>(std::size_t(n), 0), 0};
      for (int i = 0; i < n; ++i) corner.side[std::size_t(i)] = set >> i & 1;
      takeCorner(corner);
      ++report_.nodes;
    }
    report_.upper = report_.lower;
    return report_;
  }

  PMatrixRadius branchAndBound(long maxNodes) {
    Box whole{std::vector<signed char>(std::size_t(M_.rows()), -1), infinity};
    visit(whole);
    boxes_.push(whole);
    while (!boxes_.empty() && boxes_.top().upper > threshold() && report_.nodes < maxNodes && std::isfinite(report_.lower)) split();
    const double rest = boxes_.empty() ? 0 : boxes_.top().upper;
    report_.isCertified = !(rest > threshold());
    report_.upper = std::isfinite(report_.lower) ? (report_.isCertified ? threshold() : rest) : infinity;
    return report_;
  }

 private:
  double threshold() const { return report_.lower * (1 + tolerance_); }

  void split() {
    const Box box = boxes_.top();
    boxes_.pop();
    const auto free = std::find(box.side.begin(), box.side.end(), -1);
    const std::size_t i = std::size_t(free - box.side.begin());
    for (const signed char side : {1, 0}) {
      Box half = box;
      half.side[i] = side;
      visit(half);
      if (std::find(half.side.begin(), half.side.end(), -1) != half.side.end() && half.upper > threshold()) boxes_.push(half);
    }
  }

  /// Takes the value at the corner that has all free coordinates at 1, and bounds the box.
  void visit(Box& box) {
    ++report_.nodes;
    takeCorner(box);
    const Eigen::Index n = M_.rows();
    VectorXd d(n), e(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const signed char side = box.side[std::size_t(i)];
      d[i] = side < 0 ? 0.5 : side;
      e[i] = side < 0 ? std::sqrt(0.5) : 0;
    }
    const MatrixXd left = MatrixXd::Identity(n, n) + d.asDiagonal() * K_;
    const Eigen::PartialPivLU<MatrixXd> lu(left);
    const MatrixXd S = lu.inverse();
    if (!S.allFinite()) return;
    const MatrixXd centre = S * d.asDiagonal();
    const MatrixXd R = MatrixXd::Identity(n, n) - K_ * centre;
    const double contraction = largestSingularValue(e.asDiagonal() * K_ * S * e.asDiagonal());
    if (!(contraction < 1)) return;
    const double spread = largestSingularValue(S * e.asDiagonal()) * largestSingularValue(e.asDiagonal() * R) / (1 - contraction);
    box.upper = std::min(box.upper, largestSingularValue(centre) + spread);
  }

  void takeCorner(const Box& box) {
    std::vector<int> set;
    for (std::size_t i = 0; i < box.side.size(); ++i) {
      if (box.side[i] != 0) set.push_back(int(i));
    }
    if (set.empty()) return;
    const MatrixXd part = M_(set, set);
    const double smallest = Eigen::JacobiSVD<MatrixXd>(part).singularValues().tail(1)[0];
    const double value = smallest > 0 ? 1 / smallest : infinity;
    if (value > report_.lower) report_.lower = value, report_.worst = set;
  }

  const MatrixXd& M_;
  const MatrixXd K_;
  const double tolerance_;
  std::priority_queue<Box> boxes_;
  PMatrixRadius report_;
};

// ---- horizontal problems ---------------------------------------------------------------------------------------------------------------

void checkProblem(const HorizontalLcp& problem, const char* what) {
  checkSquare(problem.P, what);
  checkSquare(problem.N, what);
  if (problem.P.rows() != problem.size() || problem.N.rows() != problem.size() || !problem.q.allFinite())
    throw std::invalid_argument(fmt::format("{}: the sizes of P, N and q do not fit, or q is not finite", what));
  checkSize(problem.size(), what);
}

/// Solves C y + q = 0, y >= 0, for the columns of one piece, which are of unit length.
class Piece {
 public:
  Piece(const MatrixXd& C, const VectorXd& q, double tolerance) : qr_(C) {
    qr_.setThreshold(dependent);
    y = qr_.solve(-q);
    isSingular = qr_.rank() < C.cols();
    isSolved = isSingular ? findFeasible(C, q, tolerance) : (y.array() >= -tolerance).all();
  }

  VectorXd y;
  bool isSingular = false, isSolved = false;

 private:
  /// The shortest solution; the equations must agree and the polyhedron not be empty.
  bool findFeasible(const MatrixXd& C, const VectorXd& q, double tolerance) {
    if ((C * y + q).lpNorm<Eigen::Infinity>() > tolerance) return false;
    const Eigen::Index n = C.cols();
    QuadraticProgram program{MatrixXd::Identity(n, n), VectorXd::Zero(n), MatrixXd(2 * n, n), VectorXd::Zero(2 * n), int(n)};
    program.N << qr_.matrixQR().topRows(n).triangularView<Eigen::Upper>().toDenseMatrix() * qr_.colsPermutation().inverse(),
        MatrixXd::Identity(n, n);
    VectorXd rest = -(qr_.householderQ().transpose() * q);
    for (Eigen::Index i = qr_.rank(); i < n; ++i) program.N.row(i).setZero(), rest[i] = 0;
    program.b.head(n) = rest;
    const ProximalPoint point = solveProximal(program);
    if (point.status != PivotStatus::Solved) return false;
    y = point.v;
    return (y.array() >= -tolerance).all();
  }

  Eigen::ColPivHouseholderQR<MatrixXd> qr_;
};

}

PMatrixReport testPMatrix(const MatrixXd& M, double tolerance) {
  checkSquare(M, "P-matrix test");
  checkSize(M.rows(), "P-matrix test");
  const Eigen::Index n = M.rows();
  VectorXd s(n);
  for (Eigen::Index i = 0; i < n; ++i) s[i] = M(i, i) > 0 ? 1 / std::sqrt(M(i, i)) : 1;
  MinorSearch search(tolerance);
  std::vector<int> taken, rest;
  for (int i = 0; i < int(n); ++i) rest.push_back(i);
  search.visit(s.asDiagonal() * M * s.asDiagonal(), taken, rest);
  return search.report;
}

PMatrixRadius radiusOfPMatrix(const MatrixXd& M, double relativeTolerance, long maxNodes) {
  checkSquare(M, "radius of a P-matrix");
  if (M.rows() == 0) return {};
  RadiusSearch search(M, relativeTolerance);
  return M.rows() <= fewRows ? search.tryAllSets() : search.branchAndBound(maxNodes);
}

PMatrixReport testUniqueSolvability(const HorizontalLcp& problem, double tolerance) {
  checkProblem(problem, "unique solvability");
  const Eigen::FullPivLU<MatrixXd> lu(problem.P);
  if (problem.size() > 0 && !(std::abs(lu.matrixLU().diagonal().cwiseAbs().minCoeff()) > tolerance * lu.maxPivot())) {
    PMatrixReport report{false, {}, 0, tolerance};
    for (int i = 0; i < problem.size(); ++i) report.witness.push_back(i);
    return report;
  }
  return testPMatrix(lu.solve(problem.N), tolerance);
}

LcpSolutions enumerateSolutions(const HorizontalLcp& problem, double tolerance) {
  checkProblem(problem, "enumeration");
  const int n = problem.size();
  if (n == 0) return {{VectorXd()}, false};
  const auto unit = [](const MatrixXd& A, int i) {
    const double length = A.col(i).lpNorm<Eigen::Infinity>(); // squares of large numbers overflow
    return length > 0 ? length : 1.0;
  };
  // Columns and a load of unit size: then all y are of one size.
  const double size = n > 0 ? problem.q.lpNorm<Eigen::Infinity>() : 0;
  const VectorXd q = size > 0 ? VectorXd(problem.q / size) : problem.q;
  LcpSolutions result;
  MatrixXd C(n, n);
  VectorXd length(n);
  std::vector<VectorXd> scaled; // columns alike for either sign, so that solutions can be compared
  for (int piece = 0; piece < 1 << n; ++piece) {
    for (int i = 0; i < n; ++i) {
      const bool isPlus = piece >> i & 1;
      const MatrixXd& source = isPlus ? problem.P : problem.N;
      length[i] = (isPlus ? 1 : -1) * unit(source, i);
      C.col(i) = source.col(i) / length[i];
    }
    const Piece solved(C, q, tolerance);
    if (!solved.isSolved) continue;
    result.isContinuum = result.isContinuum || solved.isSingular;
    VectorXd y = solved.y.cwiseMax(0);
    for (int i = 0; i < n; ++i) y[i] = std::copysign(y[i], length[i]);
    const double largest = n > 0 ? y.lpNorm<Eigen::Infinity>() : 0;
    const bool isKnown = std::any_of(scaled.begin(), scaled.end(), [&](const VectorXd& other) {
      return (other - y).lpNorm<Eigen::Infinity>() <= 10 * tolerance * std::max(1.0, largest);
    });
    if (isKnown) continue;
    scaled.push_back(y);
    result.x.push_back(size > 0 ? VectorXd(size * y.cwiseQuotient(length.cwiseAbs())) : y);
  }
  return result;
}

}
