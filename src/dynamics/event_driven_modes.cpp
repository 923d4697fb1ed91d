#include "dynamics/event_driven_impl.h"

#include <algorithm>

namespace tendril {

namespace {

constexpr double accumulated = 1e-6; ///< of the largest impact of a contact: its rebounds are at an end

}

void EventDriven::Impl::handle(const Crossing& crossing) {
  if (crossing.watch == Watch::Gap) return decide();
  if (!look(t, y)) return dropLost();
  const ClosedContact c = *closed.find(crossing.key);
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
    if (c.tangential(c.velocity).norm() > atRest * speedScale) { // it only turned far, or is young no more
      for (ClosedContact& other : closed.list()) other.isYoung = other.isYoung && other.block.contact.key != key;
      return;
    }
    stopSlip();
    decide(0, 0, key);
    const ClosedContact* after = closed.find(key);
    if (after) addEvent(after->mode == Mode::Stick ? Kind::Stick : Kind::Reversal, c.block.contact, 0);
  }
  }
}

void EventDriven::Impl::stopSlip() {
  for (ClosedContact& c : closed.list()) {
    if (c.tangents() > 0 && c.tangential(c.velocity).norm() <= atRest * speedScale) c.mode = Mode::Stick;
  }
  closed.holdVelocities(work);
  motion.toNumbers(work, y);
}

void EventDriven::Impl::dropLost() {
  if (++stuckEvents > maxPasses) fail("contacts are lost and found without end");
  const Contact contact = closed.list()[std::size_t(closed.lost())].block.contact;
  decide(contact.key);
  const bool isHeld = std::any_of(closed.list().begin(), closed.list().end(), [&](const ClosedContact& c) {
    return c.block.contact.first == contact.first && c.block.contact.second == contact.second;
  });
  if (!isHeld) addEvent(Kind::Detachment, contact, 0);
}

void EventDriven::Impl::decide(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped) {
  for (int pass = 0; pass < maxPasses; ++pass) {
    setScales();
    motion.toState(t, y, work);
    findPairsAround(work);
    if (hit()) continue;
    if (chooseClosed(opened, slipping, stopped)) return;
    jam();
  }
  fail("impacts at one instant do not come to an end");
}

bool EventDriven::Impl::chooseClosed(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped) {
  const std::vector<ClosedContact> before = closed.list();
  std::vector<std::uint64_t> released{stopped};
  bool isSettled = false;
  while (!isSettled) {
    gatherClosed(before, opened);
    for (ClosedContact& c : closed.list()) presetMode(c, slipping, released);
    motion.freeAcceleration(work, a);
    const ClosedContacts::Outcome outcome = closed.chooseModes(a);
    if (!closed.note.empty()) addNote();
    if (outcome == ClosedContacts::Outcome::NoSolution) return false;
    isSettled = !releasePushedBack(slipping, released);
  }
  for (const ClosedContact& c : closed.list()) {
    if (c.velocity[0] > closed.noise) noteAccumulation(c);
  }
  project();
  return true;
}

void EventDriven::Impl::presetMode(ClosedContact& c, std::uint64_t slipping, const std::vector<std::uint64_t>& released) const {
  const Eigen::Vector2d u = c.tangential(c.velocity);
  const std::uint64_t key = c.block.contact.key;
  if (u.norm() > closed.noise || c.tangents() == 0) {
    c.isYoung = c.isYoung && c.mode == Mode::Slip && u.norm() < young * speedScale;
    c.mode = Mode::Slip;
    if (u.norm() > closed.noise && !c.isYoung) c.direction = c.block.contact.frame * Vector3(0, u[0], u[1]).normalized();
  } else if (key == slipping && c.mode == Mode::Stick) {
    const Eigen::Vector2d P = c.tangential(c.block.contact.frame.transpose() * c.force);
    c.mode = Mode::Slip;
    c.isYoung = c.tangents() == 2;
    c.direction = c.block.contact.frame * -Vector3(0, P[0], P[1]).normalized();
  } else if (std::find(released.begin(), released.end(), key) != released.end()) {
    c.mode = Mode::Stick;
  }
}

bool EventDriven::Impl::releasePushedBack(std::uint64_t slipping, std::vector<std::uint64_t>& released) const {
  bool isAny = false;
  for (const ClosedContact& c : closed.list()) {
    const double slipRate = c.direction.dot(c.block.contact.frame * c.acceleration);
    if (c.mode == Mode::Stick || c.tangents() == 0 || c.tangential(c.velocity).norm() > closed.noise) continue;
    if (slipRate >= -negligibleForce * closed.accelerationScale || c.block.contact.key == slipping) continue;
    if (std::find(released.begin(), released.end(), c.block.contact.key) != released.end()) continue;
    released.push_back(c.block.contact.key);
    isAny = true;
  }
  return isAny;
}

void EventDriven::Impl::gatherClosed(const std::vector<ClosedContact>& before, std::uint64_t opened) {
  closed.list().clear();
  for (const Contact& contact : detection.findContacts(work, touching * size)) {
    if (contact.key == opened) continue;
    closed.add(contact, work);
    ClosedContact& c = closed.list().back();
    for (const ClosedContact& old : before) {
      if (old.block.contact.key == contact.key)
        c.force = old.force, c.direction = old.direction, c.mode = old.mode, c.isYoung = old.isYoung;
    }
  }
  while (!closed.update(work)) closed.list().erase(closed.list().begin() + closed.lost()); // passes an edge at this instant
  std::erase_if(closed.list(), [&](const ClosedContact& c) {
    const auto impact = largestImpact.find(c.block.contact.key);
    return c.velocity[0] > std::max(closed.noise, impact == largestImpact.end() ? 0 : accumulated * impact->second);
  });
}

}
