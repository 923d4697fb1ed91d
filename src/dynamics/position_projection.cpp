#include "dynamics/position_projection.h"

#include <algorithm>

namespace tendril {

PositionProjection::PositionProjection(const Model& model, ContactDetection& detection, RigidFlight& flight, ImpulseResponse& response)
    : model_(model), detection_(detection), flight_(flight), response_(response), displacement_(model.nv()), multipliers_(model.nc()) {}

double PositionProjection::find(const State& state, double within) {
  found_ = &detection_.findContacts(state, within);
  double overlap = 0;
  for (const Contact& contact : *found_) overlap = std::max(overlap, -contact.point.gap);
  return overlap;
}

PositionProjection::Result PositionProjection::project(State& state, double allowed, int maxIterations, bool isThorough) {
  Result result;
  result.before = result.after = find(state, allowed);
  const double fine = 1e-3 * detection_.smallestSize();
  while (result.after > allowed && result.iterations < maxIterations && (result.iterations == 0 || result.after > fine || isThorough)) {
    find(state, 2 * result.after); // what would be pushed into another body is held by it
    blocks_.resize(found_->size());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].contact = (*found_)[i];
      blocks_[i].chooseNormal();
      detection_.rows(blocks_[i].contact, state, blocks_[i].rows);
    }
    response_.gather(blocks_, problem_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) problem_.q[Eigen::Index(i)] = blocks_[i].contact.point.gap;
    r_.setZero(problem_.rows());
    // A tenth of the overlap is near enough for one iteration; the next one sees the true gaps.
    const double target = std::max(0.1 * (isThorough ? allowed : result.after), 0.5 * allowed);
    FrictionOptions options;
    options.tolerance = std::max(target / problem_.q.norm(), 1e-12);
    options.measure = FrictionOptions::Measure::Scaled;
    if (!isThorough) options.method = FrictionMethod::GaussSeidel, options.maxIterations = 2000; // what is left waits for the next step
    options.polish = false;
    solver_.solve(problem_, options, r_);
    displacement_.setZero();
    multipliers_.setZero();
    response_.apply(blocks_, problem_, r_, displacement_, multipliers_);
    flight_.displace(state.q, state.v, displacement_);
    ++result.iterations;
    result.after = find(state, allowed);
  }
  return result;
}

}
