#include "tendril/dynamics/event_driven.h"

#include "dynamics/event_driven_bodies.h"
#include "dynamics/event_driven_contacts.h"
#include "dynamics/event_driven_integrator.h"
#include "dynamics/position_projection.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

namespace tendril {

namespace {

using Mode = ClosedContact::Mode;
using Kind = ContactEvent::Kind;

/// Lengths are relative to the smallest shape, speeds to the fastest motion so far, forces to those that hold the contacts.
constexpr double touchingAtStart = 1e-6;
constexpr double touching = 1e-12;
constexpr double noise = 1e-13;      ///< of gaps
constexpr double still = 1e-11;      ///< of speeds
constexpr double nearlyStill = 1e-7; ///< slip that passes zero this close has come to rest
constexpr double negligibleForce = 1e-9;
constexpr double accumulated = 1e-6; ///< of the largest impact of a contact: its rebounds are at an end
constexpr double around = 0.1;       ///< gaps up to this are watched
constexpr double stepError = 1e-3;   ///< error of a step over the tolerance of events
constexpr long maxAttempts = 100000; ///< steps of the integrator within a step of output
constexpr int maxPasses = 100;       ///< impacts at one instant

enum class Watch { Gap, NormalForce, Cone, Slip };

/// A quantity that became negative between two times of a step.
struct Crossing {
  Watch watch = Watch::Gap;
  std::uint64_t key = 0;
  double low = 0, high = 0; ///< since the begin of the step
};

/// What a contact did during the step of output.
struct Account {
  Vector3 impulse = Vector3::Zero(); ///< inertial frame
};

void append(std::uint64_t key, std::vector<double>& numbers) {
  numbers.push_back(double(key >> 32));
  numbers.push_back(double(key & 0xffffffffU));
}

std::uint64_t readKey(const double* numbers) { return (std::uint64_t(numbers[0]) << 32) | std::uint64_t(numbers[1]); }

}

const char* toString(ContactEvent::Kind kind) {
  switch (kind) {
  case Kind::Impact:
    return "impact";
  case Kind::Accumulation:
    return "accumulation of impacts";
  case Kind::Detachment:
    return "detachment";
  case Kind::Stick:
    return "stick";
  case Kind::Slip:
    return "slip";
  case Kind::Reversal:
    return "reversal of slip";
  case Kind::Jam:
    return "jam";
  }
  return "";
}

struct EventDriven::Impl {
  Impl(const Model& model_, const ContactModel& contacts, const EventDrivenOptions& options_);

  // ---- start ---------------------------------------------------------------------------------------------------------------------------
  void start(std::vector<std::string>& told);
  void takeOverlapsOut(std::vector<std::string>& told);

  // ---- smooth motion -------------------------------------------------------------------------------------------------------------------
  void slope(double t, const VectorX& y_, VectorX& dy);
  bool look(double t, const VectorX& y_);
  void advanceTo(double end);
  void beginStep();
  double takeStep(double h);
  void accept(double h, const VectorX& end);
  void account(double weight);
  void project();
  void setScales();

  // ---- events --------------------------------------------------------------------------------------------------------------------------
  std::optional<Crossing> findCrossing(double h);
  void findReach(double h);
  void watchGaps(double at, double h, double from, std::vector<Crossing>& found);
  void watchClosed(double at, double from, std::vector<Crossing>& found);
  double value(const Crossing& crossing, double h);
  double locate(const Crossing& crossing);
  void handle(const Crossing& crossing);
  void dropLost();
  void decide(std::uint64_t opened = 0, std::uint64_t slipping = 0, std::uint64_t stopped = 0);
  bool hit();
  bool chooseClosed(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped);
  void gatherClosed(const std::vector<ClosedContact>& before, std::uint64_t opened);
  void noteAccumulation(const ClosedContact& c);
  void jam();
  const FrictionReport& solveImpulses(const VectorX& q);
  void addNote();
  void addEvent(Kind kind, const Contact& contact, double speed);
  void beginReport();
  void fillReport(double step, double seconds);
  [[noreturn]] void fail(const std::string& why) const;

