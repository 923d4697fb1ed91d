#pragma once
#include "tendril/documents/expression.h"
#include "tendril/documents/units.h"
#include "tendril/model/error.h"
#include "tendril/model/time_function.h"

#include <Eigen/Core>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

class Document;
class DocumentSource;
namespace detail {
struct Value;
struct Tree;
}

/// A cursor on one value of a document (map, sequence or scalar), valid as long as its document lives.
///
/// Numbers are written as numbers, as expressions in the parameters (`2*pi*EI/L`), or as a number with a unit (`10 mm`). They come back in
/// coherent SI, angles in radians (a plain number is in the document's units, in degrees where dimension::angle is expected). NaN and
/// infinity are refused. A text equal to `$name` or `${name}` stands for the text parameter of that name.
///
/// Every keyed getter records that its key was asked for; `finish()` then refuses the keys nobody asked for. Every refusal is an InputError
/// with file, line, path of the key, what was expected and the remedy. A getter with a fallback returns it where the key is absent.
class Node {
 public:
  /// "beams[2].section.radius"; empty for the whole document.
  std::string path() const;
  Location location() const;
  bool isMap() const;
  bool isSequence() const;
  bool isText() const;
  /// The `name` of this map if it has one, else its path.
  std::string displayName() const;

  // Keyed getters of a map.
  bool has(std::string_view key) const;
  double number(std::string_view key, Dimension dimension = {}) const;
  double number(std::string_view key, Dimension dimension, double fallback) const;
  double positive(std::string_view key, Dimension dimension = {}) const;
  double positive(std::string_view key, Dimension dimension, double fallback) const;
  double nonNegative(std::string_view key, Dimension dimension = {}) const;
  double nonNegative(std::string_view key, Dimension dimension, double fallback) const;
  int integer(std::string_view key) const;
  int integer(std::string_view key, int fallback) const;
  bool boolean(std::string_view key) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  std::string choice(std::string_view key, std::initializer_list<std::string_view> choices) const;
  std::string choice(std::string_view key, std::initializer_list<std::string_view> choices, std::string_view fallback) const;
  Eigen::Vector3d vector3(std::string_view key, Dimension dimension = {}) const;
  Eigen::Vector3d vector3(std::string_view key, Dimension dimension, const Eigen::Vector3d& fallback) const;
  Eigen::VectorXd numbers(std::string_view key, int count = -1, Dimension dimension = {}) const;
  Eigen::MatrixXd matrix(std::string_view key, int rows = -1, int columns = -1, Dimension dimension = {}) const;
  TimeFunction timeFunction(std::string_view key, Dimension dimension = {}) const;
  TimeFunction timeFunction(std::string_view key, Dimension dimension, double fallback) const;
  /// A name that must be one of `known`; `kind` ("beam", "material") words the refusal.
  std::string reference(std::string_view key, std::string_view kind, std::span<const std::string> known) const;
  /// The elements of a sequence; absent counts as empty. A single map or scalar is not promoted to a sequence.
  std::vector<Node> sequence(std::string_view key) const;
  Node map(std::string_view key) const;
  std::optional<Node> optionalMap(std::string_view key) const;

  /// The value under a key, recorded as asked for; refused when absent (`expected` words what should stand there).
  Node at(std::string_view key, std::string_view expected = {}) const;
  std::optional<Node> find(std::string_view key) const;
  /// Refuses this map if the key is absent, without reading it.
  void require(std::string_view key, std::string_view expected = {}) const;
  /// The value under a key or, where it is absent, the one written in `yaml` (a default of a schema).
  Node atOr(std::string_view key, std::string_view yaml) const;
  /// Where a key of this map stands; the map's own place if it is absent.
  Location keyLocation(std::string_view key) const;
  /// Keys of a map in the order of the file.
  std::vector<std::string> keys() const;
  /// Elements of a sequence.
  std::vector<Node> items() const;

