#include "documents/document_tree.h"
#include "documents/yaml_tree.h"
#include "tendril/documents/document.h"
#include "tendril/documents/nearest_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

namespace tendril {

namespace {

/// The value that a schema writes as the default of many places: each text is read once.
const Value& defaultValue(const std::string& yaml) {
  static std::mutex lock;
  static std::map<std::string, std::unique_ptr<const Value>> known;
  const std::lock_guard guard(lock);
  std::unique_ptr<const Value>& value = known[yaml];
  if (!value) value = parseYaml(yaml, "", "");
  return *value;
}

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

// What is expected is put into words where it is not found.

template <class Words> const Value& requireScalar(const Value& value, const Words& expected) {
  if (value.kind == Value::Kind::Scalar && !trim(value.text).empty()) return value;
  refuseValue(value, "expected " + std::string(expected()) + ", found " + kindName(value), "give one value");
}

template <class Words> Node required(const Node& map, std::string_view key, const Words& expected) {
  if (!map.has(key)) map.require(key, expected());
  return map.at(key);
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
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
  return readNumber(requireScalar(*value, [&] { return describeNumber(dimension, Bound::None, units()); }), tree->parameters, dimension);
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
  const double number = readNumber(requireScalar(*value, [&] { return "a whole number"; }), tree->parameters, dimension::none);
  const double whole = std::round(number);
  // An expression such as 0.1*30 may miss the whole number by rounding.
  if (std::fabs(number - whole) > 1e-9 * std::max(1.0, std::fabs(whole)))
    refuse("'" + value->text + "' is not a whole number", "give a whole number");
  if (std::fabs(whole) > std::numeric_limits<int>::max()) refuse("'" + value->text + "' is too large", "give a whole number below 2^31");
  return static_cast<int>(whole);
}

bool Node::toBoolean() const {
  const std::string_view text = trim(requireScalar(*value, [&] { return "true or false"; }).text);
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
  const Value& scalar = requireScalar(*value, [&] { return "a text"; });
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
  const auto expected = [&] { return describeNumbers(count, dimension, units()); };
  if (!isSequence()) refuse("expected " + expected() + ", found " + kindName(*value), "write them in brackets: [a, b, ...]");
  const std::vector<Node> elements = items();
  if (count >= 0 && static_cast<int>(elements.size()) != count)
    refuse("expected " + expected() + ", found " + std::to_string(elements.size()), "give " + std::to_string(count) + " numbers");
  Eigen::VectorXd numbers(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) numbers[i] = elements[i].toNumber(dimension);
  return numbers;
}

Eigen::Vector3d Node::toVector3(Dimension dimension) const { return toNumbers(3, dimension); }

Eigen::MatrixXd Node::toMatrix(int rows, int columns, Dimension dimension) const {
  const auto expected = [&] { return describeSize(rows) + "rows of " + describeSize(columns) + "numbers each"; };
  if (!isSequence()) refuse("expected " + expected() + ", found " + kindName(*value), "write [[a, b], [c, d]]");
  const std::vector<Node> lines = items();
  if (rows >= 0 && static_cast<int>(lines.size()) != rows)
    refuse("expected " + expected() + ", found " + std::to_string(lines.size()) + " rows", "give " + std::to_string(rows) + " rows");
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
  const Value& scalar = requireScalar(*value, [&] { return "a number, an expression in t or a table [[t, value], ...]"; });
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
  const Value& scalar = requireScalar(*value, [&] { return "a number, or an expression in the arclength s"; });
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
  return required(*this, key, [&] { return describeNumber(dimension, Bound::None, units()); }).toNumber(dimension);
}
double Node::number(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toNumber(dimension) : fallback;
}
double Node::positive(std::string_view key, Dimension dimension) const {
  return required(*this, key, [&] { return describeNumber(dimension, Bound::Positive, units()); }).toPositive(dimension);
}
double Node::positive(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toPositive(dimension) : fallback;
}
double Node::nonNegative(std::string_view key, Dimension dimension) const {
  return required(*this, key, [&] { return describeNumber(dimension, Bound::NonNegative, units()); }).toNonNegative(dimension);
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
  return required(*this, key, [&] { return "one of " + listNames(list, 40); }).toChoice(list);
}
std::string Node::choice(std::string_view key, std::initializer_list<std::string_view> choices, std::string_view fallback) const {
  return find(key) ? choice(key, choices) : std::string(fallback);
}
Eigen::Vector3d Node::vector3(std::string_view key, Dimension dimension) const {
  return required(*this, key, [&] { return describeNumbers(3, dimension, units()); }).toVector3(dimension);
}
Eigen::Vector3d Node::vector3(std::string_view key, Dimension dimension, const Eigen::Vector3d& fallback) const {
  const auto found = find(key);
  return found ? found->toVector3(dimension) : fallback;
}
Eigen::VectorXd Node::numbers(std::string_view key, int count, Dimension dimension) const {
  return required(*this, key, [&] { return describeNumbers(count, dimension, units()); }).toNumbers(count, dimension);
}
Eigen::MatrixXd Node::matrix(std::string_view key, int rows, int columns, Dimension dimension) const {
  return required(*this, key, [&] { return "rows of numbers"; }).toMatrix(rows, columns, dimension);
}
TimeFunction Node::timeFunction(std::string_view key, Dimension dimension) const {
  return required(*this, key,
                  [&] { return describeNumber(dimension, Bound::None, units()) + ", an expression in t or a table [[t, value], ...]"; })
      .toTimeFunction(dimension);
}
TimeFunction Node::timeFunction(std::string_view key, Dimension dimension, double fallback) const {
  const auto found = find(key);
  return found ? found->toTimeFunction(dimension) : TimeFunction::constant(fallback);
}
std::string Node::reference(std::string_view key, std::string_view kind, std::span<const std::string> known) const {
  return required(*this, key, [&] { return "the name of a " + std::string(kind); }).toReference(kind, known);
}

}