  const Model& model;
  EventDrivenOptions options;
  BodyMotion motion;
  ContactDetection detection;
  ImpulseResponse response;
  ClosedContacts closed;
  FrictionSolver solver;
  FrictionProblem problem;
  std::vector<ContactBlock> blocks;
  VectorX impulses, noMultipliers;
  std::optional<DormandPrince> integrator;

  double begin = 0, t = 0, nextStep = 0, size = 1, speedScale = 0;
  VectorX y, yEnd, yLook, a;
  State state, work;
  bool isLost = false;
  std::vector<double> reach;
  struct Near {
    std::uint64_t key;
    double gap, rate;
  };
  std::vector<Near> near, nearBefore;
  std::map<std::uint64_t, double> largestImpact;
  std::map<std::uint64_t, Account> accounts;
  std::vector<ContactEvent> events;
  ContactReport contactReport;
  StepReport report;
  long stuckEvents = 0, attempts = 0;
};

EventDriven::Impl::Impl(const Model& model_, const ContactModel& contacts, const EventDrivenOptions& options_)
    : model(model_), options(options_), motion(model_), detection(contacts), response(motion.kkt(), motion.flight(), false),
      closed(model_, detection, response), noMultipliers(VectorX::Zero(0)), state(model_.initialState()) {
  if (!(options.duration > 0 && options.step > 0)) throw InputError("event-driven dynamics needs a positive duration and step");
  if (!(options.tolerance > 0 && options.tolerance < 1)) throw InputError("the tolerance of events must lie between 0 and 1");
  contacts.check();
  for (int p = 0; p < int(contacts.parts().size()); ++p) {
    for (int q = 0; q < p; ++q) {
      const ContactLaw* law = contacts.law(p, q);
      if (!law || !(law->rolling > 0 || law->pivoting > 0 || law->cohesion > 0)) continue;
      throw InputError(
          fmt::format("event-driven dynamics knows friction and restitution, but the contact of '{}' and '{}' has {}; leave it "
                      "away or use Moreau's scheme",
                      contacts.parts()[std::size_t(q)].name, contacts.parts()[std::size_t(p)].name,
                      law->cohesion > 0 ? "cohesion" : "rolling or pivoting friction"));
    }
  }
  size = detection.smallestSize();
  contactReport.model = &contacts;
  state.a.setZero(model.nv()), state.lambda.setZero(model.nc());
  work = state;
}

void EventDriven::Impl::start(std::vector<std::string>& told) {
  begin = t = state.t;
  reach.assign(detection.model().parts().size(), around * size);
  takeOverlapsOut(told);
  motion.toNumbers(state, y);
  integrator.emplace(y.size(), [this](double time, const VectorX& numbers, VectorX& dy) { slope(time, numbers, dy); });
  nextStep = std::min(options.step, options.duration);
  setScales();
  // What touches up to the precision of the input touches exactly.
  detection.findPairs(state, reach);
  for (const Contact& contact : detection.findContacts(state, touchingAtStart * size)) closed.add(contact, state);
  closed.closeGaps(state, motion.movable());
  closed.list().clear();
  motion.toNumbers(state, y);
  decide();
  report.t = t;
}

void EventDriven::Impl::takeOverlapsOut(std::vector<std::string>& told) {
  detection.findPairs(state, reach);
  double deepest = 0;
  std::string names;
  for (const Contact& contact : detection.findContacts(state, 0)) {
    if (contact.point.gap >= -touchingAtStart * size) continue;
    names += fmt::format("{}{} by {:.3g} m", names.empty() ? "" : ", ", detection.names(contact), -contact.point.gap);
    deepest = std::max(deepest, -contact.point.gap);
  }
  if (deepest == 0) return;
  if (!options.projectInitial) {
    throw InputError("bodies overlap at the start: " + names + "; move them apart, or set project_initial: true to have that done");
  }
  PositionProjection(model, detection, motion.movable(), response).project(state, noise * size, 200, true);
  told.push_back("overlaps at the start were taken out by moving bodies: " + names);
}

// ---- smooth motion ---------------------------------------------------------------------------------------------------------------------

/// Contact forces and accelerations at a state. False if some contact is lost there.
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

/// Speeds by which others are judged: of the fastest body so far, or what the forces bring about within the smallest shape.
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
    if (u.norm() > closed.noise) c.direction = c.block.contact.frame * Vector3(0, u[0], u[1]).normalized();
  }
}

