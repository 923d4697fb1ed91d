#pragma once
#include "tendril/elements/mechanism.h"
#include "tendril/equations/analysis.h"
#include "tendril/io/document.h"
#include "tendril/io/outputs.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// What a document describes, built.
struct SceneContent {
  std::string title;
  Mechanism mechanism;
  double end = 1; ///< of time [s] or the load parameter; infinite where a path decides
  bool isDynamic = false;
  Dimension argument; ///< of t: a time, or in statics the pure number that multiplies the loads
  int outputEvery = 1;
  PathParameter path = PathParameter::Time;
  std::function<std::unique_ptr<Analysis>(const Model&)> makeAnalysis;
  std::vector<OutputDefinition> outputs;
};

/// Throws InputError with the place in the document, whichever room found the mistake.
SceneContent buildScene(const Document& document);

}
