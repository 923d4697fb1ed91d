#include "tendril/dynamics/event_driven.h"

#include "dynamics/event_driven_impl.h"
#include "dynamics/initial_overlaps.h"
#include "dynamics/position_projection.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tendril {

namespace {

constexpr double touchingAtStart = 1e-6; ///< relative to the smallest shape

void append(std::uint64_t key, std::vector<double>& numbers) {
  numbers.push_back(double(key >> 32));
  numbers.push_back(double(key & 0xffffffffU));
}

std::uint64_t readKey(const double* numbers) { return (std::uint64_t(numbers[0]) << 32) | std::uint64_t(numbers[1]); }

}

const char* toString(ContactEvent::Kind kind) {
  switch (kind) {
  case ContactEvent::Kind::Impact:
    return "impact";
  case ContactEvent::Kind::Accumulation:
    return "accumulation of impacts";
  case ContactEvent::Kind::Detachment:
    return "detachment";
  case ContactEvent::Kind::Stick:
    return "stick";
  case ContactEvent::Kind::Slip:
    return "slip";
  case ContactEvent::Kind::Reversal:
    return "reversal of slip";
  case ContactEvent::Kind::Jam:
    return "jam";
  }
  return "";
}

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
  const InitialOverlaps overlaps = findInitialOverlaps(detection, state, reach, touchingAtStart * size, options.projectInitial);
  if (overlaps.deepest == 0) return;
  PositionProjection(model, detection, motion.movable(), response).project(state, noise * size, 200, true);
  told.push_back(overlaps.removed());
}

void EventDriven::Impl::findPairsAround(const State& at) {
  std::fill(reach.begin(), reach.end(), around * size);
  detection.findPairs(at, reach);
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
  if (!m.integrator) throw InputError("event-driven: call start() first");
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

void EventDriven::Impl::restoreClosed(const std::vector<double>& numbers) {
  closed.list().clear();
  motion.toState(t, y, work);
  findPairsAround(work);
  const std::vector<Contact> contacts = detection.findContacts(work, around * size);
  for (std::size_t i = 0; i + 9 <= numbers.size(); i += 9) {
    for (const Contact& contact : contacts) {
      if (contact.key != readKey(&numbers[i])) continue;
      closed.add(contact, work);
      ClosedContact& c = closed.list().back();
      c.mode = numbers[i + 2] != 0 ? Mode::Slip : Mode::Stick;
      c.isYoung = numbers[i + 2] == 2;
      c.direction = Eigen::Map<const Vector3>(&numbers[i + 3]);
      c.force = Eigen::Map<const Vector3>(&numbers[i + 6]);
    }
  }
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
    numbers.push_back(c.mode == ClosedContact::Mode::Slip ? (c.isYoung ? 2 : 1) : 0);
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
  m.beginReport();
  m.restoreClosed(closed);
  m.largestImpact.clear();
  for (std::size_t i = 0; i + 3 <= impacts.size(); i += 3) m.largestImpact[readKey(&impacts[i])] = impacts[i + 2];
  m.events.clear();
  for (std::size_t i = 0; i + 5 <= list.size(); i += 5) {
    m.events.push_back({list[i], ContactEvent::Kind(int(list[i + 1])), int(list[i + 2]), int(list[i + 3]), list[i + 4]});
  }
}

}
