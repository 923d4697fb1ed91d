#pragma once
#include "tendril/discrete/kinematic_tree.h"

#include <optional>

namespace tendril {

/// The tangent space of the constraint manifold, q' = P(q) nu, and the nodal reparametrisation that moves on it, q1 = F(nu, q0).
///
///     P = N(q) A(q) Z(q),     A of the kinematic tree,     Z (r_tree x r): null space of the closure C(q) = G_c N A
///
/// Z comes from a column-pivoted QR of C^T with the rank found at the start; from one call to the next it is turned so that it changes
/// least (Procrustes), so that nu is continuous in q. F moves the tree by Z nu and returns to the manifold by Newton's method along C^T.
/// Where the rank is not what it was at the start (a singular configuration), the r directions of least closure are kept, and jump() tells.
class NullSpace {
 public:
  /// Finds the rank of the closure at q. InputError when constraints contradict one another there.
  NullSpace(const DirectorSystem& system, const VectorX& q, double t);

  const KinematicTree& tree() const { return tree_; }
  int dimension() const { return dimension_; } ///< r = n - m, m independent constraints
  /// Constraints that are redundant at the start: closure rows the rank does not need, with the names of their joints.
  const std::vector<int>& redundantRows() const { return redundant_; }

  /// Makes A, C and Z at this configuration.
  void update(const VectorX& q, double t);
  /// T = A Z (nv x r): twists of all blocks in their local frames; P = N T.
  const MatrixX& twists() const { return T_; }
  /// Z (r_tree x r), with orthonormal columns.
  const MatrixX& basis() const { return Z_; }
  /// P (n x r), dense.
  void matrix(const VectorX& q, MatrixX& P) const;
  /// The rank differs from that of the start: how many directions more are free now, and the two singular values around the gap.
  struct Jump {
    int extra = 0;
    double smallestKept = 0, largestDropped = 0;
  };
  const std::optional<Jump>& jump() const { return jump_; }

  /// q1 = F(nu, q0) with the basis of the last update, which must have been at q0. False if the closure was not reached.
  bool retract(const VectorX& q0, const VectorX& nu, double t0, double t1, VectorX& q1);
  /// Largest closure residual after the last retract().
  double closureResidual() const { return closureResidual_; }

 private:
  const DirectorSystem& system_;
  KinematicTree tree_;
  int dimension_ = 0;
  std::vector<int> redundant_;
  MatrixX A_, C_, Z_, T_;
  std::optional<Jump> jump_;
  double closureResidual_ = 0;
};

}
