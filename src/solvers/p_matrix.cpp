#include "tendril/solvers/p_matrix.h"

#include "tendril/solvers/lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
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

double largestEntry(const Eigen::Ref<const VectorXd>& x) { return x.lpNorm<Eigen::Infinity>(); } // squares of large numbers overflow

/// The matrix C of one piece, its columns brought to unit length: bit i of `number` takes column i from P, otherwise -N_i.
class Piece {
 public:
  Piece(const HorizontalLcp& problem, int number) : number_(number), C_(problem.size(), problem.size()), length_(problem.size()) {
    for (int i = 0; i < problem.size(); ++i) {
      const auto column = (isPositive(i) ? problem.P : problem.N).col(i);
      const double length = largestEntry(column);
      length_[i] = (isPositive(i) ? 1 : -1) * (length > 0 ? length : 1.0);
      C_.col(i) = column / length_[i];
    }
    qr_.setThreshold(dependentColumns);
    qr_.compute(C_);
  }

  /// Of x_i per unit of y_i, with its sign.
  double length(int i) const { return length_[i]; }
  bool isPositive(int i) const { return number_ >> i & 1; }
  bool isSingular() const { return qr_.rank() < C_.cols(); }
  double smallestPivot() const { return C_.size() ? qr_.matrixQR().diagonal().cwiseAbs().minCoeff() : 1; }

  /// Sign of the determinant of the columns of P and N, 0 if it is singular.
  int orientation() const {
    if (isSingular()) return 0;
    // C = Q R Pi^-1, Q a product of reflections.
    int sign = int(qr_.colsPermutation().determinant());
    for (Eigen::Index i = 0; i < C_.cols(); ++i) {
      if ((qr_.matrixQR()(i, i) < 0) != (length_[i] < 0)) sign = -sign;
      if (qr_.hCoeffs()[i] != 0) sign = -sign;
    }
    return sign;
  }

  /// C y + q = 0, y >= 0, if there is such a y; of several the shortest.
  std::optional<VectorXd> solve(const VectorXd& q, double tolerance) const {
    const std::optional<VectorXd> y = isSingular() ? shortest(q, tolerance) : VectorXd(qr_.solve(-q));
    return y && (y->array() >= -tolerance).all() ? y : std::nullopt;
  }

 private:
  /// The equations must agree and the polyhedron not be empty.
  std::optional<VectorXd> shortest(const VectorXd& q, double tolerance) const {
    const Eigen::Index n = C_.cols(), rank = qr_.rank();
    VectorXd rest = -(qr_.householderQ().transpose() * q);
    if (largestEntry(rest.tail(n - rank)) > tolerance) return {};
    QuadraticProgram program{MatrixXd::Identity(n, n), VectorXd::Zero(n), MatrixXd(2 * n, n), VectorXd::Zero(2 * n), int(n)};
    program.N << qr_.matrixQR().triangularView<Eigen::Upper>().toDenseMatrix() * qr_.colsPermutation().inverse(), MatrixXd::Identity(n, n);
    program.N.middleRows(rank, n - rank).setZero();
    program.b.head(rank) = rest.head(rank);
    const ProximalPoint point = solveProximal(program);
    return point.status == PivotStatus::Solved ? std::optional(point.v) : std::nullopt;
  }

  int number_;
  MatrixXd C_;
  VectorXd length_;
  Eigen::ColPivHouseholderQR<MatrixXd> qr_;
};

/// Compares the orientations of pieces, the first of which has all columns from N.
class OrientationTest {
 public:
  OrientationTest() { report.tolerance = dependentColumns, report.smallestPivot = infinity; }

  void take(const Piece& piece, int size) {
    report.smallestPivot = std::min(report.smallestPivot, piece.smallestPivot());
    const int orientation = piece.orientation();
    if (first_ == 0) first_ = orientation;
    if (!report.isP || (orientation != 0 && orientation == first_)) return;
    report.isP = false;
    for (int i = 0; i < size; ++i) {
      if (piece.isPositive(i)) report.witness.push_back(i);
    }
  }

  PMatrixReport report;

 private:
  int first_ = 0;
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

PMatrixReport testUniqueSolvability(const HorizontalLcp& problem) {
  checkProblem(problem, "unique solvability");
  if (problem.size() == 0) return {};
  OrientationTest test;
  for (int piece = 0; piece < 1 << problem.size() && test.report.isP; ++piece) test.take(Piece(problem, piece), problem.size());
  return test.report;
}

LcpSolutions enumerateSolutions(const HorizontalLcp& problem, double tolerance) {
  checkProblem(problem, "enumeration");
  const int n = problem.size();
  if (n == 0) return {{VectorXd()}, false};
  // Columns and a load of unit size: then all y are of one size.
  const double size = largestEntry(problem.q);
  const VectorXd q = size > 0 ? VectorXd(problem.q / size) : problem.q;
  LcpSolutions result;
  OrientationTest test;
  std::vector<VectorXd> scaled; // columns alike for either sign, so that solutions can be compared
  for (int number = 0; number < 1 << n; ++number) {
    const Piece piece(problem, number);
    test.take(piece, n);
    const std::optional<VectorXd> solved = piece.solve(q, tolerance);
    if (!solved) continue;
    result.isContinuum = result.isContinuum || piece.isSingular();
    VectorXd y = solved->cwiseMax(0), x(n);
    for (int i = 0; i < n; ++i) {
      y[i] = std::copysign(y[i], piece.length(i));
      x[i] = size * y[i] / std::abs(piece.length(i));
    }
    const double largest = largestEntry(y);
    const bool isKnown = std::any_of(scaled.begin(), scaled.end(), [&](const VectorXd& other) {
      return largestEntry(other - y) <= 10 * tolerance * std::max(1.0, largest);
    });
    if (isKnown) continue;
    scaled.push_back(y);
    result.x.push_back(x);
  }
  result.uniqueness = test.report;
  return result;
}

}
