#include "tendril/documents/document.h"
#include "tendril/documents/nearest_name.h"
#include "tendril/documents/overrides.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace tendril {

namespace detail {

/// One value of the document with its place; owns what is inside it.
struct Value {
  enum class Kind { Empty, Scalar, Sequence, Map };
  struct Entry {
    std::string key;
    Location where;
    std::unique_ptr<Value> value;
    bool used = false;
  };

  Kind kind = Kind::Empty;
  std::string text;
  bool quoted = false;
  Location where;
  std::string path;
  std::vector<std::unique_ptr<Value>> items;
  std::vector<Entry> entries;
  /// Keys the readers know, for the advice about unknown ones.
  std::vector<std::string> known;

  Entry* find(std::string_view key) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return entry == entries.end() ? nullptr : &*entry;
  }
  void learn(std::string_view key) {
    if (std::find(known.begin(), known.end(), key) == known.end()) known.emplace_back(key);
  }

  /// A copy that no reader has seen.
  std::unique_ptr<Value> clone() const {
    auto copy = std::make_unique<Value>(Value{kind, text, quoted, where, path, {}, {}, {}});
    for (const auto& item : items) copy->items.push_back(item->clone());
    for (const Entry& entry : entries) copy->entries.push_back({entry.key, entry.where, entry.value->clone()});
    return copy;
  }
};

}

namespace {

using detail::Value;

std::string childPath(const std::string& parent, const std::string& key) { return parent.empty() ? key : parent + "." + key; }
std::string elementPath(const std::string& parent, std::size_t index) { return parent + "[" + std::to_string(index) + "]"; }

std::string kindName(const Value& value) {
  switch (value.kind) {
  case Value::Kind::Empty:
    return "nothing";
  case Value::Kind::Scalar:
    return "'" + value.text + "'";
  case Value::Kind::Sequence:
    return "a sequence";
  default:
    return "a map";
  }
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// ---- from YAML to values ----

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

std::unique_ptr<Value> parseYaml(const std::string& text, const std::string& file, const std::string& path,
                                 std::optional<Location> fixed = {}) {
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

/// A copy at another place of a document.
std::unique_ptr<Value> relocated(const Value& value, const std::string& path, const Location& where) {
  auto copy = std::make_unique<Value>(Value{value.kind, value.text, value.quoted, where, path, {}, {}, {}});
  for (std::size_t i = 0; i < value.items.size(); ++i) copy->items.push_back(relocated(*value.items[i], elementPath(path, i), where));
  for (const Value::Entry& entry : value.entries)
    copy->entries.push_back({entry.key, where, relocated(*entry.value, childPath(path, entry.key), where)});
  return copy;
}

/// The value that a schema writes as the default of many places: each text is read once.
const Value& defaultValue(const std::string& yaml) {
  static std::mutex lock;
  static std::map<std::string, std::unique_ptr<const Value>> known;
  const std::lock_guard guard(lock);
  std::unique_ptr<const Value>& value = known[yaml];
  if (!value) value = parseYaml(yaml, "", "");
  return *value;
}

// ---- numbers ----

struct Quantity {
  double value = 0;
  Unit unit;
};

/// Reads `number unit`; empty where the text does not have that form (it then is an expression).
std::optional<Quantity> readQuantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !(std::isdigit(static_cast<unsigned char>(text.front())) || text.front() == '.')) return {};
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{}) return {};
  const std::string_view rest = trim(text.substr(end - text.data()));
  if (rest.empty()) return {};
  const auto first = static_cast<unsigned char>(rest.front());
  if (!std::isalpha(first) && first < 0x80 && first != '%' && !rest.starts_with("1/")) return {};
  return Quantity{negative ? -value : value, parseUnit(rest)};
}

