#include "tendril/documents/overrides.h"

#include "documents/document_tree.h"
#include "documents/yaml_tree.h"
#include "tendril/documents/document.h"
#include "tendril/documents/nearest_name.h"

#include <fmt/format.h>

#include <charconv>

namespace tendril {

namespace {

/// One `path=value` of the command line, applied to the tree.
class Override {
 public:
  Override(detail::Tree& target, const std::string& assignment) : tree(target), where{"--set " + assignment} {
    const std::size_t equals = assignment.find('=');
    path = std::string(trim(std::string_view(assignment).substr(0, equals)));
    if (equals == std::string::npos || path.empty()) throw InputError(where, "", "expected NAME=VALUE", "write e.g. --set elements=20");
    content = assignment.substr(equals + 1);
    if (trim(content).empty()) throw InputError(where, path, "the value is missing", "write e.g. --set " + path + "=1");
  }

  /// Returns the path of the value.
  std::string apply() {
    const std::string name = path.starts_with("parameters.") ? path.substr(std::string("parameters.").size()) : path;
    if (tree.parameters.contains(name)) return setParameter(name);
    if (name != path) refuseStep("there is no parameter '" + name + "'", name, tree.parameters.names());
    return setValue();
  }

 private:
  [[noreturn]] void refuseStep(const std::string& message, const std::string& step, const std::vector<std::string>& known) const {
    throw InputError(where, path, message + " in " + tree.file, adviceForName(step, known));
  }

  std::unique_ptr<Value> parse(const std::string& target) const {
    double number = 0; // a plain number is by far the most frequent, in studies
    const auto [end, status] = std::from_chars(content.data(), content.data() + content.size(), number);
    if (status == std::errc{} && end == content.data() + content.size())
      return std::make_unique<Value>(Value{Value::Kind::Scalar, content, false, where, target, {}, {}, {}});
    return parseYaml(content, where.file, target, where);
  }

  std::string setParameter(const std::string& name) {
    const std::string target = "parameters." + name;
    std::unique_ptr<Value> value;
    if (tree.parameters.isText(name)) {
      // A choice is the text as typed: `--set shape=3d` is no number with a unit.
      value = std::make_unique<Value>(Value{Value::Kind::Scalar, std::string(trim(content)), false, where, target, {}, {}, {}});
    } else {
      value = parse(target);
    }
    tree.parameters.override(name, std::move(value));
    return target;
  }

  std::string setValue() {
    Value* value = tree.root.get();
    std::string_view rest = path;
    while (true) {
      if (rest.starts_with('[')) {
        std::unique_ptr<Value>& slot = element(*value, rest);
        if (rest.empty()) return replace(slot);
        value = slot.get();
      } else {
        if (rest.starts_with('.')) rest.remove_prefix(1);
        const std::string step(rest.substr(0, rest.find_first_of(".[")));
        rest.remove_prefix(step.size());
        if (step.empty()) throw InputError(where, path, "there is an empty step in the path", "write e.g. beams[0].elements");
        std::unique_ptr<Value>* slot = named(*value, step, rest.empty());
        if (!slot) return childPath(value->path, step);
        if (rest.empty()) return replace(*slot);
        value = slot->get();
      }
    }
  }

  std::string replace(std::unique_ptr<Value>& slot) const {
    const std::string target = slot->path;
    tree.parameters.displace(*slot);
    slot = parse(target);
    return target;
  }

  std::unique_ptr<Value>& element(Value& sequence, std::string_view& rest) const {
    const std::size_t close = rest.find(']');
    std::size_t index = 0;
    const char* first = rest.data() + 1;
    const char* last = rest.data() + (close == std::string_view::npos ? rest.size() : close);
    const auto [end, status] = std::from_chars(first, last, index);
    if (close == std::string_view::npos || status != std::errc{} || end != last)
      throw InputError(where, path, "cannot read the index '" + std::string(rest) + "'", "write e.g. beams[0].elements");
    if (sequence.kind != Value::Kind::Sequence)
      throw InputError(where, path, "'" + sequence.path + "' is " + kindName(sequence) + ", not a sequence", "leave out the index");
    if (index >= sequence.items.size())
      throw InputError(where, path, "'" + sequence.path + "' has only " + std::to_string(sequence.items.size()) + " elements",
                       "indices count from 0");
    rest.remove_prefix(close + 1);
    return sequence.items[index];
  }

  /// The value of a key, or the element of that name; a new last key is added and gives null.
  std::unique_ptr<Value>* named(Value& parent, const std::string& step, bool isLast) const {
    std::vector<std::string> known;
    if (parent.kind == Value::Kind::Map) {
      if (Value::Entry* entry = parent.find(step)) return &entry->value;
      for (const Value::Entry& entry : parent.entries) known.push_back(entry.key);
      if (isLast && &parent != tree.root.get()) {
        parent.entries.push_back({step, where, parse(childPath(parent.path, step))});
        return nullptr;
      }
    } else if (parent.kind == Value::Kind::Sequence) {
      for (std::unique_ptr<Value>& item : parent.items) {
        const Value::Entry* name = item->kind == Value::Kind::Map ? item->find("name") : nullptr;
        if (name && name->value->text == step) return &item;
        if (name) known.push_back(name->value->text);
      }
    }
    const bool top = &parent == tree.root.get();
    if (top)
      for (const std::string& name : tree.parameters.names()) known.push_back(name);
    refuseStep(top ? "there is no parameter or key '" + step + "'" : "there is no '" + step + "' in '" + parent.path + "'", step, known);
  }

  detail::Tree& tree;
  Location where;
  std::string path;
  std::string content;
};

}

std::vector<std::string> applyOverrides(detail::Tree& tree, std::span<const std::string> overrides) {
  tree.root->learn("parameters");
  if (Value::Entry* parameters = tree.root->find("parameters")) {
    parameters->used = true;
    tree.parameters.define(*parameters->value);
  }
  std::vector<std::string> paths;
  for (const std::string& assignment : overrides) paths.push_back(Override(tree, assignment).apply());
  return paths;
}

std::string assignment(std::string_view path, double value) { return fmt::format("{}={}", path, value); }

void refuseLostOverrides(const DocumentSource& source, std::span<const std::string> overrides) {
  detail::Tree tree;
  tree.file = source.fileName();
  tree.root = parseYaml(source.text(), tree.file, "");
  const std::vector<std::string> paths = applyOverrides(tree, overrides);
  const auto isWithin = [](const std::string& path, const std::string& whole) {
    return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.' || path[whole.size()] == '[');
  };
  for (std::size_t later = 0; later < paths.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (isWithin(paths[earlier], paths[later]))
        throw InputError({"--set " + overrides[later]}, paths[later],
                         "the value is set twice: nothing is left of '" + overrides[earlier] + "'", "set it once");
    }
  }
}

}
