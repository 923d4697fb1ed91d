#pragma once
#include "tendril/discrete/null_space.h"
#include "tendril/solvers/sparse_lu.h"

namespace tendril {

/// What belongs to a node of a discrete path, from the momenta of the two intervals that meet there:
///
///     p- = -(D1 L_d + f-)(q_n, q_{n+1}),    p+ = (D2 L_d + f+)(q_{n-1}, q_n),      both without forces of constraints,
///     p  = p+ - (h/2) G^T lambda_n = p- + (h/2) G^T lambda_n                        (Leyendecker 2011, 3.23, 3.24)
///
/// With unequal intervals h is their mean.
class NodalMomenta {
 public:
  explicit NodalMomenta(const DirectorSystem& system);

  /// lambda_n = (G G^T)^-1 G (p+ - p-) / h, of least norm where rows are redundant (3.26).
  void multipliers(const VectorX& q, double t, const VectorX& left, const VectorX& right, double h, VectorX& lambda);
  /// The part of p that the constraints let through: Q p = M q', with q' on the tangent space (3.10). Mass may be singular, as that of a
  /// beam is, if it is regular on the tangent space. Also gives the twists v with q' = N v.
  void project(const VectorX& q, double t, const VectorX& p, VectorX& projected, VectorX& v);
  /// H_d = p^T q'/2 + V(q), with M q' = p; for singular M the generalised inverse on the coordinates that have mass.
  double hamiltonian(const VectorX& q, double t, const VectorX& p);
  /// The hidden constraint G M^-1 p (3.33).
  void hiddenConstraint(const VectorX& q, double t, const VectorX& p, VectorX& h);

 private:
  const DirectorSystem& system_;
};

}
