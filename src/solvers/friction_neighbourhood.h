#pragma once
#include "friction_system.h"

#include <vector>

namespace tendril {

/// The place in an island where its residual sits: the worst contact, all contacts of its bodies, those of their bodies, and so on until
/// there are enough. Bodies only. Memory is kept between searches.
class FrictionNeighbourhood {
 public:
  /// At least `size` contacts unless there are fewer. Returns their share of the square of the scaled residual, zero without residual.
  double find(const FrictionSystem& system, const Eigen::VectorXd& r, const Eigen::VectorXd& u, int size);
  const std::vector<int>& contacts() const { return contacts_; } ///< ascending

 private:
  void listContactsOfBodies(const FrictionSystem& system);
  void add(int contact);

  std::vector<double> square_;                ///< of the residual of each contact
  std::vector<int> start_, contactsOfBodies_; ///< body b has those from start_[b] to start_[b + 1]
  std::vector<int> contacts_;
  std::vector<char> isIn_;
};

}
