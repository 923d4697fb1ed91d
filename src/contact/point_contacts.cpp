#include "contact/point_contacts.h"

namespace tendril {

PointContacts::PointContacts(const ContactModel& parts) : parts_(parts), detection_(parts) {}

void PointContacts::begin(const State& accepted, double reach) {
  begin_ = accepted;
  reach_ = reach;
  reaches_.assign(parts_.parts().size(), reach);
  detection_.findPairs(accepted, reaches_);
  constraints_.clear();
  number_.clear();
}

void PointContacts::evaluate(const State& state) {
  entries_.clear();
  for (ContactConstraint& c : constraints_) c.isPresent = false, c.entries = 0;
  for (const Contact& contact : detection_.findContacts(state, reach_)) {
    const auto [found, isNew] = number_.try_emplace(contact.key, int(constraints_.size()));
    if (isNew) {
      constraints_.push_back({.first = contact.first, .second = contact.second, .law = contact.law, .key = contact.key});
      drifts_.resize(constraints_.size());
    }
    update(constraints_[std::size_t(found->second)], contact, state);
  }
}

void PointContacts::update(ContactConstraint& constraint, const Contact& contact, const State& state) {
  ContactRows rows;
  detection_.rows(contact, state, rows);
  constraint.isPresent = true;
  constraint.gap = contact.point.gap;
  constraint.position = contact.point.position;
  constraint.frame = contact.frame;
  constraint.slip = slip(contact, state);
  constraint.firstEntry = int(entries_.size());
  constraint.entries = rows.count;
  for (int k = 0; k < rows.count; ++k) entries_.push_back({rows.block[k], rows.H[k].topRows<3>()});
  drifts_[std::size_t(&constraint - constraints_.data())] = rows.drift.head<3>();
}

/// The two material points that meet now lay apart at the begin of the step: that is how far they have slipped.
Eigen::Vector2d PointContacts::slip(const Contact& contact, const State& state) const {
  const auto before = [&](int part) {
    const Marker& marker = *parts_.parts()[std::size_t(part)].marker;
    return Vector3(marker.frame(begin_) * (marker.frame(state).inverse() * contact.point.position));
  };
  return contact.frame.rightCols<2>().transpose() * (before(contact.second) - before(contact.first));
}

std::span<const GradientEntry> PointContacts::gradient(const ContactConstraint& constraint) const {
  return std::span(entries_).subspan(std::size_t(constraint.firstEntry), std::size_t(constraint.entries));
}

Vector3 PointContacts::drift(const ContactConstraint& constraint) const { return drifts_[std::size_t(&constraint - constraints_.data())]; }

std::string PointContacts::describe(const ContactConstraint& constraint) const {
  return "'" + parts_.parts()[std::size_t(constraint.first)].name + "' and '" + parts_.parts()[std::size_t(constraint.second)].name + "'";
}

}