/// `$name` or `${name}` as a whole: the name; else empty.
std::string_view dollarName(std::string_view text) {
  if (!text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  return isName(text) ? text : std::string_view{};
}

Location shifted(const Value& value, std::size_t position) {
  Location where = value.where;
  if (where.line > 0) where.column += static_cast<int>(position) + (value.quoted ? 1 : 0);
  return where;
}

[[noreturn]] void refuseValue(const Value& value, const std::string& message, const std::string& remedy) {
  throw InputError(value.where, value.path, message, remedy);
}

/// Compiles an expression; its errors get the place of the value.
Expression compile(const Value& value, const Scope& scope, Expression::Time time = Expression::Time::Absent) {
  try {
    return Expression(value.text, scope, time);
  } catch (const ExpressionError& error) {
    throw InputError(shifted(value, error.position), value.path, error.what(), error.remedy);
  }
}

double requireFinite(const Value& value, double number) {
  if (!std::isfinite(number)) refuseValue(value, "'" + value.text + "' is not a finite number", "give a finite value");
  return number;
}

void requireDimension(const Value& value, const Dimension& given, const std::string& shown, const Dimension& expected) {
  if (compatible(given, expected)) return;
  refuseValue(value, shown + " has the wrong dimension",
              expected == dimension::none ? "a pure number is expected, without a unit"
                                          : "give a value in " + sceneUnit(expected) + " or a multiple of it");
}

std::optional<Quantity> quantityOf(const Value& value) {
  try {
    return readQuantity(trim(value.text));
  } catch (const Error& error) {
    refuseValue(value, "in '" + value.text + "': " + error.what(), "write a number and a unit like 10 mm, or a product with '*'");
  }
}

// ---- parameters ----

/// The `parameters` of a scene, resolved when first asked for; a parameter that needs itself is refused with the whole cycle.
class ParameterTable : public Scope {
 public:
  /// Of numbers without a unit.
  UnitSystem units;

  struct Parameter {
    const Value* value = nullptr;
    bool isText = false;
    std::optional<Symbol> symbol;
    std::optional<Dimension> dimension;
    bool used = false;
  };

  void define(Value& map) {
    if (map.kind == Value::Kind::Empty) return;
    if (map.kind != Value::Kind::Map)
      refuseValue(map, "expected a map of parameters, found " + kindName(map), "write name: value lines under it");
    for (Value::Entry& entry : map.entries) {
      entry.used = true;
      checkName(entry);
      order.push_back(entry.key);
      Parameter& parameter = table[entry.key];
      parameter.value = entry.value.get();
    }
    for (auto& [name, parameter] : table) parameter.isText = looksLikeText(*parameter.value);
  }

  bool isText(std::string_view name) const { return table.find(name)->second.isText; }
  void override(std::string_view name, std::unique_ptr<Value> value) {
    table.find(name)->second.value = value.get();
    overriding.push_back(std::move(value));
  }
  /// What an override takes the place of: parameters in it have a use, though not this time.
  void displace(const Value& value) {
    if (value.kind == Value::Kind::Scalar) displaced.push_back(value.text);
    for (const std::unique_ptr<Value>& item : value.items) displace(*item);
    for (const Value::Entry& entry : value.entries) displace(*entry.value);
  }

  void resolveAll() {
    for (auto& [name, parameter] : table) resolve(name, parameter);
    for (auto& [name, parameter] : table) parameter.used = usedByOthers(name);
  }

  bool contains(std::string_view name) const { return table.find(name) != table.end(); }

  const Parameter* lookUp(std::string_view name) const {
    const auto entry = table.find(name);
    if (entry == table.end()) return nullptr;
    resolve(entry->first, entry->second);
    entry->second.used = true;
    return &entry->second;
  }
  const Symbol* find(std::string_view name) const override {
    const Parameter* parameter = lookUp(name);
    return parameter ? &*parameter->symbol : nullptr;
  }
  std::vector<std::string> names() const override { return order; }
  std::vector<std::string> unused() const {
    std::vector<std::string> list;
    for (const std::string& name : order)
      if (!table.find(name)->second.used) list.push_back(name);
    return list;
  }

 private:
  static void checkName(const Value::Entry& entry) {
    if (!isName(entry.key))
      throw InputError(entry.where, entry.value->path, "'" + entry.key + "' cannot be used as a name",
                       "use letters, digits and underscores");
    if (isReservedName(entry.key))
      throw InputError(entry.where, entry.value->path, "'" + entry.key + "' already has a meaning in expressions", "choose another name");
    if (entry.value->kind != Value::Kind::Scalar)
      throw InputError(entry.value->where, entry.value->path,
                       "a parameter is a number, an expression or a text, not " + kindName(*entry.value), "give one value");
  }

  /// A quoted text, or a word (with dots and hyphens inside) that does not read as an expression of known names.
  bool looksLikeText(const Value& value) const {
    if (value.quoted) return true;
    const std::string_view text = trim(value.text);
    if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text.front())) || text.front() == '_')) return false;
    bool everyNameKnown = true;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      if (end == i) {
        if (text[i] != '-' && text[i] != '.') return false;
        ++end;
      } else if (std::isalpha(static_cast<unsigned char>(text[i])) && !contains(text.substr(i, end - i)) &&
                 text.substr(i, end - i) != "pi") {
        everyNameKnown = false;
      }
      i = end;
    }
    return !everyNameKnown;
  }

  void resolve(const std::string& name, Parameter& parameter) const {
    if (parameter.symbol) return;
    if (std::find(visiting.begin(), visiting.end(), name) != visiting.end()) refuseCycle(name, parameter);
    visiting.push_back(name);
    evaluate(parameter);
    visiting.pop_back();
  }

  void evaluate(Parameter& parameter) const {
    const Value& value = *parameter.value;
    if (value.kind != Value::Kind::Scalar)
      refuseValue(value, "a parameter needs one value, found " + kindName(value), "give a number, an expression or a text");
    const std::string_view text = trim(value.text);
    const std::string_view alias = dollarName(text).empty() ? text : dollarName(text);
    const bool isAlias = !parameter.isText && contains(alias);
    if (!dollarName(text).empty() || isAlias) return copyFrom(parameter, std::string(alias));
    if (parameter.isText) {
      parameter.symbol = value.text;
    } else if (const auto quantity = quantityOf(value)) {
      parameter.symbol = requireFinite(value, quantity->value * quantity->unit.factor / plainFactor(quantity->unit.dimension, units));
      parameter.dimension = quantity->unit.dimension;
    } else {
      parameter.symbol = requireFinite(value, compile(value, *this).value());
    }
  }

  void copyFrom(Parameter& parameter, const std::string& name) const {
    const auto source = table.find(name);
    if (source == table.end()) refuseValue(*parameter.value, "unknown parameter '" + name + "'", adviceForName(name, order));
    resolve(source->first, source->second);
    parameter.symbol = source->second.symbol;
    parameter.dimension = source->second.dimension;
  }

  [[noreturn]] void refuseCycle(const std::string& name, const Parameter& parameter) const {
    std::string cycle;
    for (auto step = std::find(visiting.begin(), visiting.end(), name); step != visiting.end(); ++step) cycle += *step + " -> ";
    refuseValue(*parameter.value, "the parameters need each other in a circle: " + cycle + name, "give one of them a value of its own");
  }

  bool usedByOthers(const std::string& name) const {
    for (const auto& [other, parameter] : table)
      if (other != name && !parameter.isText && mentions(parameter.value->text, name)) return true;
    return std::any_of(displaced.begin(), displaced.end(), [&](const std::string& text) { return mentions(text, name); });
  }
  static bool mentions(const std::string& text, const std::string& name) {
    const auto inName = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      if (!(at > 0 && inName(at - 1)) && !inName(at + name.size())) return true;
    return false;
  }

  // Resolving is done at the first question, hence mutable.
  mutable std::map<std::string, Parameter, std::less<>> table;
  mutable std::vector<std::string> visiting;
  std::vector<std::string> order;
  std::vector<std::unique_ptr<Value>> overriding;
  std::vector<std::string> displaced;
};

}

