#include "tendril/io/scene_reference.h"

#include "io/nearest_name.h"
#include "io/scene_schema.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

double ExpectedOutput::error(std::span<const double> result) const {
  if (result.size() < value.size()) return std::numeric_limits<double>::quiet_NaN();
  double square = 0;
  for (std::size_t i = 0; i < value.size(); ++i) square += (result[i] - value[i]) * (result[i] - value[i]);
  return std::sqrt(square);
}

namespace {

std::vector<double> readValue(const Node& node, const Outputs::Info& output) {
  const Eigen::VectorXd numbers = node.isSequence() ? node.toNumbers() : Eigen::VectorXd::Constant(1, node.toNumber());
  const std::string found =
      "'" + output.name + "' has " + (output.columns == 1 ? "one number" : std::to_string(output.columns) + " numbers");
  if (output.grows ? numbers.size() == 0 : numbers.size() != output.columns) {
    node.refuse("the output " + found + ", expected are " + std::to_string(numbers.size()),
                output.columns == 1 ? "give a number" : "give as many, in brackets: [a, b, ...]");
  }
  return {numbers.data(), numbers.data() + numbers.size()};
}

ExpectedOutput readExpected(const Record& r, const Outputs::Info& output) {
  ExpectedOutput expected{output.name, readValue(r.node("value"), output)};
  if (r.has("tolerance") == r.has("relative")) {
    r.node().refuse("say how near the result must come", "give either `tolerance:`, in the unit of the output, or `relative:`");
  }
  if (r.has("tolerance")) {
    expected.tolerance = r.number("tolerance");
    return expected;
  }
  const double size = Eigen::Map<const Eigen::VectorXd>(expected.value.data(), Eigen::Index(expected.value.size())).norm();
  if (size == 0) r.node("relative").refuse("nothing can be judged relative to zero", "give `tolerance:`, in the unit of the output");
  expected.tolerance = r.number("relative") * size;
  return expected;
}

}

SceneReference readReference(const Document& document, std::span<const Outputs::Info> outputs) {
  SceneReference reference;
  const std::optional<Node> node = document.root().find("reference");
  if (!node) return reference;
  const Record r(*node, scenes::referenceValues());
  reference.source = r.text("source");
  if (!r.has("expected") || !document.overrides().empty()) return reference;
  std::vector<std::string> names;
  for (const Outputs::Info& output : outputs) names.push_back(output.name);
  const Node expected = r.node("expected");
  if (!expected.isMap()) expected.refuse("expected a map of outputs", "write expected: {tip: {value: [1, 0, 0], tolerance: 1e-3}}");
  for (const std::string& name : expected.keys()) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw InputError(expected.keyLocation(name), expected.path() + "." + name, "there is no output '" + name + "'",
                       adviceForName(name, names));
    }
    reference.expected.push_back(
        readExpected(Record(expected.at(name), scenes::expectedOutput()), outputs[std::size_t(found - names.begin())]));
  }
  return reference;
}

ScenePicture readPicture(const Node& scene, Dimension argument) {
  ScenePicture picture;
  const std::optional<Node> node = scene.find("picture");
  if (!node) return picture;
  const Record r(*node, scenes::picture());
  if (r.has("time")) picture.time = r.node("time").toNonNegative(argument);
  picture.camera = r.text("camera");
  if (r.has("colour")) picture.colour = r.text("colour");
  if (r.has("show")) picture.show = r.text("show");
  picture.exaggerate = r.number("exaggerate");
  picture.film = r.boolean("film");
  return picture;
}

}
