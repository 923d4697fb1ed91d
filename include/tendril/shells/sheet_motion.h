#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/model/assembly.h"
#include "tendril/shells/sheet_shape.h"

#include <Eigen/Cholesky>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

struct SheetMotionOptions {
  double duration = 1, step = 1e-3; ///< [s]
  /// Largest change of the energy beyond the work done, over the energies that meet, that ends the run.
  double alarm = 1e-3;
  std::vector<ShellPart> shells; ///< for monitor()
  std::vector<int> held;         ///< pose blocks that stay where they are
};

/// The motion of a model without constraints, of shells of any shape, held or floating, by the Runge-Kutta-Munthe-Kaas method of order 4:
/// in each stage M a = -f of the model is solved, and poses move by exp of increments Theta' = T^-1(Theta) v.
///
/// monitor(), of the first shell: `coordinates`, `kappa` (largest curvature at s = 0, with its sign), `corner`, `point S1 S2` (position of
/// a material point); `energy drift` (largest change of the energy since the start beyond the work done, over the energies that meet).
class SheetMotion final : public Analysis {
 public:
  /// InputError if the model has constraints, or if the step is beyond what the method bears at the stiffness and damping of a shell; the
  /// message names one that will do.
  SheetMotion(const Model& model, SheetMotionOptions options);

  void start() override;
  bool finished() const override { return step_.step >= steps_; }
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step) / double(steps_); }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  /// Velocities that the mass matrix couples, those held left out, and its part for them.
  struct Part {
    std::vector<int> rows;
    MatrixX mass;
    VectorX force;
    Eigen::LDLT<MatrixX> factor{MatrixX(MatrixX::Identity(1, 1))}; ///< computed, since Eigen cannot move one that was not
  };
  void findParts();
  void accelerate(State& state);
  void checkStep();
  std::string nameOf(int velocity) const;
  void rateOf(const VectorX& increment, const VectorX& v, VectorX& rate) const;
  void watch();

  const Model& model_;
  SheetMotionOptions options_;
  long steps_;
  State state_, stage_;
  StepReport step_;
  Assembly assembly_;
  std::vector<Part> parts_;
  std::vector<int> placeInPart_;
  VectorX increment_, rate_, whole_, gain_;
  double first_ = 0, work_ = 0, power_ = 0, meeting_ = 0, drift_ = 0;
};

/// Shows shells of any shape in their initial state; nothing is solved. monitor() as SheetMotion.
class SheetView final : public Analysis {
 public:
  SheetView(const Model& model, std::vector<ShellPart> shells) : model_(model), shells_(std::move(shells)), state_(model.initialState()) {
    state_.lambda = VectorX::Zero(model.nc());
  }

  void start() override {}
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override {
    step_.step = 1, step_.t = state_.t = 1, step_.h = 1;
    return step_;
  }
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override {
    if (snapshot.at("step")[0] > 0) advance();
  }

 private:
  const Model& model_;
  std::vector<ShellPart> shells_;
  State state_;
  StepReport step_;
};

/// What monitor() of an analysis knows of the shape of a shell: see SheetMotion. False if the name is none of these.
bool shellQuantity(const ShellPart& shell, const Model& model, const State& state, std::string_view name, double* values);
/// The same of energies: `energy`, `kinetic energy`, `elastic energy`, `gravitational energy`.
bool energyQuantity(const Energy& energy, std::string_view name, double* values);

}