struct detail::Tree {
  std::string text;
  std::string file;
  std::vector<std::string> overrides;
  std::unique_ptr<Value> root;
  ParameterTable parameters;
  /// Values made from the defaults of a schema.
  std::deque<std::unique_ptr<Value>> defaults;
};

namespace {

// ---- overrides ----

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

// ---- wording of expectations ----

enum class Bound { None, Positive, NonNegative };

std::string describeNumber(const Dimension& dimension, Bound bound, const UnitSystem& units = {}) {
  std::string text = bound == Bound::Positive ? "a positive number" : bound == Bound::NonNegative ? "a number not below zero" : "a number";
  if (dimension != dimension::none) text += " in " + sceneUnit(dimension, units);
  return text;
}

std::string describeSize(int size) { return size < 0 ? "" : std::to_string(size) + " "; }

std::string describeNumbers(int count, const Dimension& dimension, const UnitSystem& units = {}) {
  std::string text = "a sequence of " + describeSize(count) + "numbers";
  if (dimension != dimension::none) text += " in " + sceneUnit(dimension, units);
  return text;
}

/// Piecewise linear in t, constant outside the table.
struct Table {
  std::vector<double> times;
  std::vector<double> values;

  Jet operator()(double t) const {
    const auto after = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
    if (after == 0) return {values.front(), 0, 0};
    if (after == times.size()) return {values.back(), 0, 0};
    const double slope = (values[after] - values[after - 1]) / (times[after] - times[after - 1]);
    return {values[after - 1] + slope * (t - times[after - 1]), slope, 0};
  }
};

std::string readFile(const std::filesystem::path& file) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) throw InputError({file.string()}, "", "this is a folder", "name the scene file in it");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw InputError({file.string()}, "", std::string("the file cannot be read: ") + std::strerror(errno),
                     "check the path and the permissions");
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void finishMap(const Value& map) {
  for (const Value::Entry& entry : map.entries) {
    if (entry.used) continue;
    const std::string path = childPath(map.path, entry.key);
    const bool isKnown = std::find(map.known.begin(), map.known.end(), entry.key) != map.known.end();
    if (isKnown) throw InputError(entry.where, path, "this key has no effect together with the others here", "remove it");
    std::vector<std::string> free;
    for (const std::string& key : map.known) {
      const bool taken = std::any_of(map.entries.begin(), map.entries.end(), [&](const Value::Entry& e) { return e.key == key; });
      if (!taken) free.push_back(key);
    }
    const std::string nearest = nearestName(entry.key, free);
    const std::string expected = map.known.empty() ? "no key is expected here" : "expected are " + listNames(map.known, 40);
    throw InputError(entry.where, path, "unknown key '" + entry.key + "'; " + expected,
                     nearest.empty() ? "remove it or use one of these" : "did you mean '" + nearest + "'?");
  }
}

