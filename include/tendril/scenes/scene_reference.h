#pragma once
#include "tendril/documents/document.h"
#include "tendril/scenes/outputs.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// What the result of an output should be, within a tolerance in the Euclidean norm, in the units of the outputs.
struct ExpectedOutput {
  std::string output;
  std::vector<double> value;
  double tolerance = 0;

  /// Distance of a result from the value; NaN if numbers are missing. Of an array that grows the first numbers count.
  double error(std::span<const double> result) const;
  bool isMet(std::span<const double> result) const { return error(result) <= tolerance; }
};

/// By what a scene can be judged, and that is not this program: a closed form, a published value, an independent computation.
struct SceneReference {
  std::string source;                   ///< in words; empty if the scene names none
  std::vector<ExpectedOutput> expected; ///< with the parameters as they are in the file; empty where any value is overridden
};

/// A parameter of a scene and the values that it takes one after the other.
struct ParameterRange {
  std::string parameter;
  std::vector<double> values;
};

/// What becomes of outputs, all of them numbers, when parameters change: curves over x, one per output and value of `each`; or, with y, a
/// map that is coloured by the values that the outputs have in it.
struct StudyPicture {
  std::string title;
  ParameterRange x;
  std::optional<ParameterRange> y{}, each{};
  std::vector<std::string> outputs;
  std::string line;   ///< map: output drawn over x as a value of y; empty: none
  std::string square; ///< map: output that is the side of a square from the origin; empty: none
  std::optional<double> highest{};
};

/// How a scene is best shown; what is not given is left to the viewer.
struct ScenePicture {
  std::optional<double> time; ///< [s], or load parameter
  std::string camera = "home";
  std::string colour; ///< name of a field
  std::string show;   ///< layers to switch on or off
  double exaggerate = 1;
  bool film = false; ///< besides the picture
  std::vector<StudyPicture> studies{};
};

/// `reference` of a scene with these outputs. Throws InputError for outputs that do not exist and values that do not fit them.
SceneReference readReference(const Document& document, std::span<const Outputs::Info> outputs);
/// `picture` of a scene with these outputs; `argument` is the dimension of its time. Throws InputError for studies of parameters and
/// outputs that do not exist.
ScenePicture readPicture(const Document& document, Dimension argument, std::span<const Outputs::Info> outputs);

}
