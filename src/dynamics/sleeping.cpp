#include "dynamics/sleeping.h"

#include <algorithm>

namespace tendril {

namespace {

/// Forces differ when they do so by more than rounding.
constexpr double changed = 1e-12;

bool isDriven(const ContactBlock& c) { return !c.rows.drift.isZero(0); }

}

int Sleeping::root(int body) {
  while (parent_[std::size_t(body)] != body) body = parent_[std::size_t(body)] = parent_[std::size_t(parent_[std::size_t(body)])];
  return body;
}

bool Sleeping::sleeps(const ContactBlock& contact) const {
  for (int k = 0; k < contact.rows.count; ++k) {
    if (!isAsleep(contact.rows.block[std::size_t(k)])) return false;
  }
  return true;
}

/// The islands are those of the step in which they fell asleep: nothing has moved since.
void Sleeping::wakeIsland(int body) {
  const int island = root(body);
  for (int b = 0; b < int(asleep_.size()); ++b) {
    if (asleep_[std::size_t(b)] && root(b) == island) asleep_[std::size_t(b)] = 0, still_[std::size_t(b)] = 0;
  }
}

void Sleeping::checkForces(const RigidFlight& flight, const VectorX& residual) {
  for (const RigidFlight::Body& body : flight.bodies()) {
    if (!isAsleep(body.block)) continue;
    const Vector6 before = force_.segment<6>(body.v), now = residual.segment<6>(body.v);
    if ((now - before).norm() > changed * (before.norm() + now.norm())) wakeIsland(body.block);
  }
}

bool Sleeping::wakeTouched(std::span<const ContactBlock> contacts) {
  bool woke = false;
  for (const ContactBlock& c : contacts) {
    const bool isMoved = isDriven(c) || !sleeps(c);
    for (int k = 0; k < c.rows.count && isMoved; ++k) {
      if (const int body = c.rows.block[std::size_t(k)]; isAsleep(body)) wakeIsland(body), woke = true;
    }
  }
  return woke;
}

void Sleeping::observe(std::span<const ContactBlock> contacts, const RigidFlight& flight, const VectorX& v, const VectorX& residual) {
  // Islands of the bodies awake; those asleep keep theirs.
  for (std::size_t b = 0; b < parent_.size(); ++b) {
    if (!asleep_[b]) parent_[b] = int(b);
  }
  for (const ContactBlock& c : contacts) {
    if (c.rows.count == 2 && !sleeps(c)) parent_[std::size_t(root(c.rows.block[0]))] = root(c.rows.block[1]);
  }
  for (const RigidFlight::Body& body : flight.bodies()) {
    int& still = still_[std::size_t(body.block)];
    still = v.segment<6>(body.v).isZero(0) ? still + 1 : 0;
  }
  // An island rests as long as the one of its bodies that moved last.
  for (const RigidFlight::Body& body : flight.bodies()) {
    int& all = still_[std::size_t(root(body.block))];
    all = std::min(all, still_[std::size_t(body.block)]);
  }
  if (force_.size() == 0) force_ = VectorX::Zero(residual.size());
  for (const RigidFlight::Body& body : flight.bodies()) {
    if (isAsleep(body.block) || still_[std::size_t(root(body.block))] < patience) continue;
    asleep_[std::size_t(body.block)] = 1;
    force_.segment<6>(body.v) = residual.segment<6>(body.v);
  }
}

std::vector<double> Sleeping::save() const {
  std::vector<double> numbers;
  for (std::size_t b = 0; b < parent_.size(); ++b) {
    numbers.insert(numbers.end(), {double(parent_[b]), double(still_[b]), double(asleep_[b])});
  }
  numbers.insert(numbers.end(), force_.data(), force_.data() + force_.size());
  return numbers;
}

void Sleeping::restore(const std::vector<double>& numbers) {
  const std::size_t bodies = parent_.size();
  for (std::size_t b = 0; b < bodies; ++b) {
    parent_[b] = int(numbers[3 * b]), still_[b] = int(numbers[3 * b + 1]), asleep_[b] = char(numbers[3 * b + 2]);
  }
  force_ = Eigen::Map<const VectorX>(numbers.data() + 3 * bodies, Eigen::Index(numbers.size() - 3 * bodies));
}

}
