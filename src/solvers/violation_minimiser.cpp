#include "solvers/violation_minimiser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tendril {

namespace {

constexpr double smallestDamping = 1e-12, largestDamping = 1e16;

double largestOf(const Eigen::VectorXd& v) { return v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0; }

}

ViolationMinimiser::ViolationMinimiser(ScaledProgram& program, ProgramKkt& kkt)
    : program_(program), kkt_(kkt), trial_(program.makeValues()), residual_(program.makeMultipliers()), trialResidual_(residual_),
      right_(kkt.makeResidual()), step_(kkt.makeStep()), point_(program.program().pointSize()), increment_(program.structure().variables()),
      gradient_(increment_), magnitude_(increment_), violated_(program.structure().inequalities()) {
  residual_.weight = 0;
}

/// The residuals of all rows; V of them.
double ViolationMinimiser::residuals(const ProgramValues& values, const Eigen::VectorXd& margin, ProgramMultipliers& r) const {
  r.equality = values.equality;
  r.inequality = values.inequality - values.inequality.cwiseMax(program_.lower() + margin).cwiseMin(program_.upper() - margin);
  return 0.5 * (r.equality.squaredNorm() + r.inequality.squaredNorm());
}

bool ViolationMinimiser::tryIncrement(const Eigen::VectorXd& margin, double& V) {
  program_.program().setPoint(point_);
  increment_ *= program_.program().longestFactor(increment_);
  program_.program().retract(increment_);
  if (!program_.evaluate(trial_)) return false;
  V = residuals(trial_, margin, trialResidual_);
  return std::isfinite(V);
}

/// Raises the damping until the matrix is that of a minimum.
bool ViolationMinimiser::factorise(const ProgramDerivatives& derivatives) {
  violated_ = (residual_.inequality.array() != 0).cast<double>();
  kkt_.assemble(derivatives, &derivatives.hessian, violated_);
  for (; damping_ <= largestDamping; damping_ *= 10)
    if (kkt_.factorise(damping_, 1) && kkt_.convexOnConstraints()) return true;
  return false;
}

/// One step that reduces V by enough.
bool ViolationMinimiser::descend(ProgramValues& values, const Eigen::VectorXd& margin) {
  right_.x.setZero();
  right_.s.setZero();
  right_.c = residual_.equality;
  right_.d = residual_.inequality;
  kkt_.solve(right_, step_);
  increment_ = step_.x;
  const double slope = gradient_.dot(step_.x);
  double V = 0;
  if (!step_.x.allFinite() || !(slope < 0) || !tryIncrement(margin, V)) {
    damping_ = std::max(10 * damping_, 1e-6);
    return false;
  }
  // The quadratic model falls by half the slope along its own step, and by more the stronger the damping.
  const double gain = (V_ - V) / (-0.5 * slope);
  if (!(gain > 1e-4)) {
    damping_ = std::max(10 * damping_, 1e-6);
    return false;
  }
  if (gain > 0.75) damping_ = std::max(smallestDamping, damping_ / 10);
  if (gain < 0.25) damping_ *= 4;
  std::swap(values, trial_);
  return true;
}

/// From a point where V is stationary but curved downwards: a small step along a direction that was drawn by lot.
bool ViolationMinimiser::leaveSaddle(ProgramValues& values, const ProgramDerivatives& derivatives, const Eigen::VectorXd& margin) {
  violated_ = (residual_.inequality.array() != 0).cast<double>();
  kkt_.assemble(derivatives, &derivatives.hessian, violated_);
  kkt_.factorise(1e-8, 1);
  if (kkt_.convexOnConstraints()) return false;
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> value(-1, 1);
  for (double size = 1e-1; size >= 1e-4; size /= 10)
    for (int draw = 0; draw < 4; ++draw) {
      for (double& entry : increment_) entry = size * value(engine);
      double V = 0;
      if (!tryIncrement(margin, V) || !(V < V_)) continue;
      std::swap(values, trial_);
      return true;
    }
  return false;
}

ViolationMinimiser::End ViolationMinimiser::minimise(ProgramValues& values, ProgramDerivatives& derivatives, const Eigen::VectorXd& margin,
                                                     const Judge& judge) {
  damping_ = 1e-8;
  while (true) {
    V_ = residuals(values, margin, residual_);
    const Verdict verdict = judge(values, residual_.equality.lpNorm<1>() + residual_.inequality.lpNorm<1>());
    if (verdict == Verdict::Accept) return End::Reached;
    if (verdict == Verdict::Stop) return End::Stopped;
    program_.program().getPoint(point_);
    if (!program_.differentiate(&residual_, derivatives)) return End::Failed;
    gradient_.setZero();
    magnitude_.setZero();
    kkt_.addTransposed(derivatives, residual_, gradient_, magnitude_);

    const double worst = std::max(largestOf(residual_.equality), largestOf(residual_.inequality));
    if (largestOf(gradient_) <= 1e-9 * worst) {
      if (leaveSaddle(values, derivatives, margin)) continue;
      program_.program().setPoint(point_);
      return End::Minimum;
    }
    while (true) {
      if (!factorise(derivatives)) {
        program_.program().setPoint(point_);
        return End::Failed;
      }
      if (descend(values, margin)) break;
      // A step that rounding alone decides about: the violation cannot be made smaller.
      if (step_.x.allFinite() && std::abs(gradient_.dot(step_.x)) <= 1e-14 * V_) {
        program_.program().setPoint(point_);
        return End::Minimum;
      }
    }
  }
}

}
