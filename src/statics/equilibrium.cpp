#include "tendril/statics/equilibrium.h"

#include "tendril/model/increment.h"

namespace tendril {

void atRest(State& state) {
  state.v.setZero();
  state.a.setZero();
}

EquilibriumProblem::EquilibriumProblem(KktSystem& kkt, State& state)
    : kkt_(kkt), state_(state), delta_(state.v.size()), deltaLambda_(state.lambda.size()), scaled_(delta_), heldQ_(state.q),
      heldLambda_(state.lambda) {}

bool EquilibriumProblem::evaluate(std::span<ResidualGroup> groups) {
  const bool represented = kkt_.evaluate(state_, {.motion = false, .tangent = true});
  kkt_.measure(state_, groups);
  return represented;
}

double EquilibriumProblem::longestFactor() { return longestTurn(kkt_.model(), delta_); }

void EquilibriumProblem::applyStep(double factor) {
  heldQ_ = state_.q;
  heldLambda_ = state_.lambda;
  scaled_ = factor * delta_;
  kkt_.predict(state_, delta_, factor);
  kkt_.model().retract(heldQ_, scaled_, state_.q);
  state_.lambda += factor * deltaLambda_;
}

void EquilibriumProblem::undoStep() {
  kkt_.forgetPrediction();
  state_.q = heldQ_;
  state_.lambda = heldLambda_;
}

}
