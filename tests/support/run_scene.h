#pragma once
#include "tendril/scenes/scene.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tendril::testing {

/// Sees the start and every step.
using SceneObserver = std::function<void(const Outputs&, const Analysis&)>;

/// Runs a scene, which must outlive the outputs, to its end.
inline Outputs runToEnd(const Scene& scene, const SceneObserver& observer = {}) {
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  Outputs outputs = scene.makeOutputs();
  const auto observe = [&](const StepReport& report) {
    outputs.observe(*analysis, report);
    if (observer) observer(outputs, *analysis);
  };
  analysis->start();
  observe({});
  while (!analysis->finished()) observe(analysis->advance());
  return outputs;
}

/// Results by the names of the outputs.
inline std::map<std::string, VectorX> resultsOf(const Outputs& outputs) {
  std::map<std::string, VectorX> results;
  for (int i = 0; i < outputs.size(); ++i) {
    results[outputs.infos()[std::size_t(i)].name] =
        Eigen::Map<const VectorX>(outputs.result(i).data(), Eigen::Index(outputs.result(i).size()));
  }
  return results;
}

}