void finishAll(const Value& value) {
  if (value.kind == Value::Kind::Map) finishMap(value);
  for (const Value::Entry& entry : value.entries) finishAll(*entry.value);
  for (const auto& item : value.items) finishAll(*item);
}

}

// ---- Node: structure ----

std::string Node::path() const { return value->path; }
Location Node::location() const { return value->where; }
bool Node::isMap() const { return value->kind == Value::Kind::Map; }
bool Node::isSequence() const { return value->kind == Value::Kind::Sequence; }
bool Node::isText() const { return value->kind == Value::Kind::Scalar; }

std::string Node::displayName() const {
  const Value::Entry* name = value->find("name");
  return name && name->value->kind == Value::Kind::Scalar ? name->value->text : value->path;
}

void Node::refuse(const std::string& message, const std::string& remedy) const { refuseValue(*value, message, remedy); }

void Node::allow(std::string_view key) const { value->learn(key); }

bool Node::has(std::string_view key) const {
  value->learn(key);
  return value->find(key) != nullptr;
}

std::optional<Node> Node::find(std::string_view key) const {
  if (value->kind != Value::Kind::Map)
    refuse("expected a map with the key '" + std::string(key) + "', found " + kindName(*value), "write key: value lines");
  value->learn(key);
  Value::Entry* entry = value->find(key);
  if (!entry) return {};
  entry->used = true;
  return Node(tree, entry->value.get());
}

Node Node::at(std::string_view key, std::string_view expected) const {
  require(key, expected);
  return *find(key);
}

void Node::require(std::string_view key, std::string_view expected) const {
  if (has(key)) return;
  if (!isMap()) refuse("expected a map with the key '" + std::string(key) + "', found " + kindName(*value), "write key: value lines");
  std::vector<std::string> unread;
  for (const Value::Entry& entry : value->entries)
    if (!entry.used && std::find(value->known.begin(), value->known.end(), entry.key) == value->known.end()) unread.push_back(entry.key);
  const std::string nearest = nearestName(key, unread);
  std::string message = "the key '" + std::string(key) + "' is missing";
  if (!expected.empty()) message += "; expected is " + std::string(expected);
  if (nearest.empty())
    throw InputError(value->where, childPath(value->path, std::string(key)), message, "add '" + std::string(key) + ": ...' here");
  const Value::Entry* slip = value->find(nearest);
  throw InputError(slip->where, childPath(value->path, nearest), "unknown key '" + nearest + "', while " + message,
                   "did you mean '" + std::string(key) + "'?");
}

Node Node::atOr(std::string_view key, std::string_view yaml) const {
  if (const auto found = find(key)) return *found;
  const std::string path = childPath(value->path, std::string(key));
  tree->defaults.push_back(relocated(defaultValue(std::string(yaml)), path, Location{"default of " + path}));
  return Node(tree, tree->defaults.back().get());
}

Location Node::keyLocation(std::string_view key) const {
  const Value::Entry* entry = value->find(key);
  return entry ? entry->where : value->where;
}

std::vector<std::string> Node::keys() const {
  std::vector<std::string> list;
  for (const Value::Entry& entry : value->entries) list.push_back(entry.key);
  return list;
}

std::vector<Node> Node::items() const {
  if (value->kind != Value::Kind::Sequence)
    refuse("expected a sequence, found " + kindName(*value), "write [a, b, c] or lines that begin with '- '");
  std::vector<Node> list;
  for (const auto& item : value->items) list.push_back(Node(tree, item.get()));
  return list;
}

std::vector<Node> Node::sequence(std::string_view key) const {
  const auto found = find(key);
  if (!found || found->value->kind == Value::Kind::Empty) return {};
  return found->items();
}

Node Node::map(std::string_view key) const {
  const Node found = at(key, "a map");
  if (!found.isMap()) found.refuse("expected a map, found " + kindName(*found.value), "write key: value lines");
  return found;
}

std::optional<Node> Node::optionalMap(std::string_view key) const {
  if (!find(key)) return {};
  return map(key);
}

void Node::finish() const { finishMap(*value); }

