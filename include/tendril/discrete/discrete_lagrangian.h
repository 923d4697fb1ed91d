#pragma once
#include "tendril/model/director_system.h"

namespace tendril {

/// Where the potential of an interval is taken.
enum class Quadrature {
  Midpoint,   ///< V((q0 + q1)/2): implicit
  Trapezoidal ///< (V(q0) + V(q1))/2: the step has no Hessian of V in it and is explicit but for the constraints
};

/// The discrete Lagrangian of a director system over one interval, of second order,
///
///     L_d(q0, q1, h) = (q1 - q0)^T M (q1 - q0) / (2h) - h V_d(q0, q1),
///     D1 L_d = -M (q1 - q0)/h - h D1 V_d,      D2 L_d = M (q1 - q0)/h - h D2 V_d,      (discrete.1)
///
/// and the discrete forces of the interval on its two ends, with the configuration taken at the end and time and rates halfway,
///
///     f- = (h/2) f(q0, (q1 - q0)/h, t0 + h/2),      f+ = (h/2) f(q1, (q1 - q0)/h, t0 + h/2),
///
/// because only so do moments change the momentum maps exactly by what they apply (Leyendecker 2011, 5.11). Units: D1, D2, f in N s
/// (directors: N m s).
class DiscreteLagrangian {
 public:
  DiscreteLagrangian(const DirectorSystem& system, Quadrature quadrature);

  const DirectorSystem& system() const { return system_; }

  /// D1 L_d + f-: minus the momentum with which the interval leaves q0.
  void left(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& result);
  /// D2 L_d + f+: the momentum that the interval brings to q1.
  void right(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& result);
  /// d(D1 L_d + f-)/dq1, the matrix of a step; the pattern is that of DirectorSystem::matrix().
  void leftByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K);
  // For whoever optimises over paths:
  void leftByBegin(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K);
  void rightByBegin(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K);
  void rightByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K);
  /// E_d = (q1 - q0)^T M (q1 - q0) / (2 h^2) + V_d, the energy of the interval [J].
  double energy(const VectorX& q0, const VectorX& q1, double t0, double h);

 private:
  enum class End { Begin, End };
  void momentum(const VectorX& q0, const VectorX& q1, double t0, double h, End of, VectorX& result);
  void derivative(const VectorX& q0, const VectorX& q1, double t0, double h, End of, End by, SparseMatrix& K);

  const DirectorSystem& system_;
  Quadrature quadrature_;
  VectorX middle_, rate_, increment_; ///< scratch
};

}