/// Smooth motion and events up to a time of output.
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
    const double at = locate(*crossing);
    integrator->step(at, yEnd);
    accept(at, VectorX(yEnd));
    stuckEvents = at <= shortest ? stuckEvents + 1 : 0;
    handle(*crossing);
    project();
    if (long(events.size()) > options.maxEvents || stuckEvents > maxPasses) {
      fail(fmt::format("there were {} events; raise max_events, or use Moreau's scheme", events.size()));
    }
  }
}

/// The longest step within the error; leaves its end in yEnd.
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

/// Impulses by Simpson's rule; the step that ends here was the last one of the integrator.
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

/// Holds closed contacts where they are: gaps, normal velocities, and the slip of those that stick.
void EventDriven::Impl::project() {
  if (closed.list().empty()) return;
  motion.toState(t, y, work);
  closed.closeGaps(work, motion.movable());
  closed.holdVelocities(work);
  motion.toNumbers(work, y);
}

// ---- finding events --------------------------------------------------------------------------------------------------------------------

void EventDriven::Impl::findReach(double h) {
  std::fill(reach.begin(), reach.end(), 0.0);
  for (const double part : {0.0, 0.5, 1.0}) {
    integrator->interpolate(part, yLook);
    motion.toState(t + part * h, yLook, work);
    for (int p = 0; p < int(reach.size()); ++p) {
      const Vector6 twist = detection.model().parts()[std::size_t(p)].marker->twist(work);
      const double speed = twist.head<3>().norm() + detection.radius(p) * twist.tail<3>().norm();
      reach[std::size_t(p)] = std::max(reach[std::size_t(p)], 1.5 * h * speed + around * size);
    }
  }
  motion.toState(t, y, work);
  detection.findPairs(work, reach);
}

/// The first quantity that turns negative within the step.
std::optional<Crossing> EventDriven::Impl::findCrossing(double h) {
  findReach(h);
  const double path = *std::max_element(reach.begin(), reach.end()) - around * size;
  const int samples = std::clamp(int(path / (0.2 * size)) + 1, 4, 1000);
  near.clear();
  std::vector<Crossing> found;
  watchGaps(0, h, 0, found);
  found.clear();
  for (int k = 1; k <= samples && found.empty(); ++k) {
    const double from = double(k - 1) / samples, theta = double(k) / samples;
    integrator->interpolate(theta, yLook);
    isLost = false;
    if (!look(t + theta * h, yLook)) return std::nullopt;
    watchClosed(theta * h, from * h, found);
    watchGaps(theta * h, h, from * h, found);
  }
  if (found.empty()) return std::nullopt;
  std::optional<Crossing> first;
  for (Crossing& crossing : found) {
    if (crossing.high > crossing.low) crossing.high = crossing.low = locate(crossing);
    if (!first || crossing.high < first->high) first = crossing;
  }
  return first;
}

void EventDriven::Impl::watchClosed(double at, double from, std::vector<Crossing>& found) {
  for (const ClosedContact& c : closed.list()) {
    const std::uint64_t key = c.block.contact.key;
    const double least = -negligibleForce * closed.forceScale;
    if (c.normalForce() < least) found.push_back({Watch::NormalForce, key, from, at});
    if (c.tangents() == 0) continue;
    if (c.mode == Mode::Stick && c.coneMargin() < least) found.push_back({Watch::Cone, key, from, at});
    const double slip = c.tangential(c.velocity).dot(c.tangential(c.block.contact.frame.transpose() * c.direction));
    if (c.mode == Mode::Slip && slip < -closed.noise) found.push_back({Watch::Slip, key, from, at});
  }
}

