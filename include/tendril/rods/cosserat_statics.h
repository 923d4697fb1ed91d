#pragma once
#include "tendril/rods/cosserat_equilibrium.h"
#include "tendril/rods/shown_rod.h"

#include <limits>
#include <optional>
#include <vector>

namespace tendril {

struct CosseratStaticsOptions {
  CosseratRod rod; ///< held, loaded and placed at the first guess
  /// Load steps, each from the equilibrium before, while the load factor goes from 0 to 1; with one step it is 1.
  int steps = 1;
  /// Instead of load steps the path of equilibria from the load factor 0, through limit points, stable or not.
  std::optional<PathOptions> path{};
  double lowest = -std::numeric_limits<double>::infinity(); ///< the path ends when the load factor leaves [lowest, highest]
  double highest = std::numeric_limits<double>::infinity();
  CosseratEquilibriumOptions equilibrium{};
  std::vector<int> blocks{}; ///< pose blocks of a model that show the vertices of the rod
};

/// Equilibria of a discrete Cosserat rod as an analysis, whose steps are those of the load factor or of its path. A load step that ends in
/// no minimum throws NumericalFailure; along a path the report notes limit points and bifurcations, with the load factor there, and the
/// signs of the second variation. monitor(): `energy`, `elastic energy` [J]; `unstable directions`; of the first edge, in the inertial
/// frame, `force map` n [N], `moment map` m + r x n about the origin and `isotropy map` m . d3 [N m]; `map defect`, the largest change of
/// the first two at a vertex beyond the load there, relative to their largest values.
class CosseratStatics final : public ShownRod {
 public:
  CosseratStatics(const Model& model, CosseratStaticsOptions options);
  CosseratStatics(const CosseratStatics&) = delete;
  CosseratStatics& operator=(const CosseratStatics&) = delete;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step) / options_.steps; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  void stepLoad();
  void stepAlongPath();
  void showFrames();
  double mapDefect() const;

  CosseratStaticsOptions options_;
  CosseratRod rod_;
  CosseratEquations equations_;
  PathFollower follower_;
  Inertia signs_;
};

}
