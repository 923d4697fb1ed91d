#include "tendril/analysis/sliding_problem.h"

#include "tendril/solvers/lcp.h"

#include <stdexcept>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace tendril {
namespace {

constexpr double singular = 1e-13; ///< relative pivot

void checkSizes(const SlidingProblem& p) {
  const Eigen::Index m = p.w.size();
  if (p.A.rows() != m || p.A.cols() != m || p.T.rows() != m || p.T.cols() != m || p.friction.size() != m ||
      Eigen::Index(p.isBilateral.size()) != m)
    throw std::invalid_argument("sliding problem: the sizes of A, T, w and the contacts do not fit");
  if ((p.friction.array() < 0).any()) throw std::invalid_argument("sliding problem: a coefficient of friction is negative");
}

/// What Lemke's method finds, if anything.
void followPath(const SlidingProblem& problem, SlidingSolutions& result) {
  const StandardForm form = standardForm(problem);
  result.isComplete = false;
  if (!form.isDefined) return;
  const LcpResult path = solveLcp(form.M, form.q);
  if (path.status != PivotStatus::Solved) return;
  VectorX lambda = path.z;
  for (int i = 0; i < problem.contacts(); ++i) {
    if (problem.isBilateral[std::size_t(i)]) lambda[i] = path.w[i] - path.z[i];
  }
  result.lambda.push_back(lambda);
}

}

HorizontalLcp horizontalForm(const SlidingProblem& problem) {
  checkSizes(problem);
  const MatrixX friction = problem.T * problem.friction.asDiagonal();
  HorizontalLcp form{problem.A - friction, problem.A + friction, problem.w};
  for (int i = 0; i < problem.contacts(); ++i) {
    if (!problem.isBilateral[std::size_t(i)]) form.N.col(i) = VectorX::Unit(problem.contacts(), i);
  }
  return form;
}

StandardForm standardForm(const SlidingProblem& problem) {
  const HorizontalLcp form = horizontalForm(problem);
  MatrixX dependent = form.N / problem.mass, independent = form.P; // of lambda+ and m a_n; of z
  for (int i = 0; i < problem.contacts(); ++i) {
    if (problem.isBilateral[std::size_t(i)]) dependent.col(i) = -form.P.col(i), independent.col(i) = -form.N.col(i);
  }
  if (problem.contacts() == 0) return {true, {}, {}};
  const Eigen::FullPivLU<MatrixX> lu(dependent);
  if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > singular * lu.maxPivot())) return {false, {}, {}};
  return {true, lu.solve(independent), lu.solve(form.q)};
}

const char* toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Unique:
    return "exactly one solution";
  case Verdict::None:
    return "no solution";
  case Verdict::Multiple:
    return "several solutions";
  case Verdict::Certified:
    return "exactly one solution, proved by a friction bound";
  default:
    return "undecided";
  }
}

Verdict SlidingSolutions::verdict() const {
  if (!isComplete) return Verdict::Undecided;
  if (isContinuum || lambda.size() > 1) return Verdict::Multiple;
  return lambda.empty() ? Verdict::None : Verdict::Unique;
}

SlidingSolutions solveSliding(const SlidingProblem& problem) {
  SlidingSolutions result;
  if (problem.contacts() == 0) return {true, {VectorX(0)}, false, true};
  if (problem.contacts() > maxEnumeratedContacts) {
    followPath(problem, result);
    return result;
  }
  const LcpSolutions all = enumerateSolutions(horizontalForm(problem));
  result.isContinuum = all.isContinuum;
  result.isUniqueForEveryLoad = all.uniqueness.isP;
  for (VectorX x : all.x) {
    for (int i = 0; i < problem.contacts(); ++i) {
      if (!problem.isBilateral[std::size_t(i)]) x[i] = std::max(0.0, x[i]);
    }
    result.lambda.push_back(x);
  }
  return result;
}

FixedPoint iterateBilateral(const SlidingProblem& problem, double tolerance, int maxIterations) {
  checkSizes(problem);
  for (const char isBilateral : problem.isBilateral) {
    if (!isBilateral) throw std::invalid_argument("the fixed point iteration is for bilateral contacts alone");
  }
  if (problem.contacts() == 0) return {true, 0, 0, VectorX()};
  const Eigen::LLT<MatrixX> factor(problem.A);
  if (factor.info() != Eigen::Success) throw std::invalid_argument("the fixed point iteration needs independent contacts");
  const MatrixX step = factor.solve(problem.T * problem.friction.asDiagonal());
  FixedPoint result{false, 0, Eigen::JacobiSVD<MatrixX>(step).singularValues().head(1).sum(), -factor.solve(problem.w)};
  const VectorX start = result.lambda;
  for (; result.iterations < maxIterations && !result.isConverged; ++result.iterations) {
    const VectorX next = start + step * result.lambda.cwiseAbs();
    result.isConverged = (next - result.lambda).norm() <= tolerance * (start.norm() + next.norm());
    result.lambda = next;
  }
  return result;
}

VectorX normalAccelerations(const SlidingProblem& problem, const VectorX& lambda) {
  return problem.A * lambda - problem.T * problem.friction.cwiseProduct(lambda.cwiseAbs()) + problem.w;
}

}