/// Gaps at the state last looked at; where one was approaching and now is leaving, its least value in between is looked at too.
void EventDriven::Impl::watchGaps(double at, double h, double from, std::vector<Crossing>& found) {
  near.swap(nearBefore);
  near.clear();
  for (const Contact& contact : detection.findContacts(work, around * size)) {
    if (closed.find(contact)) continue;
    ContactBlock block;
    block.contact = contact;
    detection.rows(contact, work, block.rows);
    near.push_back({contact.key, contact.point.gap, block.velocity(model, work.v)[0]});
  }
  for (const Near& now : near) {
    Crossing crossing{Watch::Gap, now.key, from, at};
    if (now.gap < -noise * size) {
      found.push_back(crossing);
      continue;
    }
    const auto before = std::find_if(nearBefore.begin(), nearBefore.end(), [&](const Near& n) { return n.key == now.key; });
    if (before == nearBefore.end() || !(before->rate < 0 && now.rate > 0) || at <= from) continue;
    const double least = from + (at - from) * before->rate / (before->rate - now.rate); // of a parabola
    integrator->interpolate(least / h, yLook);
    motion.toState(t + least, yLook, work);
    for (const Contact& contact : detection.findContacts(work, around * size)) {
      crossing.high = least;
      if (contact.key == now.key && contact.point.gap < -noise * size) found.push_back(crossing);
    }
    return; // the contacts of the detection are those of another state now; the others are seen at the next time
  }
}

/// The quantity at a time since the begin of the step, by the method itself; negative where it cannot be told.
double EventDriven::Impl::value(const Crossing& crossing, double h) {
  isLost = false;
  integrator->step(h, yEnd);
  if (crossing.watch == Watch::Gap) {
    motion.toState(t + h, yEnd, work);
    double gap = around;
    for (const Contact& contact : detection.findContacts(work, around * size)) {
      if (contact.key == crossing.key) gap = std::min(gap, contact.point.gap / size);
    }
    return gap;
  }
  if (!look(t + h, yEnd)) return -1;
  const ClosedContact* c = closed.find(crossing.key);
  switch (crossing.watch) {
  case Watch::NormalForce:
    return c->normalForce() / closed.forceScale;
  case Watch::Cone:
    return c->coneMargin() / closed.forceScale;
  default:
    return c->tangential(c->velocity).dot(c->tangential(c->block.contact.frame.transpose() * c->direction)) / speedScale;
  }
}

/// Root by the Illinois variant of regula falsi, safeguarded by bisection.
double EventDriven::Impl::locate(const Crossing& crossing) {
  double low = crossing.low, high = crossing.high;
  if (high <= low) return high;
  double atLow = value(crossing, low), atHigh = value(crossing, high);
  // What begins at zero may start on the wrong side of it by rounding: a time at which it is positive is looked for.
  for (int i = 0; i < 20 && atLow <= 0; ++i) low = crossing.low + std::ldexp(high - crossing.low, -i - 1), atLow = value(crossing, low);
  if (atLow <= 0) return crossing.low;
  int side = 0;
  for (int i = 0; i < 200 && high - low > 1e-16 * std::max(std::abs(t), high); ++i) {
    double middle = i % 8 == 7 ? 0.5 * (low + high) : (low * atHigh - high * atLow) / (atHigh - atLow);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    const double f = value(crossing, middle);
    if (std::abs(f) <= 1e-17) return middle;
    if (f > 0) {
      low = middle, atLow = f;
      if (side == 1) atHigh *= 0.5;
      side = 1;
    } else {
      high = middle, atHigh = f;
      if (side == -1) atLow *= 0.5;
      side = -1;
    }
    if (high - low <= 4e-16 * std::max(std::abs(t), high)) break;
  }
  return std::abs(atLow) < std::abs(atHigh) ? low : high;
}

// ---- at an event -----------------------------------------------------------------------------------------------------------------------

void EventDriven::Impl::handle(const Crossing& crossing) {
  if (crossing.watch == Watch::Gap) return decide();
  if (!look(t, y)) return dropLost();
  const ClosedContact* found = closed.find(crossing.key);
  const ClosedContact c = *found;
  const std::uint64_t key = crossing.key;
  switch (crossing.watch) {
  case Watch::NormalForce:
    decide(key);
    if (!closed.find(key)) addEvent(Kind::Detachment, c.block.contact, 0);
    return;
  case Watch::Cone: {
    decide(0, key);
    const ClosedContact* after = closed.find(key);
    if (after && after->mode == Mode::Slip) addEvent(Kind::Slip, c.block.contact, 0);
    return;
  }
  default: {
    if (c.tangential(c.velocity).norm() > nearlyStill * speedScale) return; // it only turned far
    decide(0, 0, key);
    const ClosedContact* after = closed.find(key);
    if (after) addEvent(after->mode == Mode::Stick ? Kind::Stick : Kind::Reversal, c.block.contact, 0);
  }
  }
}

