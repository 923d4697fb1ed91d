#pragma once
#include "tendril/discrete/twist_matrix.h"
#include "tendril/solvers/saddle_matrix.h"

#include <Eigen/SparseCholesky>

#include <vector>

namespace tendril {

/// What belongs to a node of a discrete path, from the momenta of the two intervals that meet there:
///
///     p- = -(D1 L_d + f-)(q_n, q_{n+1}),    p+ = (D2 L_d + f+)(q_{n-1}, q_n),      both without forces of constraints, (discrete.4)
///     p  = p+ - (h/2) G^T lambda_n = p- + (h/2) G^T lambda_n                        (Leyendecker 2011, 3.23, 3.24)
///
/// With unequal intervals h is their mean. All linear systems are sparse saddle points; redundant rows are no obstacle, because their
/// matrices have a relative compliance of 1e-10 and the solutions are refined until it is gone. Lengths are measured by the size of the
/// model, so that it means the same in any units. Nothing allocates after the first call.
class NodalMomenta {
 public:
  explicit NodalMomenta(const DirectorSystem& system);

  /// lambda_n = (G G^T)^-1 G (p+ - p-) / h, of least norm where rows are redundant (3.26).
  void multipliers(const VectorX& q, double t, const VectorX& left, const VectorX& right, double h, VectorX& lambda);
  /// The part of p that the constraints let through: Q p = M q', with q' on the tangent space (3.10) or, where drives and moving ground
  /// prescribe a motion, following it: G q' = -dg/dt. Mass may be singular, as that of a
  /// beam is, if it is regular on the tangent space. Also gives the twists v with q' = N v. NumericalFailure if it is not.
  void project(const VectorX& q, double t, const VectorX& p, VectorX& projected, VectorX& v);
  /// H_d = p^T q'/2 + V(q), with M q' = p; for singular M the generalised inverse on the coordinates that have mass.
  double hamiltonian(const VectorX& q, double t, const VectorX& p);
  /// The hidden constraint G M^-1 p (3.33), with the same inverse.
  void hiddenConstraint(const VectorX& q, double t, const VectorX& p, VectorX& h);

 private:
  void findMassFactors();
  /// q' with M q' = p.
  void solveMass(const VectorX& p, VectorX& qdot);
  /// [-K B^T; B 0] [x; y] = [force; rows], y of least norm where rows of B are redundant.
  struct Saddle {
    SaddleMatrix factors;
    VectorX force, rows, solution, rowScale, residual;
    void solve(const SparseMatrix& K, const SparseMatrix& B);
  };

  const DirectorSystem& system_;
  VectorX unit_; ///< of the coordinates: positions are measured by the size of the model
  std::vector<int> massive_, massNumber_;
  Eigen::SimplicialLDLT<SparseMatrix> mass_;
  VectorX inverseOfPivots_; ///< 0 where the mass is singular
  SparseMatrix negativeMass_, G_;
  SparseMatrix identity_; ///< negative
  TwistMatrix twists_;
  SparseMatrix A_, B_;                ///< -N^T M N and G N, scaled
  Saddle leastSquares_, leastAction_; ///< of multipliers() and project()
  VectorX columnScale_, rate_, pivoted_, constraintRate_;
};

}