const UnitSystem& Node::units() const { return tree->parameters.units; }

// ---- Node: conversions ----

namespace {

const Value& requireScalar(const Value& value, const std::string& expected) {
  if (value.kind == Value::Kind::Scalar && !trim(value.text).empty()) return value;
  refuseValue(value, "expected " + expected + ", found " + kindName(value), "give one value");
}

/// A number that is not a function of time, in SI.
double readNumber(const Value& value, const ParameterTable& parameters, const Dimension& dimension) {
  const std::string_view text = trim(value.text);
  const std::string_view name = dollarName(text).empty() ? text : dollarName(text);
  if (isName(name) && !isReservedName(name)) {
    const ParameterTable::Parameter* parameter = parameters.lookUp(name);
    if (parameter && parameter->dimension)
      requireDimension(value, *parameter->dimension, "the parameter '" + std::string(name) + "'", dimension);
  }
  if (const auto quantity = quantityOf(value)) {
    requireDimension(value, quantity->unit.dimension, "'" + value.text + "'", dimension);
    return requireFinite(value, quantity->value * quantity->unit.factor);
  }
  return requireFinite(value, compile(value, parameters).value() * plainFactor(dimension, parameters.units));
}

/// Yes and no in the words of YAML 1.1 and 1.2.
std::optional<bool> readTruth(std::string_view text) {
  static constexpr std::array yes{"true", "yes", "on"}, no{"false", "no", "off"};
  const std::string word = lowerCase(text);
  if (std::find(yes.begin(), yes.end(), word) != yes.end()) return true;
  if (std::find(no.begin(), no.end(), word) != no.end()) return false;
  return {};
}

std::string formatNumber(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

}

double Node::toNumber(Dimension dimension) const {
  return readNumber(requireScalar(*value, describeNumber(dimension, Bound::None, units())), tree->parameters, dimension);
}

double Node::toPositive(Dimension dimension) const {
  const double number = toNumber(dimension);
  if (!(number > 0)) refuse("'" + value->text + "' is not positive", "give " + describeNumber(dimension, Bound::Positive, units()));
  return number;
}

double Node::toNonNegative(Dimension dimension) const {
  const double number = toNumber(dimension);
  if (!(number >= 0)) refuse("'" + value->text + "' is negative", "give " + describeNumber(dimension, Bound::NonNegative, units()));
  return number;
}

int Node::toInteger() const {
  const double number = readNumber(requireScalar(*value, "a whole number"), tree->parameters, dimension::none);
  const double whole = std::round(number);
  // An expression such as 0.1*30 may miss the whole number by rounding.
  if (std::fabs(number - whole) > 1e-9 * std::max(1.0, std::fabs(whole)))
    refuse("'" + value->text + "' is not a whole number", "give a whole number");
  if (std::fabs(whole) > std::numeric_limits<int>::max()) refuse("'" + value->text + "' is too large", "give a whole number below 2^31");
  return static_cast<int>(whole);
}

bool Node::toBoolean() const {
  const std::string_view text = trim(requireScalar(*value, "true or false").text);
  if (const auto truth = readTruth(text)) return *truth;
  const std::string_view name = dollarName(text).empty() ? text : dollarName(text);
  const ParameterTable::Parameter* parameter = tree->parameters.lookUp(name);
  const std::string* choice = parameter ? std::get_if<std::string>(&*parameter->symbol) : nullptr;
  if (choice)
    if (const auto truth = readTruth(*choice)) return *truth;
  if (choice || (isName(text) && !parameter))
    refuse("expected true or false, found '" + (choice ? *choice : value->text) + "'", "write true or false");
  const double number = readNumber(*value, tree->parameters, dimension::none);
  if (number != 0 && number != 1) refuse("expected true or false, found '" + value->text + "'", "write true or false");
  return number == 1;
}

std::string Node::toText() const {
  const Value& scalar = requireScalar(*value, "a text");
  const std::string_view name = dollarName(trim(scalar.text));
  if (name.empty()) return scalar.text;
  const ParameterTable::Parameter* parameter = tree->parameters.lookUp(name);
  if (!parameter) refuse("unknown parameter '" + std::string(name) + "'", adviceForName(name, tree->parameters.names()));
  if (const auto* text = std::get_if<std::string>(&*parameter->symbol)) return *text;
  return formatNumber(std::get<double>(*parameter->symbol));
}

std::string Node::toChoice(std::span<const std::string> choices) const {
  std::string text = toText();
  const auto isChoice = [&](const std::string& word) { return std::find(choices.begin(), choices.end(), word) != choices.end(); };
  if (isChoice(text)) return text;
  if (isName(text))
    if (const ParameterTable::Parameter* parameter = tree->parameters.lookUp(text))
      if (const auto* choice = std::get_if<std::string>(&*parameter->symbol)) text = *choice;
  if (isChoice(text)) return text;
  const std::string nearest = nearestName(text, choices);
  refuse("'" + text + "' is not a choice here; expected is one of " + listNames(choices, 40),
         nearest.empty() ? "use one of these" : "did you mean '" + nearest + "'?");
}

std::string Node::toReference(std::string_view kind, std::span<const std::string> known) const {
  const std::string text = toText();
  if (std::find(known.begin(), known.end(), text) == known.end())
    refuse("there is no " + std::string(kind) + " named '" + text + "'", adviceForName(text, known));
  return text;
}

Eigen::VectorXd Node::toNumbers(int count, Dimension dimension) const {
  const std::string expected = describeNumbers(count, dimension, units());
  if (!isSequence()) refuse("expected " + expected + ", found " + kindName(*value), "write them in brackets: [a, b, ...]");
  const std::vector<Node> elements = items();
  if (count >= 0 && static_cast<int>(elements.size()) != count)
    refuse("expected " + expected + ", found " + std::to_string(elements.size()), "give " + std::to_string(count) + " numbers");
  Eigen::VectorXd numbers(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) numbers[i] = elements[i].toNumber(dimension);
  return numbers;
}

Eigen::Vector3d Node::toVector3(Dimension dimension) const { return toNumbers(3, dimension); }

Eigen::MatrixXd Node::toMatrix(int rows, int columns, Dimension dimension) const {
  const std::string expected = describeSize(rows) + "rows of " + describeSize(columns) + "numbers each";
  if (!isSequence()) refuse("expected " + expected + ", found " + kindName(*value), "write [[a, b], [c, d]]");
  const std::vector<Node> lines = items();
  if (rows >= 0 && static_cast<int>(lines.size()) != rows)
    refuse("expected " + expected + ", found " + std::to_string(lines.size()) + " rows", "give " + std::to_string(rows) + " rows");
  Eigen::MatrixXd matrix(lines.size(), std::max(columns, 0));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Eigen::VectorXd row = lines[i].toNumbers(columns, dimension);
    if (i == 0) matrix.resize(lines.size(), row.size());
    if (row.size() != matrix.cols())
      lines[i].refuse("this row has " + std::to_string(row.size()) + " numbers, the first has " + std::to_string(matrix.cols()),
                      "give all rows the same length");
    matrix.row(i) = row.transpose();
  }
  return matrix;
}

