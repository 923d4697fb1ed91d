#include "tendril/shells/patch_motion.h"

#include "shells/gauss_rule.h"
#include "shells/runge_kutta.h"
#include "tendril/model/error.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

namespace {

/// In the chart Cone steps are divided where |kappa| reach is below the first and kappa by its rate, or phi, changes by more than the
/// second in a step; and where phi turns by more than the third.
constexpr double bent = 0.6, largestShare = 0.001, largestTurn = 0.2;

/// |kappa| reach in the stages of a divided step that is given up.
constexpr double largestTrial = 10;

/// Share of the motion across a ray, against that along it, that counts as rounding.
constexpr double onRay = 1e-9;

}

// ---- equations -------------------------------------------------------------------------------------------------------------------------

PatchMotion::PatchMotion(const UniformPatch& patch, const PatchMotionOptions& options, const Vector3& q, const Vector3& rates)
    : patch_(patch), options_(options), gravity_(options.frame.transpose() * options.gravity), reach_(patch.properties().domain.reach()),
      q_(q), v_(rates), cone_(ConePoint::of(q)), closest_(std::abs(cone_.kappa)) {
  if (!(options_.step > 0)) throw InputError("shell: the step is not positive");
  if (const double defect = coneDefect(q); !(defect <= 1e-9))
    throw InputError(
        fmt::format("shell: no sheet that does not stretch has the initial curvatures ({:g}, {:g}, {:g}): q0 q1 - q2^2 = {:.6g} "
                    "1/m^2; give curvatures with q0 q1 = q2^2, or ask for the nearest ones",
                    q[0], q[1], q[2], gaussianCurvature(q)));
  const double rate = gaussianGradient(q).dot(rates), size = gaussianGradient(q).norm() * rates.norm();
  if (!(std::abs(rate) <= 1e-9 * size))
    throw InputError(
        fmt::format("shell: the initial rates leave the cone: d(q0 q1 - q2^2)/dt = {:.6g} 1/(m^2 s); give rates along it", rate));
  if (std::abs(cone_.kappa) * reach_ < options_.flat && options_.chart == PatchChart::Three)
    throw InputError(
        "shell: the start is flat, where the three curvatures have no equations; take the chart `cone`, and give its direction");
  if (cone_.kappa != 0)
    coneRates_ = cone_.tangent().colPivHouseholderQr().solve(rates);
  else
    startFlat(rates);
  checkStep();
}

/// At the apex the rates give the ray, which the motion must keep.
void PatchMotion::startFlat(const Vector3& rates) {
  if (!(coneDefect(rates) <= 1e-9))
    throw InputError("shell: the initial rates leave the cone at the flat state; give rates with q0' q1' = q2'^2");
  const ConePoint along = ConePoint::of(rates);
  cone_.phi = along.phi, coneRates_ << along.kappa, 0;
  air_ = airAt(options_.step / 2);
  if (!isOnRay())
    throw InputError(fmt::format("shell: the start is flat, where the direction in which it bends has no meaning, and nothing keeps it at "
                                 "phi = {:g} rad; give it some initial curvature, such as ({:.2g}, 0, 0) 1/m",
                                 cone_.phi, options_.nearFlat / reach_));
}

/// Frequencies at the start, and of the damping.
void PatchMotion::checkStep() const {
  const double h = options_.step;
  if (options_.chart == PatchChart::Three) {
    if (const double fastest = std::max(options_.alpha, options_.beta); h * fastest > 1)
      throw InputError(fmt::format("shell: Baumgarte's constants of {:g} 1/s are too large for steps of {:g} s; take at most {:.2g} 1/s",
                                   fastest, h, 0.5 / h));
  }
  // At the flat state kappa alone moves.
  const bool isFlat = std::abs(cone_.kappa) * reach_ < options_.nearFlat;
  const MatrixX T = cone_.tangent().leftCols(isFlat ? 1 : 2);
  const Matrix3 K = patch_.properties().domain.area() * patch_.properties().stiffness();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX> modes(T.transpose() * K * T, T.transpose() * patch_.mass(q_) * T,
                                                                Eigen::EigenvaluesOnly);
  const double square = modes.eigenvalues().maxCoeff();
  checkStableStep("shell", h, std::max(std::sqrt(std::max(square, 0.0)), patch_.properties().dampingTime * square));
}

