#include "tendril/analysis/friction_bound.h"

#include "analysis/pick.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace tendril {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double dependent = 1e-12; ///< sigma_min over sigma_max of A: contacts that depend on each other
/// Imaginary part of an eigenvalue that still counts as real: a double root in rounding. Errs to the safe side.
constexpr double nearlyReal = 1e-6;

double norm(const MatrixX& A) { return A.size() ? Eigen::JacobiSVD<MatrixX>(A).singularValues()[0] : 0; }
double reciprocal(double x) { return x > 0 ? 1 / x : infinity; }

/// Smallest singular value of A; 0 if contacts depend on each other.
double independence(const MatrixX& A) {
  if (A.size() == 0) return 0;
  const VectorX sigma = Eigen::JacobiSVD<MatrixX>(A).singularValues();
  const double smallest = sigma[sigma.size() - 1];
  return smallest > dependent * sigma[0] ? smallest : 0;
}

enum class Kind { Bilateral, Unilateral, Mixed };
Kind kindOf(const SlidingProblem& p) {
  const auto bilateral = std::count_if(p.isBilateral.begin(), p.isBilateral.end(), [](char b) { return b != 0; });
  if (bilateral == 0) return Kind::Unilateral;
  return bilateral == p.contacts() ? Kind::Bilateral : Kind::Mixed;
}

/// Largest positive real eigenvalue of a matrix, 0 if there is none.
double largestPositive(const MatrixX& A) {
  double largest = 0;
  for (const std::complex<double> value : A.eigenvalues()) {
    if (value.real() > 0 && std::abs(value.imag()) <= nearlyReal * std::abs(value)) largest = std::max(largest, value.real());
  }
  return largest;
}

/// The same problem with mu = direction.
SlidingProblem along(const SlidingProblem& problem, const VectorX& direction) {
  SlidingProblem turned = problem;
  turned.friction = direction.size() ? direction : VectorX::Ones(problem.contacts());
  if (turned.friction.size() != problem.w.size())
    throw std::invalid_argument("friction bound: the direction has another size than the contacts");
  if (!turned.friction.allFinite() || (turned.friction.array() < 0).any())
    throw std::invalid_argument("friction bound: the direction has an entry that is negative or not finite");
  return turned;
}

// ---- mixed contacts --------------------------------------------------------------------------------------------------------------------

/// M(t) = B(t)^-1 R(t) with B and R linear in t, followed from t = 0 in steps that are certain not to pass the first t with
/// |M(t) - M(0)| = radius: for 0 <= h' <= h
///
///     |M(t + h') - M(t)| <= h |B^-1 (R' - B' M)| / (1 - h |B^-1 B'|).
class MixedPath {
 public:
  explicit MixedPath(SlidingProblem problem) : problem_(std::move(problem)), rate_(problem_.friction) {
    const Eigen::Index m = problem_.w.size();
    const MatrixX F = problem_.T * rate_.asDiagonal();
    B1_ = MatrixX::Zero(m, m);
    R1_ = -F;
    for (Eigen::Index i = 0; i < m; ++i) {
      if (problem_.isBilateral[std::size_t(i)]) B1_.col(i) = F.col(i);
    }
  }

  double firstTouch(double radius) {
    const MatrixX M0 = form(0).M;
    double t = 0;
    for (int step = 0; step < 10000; ++step) {
      const StandardForm at = form(t);
      if (!at.isDefined) return t;
      const double left = radius - norm(at.M - M0);
      if (!(left > 1e-12 * radius)) return t;
      const MatrixX inverse = solvedFor(t).inverse();
      const double slope = norm(inverse * (R1_ - B1_ * at.M)), turn = norm(inverse * B1_);
      const double h = left / (slope + left * turn);
      if (!std::isfinite(h) || t > 1e12 * h) return std::isfinite(h) ? t : infinity;
      t += h * (1 - 1e-12);
    }
    return t;
  }

 private:
  StandardForm form(double t) {
    problem_.friction = t * rate_;
    return standardForm(problem_);
  }
  /// B(t): the columns of what the standard form is solved for.
  MatrixX solvedFor(double t) const {
    const Eigen::Index m = problem_.w.size();
    MatrixX B = t * B1_;
    for (Eigen::Index i = 0; i < m; ++i) {
      if (problem_.isBilateral[std::size_t(i)])
        B.col(i) -= problem_.A.col(i);
      else
        B(i, i) += 1 / problem_.mass;
    }
    return B;
  }

  SlidingProblem problem_;
  const VectorX rate_;
  MatrixX B1_, R1_;
};

/// A node of the search costs the cube of the contacts: it stops after a second or so, and is then not certified.
PMatrixRadius radiusWithoutFriction(SlidingProblem problem) {
  constexpr double most = 1e7;
  problem.friction.setZero();
  return radiusOfPMatrix(standardForm(problem).M, 1e-10, long(std::ceil(most / std::pow(problem.contacts(), 3))));
}

void boundMixed(const SlidingProblem& problem, const PMatrixRadius& beta2, FrictionBound& bound) {
  bound.beta2 = beta2;
  if (!std::isfinite(bound.beta2->upper)) return;
  bound.norm = MixedPath(problem).firstTouch(1 / bound.beta2->upper);
  bound.sharp = bound.norm;
}

// ---- contacts of one kind --------------------------------------------------------------------------------------------------------------

