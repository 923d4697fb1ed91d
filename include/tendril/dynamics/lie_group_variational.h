#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/equations/kkt_system.h"

#include <memory>

namespace tendril {

struct LieGroupVariationalOptions {
  double duration = 1; ///< [s]
  double step = 1e-3;  ///< [s]; made smaller where it does not divide the duration
  int maxIterations = 30;
  KktTolerances tolerances{.force = 1e-12, .constraint = 1e-12};
};

/// Lie group variational integrator in pose coordinates, the counterpart of the one in director coordinates. The discrete Lagrangian of an
/// interval, block by block,
///
///     L_d = x^T M x / (2h) - (h/2) (V(q_n) + V(q_{n+1})),      q_{n+1} = q_n exp(x_n),
///
/// with M the inertia of the block in its own frame, and forces f taken at the ends of the interval with the velocity x/h, give at a node
///
///     T(-x_n)^-T M x_n / h  -  T(x_{n-1})^-T M x_{n-1} / h  =  h (G^T lambda_n) + (h/2) (f(q_n, x_{n-1}/h) + f(q_n, x_n/h)),
///     g(q_{n+1}) = 0,
///
/// the momenta being those that leave and reach the node in its own frame, T the tangent of exp (lie/se3.h). Order 2, symplectic, momentum
/// maps exact to the tolerance. The momentum of a node is the mean of the two before the constraint impulse is split; velocities of state()
/// are M^-1 of it. The integrator is one interval ahead of the state that it shows, as lambda_n belongs to both intervals.
///
/// In a model with vector blocks, of the shapes of sheets and rods, M is the mass matrix M(q) of the model and
///
///     L_d = x^T (M(q_n) + M(q_{n+1})) x / (4h) - (h/2) (V(q_n) + V(q_{n+1})),
///
/// whose derivatives by q join the forces at the nodes. Else M of a beam's node is the inertia of the half elements beside it in the
/// initial shape, exact for rigid motions of the beam; the error in the mesh is of order 2, as that of the beam itself. Bou-Rabee & Marsden
/// 2009; Demoures et al. 2015.
class LieGroupVariational final : public Analysis {
 public:
  LieGroupVariational(const Model& model, const LieGroupVariationalOptions& options);
  ~LieGroupVariational() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  /// Momentum maps of the node shown, the means of the momenta that reach and leave it: exact invariants where nothing acts from outside.
  Momentum momentum() const;

 private:
  class Interval;
  void requireStart() const;
  void solveInterval();
  void showNode();

  LieGroupVariationalOptions options_;
  KktSystem kkt_;
  std::unique_ptr<Interval> interval_; ///< from the node shown to the next
  Newton newton_;
  State state_, accepted_;
  VectorX outgoing_, lastRate_;
  VectorX incoming_; ///< momentum that reaches the node, forces included [N s, N m s]
  double begin_ = 0;
  long steps_ = 1, step_ = 0;
  StepReport report_;
};

}