TimeFunction Node::toTimeFunction(Dimension dimension, Dimension argument) const {
  if (isSequence()) {
    const std::vector<Node> rows = items();
    if (rows.empty()) refuse("the table is empty", "write [[t, value], ...]");
    Table table;
    for (const Node& row : rows) {
      const std::vector<Node> pair = row.items();
      if (pair.size() != 2)
        row.refuse("expected a pair [t, value], found " + std::to_string(pair.size()) + " values", "write [[t, value], ...]");
      table.times.push_back(pair[0].toNumber(argument));
      table.values.push_back(pair[1].toNumber(dimension));
      if (table.times.size() > 1 && !(table.times.back() > table.times[table.times.size() - 2]))
        pair[0].refuse("the times of a table must increase", "sort the rows; for a jump use step(t - t0) in an expression");
    }
    return {path(), std::move(table)};
  }
  const Value& scalar = requireScalar(*value, "a number, an expression in t or a table [[t, value], ...]");
  const auto constant = [&](double number) { return TimeFunction{path(), [number](double) { return Jet{number, 0, 0}; }}; };
  if (quantityOf(scalar)) return constant(toNumber(dimension));
  const Expression expression = compile(scalar, tree->parameters, Expression::Time::Allowed);
  if (!expression.dependsOnTime()) return constant(toNumber(dimension));
  const double factor = plainFactor(dimension, units()), rate = 1 / units().factor(argument);
  return {path(), [expression, factor, rate](double t) {
            const Jet jet = expression.jet(rate * t);
            return Jet{factor * jet.value, factor * rate * jet.rate, factor * rate * rate * jet.acceleration};
          }};
}

std::function<double(double)> Node::toArclengthFunction(Dimension dimension) const {
  const Value& scalar = requireScalar(*value, "a number, or an expression in the arclength s");
  if (!quantityOf(scalar)) {
    const Expression expression = compile(scalar, tree->parameters, Expression::Time::Arclength);
    const double factor = plainFactor(dimension, units()), rate = 1 / units().factor(dimension::length);
    if (expression.dependsOnTime()) return [expression, factor, rate](double s) { return factor * expression.value(rate * s); };
  }
  const double number = toNumber(dimension);
  return [number](double) { return number; };
}

// ---- Node: keyed getters ----