void boundAlike(const SlidingProblem& problem, Kind kind, double smallest, FrictionBound& bound) {
  const MatrixX F = problem.T * problem.friction.asDiagonal();
  bound.norm = smallest * reciprocal(norm(F));
  const Eigen::LLT<MatrixX> factor(problem.A);
  if (kind == Kind::Unilateral) {
    const MatrixX left = factor.matrixL().solve(F);
    const MatrixX both = factor.matrixL().solve(left.transpose());
    bound.sharp = reciprocal(
        Eigen::SelfAdjointEigenSolver<MatrixX>(0.5 * (both + both.transpose()), Eigen::EigenvaluesOnly).eigenvalues().maxCoeff());
  } else {
    bound.sharp = reciprocal(factor.solve(F).cwiseAbs().eigenvalues().cwiseAbs().maxCoeff());
  }
  bound.sharp = std::max(bound.sharp, bound.norm);
}

/// Over all pieces, the smallest t > 0 at which A - t F, restricted to the contacts that are closed and with the signs of the bilateral
/// forces, becomes singular.
double exactBound(const SlidingProblem& problem) {
  const int m = problem.contacts();
  double largest = 0;
  for (int piece = 0; piece < 1 << m; ++piece) {
    std::vector<int> closed;
    VectorX signedFriction = problem.friction;
    for (int i = 0; i < m; ++i) {
      const bool isPlus = piece >> i & 1;
      if (isPlus || problem.isBilateral[std::size_t(i)]) closed.push_back(i);
      if (!isPlus) signedFriction[i] *= -1;
    }
    if (closed.empty()) continue;
    const MatrixX F = problem.T * signedFriction.asDiagonal();
    const MatrixX A = pickSquare(problem.A, closed), part = pickSquare(F, closed);
    largest = std::max(largest, largestPositive(A.ldlt().solve(part)));
  }
  return reciprocal(largest);
}

}

double FrictionBound::best() const { return exact ? std::max(*exact, std::max(norm, sharp)) : std::max(norm, sharp); }

FrictionBound frictionBound(const SlidingProblem& problem, const VectorX& direction, const std::optional<PMatrixRadius>& beta2) {
  const SlidingProblem turned = along(problem, direction);
  FrictionBound bound;
  const bool isSmooth = turned.friction.isZero(0);
  const double smallest = independence(turned.A);
  if (!isSmooth && smallest == 0) return bound;
  if (isSmooth || (turned.T * turned.friction.asDiagonal()).isZero(0)) {
    bound.norm = bound.sharp = infinity;
    bound.exact = infinity;
    return bound;
  }
  const Kind kind = kindOf(turned);
  if (kind == Kind::Mixed)
    boundMixed(turned, beta2 ? *beta2 : radiusWithoutFriction(turned), bound);
  else
    boundAlike(turned, kind, smallest, bound);
  if (turned.contacts() <= maxExactContacts) bound.exact = exactBound(turned);
  return bound;
}

VectorX boundsOfSingleContacts(const SlidingProblem& problem, const std::optional<PMatrixRadius>& known) {
  const int m = problem.contacts();
  VectorX bounds(m);
  const double smallest = independence(problem.A);
  if (smallest == 0) {
    for (int i = 0; i < m; ++i)
      bounds[i] =
          problem.A(i, i) * reciprocal(std::max(0.0, problem.isBilateral[std::size_t(i)] ? std::abs(problem.T(i, i)) : problem.T(i, i)));
    return bounds;
  }
  const Kind kind = kindOf(problem);
  const bool isSmall = m <= maxExactContacts;
  const bool needsBeta2 = kind == Kind::Mixed && !isSmall;
  const PMatrixRadius beta2 = !needsBeta2 ? PMatrixRadius{} : known ? *known : radiusWithoutFriction(problem);
  for (int i = 0; i < m; ++i) {
    const SlidingProblem single = along(problem, VectorX::Unit(m, i));
    FrictionBound bound;
    if (isSmall)
      bound.exact = exactBound(single);
    else if (kind == Kind::Mixed)
      boundMixed(single, beta2, bound);
    else
      boundAlike(single, kind, smallest, bound);
    bounds[i] = bound.best();
  }
  return bounds;
}

FrictionMargin frictionMargin(const SlidingProblem& problem, const std::optional<PMatrixRadius>& beta2) {
  FrictionMargin margin;
  const FrictionBound bound = frictionBound(problem, problem.friction, beta2);
  margin.factor = bound.best();
  margin.bounds = boundsOfSingleContacts(problem, bound.beta2);
  margin.solutions = solveSliding(problem);
  margin.verdict = margin.solutions.verdict();
  if (!margin.solutions.isComplete && margin.isCertified()) margin.verdict = Verdict::Certified;
  int nearest = -1;
  double least = infinity;
  for (int i = 0; i < problem.contacts(); ++i) {
    if (!(problem.friction[i] > 0)) continue;
    const double ratio = margin.bounds[i] / problem.friction[i];
    if (ratio <= 1 + dependentColumns) margin.endangered.push_back(i);
    if (ratio < least) least = ratio, nearest = i;
  }
  if (margin.endangered.empty() && margin.factor > 0 && !margin.isCertified() && nearest >= 0) margin.endangered.push_back(nearest);
  return margin;
}

}
