#pragma once
#include "tendril/discrete/kinematic_tree.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// The tangent space of the constraint manifold, q' = P(q) nu, and the nodal reparametrisation that moves on it, q1 = F(nu, q0).
///
///     P = N(q) A(q) Z(q),     A of the kinematic tree,     Z (r_tree x r): null space of the closure C(q) = G_c N A
///
/// The rank of C is found at the start (rank.h) and kept: a loop may have redundant constraints. Z comes from a column-pivoted QR of C^T,
/// with lengths measured by the size of the model, so that it does not depend on units; from one call to the next it is turned so that it
/// changes least (Procrustes), so that nu is continuous in q. At first it is turned towards r of the tree coordinates themselves.
/// F moves the tree by Z nu and returns to the closure by Newton's method with corrections of least size.
///
/// Where C has a lower rank than at the start (a singular configuration), of the directions that are free there those r are kept that
/// continue Z best, and jump() tells. So a path passes the crossing of two branches on the branch it came by.
class NullSpace {
 public:
  /// Finds the rank of the closure at q, after closing what is open there by the misfit that joints accept. InputError that names the
  /// joints when constraints contradict one another there: no configuration nearby satisfies them, or no velocity follows their motion.
  NullSpace(const DirectorSystem& system, const VectorX& q, double t);

  const KinematicTree& tree() const { return tree_; }
  int dimension() const { return dimension_; } ///< r = n - m, m independent constraints
  /// Constraints that are redundant at the start, as rows of the model: closure rows the rank does not need. Of a dependent set the last.
  const std::vector<int>& redundantRows() const { return redundant_; }
  /// All others, as constraints of the director system: internal ones first.
  std::vector<int> keptConstraints() const;

  /// Names of the joints that hold a short way from the start what they do not hold there: it is a singular configuration, where branches
  /// of the motion cross. Empty: it is not.
  const std::string& singularAtStart() const { return singular_; }

  /// Makes C, Z and T at this configuration.
  void update(const VectorX& q, double t);
  /// T = A Z (nv x r): twists of all blocks in their local frames; P = N T.
  const MatrixX& twists() const { return T_; }
  /// Z (r_tree x r), with orthonormal columns.
  const MatrixX& basis() const { return Z_; }
  /// The smallest forces on the blocks (local frames) with a given effect, T^T f = effect: f = T (T^T T)^-1 effect.
  void leastForces(const VectorX& effect, VectorX& forces);
  /// P (n x r), dense.
  void matrix(const VectorX& q, MatrixX& P);
  /// The rank differs from that of the start: how many directions more are free now, and the two pivots around the gap, the smallest one
  /// kept and the largest one dropped.
  struct Jump {
    int extra = 0;
    double smallestKept = 0, largestDropped = 0;
  };
  const std::optional<Jump>& jump() const { return jump_; }
  std::string describeJump() const; ///< empty without one

  /// q1 = F(nu, q0) with the basis of the last update, which must have been at q0. False if the closure was not reached.
  bool retract(const VectorX& q0, const VectorX& nu, double t0, double t1, VectorX& q1);
  /// The same along rates of the tree, which need not lie in the null space: what drives ask for, for example.
  bool follow(const VectorX& q0, const VectorX& rates, double t0, double t1, VectorX& q1);
  /// Largest closure residual after the last retract(): angles, and lengths over the size of the model.
  double closureResidual() const { return closureResidual_; }

 private:
  void findScales();
  void findResidual(const VectorX& q, double t);
  void findClosure(const VectorX& q, double t);
  int independentRows(const VectorX& q, double t);
  void lookBesideStart(const VectorX& q, double t);
  std::string namesOf(const std::vector<int>& rows) const;
  double rankTolerance() const;
  int rankOfClosure() const;
  bool close(VectorX& q, double t, int rank);
  void checkVelocities(const VectorX& q, double t);
  void refuse(const VectorX& defect, const std::string& what) const;
  VectorX outsideRange(const VectorX& residual) const;
  void turn();

  const DirectorSystem& system_;
  KinematicTree tree_;
  int dimension_ = 0;
  std::vector<int> redundant_;
  std::string singular_;
  std::vector<int> closureOfRow_;      ///< number within the closure of a row of the model, or -1
  VectorX rowScale_, coordinateScale_; ///< make closure and coordinates numbers of order one
  MatrixX C_;                          ///< closure, scaled and transposed (r_tree x rows)
  Eigen::ColPivHouseholderQR<MatrixX> qr_;
  MatrixX Z_, T_;
  std::optional<Jump> jump_;
  double closureResidual_ = 0;
  // scratch
  SparseMatrix G_;
  MatrixX correction_; ///< one column: reflections of a vector allocate
  MatrixX gradients_, free_, turn_, turned_, gram_;
  Eigen::HouseholderQR<MatrixX> orthonormal_;
  Eigen::RowVectorXd workspace_, workspaceOfColumn_; ///< one size each
  Eigen::LLT<MatrixX> gramFactors_;
  VectorX constraint_, residual_, move_, gradient_, twist_, reduced_, moved_, effect_, rate_;
};

}
