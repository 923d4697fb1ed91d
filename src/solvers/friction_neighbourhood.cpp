#include "friction_neighbourhood.h"

#include <algorithm>
#include <numeric>

namespace tendril {

void FrictionNeighbourhood::listContactsOfBodies(const FrictionSystem& system) {
  start_.assign(std::size_t(system.bodyCount) + 3, 0);
  for (const auto& pair : system.touched)
    for (const int body : pair) ++start_[body + 2];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  contactsOfBodies_.resize(2 * system.touched.size());
  for (int i = 0; i < system.contacts(); ++i)
    for (const int body : system.touched[i]) contactsOfBodies_[start_[body + 1]++] = i;
}

void FrictionNeighbourhood::add(int contact) {
  if (isIn_[contact] != 0) return;
  isIn_[contact] = 1;
  contacts_.push_back(contact);
}

double FrictionNeighbourhood::find(const FrictionSystem& system, const Eigen::VectorXd& r, const Eigen::VectorXd& u, int size) {
  square_.resize(std::size_t(system.contacts()));
  for (int i = 0; i < system.contacts(); ++i) square_[i] = system.residualOf(i, r, u).scaled;
  listContactsOfBodies(system);
  contacts_.clear();
  isIn_.assign(square_.size(), 0);
  add(int(std::max_element(square_.begin(), square_.end()) - square_.begin()));
  for (std::size_t k = 0; k < contacts_.size() && int(contacts_.size()) < size; ++k)
    for (const int body : system.touched[contacts_[k]])
      for (int c = start_[body]; body != system.bodyCount && c < start_[body + 1]; ++c) add(contactsOfBodies_[c]);
  std::sort(contacts_.begin(), contacts_.end());
  double part = 0;
  for (const int i : contacts_) part += square_[i];
  const double all = std::accumulate(square_.begin(), square_.end(), 0.0);
  return all > 0 ? part / all : 0;
}

}
