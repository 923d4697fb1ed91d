#pragma once
#include "tendril/discrete/discrete_lagrangian.h"

#include <functional>
#include <utility>

namespace tendril {

/// What a one-step scheme sets in balance at the node between two intervals,
///
///     arrived + leaving(q0, q1) - G^T mu = 0,     g(q1) = 0,
///
/// arrived: what the interval before brought, mu: impulses of the constraints [N s]. It knows no unknowns and no iteration.
class NodeBalance {
 public:
  virtual ~NodeBalance() = default;

  virtual void leaving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& r) = 0;
  /// d(leaving)/dq1, with the pattern of DirectorSystem::matrix().
  virtual void leavingByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) = 0;
  /// What a path that sets out from q0 with momentum p begins with.
  virtual void setOut(const VectorX& p, VectorX& arrived) const = 0;
  /// What the interval brings to q1; `arrived` on entry is what had come to q0.
  virtual void arriving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& arrived) = 0;
  /// The momentum of the node, when the interval that leaves it is known. `impulse` = G^T mu of the node, `share` that part of it that the
  /// interval before the node takes.
  virtual void momentum(const VectorX& arrived, const VectorX& impulse, double share, VectorX& p) const = 0;
  /// How often a momentum counts in `arrived`.
  virtual double weight() const { return 1; }
  /// `arrived` for the way back from the node.
  virtual void turn(const VectorX& leaving, VectorX& arrived) const = 0;

  /// Where the forces of constraints have their directions: at q0, or, if they turn with the end, halfway.
  virtual bool turnsWithEnd() const { return false; }
};

/// The discrete Euler-Lagrange equations: leaving = D1 L_d + f-, arriving = D2 L_d + f+. Forces that are applied besides belong to the
/// place of the node, and so are no part of the matrix.
class VariationalBalance final : public NodeBalance {
 public:
  using Applied = std::function<void(const VectorX& q, double t, double scale, VectorX& f)>;

  VariationalBalance(const DirectorSystem& system, Quadrature quadrature, Applied applied)
      : lagrangian_(system, quadrature), applied_(std::move(applied)) {}

  void leaving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& r) override {
    lagrangian_.left(q0, q1, t0, h, r);
    if (applied_) applied_(q0, t0 + h / 2, h / 2, r);
  }
  void leavingByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) override {
    lagrangian_.leftByEnd(q0, q1, t0, h, K);
  }
  void setOut(const VectorX& p, VectorX& arrived) const override { arrived = p; }
  void arriving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& arrived) override {
    lagrangian_.right(q0, q1, t0, h, arrived);
    if (applied_) applied_(q1, t0 + h / 2, h / 2, arrived);
  }
  void momentum(const VectorX& arrived, const VectorX& impulse, double share, VectorX& p) const override { p = arrived - share * impulse; }
  void turn(const VectorX& leaving, VectorX& arrived) const override { arrived = leaving; }

 private:
  DiscreteLagrangian lagrangian_;
  Applied applied_;
};

}
