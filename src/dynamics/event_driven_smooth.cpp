#include "dynamics/event_driven_impl.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

constexpr double still = 1e-11;      ///< speeds, relative to the fastest
constexpr double stepError = 1e-3;   ///< error of a step over the tolerance of events
constexpr long maxAttempts = 100000; ///< steps of the integrator within a step of output

}

void EventDriven::Impl::advanceTo(double end) {
  attempts = 0;
  const double shortest = 1e-15 * std::max(std::abs(end), options.duration);
  while (end - t > shortest) {
    beginStep();
    const double h = takeStep(end - t);
    if (h <= shortest) {
      if (!isLost) fail("the forces grow beyond bounds");
      dropLost();
      continue;
    }
    const std::optional<Crossing> crossing = findCrossing(h);
    if (!crossing) {
      if (isLost) { // between the stages
        nextStep = 0.5 * h;
        continue;
      }
      accept(h, VectorX(yEnd));
      if (end - t <= shortest) t = end;
      project();
      continue;
    }
    takeEvent(*crossing, shortest);
  }
}

void EventDriven::Impl::takeEvent(const Crossing& crossing, double shortest) {
  const double at = locate(crossing);
  integrator->step(at, yEnd);
  accept(at, VectorX(yEnd));
  stuckEvents = at <= shortest ? stuckEvents + 1 : 0;
  handle(crossing);
  project();
  if (long(events.size()) > options.maxEvents || stuckEvents > maxPasses) {
    fail(fmt::format("there were {} events; raise max_events, or use Moreau's scheme", events.size()));
  }
}

void EventDriven::Impl::setScales() {
  motion.toState(t, y, work);
  motion.freeAcceleration(work, a);
  for (const RigidFlight::Body& body : motion.flight().bodies()) {
    const auto measure = [&](const VectorX& v) { return v.segment<3>(body.v).norm() + size * v.segment<3>(body.v + 3).norm(); };
    speedScale = std::max({speedScale, measure(work.v), std::sqrt(size * measure(a))});
  }
  for (const ContactModel::Part& part : detection.model().parts()) {
    const Vector6 twist = part.marker->twist(work);
    speedScale = std::max(speedScale, twist.head<3>().norm() + size * twist.tail<3>().norm());
  }
  closed.noise = still * speedScale;
  VectorX& scale = integrator->scale();
  for (Eigen::Index i = 0; i < scale.size(); i += BodyMotion::size) {
    scale.segment<3>(i).setConstant(size);
    scale.segment<4>(i + 3).setOnes();
    scale.segment<3>(i + 7).setConstant(std::max(speedScale, 1e-300));
    scale.segment<3>(i + 10).setConstant(std::max(speedScale, 1e-300) / size);
  }
}

void EventDriven::Impl::beginStep() {
  setScales();
  isLost = false;
  integrator->begin(t, y);
  for (ClosedContact& c : closed.list()) {
    const Eigen::Vector2d u = c.tangential(c.velocity);
    if (u.norm() > closed.noise && !c.isYoung) c.direction = c.block.contact.frame * Vector3(0, u[0], u[1]).normalized();
  }
}

double EventDriven::Impl::takeStep(double rest) {
  const double shortest = 1e-15 * std::max(std::abs(t), options.duration);
  double h = std::min(rest, nextStep);
  while (h > shortest) {
    isLost = false;
    if (++attempts > maxAttempts) fail(fmt::format("the steps of the integrator shrink to {:.3g} s; use Moreau's scheme", h));
    const double error = integrator->step(h, yEnd) / (stepError * options.tolerance);
    if (isLost || !std::isfinite(error)) {
      h *= 0.5;
    } else if (error <= 1) {
      const double grown = h * std::min(5.0, 0.9 * std::pow(std::max(error, 1e-10), -0.2));
      nextStep = std::min(h < nextStep ? std::max(nextStep, grown) : grown, options.duration);
      return h;
    } else {
      h *= std::max(0.2, 0.9 * std::pow(error, -0.2));
    }
    nextStep = h;
  }
  nextStep = options.tolerance * options.step;
  return 0;
}

void EventDriven::Impl::accept(double h, const VectorX& end) {
  if (!closed.list().empty()) {
    integrator->interpolate(0.5, yLook);
    if (look(t, y)) account(h / 6);
    if (look(t + 0.5 * h, yLook)) account(4 * h / 6);
    if (look(t + h, end)) account(h / 6);
  }
  t += h;
  y = end;
}

void EventDriven::Impl::account(double weight) {
  for (const ClosedContact& c : closed.list()) {
    accounts[c.block.contact.key].impulse += weight * c.force;
    contactReport.dissipation -= weight * c.force.dot(c.block.contact.frame * c.velocity);
  }
}

void EventDriven::Impl::project() {
  if (closed.list().empty()) return;
  motion.toState(t, y, work);
  closed.closeGaps(work, motion.movable());
  closed.holdVelocities(work);
  motion.toNumbers(work, y);
}

bool EventDriven::Impl::look(double time, const VectorX& numbers) {
  motion.toState(time, numbers, work);
  motion.freeAcceleration(work, a);
  if (!closed.update(work)) {
    isLost = true;
    return false;
  }
  if (!closed.solve(a)) fail("the forces of the contacts contradict each other");
  return true;
}

void EventDriven::Impl::slope(double time, const VectorX& numbers, VectorX& dy) {
  look(time, numbers);
  motion.slope(work, numbers, a, dy);
}

}
