#include "tendril/rods/elastica_statics.h"

#include "tendril/model/error.h"

#include <cmath>
#include <utility>

namespace tendril {

ElasticaStatics::ElasticaStatics(const Model& model, ElasticaOptions options)
    : ShownRod(model, options.blocks, options.blocks.size()), options_(std::move(options)) {
  if (nodes() < 2) throw InputError("elastica: the model that shows it needs two nodes at least");
}

void ElasticaStatics::start() { showShape(); }

/// Straight before the step.
void ElasticaStatics::showShape() {
  const std::vector<Eigen::Vector3d> shape = shapeOf(elastica_, int(nodes()) - 1);
  const Matrix3& R = options_.begin.R;
  for (std::size_t i = 0; i < nodes(); ++i) {
    const double c = std::cos(shape[i][2]), s = std::sin(shape[i][2]);
    const Vector3 x = options_.begin.x + options_.length / 2 * (R * Vector3(shape[i][0], shape[i][1], 0));
    show(i, x, R * Vector3(c, s, 0), R * Vector3(-s, c, 0), R.col(2));
  }
}

const StepReport& ElasticaStatics::advance() {
  const Elastica found = elasticaMode(options_.compression, options_.mode);
  if (!found.isSolved) throw NumericalFailure(found.message);
  elastica_ = found;
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1, step_.iterations = found.iterations;
  unstableAcross_ = unstableOutOfPlane(found, options_.across, options_.torsion);
  step_.note = found.isStable() && unstableAcross_ == 0
                   ? ""
                   : "unstable in " + std::to_string(found.unstable) + " directions in the plane and " + std::to_string(unstableAcross_) +
                         " out of it";
  showShape();
  return step_;
}

bool ElasticaStatics::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "kappa0")
    *values = elastica_.curvature;
  else if (name == "force")
    *values = elastica_.forceX;
  else if (name == "shear force")
    *values = elastica_.forceY;
  else if (name == "y_max")
    *values = elastica_.height;
  else if (name == "energy" || name == "elastic energy")
    *values = elastica_.energy;
  else if (name == "unstable directions")
    *values = elastica_.unstable;
  else if (name == "unstable out of plane")
    *values = unstableAcross_;
  else
    return false;
  return true;
}

void ElasticaStatics::restore(const Snapshot& snapshot) {
  start();
  if (snapshot.at("step")[0] > 0) advance();
}

}
