#pragma once
#include "tendril/documents/document.h"
#include "tendril/documents/units.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

class Schema;

/// One key of an object of the scene: its type, dimension, bounds, default and documentation.
struct Field {
  enum class Type {
    Number,
    Integer,
    Boolean,
    Text,
    Choice,
    Reference,
    Vector,
    Numbers,
    Matrix,
    TimeFunction,
    Object,
    Objects,
    Parameters,
    Any
  };
  enum class Bound { None, Positive, NonNegative };

  std::string key;
  Type type = Type::Any;
  std::string documentation;
  Dimension dimension;
  Bound bound = Bound::None;
  std::vector<std::string> choices;
  /// What a Reference names, e.g. "beam".
  std::string kind;
  /// Sizes of Numbers (rows) and Matrix; negative means any.
  int rows = -1;
  int columns = -1;
  const Schema* object = nullptr;
  bool required = true;
  /// The value, as YAML, where the key is absent.
  std::optional<std::string> fallback;

  // Refinements, chained on the makers below.
  Field positive() const;
  Field nonNegative() const;
  Field optional() const;
  Field defaultsTo(std::string yaml) const;
};

/// Makers of fields, so that a table of them reads like a page of the manual:
///   field::number("radius", dimension::length, "Radius of the section.").positive()
namespace field {
Field number(std::string key, Dimension dimension, std::string documentation);
Field integer(std::string key, std::string documentation);
Field boolean(std::string key, std::string documentation);
Field text(std::string key, std::string documentation);
Field choice(std::string key, std::vector<std::string> choices, std::string documentation);
Field reference(std::string key, std::string kind, std::string documentation);
Field vector3(std::string key, Dimension dimension, std::string documentation);
Field numbers(std::string key, int count, Dimension dimension, std::string documentation);
Field matrix(std::string key, int rows, int columns, Dimension dimension, std::string documentation);
Field timeFunction(std::string key, Dimension dimension, std::string documentation);
/// A nested object; a sequence of objects (absent means empty).
Field object(std::string key, const Schema& schema, std::string documentation);
Field objects(std::string key, const Schema& schema, std::string documentation);
/// The `parameters` of a document, which Document reads itself.
Field parameters(std::string documentation);
/// A value whose form the reader checks itself (Record::node).
Field any(std::string key, std::string documentation);
}

/// The table of one kind of object of the scene. Declared once (a static const in the mapper); it drives the checks when reading (Record),
/// the JSON Schema (`tendril schema`) and the reference page.
///
/// An object whose keys depend on one of them (`type: revolute`) lists the common fields, of which `discriminator` is a required or
/// defaulted Choice, and per choice the extra fields.
class Schema {
 public:
  struct Variant {
    std::string choice;
    std::string documentation;
    std::vector<Field> fields;
  };

  Schema(std::string name, std::string documentation, std::vector<Field> fields);
  /// The discriminator's field is made from the variants and put first; `fallback` names the variant where the key is absent.
  Schema(std::string name, std::string documentation, std::string discriminator, std::vector<Variant> variants,
         std::vector<Field> fields = {}, std::optional<std::string> fallback = {});

  const std::string& name() const { return title; }
  const std::string& documentation() const { return summary; }
  const std::vector<Field>& fields() const { return common; }
  const std::string& discriminator() const { return selector; }
  const std::vector<Variant>& variants() const { return alternatives; }
  /// The field of a key for an object of the given variant (ignored where there are none); null when the key does not belong to it.
  const Field* find(std::string_view key, std::string_view variant = {}) const;

  /// JSON Schema (draft 2020-12) of a document whose top level is this object, as indented text.
  std::string json(std::string_view id = {}) const;
  /// The reference as Markdown: one table per object.
  std::string markdown() const;

 private:
  std::string title;
  std::string summary;
  std::string selector;
  std::vector<Field> common;
  std::vector<Variant> alternatives;
};

/// A map of the document read by its schema. Construction refuses unknown and missing keys at once; the getters take dimension, bounds,
/// size, choices and default from the schema's field of that key. Asking for a key that the schema does not have with that type is a
/// mistake of the program (std::logic_error).
class Record {
 public:
  Record(const Node& source, const Schema& schema);

  /// Present in the file, or with a default.
  bool has(std::string_view key) const;
  double number(std::string_view key) const;
  int integer(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string choice(std::string_view key) const;
  std::string reference(std::string_view key, std::span<const std::string> known) const;
  Eigen::Vector3d vector3(std::string_view key) const;
  Eigen::VectorXd numbers(std::string_view key) const;
  Eigen::MatrixXd matrix(std::string_view key) const;
  TimeFunction timeFunction(std::string_view key, Dimension argument = dimension::time) const;
  Record object(std::string_view key) const;
  std::vector<Record> objects(std::string_view key) const;

  /// The discriminator's value; empty where the schema has no variants.
  const std::string& variant() const { return chosen; }
  const Node& node() const { return source; }
  /// The value of a key (or its default) as a cursor, e.g. to refuse it with a message of one's own.
  Node node(std::string_view key) const;

 private:
  Node get(std::string_view key, Field::Type type, const Field** found = nullptr) const;
  void refuseOutOfBounds(const std::string& key, const Field& field) const;
  Node source;
  const Schema* schema;
  std::string chosen;
};

}
