#include "dynamics/event_driven_impl.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril {

void EventDriven::Impl::addNote() {
  ++contactReport.ambiguous;
  if (contactReport.note.find(closed.note) != std::string::npos) return;
  contactReport.note += fmt::format("{}t = {:.9g}: {}", contactReport.note.empty() ? "" : "; ", t, closed.note);
}

void EventDriven::Impl::addEvent(Kind kind, const Contact& contact, double speed) {
  events.push_back({t, kind, contact.first, contact.second, speed});
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
  findPairsAround(state);
  contactReport.contacts.clear();
  contactReport.penetration = 0;
  for (const Contact& contact : detection.findContacts(state, around * size)) {
    const ClosedContact* c = closed.find(contact);
    const auto account = accounts.find(c ? c->block.contact.key : contact.key);
    if (account == accounts.end() && !c) continue;
    contactReport.contacts.push_back(record(contact, c, account == accounts.end() ? nullptr : &account->second));
    contactReport.penetration = std::max(contactReport.penetration, -contact.point.gap);
  }
  contactReport.step = step;
  contactReport.seconds = seconds;
}

ContactRecord EventDriven::Impl::record(const Contact& contact, const ClosedContact* c, const Account* account) {
  ContactRecord record{contact.first, contact.second, contact.point.position, contact.frame, contact.point.gap};
  if (account) record.impulse = contact.frame.transpose() * account->impulse;
  ContactBlock block;
  block.contact = contact;
  detection.rows(contact, state, block.rows);
  record.velocity = record.velocityBefore = block.velocity(model, state.v).head<3>();
  record.status = !c ? ContactStatus::Open : c->mode == Mode::Stick ? ContactStatus::Stick : ContactStatus::Slip;
  return record;
}

void EventDriven::Impl::fail(const std::string& why) const {
  std::string names;
  for (const ClosedContact& c : closed.list()) names += (names.empty() ? "" : ", ") + detection.names(c.block.contact);
  throw NumericalFailure(fmt::format("t = {:.12g}: {}; contacts closed: {}", t, why, names.empty() ? "none" : names));
}

}