double Node::number(std::string_view key, Dimension dimension) const {
  return at(key, describeNumber(dimension, Bound::None, units())).toNumber(dimension);
}
double Node::number(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toNumber(dimension) : fallback;
}
double Node::positive(std::string_view key, Dimension dimension) const {
  return at(key, describeNumber(dimension, Bound::Positive, units())).toPositive(dimension);
}
double Node::positive(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toPositive(dimension) : fallback;
}
double Node::nonNegative(std::string_view key, Dimension dimension) const {
  return at(key, describeNumber(dimension, Bound::NonNegative, units())).toNonNegative(dimension);
}
double Node::nonNegative(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toNonNegative(dimension) : fallback;
}
int Node::integer(std::string_view key) const { return at(key, "a whole number").toInteger(); }
int Node::integer(std::string_view key, int fallback) const {
  const auto found = find(key);
  return found ? found->toInteger() : fallback;
}
bool Node::boolean(std::string_view key) const { return at(key, "true or false").toBoolean(); }
bool Node::boolean(std::string_view key, bool fallback) const {
  const auto found = find(key);
  return found ? found->toBoolean() : fallback;
}
std::string Node::text(std::string_view key) const { return at(key, "a text").toText(); }
std::string Node::text(std::string_view key, std::string_view fallback) const {
  const auto found = find(key);
  return found ? found->toText() : std::string(fallback);
}
std::string Node::choice(std::string_view key, std::initializer_list<std::string_view> choices) const {
  const std::vector<std::string> list(choices.begin(), choices.end());
  return at(key, "one of " + listNames(list, 40)).toChoice(list);
}
std::string Node::choice(std::string_view key, std::initializer_list<std::string_view> choices, std::string_view fallback) const {
  return find(key) ? choice(key, choices) : std::string(fallback);
}
Eigen::Vector3d Node::vector3(std::string_view key, Dimension dimension) const {
  return at(key, describeNumbers(3, dimension, units())).toVector3(dimension);
}
Eigen::Vector3d Node::vector3(std::string_view key, Dimension dimension, const Eigen::Vector3d& fallback) const {
  const auto found = find(key);
  return found ? found->toVector3(dimension) : fallback;
}
Eigen::VectorXd Node::numbers(std::string_view key, int count, Dimension dimension) const {
  return at(key, describeNumbers(count, dimension, units())).toNumbers(count, dimension);
}
Eigen::MatrixXd Node::matrix(std::string_view key, int rows, int columns, Dimension dimension) const {
  return at(key, "rows of numbers").toMatrix(rows, columns, dimension);
}
TimeFunction Node::timeFunction(std::string_view key, Dimension dimension) const {
  return at(key, describeNumber(dimension, Bound::None, units()) + ", an expression in t or a table [[t, value], ...]")
      .toTimeFunction(dimension);
}
TimeFunction Node::timeFunction(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toTimeFunction(dimension) : TimeFunction::constant(fallback);
}
std::string Node::reference(std::string_view key, std::string_view kind, std::span<const std::string> known) const {
  return at(key, "the name of a " + std::string(kind)).toReference(kind, known);
}

// ---- repetitions ----

namespace {

/// Turns one object of a top-level sequence with `repeat: {i: [first, last]}` into many, in whose texts `${i}` is the number,
/// `${i+1}` the next.
class Repetition {
 public:
  Repetition(const Value& pattern, const ParameterTable& parameters) : pattern_(pattern) {
    const Value& rule = *std::find_if(pattern.entries.begin(), pattern.entries.end(), isRule)->value;
    const bool isMap = rule.kind == Value::Kind::Map && rule.entries.size() == 1 && rule.entries[0].value->items.size() == 2;
    if (!isMap || !isName(rule.entries[0].key)) refuse(rule, "expected the name of an index and its first and last number");
    opening_ = "${" + rule.entries[0].key;
    const auto& bounds = rule.entries[0].value->items;
    first_ = whole(*bounds[0], parameters), last_ = whole(*bounds[1], parameters);
    if (last_ - first_ >= most) refuse(rule, "these are more than " + std::to_string(most) + " repetitions");
  }

  static bool isRule(const Value::Entry& entry) { return entry.key == "repeat"; }

  void append(std::vector<std::unique_ptr<Value>>& items, const std::string& path) {
    for (number_ = first_; number_ <= last_; ++number_) items.push_back(copy(pattern_, elementPath(path, items.size())));
  }

 private:
  static constexpr int most = 100000;

  [[noreturn]] static void refuse(const Value& value, const std::string& message) {
    throw InputError(value.where, value.path, message, "write repeat: {i: [1, 10]}, and ${i} where the number belongs");
  }

