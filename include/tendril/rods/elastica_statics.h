#pragma once
#include "tendril/rods/elastica.h"
#include "tendril/rods/shown_rod.h"

#include <vector>

namespace tendril {

struct ElasticaOptions {
  double compression = 0.1; ///< eps2: share of the length by which the ends move together
  int mode = 1;
  Pose begin;                     ///< x and y of the elastica are its first two axes
  double length = 2;              ///< of the rod [m]
  double across = 1, torsion = 1; ///< stiffness against bending out of the plane and against torsion, over that in the plane
  std::vector<int> blocks;        ///< pose blocks of a model that show nodes equally far apart
};

/// A mode of a clamped elastica as an analysis of one step (elasticaMode), whose state shows it on blocks of a model that is used for
/// nothing else. monitor(), scaled by half of the length and EI: `kappa0`, `force` (compression), `shear force`, `y_max`; `energy` of a rod
/// of length 1; `unstable directions` in the plane, `unstable out of plane`.
class ElasticaStatics final : public ShownRod {
 public:
  ElasticaStatics(const Model& model, ElasticaOptions options);

  void start() override;
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;

 private:
  void showShape();

  ElasticaOptions options_;
  Elastica elastica_;
  int unstableAcross_ = 0;
};

}
