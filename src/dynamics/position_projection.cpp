#include "dynamics/position_projection.h"

#include "tendril/model/model.h"

#include <algorithm>

namespace tendril {

PositionProjection::PositionProjection(const Model& model, ContactDetection& detection, RigidFlight& flight, ImpulseResponse& response)
    : model_(model), detection_(detection), flight_(flight), response_(response), displacement_(model.nv()), multipliers_(model.nc()) {}

/// Contacts near; returns the largest overlap among those that do not wait.
double PositionProjection::find(const State& state, double within, const Waits& waits, double& waiting) {
  found_ = &detection_.findContacts(state, within);
  waits_.assign(found_->size(), 0);
  double overlap = 0;
  waiting = 0;
  for (std::size_t i = 0; i < found_->size(); ++i) {
    const Contact& contact = (*found_)[i];
    if (contact.point.gap >= 0) continue;
    if (waits && contact.law->restitution > 0) {
      ContactBlock block;
      block.contact = contact;
      detection_.rows(contact, state, block.rows);
      waits_[i] = waits(block);
    }
    double& largest = waits_[i] ? waiting : overlap;
    largest = std::max(largest, -contact.point.gap);
  }
  return overlap;
}

PositionProjection::Result PositionProjection::project(State& state, double allowed, int maxIterations, bool isThorough,
                                                       const Waits& waits) {
  Result result;
  result.before = result.after = find(state, allowed, waits, result.waiting);
  const double fine = 1e-3 * detection_.smallestSize();
  if (result.after > allowed && maxIterations > 0) result.energyBefore = model_.energy(state).total();
  while (result.after > allowed && result.iterations < maxIterations && (result.iterations == 0 || result.after > fine || isThorough)) {
    find(state, 2 * result.after, waits, result.waiting); // what would be pushed into another body is held by it
    blocks_.resize(found_->size());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].contact = (*found_)[i];
      blocks_[i].chooseNormal();
      detection_.rows(blocks_[i].contact, state, blocks_[i].rows);
    }
    response_.gather(blocks_, problem_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) { // what waits is only kept from going deeper
      const double gap = blocks_[i].contact.point.gap;
      problem_.q[Eigen::Index(i)] = waits_[i] ? std::max(gap, 0.0) : gap;
    }
    r_.setZero(problem_.rows());
    // A tenth of the overlap is near enough for one iteration; the next one sees the true gaps.
    const double target = std::max(0.1 * (isThorough ? allowed : result.after), 0.5 * allowed);
    FrictionOptions options;
    // Few contacts are solved to round-off, so that the result does not depend on the order of bodies.
    const bool isSmall = problem_.rows() <= 200;
    options.tolerance = isSmall ? 1e-12 : std::max(target / problem_.q.norm(), 1e-12);
    options.measure = FrictionOptions::Measure::Scaled;
    if (!isThorough) options.method = FrictionMethod::GaussSeidel, options.maxIterations = 2000; // what is left waits for the next step
    options.polish = isSmall;
    solver_.solve(problem_, options, r_);
    displacement_.setZero();
    multipliers_.setZero();
    response_.apply(blocks_, problem_, r_, displacement_, multipliers_);
    flight_.displace(state.q, state.v, displacement_);
    ++result.iterations;
    result.after = find(state, allowed, waits, result.waiting);
  }
  return result;
}

}
