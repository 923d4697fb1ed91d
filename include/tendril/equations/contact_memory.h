#pragma once
#include "tendril/contact/contact_constraints.h"

#include <unordered_map>

namespace tendril {

/// Forces of the last step, by the keys of their constraints: where a solver starts from in the next one.
class ContactMemory {
 public:
  void store(std::span<const ContactConstraint> constraints, const Eigen::Matrix3Xd& F);
  /// One column for each constraint; zero where nothing is remembered.
  void recall(std::span<const ContactConstraint> constraints, Eigen::Matrix3Xd& F) const;
  /// As (key, F) in the order of the keys; a key takes two numbers of 32 bits.
  std::vector<double> save() const;
  void restore(std::span<const double> numbers);

 private:
  std::unordered_map<std::uint64_t, Vector3> forces_;
};

}
