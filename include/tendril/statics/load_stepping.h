#pragma once
#include "tendril/contact/contact_constraints.h"
#include "tendril/equations/analysis.h"
#include "tendril/equations/contact_newton.h"
#include "tendril/statics/equilibrium.h"

#include <memory>

namespace tendril {

struct LoadSteppingOptions {
  int steps = 10;            ///< the first step is 1/steps of the way
  bool grow = true;          ///< easy steps make the next one larger, up to largestStep; false keeps to 1/steps unless a step fails
  double largestStep = 0.25; ///< of the load parameter
  double smallestStep = 1e-6;
  int maxIterations = 40;
  bool stability = true; ///< count the signs of the tangent at each equilibrium, and find the loads at which they change
  KktTolerances tolerances;
  ContactNewtonOptions contact{};
  double gapTolerance = 1e-9; ///< gaps and slips of this share of the size of what touches are zero
  /// Overlap at the start is an error; with this, the first step takes it out.
  bool projectInitial = false;
};

class ContactEquilibrium;

/// A sequence of equilibria under a load parameter t that runs from 0 to 1. A step that fails is halved, down to smallestStep; one that
/// converges in few iterations lets the next grow by half. Loads without a time function of their own grow in proportion to t.
///
/// With contact every step solves equilibrium and laws of contact together, friction opposing the slips since the step before; stability is
/// then not judged, and the step is kept unless `grow` is asked for, since the path matters.
class LoadStepping final : public Analysis {
 public:
  LoadStepping(const Model& model, const LoadSteppingOptions& options);
  /// With contacts, whose parts are those of the contact model; that must outlive the analysis.
  LoadStepping(const Model& model, const LoadSteppingOptions& options, const ContactModel& parts,
               std::unique_ptr<ContactConstraints> contacts);
  ~LoadStepping() override;

  void start() override;
  bool finished() const override { return state_.t >= 1; }
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  const ContactReport* contacts() const override { return equilibrium_ ? &contactReport_ : nullptr; }
  double progress() const override { return state_.t; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;
  KktSystem& kkt() { return kkt_; }

 private:
  /// How the last attempt at a load ended.
  struct Attempt {
    bool converged = false, isSingular = false;
    int iterations = 0;
    double residual = 0;
    std::string why;
  };
  void judgeOverlap();
  void predict();
  bool attempt(double t);
  bool solve();
  void solveWithContact();
  void accept();
  void judgeStability();

  LoadSteppingOptions options_;
  KktSystem kkt_;
  State state_, accepted_;
  VectorX lastMove_, lastLambda_; ///< of configuration and multipliers in the step accepted last
  double lastStep_ = 0;           ///< of the load parameter; 0: none
  EquilibriumProblem problem_;
  Newton newton_;
  std::unique_ptr<ContactConstraints> contacts_;
  std::unique_ptr<ContactEquilibrium> equilibrium_;
  ContactReport contactReport_;
  Attempt attempt_;
  std::string overlap_; ///< the deepest at the start, if there is one
  double h_ = 0;
  int negative_ = 0; ///< negative signs at the accepted equilibrium
  StepReport report_;
};

}