  static int whole(const Value& value, const ParameterTable& parameters) {
    const double number = value.kind == Value::Kind::Scalar ? readNumber(value, parameters, dimension::none) : -1;
    if (!(number >= 0 && number <= std::numeric_limits<int>::max() && number == std::round(number))) {
      refuse(value, "the bounds of a repetition are whole numbers, not negative");
    }
    return int(number);
  }

  /// The text with `${i}`, `${i+1}`, `${i-1}` and the like replaced.
  std::string filled(const std::string& text) const {
    std::string result;
    std::size_t from = 0;
    for (auto at = text.find(opening_); at != std::string::npos; at = text.find(opening_, at + 1)) {
      int shift = 0;
      const char* begin = text.data() + at + opening_.size();
      const char* end = text.data() + text.size();
      if (begin != end && *begin == '+') ++begin;
      const char* close = *begin == '}' ? begin : std::from_chars(begin, end, shift).ptr;
      if (close == end || *close != '}') continue;
      result += text.substr(from, at - from) + std::to_string(number_ + shift);
      from = std::size_t(close - text.data()) + 1;
    }
    return result + text.substr(from);
  }

  std::unique_ptr<Value> copy(const Value& value, const std::string& path) const {
    auto made = std::make_unique<Value>(Value{value.kind, filled(value.text), value.quoted, value.where, path, {}, {}, {}});
    for (const auto& item : value.items) made->items.push_back(copy(*item, elementPath(path, made->items.size())));
    for (const Value::Entry& entry : value.entries) {
      if (&value == &pattern_ && isRule(entry)) continue;
      made->entries.push_back({entry.key, entry.where, copy(*entry.value, childPath(path, entry.key)), false});
    }
    return made;
  }

  const Value& pattern_;
  std::string opening_;
  int first_ = 0, last_ = 0, number_ = 0;
};

void expandRepetitions(Value& root, const ParameterTable& parameters) {
  for (Value::Entry& section : root.entries) {
    std::vector<std::unique_ptr<Value>> expanded;
    for (std::unique_ptr<Value>& item : section.value->items) {
      if (std::any_of(item->entries.begin(), item->entries.end(), Repetition::isRule)) {
        Repetition(*item, parameters).append(expanded, section.value->path);
      } else {
        expanded.push_back(std::move(item));
      }
    }
    section.value->items = std::move(expanded);
  }
}

}

// ---- Document ----

namespace {

/// Makes the table of parameters, and returns where each override went.
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

UnitSystem readUnits(const Node& node) {
  try {
    return {node.text("length", "m"), node.text("mass", "kg"), node.text("time", "s")};
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    node.refuse(error.what(), "write e.g. units: {length: mm, mass: t, time: s}");
  }
}

}

Document::Document(std::unique_ptr<detail::Tree> content) : tree(std::move(content)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

DocumentSource DocumentSource::fromFile(const std::filesystem::path& file) { return fromText(readFile(file), file.string()); }

DocumentSource DocumentSource::fromText(std::string_view text, std::string_view name) {
  DocumentSource source;
  source.text_ = text;
  source.file_ = name;
  source.root_ = parseYaml(source.text_, source.file_, "");
  if (source.root_->kind != Value::Kind::Map)
    throw InputError(source.root_->where, "", "expected a map of keys at the top level, found " + kindName(*source.root_),
                     "begin with 'tendril: 1'");
  return source;
}

Document Document::fromFile(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return fromSource(DocumentSource::fromFile(file), overrides);
}

Document Document::fromText(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  return fromSource(DocumentSource::fromText(text, name), overrides);
}

Document Document::fromSource(const DocumentSource& source, std::span<const std::string> overrides) {
  auto tree = std::make_unique<detail::Tree>();
  tree->text = source.text_;
  tree->file = source.file_;
  tree->overrides.assign(overrides.begin(), overrides.end());
  tree->root = source.root_->clone();
  applyOverrides(*tree, overrides);
  if (const auto units = Node(tree.get(), tree->root.get()).optionalMap("units")) tree->parameters.units = readUnits(*units);
  tree->parameters.resolveAll();
  expandRepetitions(*tree->root, tree->parameters);
  return Document(std::move(tree));
}

Node Document::root() const { return Node(tree.get(), tree->root.get()); }
void Document::finish() const { finishAll(*tree->root); }
const Scope& Document::parameters() const { return tree->parameters; }
std::vector<std::string> Document::parameterNames() const { return tree->parameters.names(); }
std::vector<std::string> Document::unusedParameters() const { return tree->parameters.unused(); }
const std::string& Document::text() const { return tree->text; }
const std::string& Document::fileName() const { return tree->file; }
const std::vector<std::string>& Document::overrides() const { return tree->overrides; }

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