  // Conversions of the value itself, with the same rules.
  double toNumber(Dimension dimension = {}) const;
  double toPositive(Dimension dimension = {}) const;
  double toNonNegative(Dimension dimension = {}) const;
  int toInteger() const;
  bool toBoolean() const;
  std::string toText() const;
  std::string toChoice(std::span<const std::string> choices) const;
  std::string toReference(std::string_view kind, std::span<const std::string> known) const;
  Eigen::Vector3d toVector3(Dimension dimension = {}) const;
  /// A sequence of numbers; `count` < 0 takes any number of them.
  Eigen::VectorXd toNumbers(int count = -1, Dimension dimension = {}) const;
  /// A sequence of rows of equal length; negative sizes take any.
  Eigen::MatrixXd toMatrix(int rows = -1, int columns = -1, Dimension dimension = {}) const;
  /// A number, an expression in `t`, or a table [[t, value], ...] with increasing times, linear between and constant outside; the rate at a
  /// corner is that of the piece on its right. `argument` is the dimension of t: none where it is a load parameter.
  TimeFunction toTimeFunction(Dimension dimension = {}, Dimension argument = dimension::time) const;

  /// A number, or an expression in the arclength `s` of a rod.
  std::function<double(double)> toArclengthFunction(Dimension dimension) const;

  /// The units of numbers without a unit.
  const UnitSystem& units() const;
  /// Refuses the keys of this map that no getter read.
  void finish() const;
  /// Declares a key as known (as has() does), for the advice about unknown ones, without reading it.
  void allow(std::string_view key) const;
  /// Throws the InputError of this value: `message` says what is wrong and was expected, `remedy` what to do.
  [[noreturn]] void refuse(const std::string& message, const std::string& remedy) const;

 private:
  friend class Document;
  Node(detail::Tree* owner, detail::Value* target) : tree(owner), value(target) {}
  detail::Tree* tree;
  detail::Value* value;
};

/// A scene file (YAML) as a tree with exact places, its parameters and the values overridden from the command line.
///
/// `parameters` at the top level is a map of numbers, expressions in other parameters, numbers with a unit, or texts that are choices. A
/// text that reads as an expression of known names is one; any other text is a choice (`$name` refers to another choice). A number with a
/// unit keeps its dimension: used alone where another dimension is expected, it is refused. Its value in an expression is that of the plain
/// number: SI, a pure angle in degrees.
///
/// `units` at the top level (a map of `length`, `mass`, `time`) says in which units numbers without a unit are; all else is SI.
///
/// Overrides are texts `NAME=VALUE` (a parameter) or `path.to.key=VALUE` (any value; steps into a sequence by `[index]` or by the `name` of
/// its elements: `beams[0].elements`, `beams.cable.elements`); VALUE is YAML. A path whose last step is new in an existing map is added,
/// and refused by finish() if nothing reads it.
///
/// An object of a top-level sequence with `repeat: {i: [1, n]}` stands for n objects, in whose texts `${i}` is the number: in names
/// (`link${i}`, `link${i-1}`) and in expressions (`${i} - 1`) alike. Overrides apply before, so that n may be a parameter.
class Document {
 public:
  /// Throws InputError if the file cannot be read or is not a YAML map without duplicate keys.
  static Document fromFile(const std::filesystem::path& file, std::span<const std::string> overrides = {});
  static Document fromText(std::string_view text, std::string_view name = "scene", std::span<const std::string> overrides = {});
  static Document fromSource(const DocumentSource& source, std::span<const std::string> overrides = {});
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Node root() const;
  /// Refuses every key of the document that no getter asked for.
  void finish() const;

  /// The names and values a scene's expressions see.
  const Scope& parameters() const;
  std::vector<std::string> parameterNames() const;
  /// Parameters that no value and no other parameter used so far.
  std::vector<std::string> unusedParameters() const;

  const std::string& text() const;
  const std::string& fileName() const;
  const std::vector<std::string>& overrides() const;

 private:
  explicit Document(std::unique_ptr<detail::Tree> content);
  std::unique_ptr<detail::Tree> tree;
};

/// A scene file read once, of which documents with different overrides are made without reading it again. Constant, and so safe to use from
/// several threads.
class DocumentSource {
 public:
  /// Throw as those of Document.
  static DocumentSource fromFile(const std::filesystem::path& file);
  static DocumentSource fromText(std::string_view text, std::string_view name = "scene");

  const std::string& text() const { return text_; }
  const std::string& fileName() const { return file_; }

 private:
  friend class Document;
  std::string text_, file_;
  std::shared_ptr<const detail::Value> root_;
};

}
