#include "tendril/scenes/scene_reference.h"

#include "scenes/scene_schema.h"
#include "tendril/documents/nearest_name.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

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

namespace {

constexpr int mostRuns = 20000; ///< of a study: minutes

ParameterRange readRange(const Record& r, const Document& document) {
  const std::string name = r.reference("parameter", document.parameterNames());
  if (const Scope::Symbol* symbol = document.parameters().find(name); !symbol || !std::holds_alternative<double>(*symbol))
    r.node("parameter").refuse("the parameter '" + name + "' is not a number", "name one that is");
  const bool isSpaced = r.has("from") && r.has("to") && r.has("count");
  if (r.has("values") ? r.has("from") || r.has("to") || r.has("count") : !isSpaced)
    r.node().refuse("say which values the parameter takes", "give `from`, `to` and `count`, or `values`");
  if (r.has("values")) {
    const Eigen::VectorXd values = r.numbers("values");
    if (values.size() == 0) r.node("values").refuse("there are none", "write [a, b, ...]");
    return {name, {values.data(), values.data() + values.size()}};
  }
  if (r.integer("count") < 2 || r.integer("count") > mostRuns)
    r.node("count").refuse("expected at least 2 values and at most " + std::to_string(mostRuns), "");
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(r.integer("count"), r.number("from"), r.number("to"));
  return {name, {values.data(), values.data() + values.size()}};
}

std::string readOutput(const Node& node, std::span<const Outputs::Info> outputs) {
  std::vector<std::string> numbers;
  for (const Outputs::Info& output : outputs) {
    if (output.columns == 1 && !output.grows) numbers.push_back(output.name);
  }
  const std::string name = node.toText();
  if (std::find(numbers.begin(), numbers.end(), name) == numbers.end())
    node.refuse("there is no output '" + name + "' that is a number", adviceForName(name, numbers));
  return name;
}

StudyPicture readStudy(const Record& r, const Document& document, std::span<const Outputs::Info> outputs) {
  StudyPicture study{.title = r.text("title"), .x = readRange(r.object("x"), document), .outputs = {}, .line = {}, .square = {}};
  if (r.has("y")) study.y = readRange(r.object("y"), document);
  if (r.has("each")) study.each = readRange(r.object("each"), document);
  const std::optional<ParameterRange>& other = study.y ? study.y : study.each;
  if (study.y && study.each) r.node("each").refuse("a map has no curves", "remove `y` or `each`");
  if (other && other->parameter == study.x.parameter)
    r.node().refuse("both parameters are '" + study.x.parameter + "'", "name another one");
  if (other && double(other->values.size()) * double(study.x.values.size()) > mostRuns)
    r.node().refuse("more than " + std::to_string(mostRuns) + " runs", "take fewer values");
  const Node names = r.node("outputs");
  if (!names.isSequence() || names.items().empty()) names.refuse("expected names of outputs", "write [a, b]");
  for (const Node& name : names.items()) study.outputs.push_back(readOutput(name, outputs));
  for (const auto& [key, into] : {std::pair{"line", &study.line}, std::pair{"square", &study.square}}) {
    if (!r.has(key)) continue;
    if (!study.y) r.node(key).refuse("it belongs to a map", "give `y`, or remove it");
    *into = readOutput(r.node(key), outputs);
  }
  if (r.has("highest")) study.highest = r.number("highest");
  if (study.highest && study.y) r.node("highest").refuse("it belongs to curves", "remove it, or `y`");
  return study;
}

}

ScenePicture readPicture(const Document& document, Dimension argument, std::span<const Outputs::Info> outputs) {
  ScenePicture picture;
  const std::optional<Node> node = document.root().find("picture");
  if (!node) return picture;
  const Record r(*node, scenes::picture());
  if (r.has("time")) picture.time = r.node("time").toNonNegative(argument);
  picture.camera = r.text("camera");
  if (r.has("colour")) picture.colour = r.text("colour");
  if (r.has("show")) picture.show = r.text("show");
  picture.exaggerate = r.number("exaggerate");
  picture.film = r.boolean("film");
  for (const Record& study : r.objects("studies")) picture.studies.push_back(readStudy(study, document, outputs));
  return picture;
}

}
