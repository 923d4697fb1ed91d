#include "tendril/rods/rod_identification_statics.h"

#include "tendril/model/error.h"

#include <utility>

namespace tendril {

RodIdentificationStatics::RodIdentificationStatics(const Model& model, RodIdentificationStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.identification.elements) + 1), options_(std::move(options)) {}

const StepReport& RodIdentificationStatics::advance() {
  RodIdentification found = identifyNaturalStrains(options_.identification);
  if (!found.isSolved) throw NumericalFailure(found.message);
  found_ = std::move(found);
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1, step_.iterations = found_.iterations;
  step_.note.clear();
  for (const std::string& parts : found_.undetermined) step_.note += (step_.note.empty() ? "the points do not tell: " : "; ") + parts;
  for (std::size_t i = 0; i < nodes(); ++i) show(i, found_.rod->frame(int(i)));
  return step_;
}

Vector3 RodIdentificationStatics::mean() const {
  const Eigen::Index groups = options_.identification.groups;
  return found_.natural.size() > 0 ? Vector3(found_.natural.reshaped(3, groups).rowwise().mean()) : Vector3(Vector3::Zero());
}

bool RodIdentificationStatics::monitor(std::string_view name, const Marker*, double* values) {
  const Eigen::Index strains = 3 * Eigen::Index(options_.identification.groups);
  const auto give = [&](const VectorX& numbers) {
    Eigen::Map<VectorX>(values, strains) = numbers.size() == strains ? numbers : VectorX::Zero(strains);
  };
  if (name == "natural curvature")
    *values = mean().head<2>().norm();
  else if (name == "natural torsion")
    *values = mean()[2];
  else if (name == "natural strains")
    give(found_.natural);
  else if (name == "uncertainty")
    give(found_.uncertainty);
  else if (name == "misfit")
    *values = found_.misfit;
  else if (name == "largest misfit")
    *values = found_.largestMisfit;
  else if (name == "unidentified")
    *values = found_.unidentified;
  else
    return false;
  return true;
}

void RodIdentificationStatics::restore(const Snapshot& snapshot) {
  if (snapshot.at("step")[0] > 0) advance();
}

}
