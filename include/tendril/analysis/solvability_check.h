#pragma once
#include "tendril/analysis/examination.h"
#include "tendril/equations/analysis.h"

#include <memory>

namespace tendril {

struct SolvabilityCheckOptions {
  std::vector<Guide> guides;
  bool project = false; ///< an initial state that violates its constraints is moved onto them; otherwise it is refused
  ModelContactOptions tolerances{};
};

/// The examination of the initial state, as an analysis of one step. Its state gets the accelerations and the forces of joints of the first
/// solution. monitor(): `friction bound`, `sharp friction bound`, `exact friction bound`, `beta2`, `friction margin`, `solutions` (NaN if
/// not all could be looked for), `unique` (for the loads given), `unique for every load`, `degrees of freedom`, `redundant equations`,
/// `free motions`, `guide force NAME`.
class SolvabilityCheck final : public Analysis {
 public:
  /// Model and contacts must outlive this.
  SolvabilityCheck(const Model& model, const ContactModel& contacts, SolvabilityCheckOptions options);

  void start() override;
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;

  const Examination& examination() const { return examination_; }

 private:
  const Model& model_;
  const SolvabilityCheckOptions options_;
  ModelContacts contacts_;
  State state_;
  StepReport step_;
  Examination examination_;
};

/// A quantity of an examination by its name, as above; nothing if there is none of that name.
std::optional<double> quantityOf(const Examination& examination, std::string_view name);

}
