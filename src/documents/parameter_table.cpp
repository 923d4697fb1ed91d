#include "documents/parameter_table.h"

#include "tendril/documents/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace tendril {

namespace {

void checkName(const Value::Entry& entry) {
  if (!isName(entry.key))
    throw InputError(entry.where, entry.value->path, "'" + entry.key + "' cannot be used as a name", "use letters, digits and underscores");
  if (isReservedName(entry.key))
    throw InputError(entry.where, entry.value->path, "'" + entry.key + "' already has a meaning in expressions", "choose another name");
  if (entry.value->kind != Value::Kind::Scalar)
    throw InputError(entry.value->where, entry.value->path,
                     "a parameter is a number, an expression or a text, not " + kindName(*entry.value), "give one value");
}

bool mentions(const std::string& text, const std::string& name) {
  const auto inName = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (!(at > 0 && inName(at - 1)) && !inName(at + name.size())) return true;
  return false;
}

}

void ParameterTable::define(Value& map) {
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

void ParameterTable::override(std::string_view name, std::unique_ptr<Value> value) {
  table.find(name)->second.value = value.get();
  overriding.push_back(std::move(value));
}

void ParameterTable::displace(const Value& value) {
  if (value.kind == Value::Kind::Scalar) displaced.push_back(value.text);
  for (const std::unique_ptr<Value>& item : value.items) displace(*item);
  for (const Value::Entry& entry : value.entries) displace(*entry.value);
}

void ParameterTable::resolveAll() {
  for (auto& [name, parameter] : table) resolve(name, parameter);
  for (auto& [name, parameter] : table) parameter.used = usedByOthers(name);
}

bool ParameterTable::contains(std::string_view name) const { return table.find(name) != table.end(); }

bool ParameterTable::isText(std::string_view name) const { return table.find(name)->second.isText; }

const ParameterTable::Parameter* ParameterTable::lookUp(std::string_view name) const {
  const auto entry = table.find(name);
  if (entry == table.end()) return nullptr;
  resolve(entry->first, entry->second);
  entry->second.used = true;
  return &entry->second;
}

const Scope::Symbol* ParameterTable::find(std::string_view name) const {
  const Parameter* parameter = lookUp(name);
  return parameter ? &*parameter->symbol : nullptr;
}

std::vector<std::string> ParameterTable::unused() const {
  std::vector<std::string> list;
  for (const std::string& name : order)
    if (!table.find(name)->second.used) list.push_back(name);
  return list;
}

/// A quoted text, or a word (with dots and hyphens inside) that does not read as an expression of known names.
bool ParameterTable::looksLikeText(const Value& value) const {
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
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) && !contains(text.substr(i, end - i)) && text.substr(i, end - i) != "pi") {
      everyNameKnown = false;
    }
    i = end;
  }
  return !everyNameKnown;
}

void ParameterTable::resolve(const std::string& name, Parameter& parameter) const {
  if (parameter.symbol) return;
  if (std::find(visiting.begin(), visiting.end(), name) != visiting.end()) refuseCycle(name, parameter);
  visiting.push_back(name);
  evaluate(parameter);
  visiting.pop_back();
}

void ParameterTable::evaluate(Parameter& parameter) const {
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

void ParameterTable::copyFrom(Parameter& parameter, const std::string& name) const {
  const auto source = table.find(name);
  if (source == table.end()) refuseValue(*parameter.value, "unknown parameter '" + name + "'", adviceForName(name, order));
  resolve(source->first, source->second);
  parameter.symbol = source->second.symbol;
  parameter.dimension = source->second.dimension;
}

void ParameterTable::refuseCycle(const std::string& name, const Parameter& parameter) const {
  std::string cycle;
  for (auto step = std::find(visiting.begin(), visiting.end(), name); step != visiting.end(); ++step) cycle += *step + " -> ";
  refuseValue(*parameter.value, "the parameters need each other in a circle: " + cycle + name, "give one of them a value of its own");
}

bool ParameterTable::usedByOthers(const std::string& name) const {
  for (const auto& [other, parameter] : table)
    if (other != name && !parameter.isText && mentions(parameter.value->text, name)) return true;
  return std::any_of(displaced.begin(), displaced.end(), [&](const std::string& text) { return mentions(text, name); });
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

}
