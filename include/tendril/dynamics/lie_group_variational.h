#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/equations/kkt_system.h"

#include <memory>

namespace tendril {

struct LieGroupVariationalOptions {
  double duration = 1; ///< [s]
  double step = 1e-3;  ///< [s]
  int maxIterations = 30;
  KktTolerances tolerances;
};

/// Lie group variational integrator in pose coordinates, the counterpart of the one in directors: with the discrete Lagrangian
/// L_d = h/2 xi^T M xi - h/2 (V(q_n) + V(q_{n+1})), q_{n+1} = q_n exp(h xi_n) block by block, and M the inertia of a block in its own frame,
///
///     T^-1(h xi_n)^T M xi_n ... = Ad^T ...: momentum out of node n = momentum into node n + h (forces - V' + G^T lambda_n),   g(q_{n+1}) = 0
///
/// with T^-1 the inverse of the right-trivialised tangent of exp on both sides (Bou-Rabee & Marsden 2009; Leitz & Leyendecker). Order 2.
/// Inertia that couples blocks (beams) enters through its sum at the nodes, which keeps the order in the mesh.
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