/// The features of a contact no longer meet (a corner left an edge): what touches is looked for anew.
void EventDriven::Impl::dropLost() {
  if (++stuckEvents > maxPasses) fail("contacts are lost and found without end");
  const Contact contact = closed.list()[std::size_t(closed.lost())].block.contact;
  decide(contact.key);
  const bool isHeld = std::any_of(closed.list().begin(), closed.list().end(), [&](const ClosedContact& c) {
    return c.block.contact.first == contact.first && c.block.contact.second == contact.second;
  });
  if (!isHeld) addEvent(Kind::Detachment, contact, 0);
}

/// Everything that touches is decided anew: first impacts, then what stays closed and how. `opened` leaves, `slipping` starts to slide,
/// `stopped` came to rest.
void EventDriven::Impl::decide(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped) {
  for (int pass = 0; pass < maxPasses; ++pass) {
    setScales();
    motion.toState(t, y, work);
    std::fill(reach.begin(), reach.end(), around * size);
    detection.findPairs(work, reach);
    if (hit()) continue;
    if (chooseClosed(opened, slipping, stopped)) return;
    jam();
  }
  fail("impacts at one instant do not come to an end");
}

/// Impacts of all that touches and approaches, in one problem with what touches already.
bool EventDriven::Impl::hit() {
  blocks.clear();
  bool isHit = false;
  for (const Contact& contact : detection.findContacts(work, touching * size)) {
    ContactBlock& block = blocks.emplace_back();
    block.contact = contact;
    block.chooseLaw();
    detection.rows(contact, work, block.rows);
    isHit = isHit || block.velocity(model, work.v)[0] < -closed.noise;
  }
  if (!isHit) return false;
  response.gather(blocks, problem);
  VectorX q(problem.rows());
  std::vector<Vector6> before;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactLaw& law = *blocks[i].contact.law;
    before.push_back(blocks[i].velocity(model, work.v));
    for (int row = 0; row < blocks[i].law.size; ++row) {
      q[problem.firstRow[i] + row] = (1 + (row == 0 ? law.restitution : law.tangentialRestitution)) * before[i][row];
    }
  }
  const FrictionReport& solution = solveImpulses(q);
  if (!solution.converged) fail("an impact was not solved: " + solution.failure);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (before[i][0] >= -closed.noise) continue;
    double& largest = largestImpact[blocks[i].contact.key];
    largest = std::max(largest, -before[i][0]);
    addEvent(Kind::Impact, blocks[i].contact, -before[i][0]);
  }
  return true;
}

/// Solves for the impulses in `blocks` and applies them.
const FrictionReport& EventDriven::Impl::solveImpulses(const VectorX& q) {
  problem.q = q;
  impulses.setZero(problem.rows());
  FrictionOptions friction;
  friction.tolerance = 1e-12;
  friction.measure = FrictionOptions::Measure::Scaled;
  const FrictionReport& solution = solver.solve(problem, friction, impulses);
  contactReport.residual = solution.residual.scaled;
  contactReport.sweeps += solution.sweeps, contactReport.newtonSteps += solution.newtonSteps;
  const State before = work;
  response.apply(blocks, problem, impulses, work.v, noMultipliers);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Vector3 components = Vector3::Zero();
    components.head(blocks[i].law.size) = impulses.segment(problem.firstRow[i], blocks[i].law.size);
    accounts[blocks[i].contact.key].impulse += blocks[i].contact.frame * components;
    contactReport.dissipation -= 0.5 * components.dot((blocks[i].velocity(model, before.v) + blocks[i].velocity(model, work.v)).head<3>());
  }
  motion.toNumbers(work, y);
  return solution;
}

/// What touches without leaving, with the forces and directions it had before.
void EventDriven::Impl::gatherClosed(const std::vector<ClosedContact>& before, std::uint64_t opened) {
  closed.list().clear();
  for (const Contact& contact : detection.findContacts(work, touching * size)) {
    if (contact.key == opened) continue;
    closed.add(contact, work);
    ClosedContact& c = closed.list().back();
    for (const ClosedContact& old : before) {
      if (old.block.contact.key == contact.key) c.force = old.force, c.direction = old.direction, c.mode = old.mode;
    }
  }
  while (!closed.update(work)) closed.list().erase(closed.list().begin() + closed.lost()); // passes an edge at this instant
  std::erase_if(closed.list(), [&](const ClosedContact& c) {
    const auto impact = largestImpact.find(c.block.contact.key);
    return c.velocity[0] > std::max(closed.noise, impact == largestImpact.end() ? 0 : accumulated * impact->second);
  });
}

