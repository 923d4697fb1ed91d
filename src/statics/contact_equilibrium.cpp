#include "statics/contact_equilibrium.h"

#include "tendril/model/increment.h"

#include <algorithm>

namespace tendril {

namespace {

/// Largest displacement in one iteration over the size of what touches.
constexpr double displacementCap = 2;

double largestDisplacement(const Model& model, const VectorX& delta) {
  double largest = 0;
  for (const Block& b : model.blocks()) {
    if (b.kind == Block::Kind::Pose) largest = std::max(largest, delta.segment<3>(b.v).norm());
  }
  return largest;
}

}

ContactEquilibrium::ContactEquilibrium(KktSystem& kkt, State& state, const ContactModel& parts, ContactConstraints& contacts,
                                       const ContactNewtonOptions& options, double gapTolerance)
    : kkt_(kkt), state_(state), contacts_(contacts), motion_(kkt.model(), parts), options_(options), newton_(std::in_place), first_(state),
      q_(state.q), scaled_(state.v.size()), gapTolerance_(gapTolerance), reach_(contacts.size()) {}

const ContactNewtonReport& ContactEquilibrium::solve(const State& accepted) {
  first_ = state_;
  for (;;) {
    contacts_.begin(accepted, reach_);
    contacts_.evaluate(state_);
    memory_.recall(contacts_.constraints(), F_);
    const ContactNewtonReport& result = newton_->solve(*this, options_, F_);
    // What moved farther than was looked for may have passed through something.
    const double moved = motion_.farthest(accepted, state_);
    residual_ = result.residual;
    if (!result.converged || moved <= reach_) return result;
    reach_ = 2 * moved;
    restart();
  }
}

void ContactEquilibrium::accept() { memory_.store(contacts_.constraints(), F_); }

bool ContactEquilibrium::evaluate() {
  const bool represented = kkt_.evaluate(state_, {.motion = false, .tangent = true});
  if (represented) contacts_.evaluate(state_);
  return represented;
}

double ContactEquilibrium::gapTolerance() const { return gapTolerance_ * contacts_.size(); }

double ContactEquilibrium::longestFactor(const VectorX& delta) const {
  const double displacement = largestDisplacement(kkt_.model(), delta) / contacts_.size();
  return std::min(longestTurn(kkt_.model(), delta), displacementCap / std::max(displacementCap, displacement));
}

void ContactEquilibrium::applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) {
  q_ = state_.q;
  scaled_ = factor * delta;
  kkt_.predict(state_, delta, factor);
  kkt_.model().retract(q_, scaled_, state_.q);
  state_.lambda += factor * deltaLambda;
}

void ContactEquilibrium::restart() {
  kkt_.forgetPrediction();
  state_ = first_;
}

std::vector<double> ContactEquilibrium::save() {
  newton_.emplace();
  std::vector<double> saved = memory_.save();
  saved.insert(saved.begin(), reach_);
  return saved;
}

void ContactEquilibrium::restore(std::span<const double> saved) {
  newton_.emplace();
  reach_ = saved.front();
  memory_.restore(saved.subspan(1));
}

void ContactEquilibrium::report(ContactReport& report) const {
  report.contacts.clear();
  report.step = 1;
  report.penetration = report.dissipation = 0;
  const auto constraints = contacts_.constraints();
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const ContactConstraint& c = constraints[i];
    const Vector3 force = F_.col(Eigen::Index(i));
    if (!c.isPresent) continue;
    report.penetration = std::max(report.penetration, -c.gap);
    report.dissipation -= force.tail<2>().dot(c.slip);
    ContactRecord record{.first = c.first, .second = c.second, .position = c.position, .frame = c.frame, .gap = c.gap, .impulse = force};
    record.velocity << 0, c.slip;
    record.length = c.weight, record.arclength = c.arclength, record.otherArclength = c.otherArclength;
    if (force.x() > 0) record.status = c.slip.norm() > gapTolerance() ? ContactStatus::Slip : ContactStatus::Stick;
    report.contacts.push_back(record);
  }
  report.residual = residual_;
}

}
