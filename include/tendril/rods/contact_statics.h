#pragma once
#include "tendril/rods/contact_equilibrium.h"
#include "tendril/rods/rod_path.h"
#include "tendril/rods/shown_rod.h"

namespace tendril {

struct RodContactStaticsOptions {
  RodFamily family;
  RodSurroundings surroundings;
  int elements = 50;
  double from = 0, to = 1; ///< of the parameter
  int steps = 1;           ///< from one to the other; the equilibrium at `from` is that of the start
  VectorX start;           ///< strains that overlap nothing; empty: the natural ones
  RodContactEquilibriumOptions equilibrium;
  const char* unit = "1";  ///< of the parameter
  int part = -1;           ///< of the rod in a contact model, for reports
  std::vector<int> parts;  ///< of the obstacles
  std::vector<int> blocks; ///< pose blocks of a model that show the nodes of the rod
};

/// Equilibria of a rod that touches itself and obstacles, for a parameter that changes in steps, each from the equilibrium before. The
/// parameter is the time of its states. A step that does not lead to a certified minimum is halved, and at last throws NumericalFailure.
/// monitor(): `parameter`; `energy`, `elastic energy`, `gravitational energy` [J]; `turns` (twist), `twist jump` (its change in the step),
/// `writhe` (of the centreline that goes on straight at both ends); `contact places` (places that carry a force: those of neighbouring
/// elements are one), `largest contact force` [N], `least gap` [m], `stability`, `residual`; `end force` [N], `end moment` [N m].
class RodContactStatics final : public ShownRod {
 public:
  /// The contact model must outlive it; reports refer to it.
  RodContactStatics(const Model& model, const ContactModel& contacts, RodContactStaticsOptions options);

  void start() override;
  bool finished() const override { return step_.step >= options_.steps; }
  const StepReport& advance() override;
  const ContactReport* contacts() const override { return &report_; }
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step) / options_.steps; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  const RodContactEquilibrium& equilibrium() const { return found_; }
  const StrainRod& rod() const { return rod_; }

 private:
  StrainRod rodAt(double parameter) const;
  double parameterAt(long step) const { return options_.from + (options_.to - options_.from) * double(step) / options_.steps; }
  void solve(double parameter, int depth);
  void show();
  void reportContacts();
  int contactPlaces() const;

  RodContactStaticsOptions options_;
  StrainRod rod_;
  RodContactEquilibrium found_;
  ContactReport report_;
  double twistJump_ = 0;
};

}