Vector3 PatchMotion::accelerationThree(const Vector3& q, const Vector3& v) const {
  UniformPatch::Dynamics d;
  patch_.evaluate(q, v, gravity_, air_, d);
  const Vector3 force = patch_.elasticForce(q, v) - d.force, J = gaussianGradient(q);
  const double wanted =
      -2 * (v[0] * v[1] - v[2] * v[2]) - 2 * options_.alpha * J.dot(v) - options_.beta * options_.beta * gaussianCurvature(q);
  // By the adjugate of M, whose rows are cross products of its columns.
  Matrix3 adjugate;
  adjugate << d.M.col(1).cross(d.M.col(2)), d.M.col(2).cross(d.M.col(0)), d.M.col(0).cross(d.M.col(1));
  const double determinant = d.M.col(0).dot(adjugate.col(0)), inverse = 1 / determinant;
  const Vector3 free = adjugate * force, across = adjugate * J;
  return inverse * (free + (wanted * determinant - J.dot(free)) / J.dot(across) * across);
}

Vector2 PatchMotion::accelerationCone(const Vector2& y, const Vector2& rates) const {
  const ConePoint at{y[0], y[1]};
  UniformPatch::ConeDynamics d;
  patch_.evaluate(at, rates, gravity_, air_, d);
  return d.M.inverse() * (d.elastic - d.force);
}

// ---- steps -----------------------------------------------------------------------------------------------------------------------------

UniformPatch::Air PatchMotion::airAt(double t) const {
  if (!(options_.air.density > 0)) return {};
  return {options_.air.density, options_.air.gusts(t).value * (options_.frame.transpose() * options_.air.wind)};
}

void PatchMotion::advance() {
  air_ = airAt(t_ + options_.step / 2);
  if (options_.chart == PatchChart::Three)
    advanceThree();
  else
    advanceCone();
  closest_ = std::min(closest_, std::abs(cone_.kappa));
  ++step_;
  t_ = double(step_) * options_.step;
  if (!(q_.allFinite() && v_.allFinite()))
    throw NumericalFailure(fmt::format("shell: the motion is not finite in step {}, at t = {:g} s; take smaller steps", step_, t_));
}

void PatchMotion::advanceThree() {
  const Vector3 before = q_;
  rungeKuttaStep(q_, v_, options_.step, [this](const Vector3& q, const Vector3& v) { return accelerationThree(q, v); });
  const double trace = q_[0] + q_[1], traceBefore = before[0] + before[1];
  const bool isFlat = std::abs(trace) * reach_ < options_.flat || trace * traceBefore < 0;
  const bool isLost = !(coneDefect(q_) < 1e-3), isJump = (q_ - before).norm() > 0.5 * before.norm();
  if (isFlat || isLost || isJump)
    throw NumericalFailure(
        fmt::format("shell: in step {}, from t = {:g} s, the patch {}: kappa from {:.4g} to {:.4g} 1/m, q0 q1 - q2^2 = {:.3g} 1/m^2. The "
                    "equations of the three curvatures are singular at the flat state; take the chart `cone`{}",
                    step_ + 1, t_,
                    isFlat   ? "comes to its flat state"
                    : isLost ? "has left the cone"
                             : "moves too far in one step",
                    traceBefore, trace, gaussianCurvature(q_), isFlat ? "" : ", or smaller steps"));
  cone_ = ConePoint::of(q_, cone_.phi);
}

/// Whether the motion, near the flat state, runs along a ray of the cone: phi rests, and nothing turns it.
bool PatchMotion::isOnRay() const {
  const double kappa = cone_.kappa;
  if (std::abs(kappa * coneRates_[1]) > onRay * std::abs(coneRates_[0])) return false;
  // d(kappa phi')/dt against kappa'' at a curvature that is small, but well away from rounding.
  const double bend = (kappa < 0 ? -1 : 1) * options_.nearFlat / reach_;
  const Vector2 a = accelerationCone({bend, cone_.phi}, {coneRates_[0], 0});
  return std::abs(bend * a[1]) <= onRay * std::abs(a[0]);
}