/// False if no accelerations agree with the laws.
bool EventDriven::Impl::chooseClosed(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped) {
  const std::vector<ClosedContact> before = closed.list();
  std::vector<std::uint64_t> released{stopped};
  bool isSettled = false;
  while (!isSettled) {
    gatherClosed(before, opened);
    for (ClosedContact& c : closed.list()) {
      const Eigen::Vector2d u = c.tangential(c.velocity);
      const std::uint64_t key = c.block.contact.key;
      if (u.norm() > closed.noise || c.tangents() == 0) {
        c.mode = Mode::Slip;
        if (u.norm() > closed.noise) c.direction = c.block.contact.frame * Vector3(0, u[0], u[1]).normalized();
      } else if (key == slipping && c.mode == Mode::Stick) {
        const Eigen::Vector2d P = c.tangential(c.block.contact.frame.transpose() * c.force);
        c.mode = Mode::Slip;
        c.direction = c.block.contact.frame * -Vector3(0, P[0], P[1]).normalized();
      } else if (std::find(released.begin(), released.end(), key) != released.end()) {
        c.mode = Mode::Stick;
      }
    }
    motion.freeAcceleration(work, a);
    const ClosedContacts::Outcome outcome = closed.chooseModes(a);
    if (!closed.note.empty()) addNote();
    if (outcome == ClosedContacts::Outcome::NoSolution) return false;
    isSettled = true;
    for (const ClosedContact& c : closed.list()) { // at the bound without slip: it must not be pushed back
      const double slipRate = c.direction.dot(c.block.contact.frame * c.acceleration);
      if (c.mode == Mode::Stick || c.tangents() == 0 || c.tangential(c.velocity).norm() > closed.noise) continue;
      if (slipRate >= -negligibleForce * closed.accelerationScale || c.block.contact.key == slipping) continue;
      if (std::find(released.begin(), released.end(), c.block.contact.key) != released.end()) continue;
      released.push_back(c.block.contact.key);
      isSettled = false;
    }
  }
  for (const ClosedContact& c : closed.list()) {
    if (c.velocity[0] > closed.noise) noteAccumulation(c);
  }
  project();
  return true;
}

/// The limit of the times of impact: T = 2 v / (|a| (1 - e)) from the last rebound at speed v, a the acceleration while it is open.
void EventDriven::Impl::noteAccumulation(const ClosedContact& c) {
  response.gather(std::span(&c.block, 1), problem);
  VectorX answer = VectorX::Zero(model.nv()), r = (c.block.contact.frame.transpose() * c.force).head(c.block.law.size);
  response.apply(std::span(&c.block, 1), problem, r, answer, noMultipliers);
  const double pull = c.block.velocity(model, answer, false)[0], v = c.velocity[0], e = c.block.contact.law->restitution;
  if (!(pull > 0)) return;
  addEvent(Kind::Accumulation, c.block.contact, v);
  if (e < 1) events.back().time += 2 * v / (pull * (1 - e));
}

