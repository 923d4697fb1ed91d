#include "dynamics/step_size_control.h"

#include "tendril/dynamics/initial_conditions.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

namespace {

/// Of the differences along the motion, over the first step: their rounding is what a path that turns back sees.
constexpr double relativeShift = 0.2;

/// q'' of twists v that change by a.
void accelerationOfDirectors(const std::vector<Block>& blocks, const State& s, VectorX& result) {
  for (const Block& block : blocks) {
    if (block.kind == Block::Kind::Vector) {
      result.segment(block.q, block.nq) = s.a.segment(block.v, block.nv);
      continue;
    }
    const Matrix3 R = loadPose(s.q.data() + block.q).R;
    const Vector3 w = s.v.segment<3>(block.v + 3), turn = s.a.segment<3>(block.v + 3);
    result.segment<3>(block.q) = R * (s.a.segment<3>(block.v) + w.cross(s.v.segment<3>(block.v)));
    for (int I = 0; I < 3; ++I) {
      const Vector3 e = Vector3::Unit(I);
      result.segment<3>(block.q + 3 + 3 * I) = R * (turn.cross(e) + w.cross(w.cross(e)));
    }
  }
}

}

StepSizeControl::StepSizeControl(const DirectorSystem& system, double exponent)
    : system_(system), exponent_(exponent), kkt_(system.model(), KktTolerances{}, Redundancy::Share), state_(system.model().initialState()),
      a_(VectorX::Zero(system.model().nv())), increment_(a_), behind_(VectorX::Zero(system.size())), here_(behind_), ahead_(behind_),
      rates_(behind_) {}

void StepSizeControl::start(double step) {
  step_ = step;
  rho_ = rhoBefore_ = 1;
}

double StepSizeControl::next(const VectorX& q, const VectorX& v, double t) {
  const double change = exponent_ * step_ * growth(q, v, t);
  rhoNext_ = rho_ + change;
  if (!(rhoNext_ > 0)) {
    throw NumericalFailure(
        fmt::format("variational: at t = {:.9g} s the motion slows down faster than steps of {:.3g} s can follow; take a "
                    "smaller first step",
                    t, step_ / rho_));
  }
  return step_ / rhoNext_;
}

void StepSizeControl::accept() {
  rhoBefore_ = rho_;
  rho_ = rhoNext_;
}

double StepSizeControl::growth(const VectorX& q, const VectorX& v, double t) {
  const double shift = relativeShift * step_;
  state_.v = v;
  accelerate(q, v, t, 0, here_);
  a_ = state_.a;
  accelerate(q, v, t, 2 * shift, ahead_);
  accelerate(q, v, t, -2 * shift, behind_);
  const double jerkAhead = norm(ahead_ - here_), jerkBehind = norm(here_ - behind_);
  increment_ = v + shift * a_;
  system_.rates(q, increment_, rates_);
  const double speedAhead = norm(rates_);
  increment_ = v - shift * a_;
  system_.rates(q, increment_, rates_);
  const double speedBehind = norm(rates_);
  const double ratio = (jerkAhead * speedBehind) / (jerkBehind * speedAhead);
  return std::isfinite(ratio) && ratio > 0 ? 0.5 * std::log(ratio) / (2 * shift) : 0; // at rest nothing changes
}

void StepSizeControl::accelerate(const VectorX& q, const VectorX& v, double t, double shift, VectorX& result) {
  if (shift != 0) {
    increment_ = shift * v + 0.5 * shift * shift * a_;
    system_.model().retract(q, increment_, state_.q);
    state_.v = v + shift * a_;
  } else {
    state_.q = q, state_.v = v;
  }
  state_.t = t + shift;
  solveAccelerations(kkt_, state_);
  accelerationOfDirectors(system_.model().blocks(), state_, result);
}

double StepSizeControl::norm(const VectorX& rates) const { return std::sqrt(std::max(0.0, rates.dot(system_.mass() * rates))); }

}