void PatchMotion::advanceCone() {
  Vector2 y(cone_.kappa, cone_.phi);
  const double h = options_.step;
  const auto acceleration = [this](const Vector2& at, const Vector2& v) { return accelerationCone(at, v); };
  const auto tried = [this](const Vector2& at, const Vector2& v) -> Vector2 { // NaN where a stage of a trial goes beyond what is integrated
    const bool isWithin = std::abs(at[0]) * reach_ < largestTrial;
    return isWithin ? accelerationCone(at, v) : Vector2(Vector2::Constant(std::nan("")));
  };
  // Towards the apex kappa and phi change by shares that grow without bound.
  const double share = h * std::max(std::abs(coneRates_[0] / y[0]), std::abs(coneRates_[1]));
  const bool isNear = !(std::abs(y[0]) * reach_ > options_.nearFlat && share < 1) || y[0] == 0;
  const bool isQuick = (std::abs(y[0]) * reach_ < bent && share > largestShare) || std::abs(coneRates_[1]) * h > largestTurn;
  if ((isNear || isQuick) && isOnRay()) {
    using Vector1 = Eigen::Matrix<double, 1, 1>;
    Vector1 kappa(y[0]), rate(coneRates_[0]);
    const Vector3 ray = ConePoint::toCurvatures(1, y[1]);
    rungeKuttaStep(kappa, rate, h, [&](const Vector1& k, const Vector1& v) -> Vector1 {
      UniformPatch::Dynamics d;
      patch_.evaluate(k[0] * ray, v[0] * ray, gravity_, air_, d);
      const Vector3 force = patch_.elasticForce(k[0] * ray, v[0] * ray) - d.force;
      return Vector1(ray.dot(force) / ray.dot(d.M * ray));
    });
    if (kappa[0] * y[0] < 0) passage_ = FlatPassage::OnRay;
    y[0] = kappa[0], coneRates_ << rate[0], 0;
  } else if (isNear || isQuick) {
    // Motion along the cone and across its rays, by its size; kappa by itself, phi as an angle.
    const auto measure = [](const Vector2& at, const Vector2& v, const Vector2& eq, const Vector2& ev) {
      const double speed = std::hypot(v[0], at[0] * v[1]);
      return std::max({std::abs(eq[0] / at[0]), std::abs(eq[1]), std::abs(ev[0]) / speed, std::abs(at[0] * ev[1]) / speed});
    };
    const auto seen = [this](const Vector2& at) { closest_ = std::min(closest_, std::abs(at[0])); };
    const long steps = dormandPrince(y, coneRates_, h, options_.adaptiveTolerance, tried, measure, seen);
    if (steps == 0)
      throw NumericalFailure(
          fmt::format("shell: the motion cannot be followed past the flat state in step {}, from t = {:g} s: kappa = {:.3g} "
                      "1/m, phi' = {:.3g} rad/s",
                      step_ + 1, t_, y[0], coneRates_[1]));
    divisions_ += steps;
    if (closest_ * reach_ < options_.nearFlat && passage_ == FlatPassage::None) passage_ = FlatPassage::Deflected;
  } else {
    rungeKuttaStep(y, coneRates_, h, acceleration);
  }
  cone_ = {y[0], y[1]};
  const Eigen::Matrix<double, 3, 2> T = cone_.tangent();
  q_ = cone_.kappa * T.col(0), v_ = T * coneRates_;
}

Energy PatchMotion::energy() const {
  Energy e;
  if (options_.chart == PatchChart::Cone) {
    const UniformPatch::ConeEnergies on = patch_.energies(cone_, coneRates_, gravity_, airAt(t_));
    e.kinetic = on.kinetic, e.elastic = on.elastic, e.gravitational = on.gravitational, e.power = on.power;
    return e;
  }
  e.kinetic = patch_.kineticEnergy(q_, v_);
  e.elastic = patch_.elasticEnergy(q_);
  e.gravitational = patch_.gravitationalEnergy(q_, gravity_);
  const double area = patch_.properties().domain.area();
  e.power = -area * patch_.properties().dampingTime * v_.dot(patch_.properties().stiffness() * v_) + patch_.airPower(q_, v_, airAt(t_));
  return e;
}

std::array<double, 14> PatchMotion::save() const {
  return {double(step_),
          q_[0],
          q_[1],
          q_[2],
          v_[0],
          v_[1],
          v_[2],
          cone_.kappa,
          cone_.phi,
          coneRates_[0],
          coneRates_[1],
          double(passage_),
          double(divisions_),
          closest_};
}

void PatchMotion::restore(const std::array<double, 14>& s) {
  step_ = long(s[0]), t_ = s[0] * options_.step;
  q_ << s[1], s[2], s[3];
  v_ << s[4], s[5], s[6];
  cone_ = {s[7], s[8]}, coneRates_ << s[9], s[10];
  passage_ = FlatPassage(int(s[11])), divisions_ = long(s[12]), closest_ = s[13];
}

}
