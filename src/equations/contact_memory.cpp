#include "tendril/equations/contact_memory.h"

#include <map>

namespace tendril {

void ContactMemory::store(std::span<const ContactConstraint> constraints, const Eigen::Matrix3Xd& F) {
  forces_.clear();
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (!F.col(Eigen::Index(i)).isZero(0)) forces_[constraints[i].key] = F.col(Eigen::Index(i));
  }
}

void ContactMemory::recall(std::span<const ContactConstraint> constraints, Eigen::Matrix3Xd& F) const {
  F.setZero(3, Eigen::Index(constraints.size()));
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (const auto found = forces_.find(constraints[i].key); found != forces_.end()) F.col(Eigen::Index(i)) = found->second;
  }
}

std::vector<double> ContactMemory::save() const {
  std::vector<double> numbers;
  for (const auto& [key, force] : std::map(forces_.begin(), forces_.end())) {
    numbers.insert(numbers.end(), {double(key >> 32), double(key & 0xffffffffu), force.x(), force.y(), force.z()});
  }
  return numbers;
}

void ContactMemory::restore(std::span<const double> numbers) {
  forces_.clear();
  for (std::size_t i = 0; i + 5 <= numbers.size(); i += 5) {
    forces_[std::uint64_t(numbers[i]) << 32 | std::uint64_t(numbers[i + 1])] = {numbers[i + 2], numbers[i + 3], numbers[i + 4]};
  }
}

}
