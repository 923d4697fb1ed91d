#include "tendril/dynamics/initial_conditions.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

namespace tendril {

namespace {

constexpr Request massOnly{.motion = true, .tangent = true, .stiffness = false, .timeRate = true, .damping = 0, .inertia = 1};

void factoriseMass(KktSystem& kkt, const State& state) {
  kkt.assembly().multiplierScale = 1;
  kkt.evaluate(state, massOnly);
  kkt.balance();
  kkt.evaluate(state, massOnly);
  if (!kkt.factorise()) {
    throw NumericalFailure("the mass matrix is singular: " + kkt.describeSingular() + " (or give the part a mass)");
  }
}

double projectPositions(KktSystem& kkt, State& state) {
  const Model& model = kkt.model();
  VectorX delta(model.nv()), mu(model.nc());
  const VectorX zero = VectorX::Zero(model.nv());
  double moved = 0;
  for (int iteration = 0; iteration < 20; ++iteration) {
    factoriseMass(kkt, state);
    const double violation = kkt.assembly().constraint().size() ? kkt.assembly().constraint().lpNorm<Eigen::Infinity>() : 0;
    if (violation <= 1e-14 * model.characteristicLength()) break;
    kkt.solve(zero, -kkt.assembly().constraint(), delta, mu);
    model.retract(state.q, delta, state.q);
    const double step = delta.lpNorm<Eigen::Infinity>();
    moved += step;
    if (step <= 1e-14 * model.characteristicLength()) break;
  }
  return moved;
}

double projectVelocities(KktSystem& kkt, State& state) {
  const Model& model = kkt.model();
  VectorX change(model.nv()), mu(model.nc());
  kkt.evaluate(state, massOnly);
  const VectorX violation = kkt.assembly().gradient() * state.v + kkt.assembly().constraintRate();
  factoriseMass(kkt, state);
  kkt.solve(VectorX::Zero(model.nv()), -violation, change, mu);
  state.v += change;
  return change.lpNorm<Eigen::Infinity>();
}

}

void solveAccelerations(KktSystem& kkt, State& state) {
  const Model& model = kkt.model();
  state.a.setZero();
  state.lambda.setZero();
  factoriseMass(kkt, state);
  VectorX bias(model.nc());
  model.constraintBias(state, bias);
  kkt.solve(-kkt.assembly().residual(), -bias, state.a, state.lambda);
}

std::vector<std::string> makeConsistent(KktSystem& kkt, State& state) {
  std::vector<std::string> messages;
  const Model& model = kkt.model();
  kkt.findRedundancy(state);
  if (const std::string text = kkt.describeRedundancy(); !text.empty()) messages.push_back(text);
  if (model.nc() > 0) {
    const double moved = projectPositions(kkt, state);
    if (moved > 1e-9 * model.characteristicLength()) {
      messages.push_back(fmt::format("the initial positions did not agree with the joints and were moved by up to {:.3g} m or rad", moved));
    }
    const double speed = state.v.lpNorm<Eigen::Infinity>();
    const double changed = projectVelocities(kkt, state);
    if (changed > 1e-9 * speed) {
      messages.push_back(
          fmt::format("the initial velocities did not agree with the joints and were changed by up to {:.3g} m/s or rad/s", changed));
    }
  }
  solveAccelerations(kkt, state);
  return messages;
}

}
