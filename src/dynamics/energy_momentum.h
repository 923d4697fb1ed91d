#pragma once
#include "dynamics/node_balance.h"

namespace tendril {

/// Energy-momentum scheme (Gonzalez 1996, Betsch & Steinmann 2001): with discrete derivatives D V of the potential,
///
///     q1 - q0 = (h/2) M^-1 (p0 + p1),     p1 - p0 = -h D V(q0, q1) + h f - h G((q0 + q1)/2)^T lambda,     g(q1) = 0,
///
/// written as a balance of twice the momentum: arrived = 2 p0, leaving = -2 M (q1 - q0)/h - h D V + h f. Energy is exact because
/// constraints are quadratic, G(middle) (q1 - q0) = g(q1) - g(q0); forces act halfway.
class EnergyMomentumBalance final : public NodeBalance {
 public:
  explicit EnergyMomentumBalance(const DirectorSystem& system);

  void leaving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& r) override;
  void leavingByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) override;
  void setOut(const VectorX& p, VectorX& arrived) const override { arrived = 2 * p; }
  /// p1 = 2 M (q1 - q0)/h - p0.
  void arriving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& arrived) override;
  void momentum(const VectorX& arrived, const VectorX& impulse, double share, VectorX& p) const override;
  double weight() const override { return 2; }
  void turn(const VectorX&, VectorX& arrived) const override { arrived = -arrived; }
  bool turnsWithEnd() const override { return true; }

 private:
  const DirectorSystem& system_;
  VectorX middle_, rate_, increment_;
  SparseMatrix damping_;
};

}
