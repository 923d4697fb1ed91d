#include "documents/yaml_tree.h"

#include <yaml-cpp/yaml.h>

#include <utility>

namespace tendril {

namespace {

/// Copies a YAML tree, recording places and refusing what a scene cannot mean. Aliases are copied, so their number is bounded.
class TreeBuilder {
 public:
  /// `fixed`: the place of every value where the text is not from a file (an override, a default).
  TreeBuilder(std::string fileName, std::optional<Location> fixed) : file(std::move(fileName)), fixedPlace(std::move(fixed)) {}

  std::unique_ptr<Value> build(const YAML::Node& node, const std::string& path, int depth = 0) {
    auto value = std::make_unique<Value>();
    value->where = place(node.Mark());
    value->path = path;
    if (depth > maxDepth) throw InputError(value->where, path, "the values are nested too deeply", "flatten the document");
    if (++count > maxCount)
      throw InputError(value->where, path, "the document has too many values", "check its aliases, or move data to a file");
    switch (node.Type()) {
    case YAML::NodeType::Scalar:
      value->kind = Value::Kind::Scalar;
      value->text = node.Scalar();
      value->quoted = node.Tag() == "!";
      break;
    case YAML::NodeType::Sequence:
      value->kind = Value::Kind::Sequence;
      for (const YAML::Node& item : node) value->items.push_back(build(item, elementPath(path, value->items.size()), depth + 1));
      break;
    case YAML::NodeType::Map:
      value->kind = Value::Kind::Map;
      for (const auto& pair : node) addEntry(*value, pair.first, pair.second, depth);
      break;
    default:
      break;
    }
    return value;
  }

 private:
  static constexpr int maxDepth = 64;
  static constexpr long maxCount = 2'000'000;

  Location place(const YAML::Mark& mark) const {
    if (fixedPlace) return *fixedPlace;
    return {file, mark.line + 1, mark.column + 1};
  }

  void addEntry(Value& map, const YAML::Node& key, const YAML::Node& content, int depth) {
    const Location where = place(key.Mark());
    if (!key.IsScalar()) throw InputError(where, map.path, "a key must be a plain word", "write key: value");
    const std::string& name = key.Scalar();
    if (const Value::Entry* first = map.find(name))
      throw InputError(where, childPath(map.path, name), "the key appears twice (first in line " + std::to_string(first->where.line) + ")",
                       "remove one of them");
    map.entries.push_back({name, where, build(content, childPath(map.path, name), depth + 1)});
  }

  std::string file;
  std::optional<Location> fixedPlace;
  long count = 0;
};

}

std::unique_ptr<Value> parseYaml(const std::string& text, const std::string& file, const std::string& path,
                                 const std::optional<Location>& fixed) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      throw InputError({file}, path, "there are several YAML documents in one text", "keep one, remove the '---' lines");
    return TreeBuilder(file, fixed).build(documents.empty() ? YAML::Node() : documents.front(), path);
  } catch (const YAML::Exception& error) {
    const Location where = fixed ? *fixed : Location{file, error.mark.line + 1, error.mark.column + 1};
    throw InputError(where, path, "this is not valid YAML: " + error.msg, "check indentation, colons and quotation marks near this place");
  }
}

}
