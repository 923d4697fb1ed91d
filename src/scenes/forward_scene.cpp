#include "tendril/scenes/forward_scene.h"

#include "tendril/control/optimal_control.h"
#include "tendril/documents/overrides.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

namespace tendril {

namespace {

const OptimalControlOptions& manoeuvreOf(const Scene& scene) {
  if (const OptimalControlOptions* manoeuvre = scene.manoeuvre()) return *manoeuvre;
  throw InputError(scene.document().fileName() + ": forward runs with controls need `analysis: {type: optimal-control}`");
}

}

ForwardOptions forwardOptions(const Scene& scene) {
  const OptimalControlOptions& manoeuvre = manoeuvreOf(scene);
  return {.steps = manoeuvre.intervals, .duration = manoeuvre.duration, .quadrature = manoeuvre.quadrature};
}

ForwardFamily forwardFamily(std::filesystem::path file, std::vector<std::string> parameters,
                            std::function<PathFunction(const Scene&)> function, std::vector<std::string> common) {
  return [=](const VectorX& values) {
    if (values.size() != Eigen::Index(parameters.size()))
      throw InputError(fmt::format("{}: {} values for {} parameters", file.string(), values.size(), parameters.size()));
    std::vector<std::string> overrides = common;
    for (std::size_t k = 0; k < parameters.size(); ++k) overrides.push_back(assignment(parameters[k], values[Eigen::Index(k)]));
    const auto scene = std::make_shared<const Scene>(Scene::fromFile(file, overrides));
    return ForwardCase{{scene, scene->mechanism().model.get()}, manoeuvreOf(*scene).actuators, function(*scene)};
  };
}

}