/// Without accelerations that agree with the laws the velocities jump: the limit of a step of vanishing length.
void EventDriven::Impl::jam() {
  blocks.clear();
  motion.freeAcceleration(work, a);
  double largest = 0;
  for (const ClosedContact& c : closed.list()) {
    blocks.push_back(c.block);
    largest = std::max(largest, (c.block.velocity(model, a, false).head<3>() + c.bias).norm());
  }
  if (blocks.empty() || !(largest > 0)) fail("no accelerations agree with the laws of the contacts");
  response.gather(blocks, problem);
  const double step = 1e-10 * speedScale / largest;
  VectorX q(problem.rows());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Vector3 rate = blocks[i].velocity(model, a, false).head<3>() + closed.list()[i].bias;
    q.segment(problem.firstRow[i], blocks[i].law.size) = (closed.list()[i].velocity + step * rate).head(blocks[i].law.size);
  }
  const FrictionReport& solution = solveImpulses(q);
  if (!solution.converged) fail("an impact without collision was not solved: " + solution.failure);
  const double strongest = impulses.lpNorm<Eigen::Infinity>();
  bool isJammed = false;
  std::vector<ClosedContact> held;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!(impulses[problem.firstRow[i]] > 1e-6 * strongest)) continue;
    ClosedContact& c = held.emplace_back(closed.list()[i]);
    const double slip = c.tangential(blocks[i].velocity(model, work.v).head<3>()).norm();
    c.mode = slip < nearlyStill * speedScale ? Mode::Stick : Mode::Slip;
    if (std::find(closed.withoutRest.begin(), closed.withoutRest.end(), int(i)) == closed.withoutRest.end()) continue;
    addEvent(Kind::Jam, blocks[i].contact, c.tangential(c.velocity).norm());
    isJammed = true;
  }
  if (!isJammed) fail("no accelerations agree with the laws of the contacts, and no jump of velocities either");
  closed.list() = held; // takes the vanishing step out of the velocities
  closed.holdVelocities(work);
  motion.toNumbers(work, y);
}

/// What the laws leave open, once per step and contact.
void EventDriven::Impl::addNote() {
  ++contactReport.ambiguous;
  if (contactReport.note.find(closed.note) != std::string::npos) return;
  contactReport.note += fmt::format("{}t = {:.9g}: {}", contactReport.note.empty() ? "" : "; ", t, closed.note);
}

void EventDriven::Impl::addEvent(Kind kind, const Contact& contact, double speed) {
  events.push_back({t, kind, contact.first, contact.second, speed});
}

void EventDriven::Impl::fail(const std::string& why) const {
  std::string names;
  for (const ClosedContact& c : closed.list()) names += (names.empty() ? "" : ", ") + detection.names(c.block.contact);
  throw NumericalFailure(fmt::format("t = {:.12g}: {}; contacts closed: {}", t, why, names.empty() ? "none" : names));
}

void EventDriven::Impl::beginReport() {
  accounts.clear();
  contactReport.dissipation = contactReport.residual = 0;
  contactReport.sweeps = contactReport.newtonSteps = contactReport.ambiguous = 0;
  contactReport.note.clear();
}

