#pragma once
#include "dynamics/impulse_response.h"

#include <span>
#include <vector>

namespace tendril {

/// Lets islands of bodies that rest on one another sleep: after `patience` steps in which nothing in an island moved at all, its contacts
/// keep their impulses and leave the friction problem. An island wakes as soon as something that moves comes near, or a force on one of its
/// bodies changes. At rest the impulses solve the same problem in every step, so that nothing is lost by not solving it again.
class Sleeping {
 public:
  static constexpr int patience = 10;

  explicit Sleeping(int bodies) : parent_(std::size_t(bodies)), still_(std::size_t(bodies), 0), asleep_(std::size_t(bodies), 0) {}

  bool isAsleep(int body) const { return asleep_[std::size_t(body)] != 0; }
  /// Before a step: wakes the bodies whose force differs from the one that they fell asleep with.
  void checkForces(const RigidFlight& flight, const VectorX& residual);
  /// Wakes what is touched by something that moves; true if some body woke.
  bool wakeTouched(std::span<const ContactBlock> contacts);
  /// After a step: counts the steps at rest of every island, and puts islands to sleep.
  void observe(std::span<const ContactBlock> contacts, const RigidFlight& flight, const VectorX& v, const VectorX& residual);
  /// Whether all bodies of a contact sleep.
  bool sleeps(const ContactBlock& contact) const;

  std::vector<double> save() const;
  void restore(const std::vector<double>& numbers);

 private:
  int root(int body);
  void wakeIsland(int body);

  std::vector<int> parent_, still_;
  std::vector<char> asleep_;
  VectorX force_;
};

}
