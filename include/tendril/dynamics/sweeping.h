#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/equations/analysis.h"

#include <memory>

namespace tendril {

class Model;

struct SweepingOptions {
  double duration = 1;         ///< [s]
  double step = 1e-2;          ///< [s]
  double tolerance = 1e-12;    ///< overlap left after a step, relative to the smallest shape
  bool projectInitial = false; ///< overlap at the start is an error; with this it is taken out by moving the bodies apart
};

/// Moreau's sweeping process: bodies without inertia or forces stay where they are until something pushes them,
///
///     -q' in N_Phi(t)(q),      Phi(t) = { q : all gaps >= 0 and all joints hold at t },      (dynamics.7)
///
/// by the catching-up algorithm q_{k+1} = proj(Phi(t_{k+1}), q_k) in the metric of the masses: of first order, and feasible at the end of
/// every step. What moves are obstacles on markers in prescribed motion; friction, restitution, gravity and other forces take no part. The
/// velocity of the state is the mean velocity of the step, in the local frames.
///
/// The projection is that on the true gaps, found by projections on their linearisation. Accepted are models whose blocks
/// are all rigid bodies, with joints or without (InputError otherwise). NumericalFailure if no configuration near is free of overlap: a
/// body is caught between obstacles.
class Sweeping final : public Analysis {
 public:
  /// Model and contacts must outlive the analysis.
  Sweeping(const Model& model, const ContactModel& contacts, const SweepingOptions& options);
  ~Sweeping() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  const ContactReport* contacts() const override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