void EventDriven::Impl::fillReport(double step, double seconds) {
  motion.toState(t, y, state);
  look(t, y);
  state.a = a;
  std::fill(reach.begin(), reach.end(), around * size);
  detection.findPairs(state, reach);
  contactReport.contacts.clear();
  contactReport.penetration = 0;
  for (const Contact& contact : detection.findContacts(state, around * size)) {
    const ClosedContact* c = closed.find(contact);
    const auto account = accounts.find(c ? c->block.contact.key : contact.key);
    if (account == accounts.end() && !c) continue;
    ContactRecord record{contact.first, contact.second, contact.point.position, contact.frame, contact.point.gap};
    if (account != accounts.end()) record.impulse = contact.frame.transpose() * account->second.impulse;
    ContactBlock block;
    block.contact = contact;
    detection.rows(contact, state, block.rows);
    record.velocity = record.velocityBefore = block.velocity(model, state.v).head<3>();
    record.status = !c ? ContactStatus::Open : c->mode == Mode::Stick ? ContactStatus::Stick : ContactStatus::Slip;
    contactReport.contacts.push_back(record);
    contactReport.penetration = std::max(contactReport.penetration, -contact.point.gap);
  }
  contactReport.step = step;
  contactReport.seconds = seconds;
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

EventDriven::EventDriven(const Model& model, const ContactModel& contacts, const EventDrivenOptions& options)
    : impl_(std::make_unique<Impl>(model, contacts, options)) {}
EventDriven::~EventDriven() = default;

void EventDriven::start() { impl_->start(messages_); }
bool EventDriven::finished() const { return impl_->t >= impl_->begin + impl_->options.duration * (1 - 1e-12); }
const State& EventDriven::state() const { return impl_->state; }
VectorX EventDriven::reactions() { return VectorX::Zero(impl_->model.nc()); }
const ContactReport* EventDriven::contacts() const { return &impl_->contactReport; }
double EventDriven::progress() const { return (impl_->t - impl_->begin) / impl_->options.duration; }
const std::vector<ContactEvent>& EventDriven::events() const { return impl_->events; }

const StepReport& EventDriven::advance() {
  Impl& m = *impl_;
  const auto clock = std::chrono::steady_clock::now();
  const double end = m.begin + std::min(double(m.report.step + 1) * m.options.step, m.options.duration);
  const std::size_t before = m.events.size();
  if (m.report.step > 0) m.beginReport(); // what the start found belongs to the first step
  m.advanceTo(end);
  m.fillReport(end - m.report.t, std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count());
  ++m.report.step;
  m.report.h = end - m.report.t;
  m.report.t = end;
  m.report.note = m.contactReport.note;
  for (std::size_t i = before; i < m.events.size() && i < before + 3; ++i) {
    m.report.note += fmt::format("{}{} at t = {:.12g}", m.report.note.empty() ? "" : "; ", toString(m.events[i].kind), m.events[i].time);
  }
  return m.report;
}

Snapshot EventDriven::save() {
  const Impl& m = *impl_;
  Snapshot snapshot;
  store(m.state, snapshot);
  snapshot["events/numbers"] = {m.y.data(), m.y.data() + m.y.size()};
  snapshot["events/clock"] = {m.begin, m.t, m.nextStep, m.speedScale, double(m.report.step)};
  for (const ClosedContact& c : m.closed.list()) {
    std::vector<double>& numbers = snapshot["events/closed"];
    append(c.block.contact.key, numbers);
    numbers.push_back(c.mode == Mode::Slip);
    numbers.insert(numbers.end(), c.direction.data(), c.direction.data() + 3);
    numbers.insert(numbers.end(), c.force.data(), c.force.data() + 3);
  }
  for (const auto& [key, speed] : m.largestImpact) append(key, snapshot["events/impacts"]), snapshot["events/impacts"].push_back(speed);
  for (const ContactEvent& e : m.events) {
    const std::array<double, 5> numbers{e.time, double(e.kind), double(e.first), double(e.second), e.speed};
    snapshot["events/list"].insert(snapshot["events/list"].end(), numbers.begin(), numbers.end());
  }
  return snapshot;
}

void EventDriven::restore(const Snapshot& snapshot) {
  Impl& m = *impl_;
  m.start(messages_);
  load(snapshot, m.state);
  const auto numbers = [&](const char* name) {
    const auto found = snapshot.find(name);
    return found == snapshot.end() ? std::vector<double>() : found->second;
  };
  const std::vector<double> y = numbers("events/numbers"), clock = numbers("events/clock"), closed = numbers("events/closed"),
                            impacts = numbers("events/impacts"), list = numbers("events/list");
  m.y = Eigen::Map<const VectorX>(y.data(), Eigen::Index(y.size()));
  m.begin = clock[0], m.t = clock[1], m.nextStep = clock[2], m.speedScale = clock[3], m.report.step = long(clock[4]);
  m.report.t = m.t;
  m.closed.list().clear();
  m.beginReport();
  m.motion.toState(m.t, m.y, m.work);
  std::fill(m.reach.begin(), m.reach.end(), around * m.size);
  m.detection.findPairs(m.work, m.reach);
  const std::vector<Contact> contacts = m.detection.findContacts(m.work, around * m.size);
  for (std::size_t i = 0; i + 9 <= closed.size(); i += 9) {
    for (const Contact& contact : contacts) {
      if (contact.key != readKey(&closed[i])) continue;
      m.closed.add(contact, m.work);
      ClosedContact& c = m.closed.list().back();
      c.mode = closed[i + 2] != 0 ? Mode::Slip : Mode::Stick;
      c.direction = Eigen::Map<const Vector3>(&closed[i + 3]);
      c.force = Eigen::Map<const Vector3>(&closed[i + 6]);
    }
  }
  m.largestImpact.clear();
  for (std::size_t i = 0; i + 3 <= impacts.size(); i += 3) m.largestImpact[readKey(&impacts[i])] = impacts[i + 2];
  m.events.clear();
  for (std::size_t i = 0; i + 5 <= list.size(); i += 5) {
    m.events.push_back({list[i], Kind(int(list[i + 1])), int(list[i + 2]), int(list[i + 3]), list[i + 4]});
  }
}

}
