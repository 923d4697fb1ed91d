#include "tendril/documents/schema.h"
#include "tendril/documents/nearest_name.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

namespace tendril {

using Json = nlohmann::ordered_json;

// ---- fields ----

Field Field::positive() const {
  Field refined = *this;
  refined.bound = Bound::Positive;
  return refined;
}
Field Field::nonNegative() const {
  Field refined = *this;
  refined.bound = Bound::NonNegative;
  return refined;
}
Field Field::optional() const {
  Field refined = *this;
  refined.required = false;
  return refined;
}
Field Field::defaultsTo(std::string yaml) const {
  Field refined = *this;
  refined.required = false;
  refined.fallback = std::move(yaml);
  return refined;
}

namespace field {

namespace {
Field make(std::string key, Field::Type type, std::string documentation, Dimension dimension = {}) {
  Field made;
  made.key = std::move(key);
  made.type = type;
  made.documentation = std::move(documentation);
  made.dimension = dimension;
  return made;
}
}

Field number(std::string key, Dimension dimension, std::string documentation) {
  return make(std::move(key), Field::Type::Number, std::move(documentation), dimension);
}
Field integer(std::string key, std::string documentation) { return make(std::move(key), Field::Type::Integer, std::move(documentation)); }
Field boolean(std::string key, std::string documentation) { return make(std::move(key), Field::Type::Boolean, std::move(documentation)); }
Field text(std::string key, std::string documentation) { return make(std::move(key), Field::Type::Text, std::move(documentation)); }
Field choice(std::string key, std::vector<std::string> choices, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Choice, std::move(documentation));
  made.choices = std::move(choices);
  return made;
}
Field reference(std::string key, std::string kind, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Reference, std::move(documentation));
  made.kind = std::move(kind);
  return made;
}
Field vector3(std::string key, Dimension dimension, std::string documentation) {
  return make(std::move(key), Field::Type::Vector, std::move(documentation), dimension);
}
Field numbers(std::string key, int count, Dimension dimension, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Numbers, std::move(documentation), dimension);
  made.rows = count;
  return made;
}
Field matrix(std::string key, int rows, int columns, Dimension dimension, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Matrix, std::move(documentation), dimension);
  made.rows = rows;
  made.columns = columns;
  return made;
}
Field timeFunction(std::string key, Dimension dimension, std::string documentation) {
  return make(std::move(key), Field::Type::TimeFunction, std::move(documentation), dimension);
}
Field object(std::string key, const Schema& schema, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Object, std::move(documentation));
  made.object = &schema;
  return made;
}
Field objects(std::string key, const Schema& schema, std::string documentation) {
  Field made = make(std::move(key), Field::Type::Objects, std::move(documentation));
  made.object = &schema;
  made.required = false;
  return made;
}
Field parameters(std::string documentation) { return make("parameters", Field::Type::Parameters, std::move(documentation)).optional(); }
Field any(std::string key, std::string documentation) { return make(std::move(key), Field::Type::Any, std::move(documentation)); }

}

// ---- schema ----

namespace {

const Field* findIn(const std::vector<Field>& fields, std::string_view key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

/// What a value of the field is, in words, for messages and the reference page.
std::string describe(const Field& field) {
  const std::string in = field.dimension == dimension::none ? "" : " in " + sceneUnit(field.dimension);
  const std::string bound = field.bound == Field::Bound::Positive      ? "positive "
                            : field.bound == Field::Bound::NonNegative ? "non-negative "
                                                                       : "";
  const auto size = [](int n) { return n < 0 ? std::string() : std::to_string(n) + " "; };
  switch (field.type) {
  case Field::Type::Number:
    return bound + "number" + in;
  case Field::Type::Integer:
    return bound + "whole number";
  case Field::Type::Boolean:
    return "true or false";
  case Field::Type::Text:
    return "text";
  case Field::Type::Choice:
    return "one of " + listNames(field.choices, 40);
  case Field::Type::Reference:
    return "name of a " + field.kind;
  case Field::Type::Vector:
    return "3 numbers" + in;
  case Field::Type::Numbers:
    return size(field.rows) + bound + "numbers" + in;
  case Field::Type::Matrix:
    return size(field.rows) + "rows of " + size(field.columns) + bound + "numbers" + in;
  case Field::Type::TimeFunction:
    return "number" + in + ", expression in t, or table [[t, value], ...]";
  case Field::Type::Object:
    return field.object->name();
  case Field::Type::Objects:
    return "sequence of " + field.object->name();
  case Field::Type::Parameters:
    return "numbers, expressions and choices by name";
  default:
    return "value";
  }
}

Json anyOf(std::initializer_list<Json> alternatives) { return Json{{"anyOf", Json(alternatives)}}; }

/// A number, an expression, or a number with a unit.
Json numberJson(const char* type, Field::Bound bound) {
  Json number{{"type", type}};
  if (bound == Field::Bound::Positive) number["exclusiveMinimum"] = 0;
  if (bound == Field::Bound::NonNegative) number["minimum"] = 0;
  return anyOf({number, Json{{"type", "string"}}});
}

Json arrayJson(const Json& items, int count) {
  Json array{{"type", "array"}, {"items", items}};
  if (count >= 0) array["minItems"] = array["maxItems"] = count;
  return array;
}

Json reference(const Schema& schema) { return Json{{"$ref", "#/$defs/" + schema.name()}}; }

Json valueJson(const Field& field) {
  const Json number = numberJson("number", field.bound);
  switch (field.type) {
  case Field::Type::Number:
    return number;
  case Field::Type::Integer:
    return numberJson("integer", field.bound);
  case Field::Type::Boolean:
    return anyOf({Json{{"type", "boolean"}}, Json{{"type", "string"}}});
  case Field::Type::Text:
  case Field::Type::Reference:
    return Json{{"type", Json::array({"string", "number", "boolean"})}};
  case Field::Type::Choice:
    return anyOf({Json{{"enum", field.choices}}, Json{{"type", "string"}, {"pattern", "^\\$"}}});
  case Field::Type::Vector:
    return arrayJson(number, 3);
  case Field::Type::Numbers:
    return arrayJson(number, field.rows);
  case Field::Type::Matrix:
    return arrayJson(arrayJson(number, field.columns), field.rows);
  case Field::Type::TimeFunction:
    return anyOf(
        {Json{{"type", "number"}}, Json{{"type", "string"}}, arrayJson(arrayJson(numberJson("number", Field::Bound::None), 2), -1)});
  case Field::Type::Object:
    return reference(*field.object);
  case Field::Type::Objects:
    return arrayJson(reference(*field.object), -1);
  case Field::Type::Parameters:
    return Json{{"type", "object"}, {"additionalProperties", Json{{"type", Json::array({"number", "string", "boolean"})}}}};
  default:
    return Json::object();
  }
}

/// A default as the JSON value an editor can insert; texts that are not JSON (expressions, words) as strings.
Json defaultJson(const std::string& yaml) {
  const Json value = Json::parse(yaml, nullptr, false);
  return value.is_discarded() ? Json(yaml) : value;
}

Json fieldJson(const Field& field) {
  Json json{{"description", field.documentation + " (" + describe(field) + ")"}};
  json.update(valueJson(field));
  if (field.fallback) json["default"] = defaultJson(*field.fallback);
  return json;
}

void addFields(Json& target, const std::vector<Field>& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : fields) {
    properties[field.key] = fieldJson(field);
    if (field.required) required.push_back(field.key);
  }
  target["properties"] = std::move(properties);
  if (!required.empty()) target["required"] = std::move(required);
}

Json objectJson(const Schema& schema) {
  Json json{{"description", schema.documentation()}, {"type", "object"}};
  addFields(json, schema.fields());
  for (const Schema::Variant& variant : schema.variants()) {
    const bool isDefault = findIn(schema.fields(), schema.discriminator())->fallback == variant.choice;
    Json condition{{"properties", Json{{schema.discriminator(), Json{{"const", variant.choice}}}}}};
    if (!isDefault) condition["required"] = Json::array({schema.discriminator()});
    Json then{{"description", variant.documentation}};
    addFields(then, variant.fields);
    json["allOf"].push_back(Json{{"if", condition}, {"then", then}});
  }
  json["unevaluatedProperties"] = false;
  return json;
}

void visitFields(const Schema& schema, const std::function<void(const Field&)>& visit) {
  for (const Field& field : schema.fields()) visit(field);
  for (const Schema::Variant& variant : schema.variants())
    for (const Field& field : variant.fields) visit(field);
}

/// The objects reachable from a schema, itself first, each once.
std::vector<const Schema*> reachable(const Schema& top) {
  std::vector<const Schema*> list{&top};
  for (std::size_t i = 0; i < list.size(); ++i)
    visitFields(*list[i], [&](const Field& field) {
      if (field.object && std::find(list.begin(), list.end(), field.object) == list.end()) list.push_back(field.object);
    });
  std::set<std::string> names;
  for (const Schema* schema : list)
    if (!names.insert(schema->name()).second) throw std::logic_error("two schemas are named '" + schema->name() + "'");
  return list;
}

/// A text in a cell of a table: a bar would end it, a star would begin an emphasis.
std::string inCell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' || c == '*' ? std::string{'\\', c} : std::string(1, c);
  return cell;
}

std::string tableRows(const std::vector<Field>& fields) {
  std::string rows = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Field& field : fields) {
    const std::string fallback = field.required ? "required" : field.fallback ? "`" + *field.fallback + "`" : "";
    rows += "| `" + field.key + "` | " + inCell(describe(field)) + " | " + fallback + " | " + inCell(field.documentation) + " |\n";
  }
  return rows + "\n";
}

void checkUnique(const std::string& name, const std::vector<Field>& common, const std::vector<Field>& extra) {
  std::set<std::string> keys;
  for (const std::vector<Field>* fields : {&common, &extra})
    for (const Field& field : *fields)
      if (!keys.insert(field.key).second) throw std::logic_error("schema '" + name + "' has the key '" + field.key + "' twice");
}

}

Schema::Schema(std::string name, std::string documentation, std::vector<Field> fields)
    : title(std::move(name)), summary(std::move(documentation)), common(std::move(fields)) {
  checkUnique(title, common, {});
}

Schema::Schema(std::string name, std::string documentation, std::string discriminator, std::vector<Variant> variants,
               std::vector<Field> fields, std::optional<std::string> fallback)
    : title(std::move(name)), summary(std::move(documentation)), selector(std::move(discriminator)), common(std::move(fields)),
      alternatives(std::move(variants)) {
  std::vector<std::string> choices;
  for (const Variant& variant : alternatives) choices.push_back(variant.choice);
  Field field = field::choice(selector, std::move(choices), "Kind of " + title + ".");
  common.insert(common.begin(), fallback ? field.defaultsTo(*fallback) : field);
  for (const Variant& variant : alternatives) checkUnique(title, common, variant.fields);
}

const Field* Schema::find(std::string_view key, std::string_view variant) const {
  if (const Field* field = findIn(common, key)) return field;
  for (const Variant& alternative : alternatives)
    if (alternative.choice == variant) return findIn(alternative.fields, key);
  return nullptr;
}

std::string Schema::json(std::string_view id) const {
  Json document{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  if (!id.empty()) document["$id"] = id;
  document["title"] = title;
  document.update(objectJson(*this));
  const std::vector<const Schema*> all = reachable(*this);
  for (std::size_t i = 1; i < all.size(); ++i) document["$defs"][all[i]->name()] = objectJson(*all[i]);
  return document.dump(2) + "\n";
}

std::string Schema::markdown() const {
  std::string page;
  for (const Schema* schema : reachable(*this)) {
    page += "## " + schema->name() + "\n\n" + schema->documentation() + "\n\n" + tableRows(schema->fields());
    for (const Variant& variant : schema->variants()) {
      page += "### " + schema->discriminator() + ": " + variant.choice + "\n\n" + variant.documentation + "\n\n";
      if (!variant.fields.empty()) page += tableRows(variant.fields);
    }
  }
  return page;
}

// ---- record ----

namespace {

std::string withArticle(const std::string& noun) {
  const bool isVowel = std::string_view("aeio").find(noun.front()) != std::string_view::npos;
  return (isVowel ? "an " : "a ") + noun;
}

/// The fields of an object of the given variant.
template <class Visit> void visitFields(const Schema& schema, const std::string& variant, const Visit& visit) {
  for (const Field& field : schema.fields()) visit(field);
  for (const Schema::Variant& alternative : schema.variants())
    if (alternative.choice == variant)
      for (const Field& field : alternative.fields) visit(field);
}

/// The variants other than the chosen one to which a key belongs.
std::vector<std::string> ownersOf(const Schema& schema, const std::string& key) {
  std::vector<std::string> owners;
  for (const Schema::Variant& alternative : schema.variants())
    if (findIn(alternative.fields, key)) owners.push_back(alternative.choice);
  return owners;
}

void refuseKey(const Node& source, const Schema& schema, const std::string& variant, const std::string& key) {
  std::vector<std::string> keys, absent;
  visitFields(schema, variant, [&](const Field& field) { keys.push_back(field.key); });
  for (const std::string& known : keys)
    if (!source.has(known)) absent.push_back(known);
  const std::string nearest = nearestName(key, absent);
  const std::vector<std::string> owners = ownersOf(schema, key);
  const std::string what = schema.name() + (variant.empty() ? "" : " with " + schema.discriminator() + ": " + variant);
  std::string message = "unknown key '" + key + "' of " + withArticle(what) + "; expected are " + listNames(keys, 40);
  if (!owners.empty()) message = "the key '" + key + "' does not belong to " + withArticle(what) + "; expected are " + listNames(keys, 40);
  const std::string remedy = !owners.empty()   ? "it belongs to " + schema.discriminator() + ": " + listNames(owners)
                             : nearest.empty() ? "remove it or use one of these"
                                               : "did you mean '" + nearest + "'?";
  throw InputError(source.keyLocation(key), source.path().empty() ? key : source.path() + "." + key, message, remedy);
}

Eigen::MatrixXd requireBound(const Field& field, const Node& node, const Eigen::MatrixXd& values) {
  const bool holds = field.bound == Field::Bound::None ||
                     (field.bound == Field::Bound::Positive ? (values.array() > 0).all() : (values.array() >= 0).all());
  if (!holds) node.refuse("a number is out of bounds", "give " + describe(field));
  return values;
}

}

Record::Record(const Node& from, const Schema& form) : source(from), schema(&form) {
  if (!source.isMap()) source.refuse("expected " + withArticle(form.name()) + " (a map of keys)", "write key: value lines");
  if (!form.discriminator().empty()) {
    source.allow(form.discriminator());
    chosen = choice(form.discriminator());
  }
  for (const std::string& key : source.keys())
    if (!form.find(key, chosen)) refuseKey(source, form, chosen, key);
  visitFields(form, chosen, [&](const Field& field) {
    const bool isGiven = source.has(field.key);
    if (field.required && !isGiven) source.require(field.key, describe(field));
    if (field.bound != Field::Bound::None && isGiven) refuseOutOfBounds(field.key, field); // also what nothing will read
  });
}

void Record::refuseOutOfBounds(const std::string& key, const Field& field) const {
  if (field.type == Field::Type::Integer) integer(key);
  if (field.type == Field::Type::Number) number(key);
}

Node Record::get(std::string_view key, Field::Type type, const Field** found) const {
  const Field* field = schema->find(key, chosen);
  if (!field || (field->type != type && type != Field::Type::Any))
    throw std::logic_error("schema '" + schema->name() + "' has no key '" + std::string(key) + "' of the type asked for");
  if (found) *found = field;
  if (field->fallback) return source.atOr(key, *field->fallback);
  if (!source.has(key)) source.require(key, describe(*field));
  return source.at(key);
}

bool Record::has(std::string_view key) const {
  const Field* field = schema->find(key, chosen);
  return field && (field->fallback || source.has(key));
}

Node Record::node(std::string_view key) const { return get(key, Field::Type::Any); }

double Record::number(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Number, &field);
  if (field->bound == Field::Bound::Positive) return node.toPositive(field->dimension);
  if (field->bound == Field::Bound::NonNegative) return node.toNonNegative(field->dimension);
  return node.toNumber(field->dimension);
}

int Record::integer(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Integer, &field);
  const int value = node.toInteger();
  const bool holds = field->bound == Field::Bound::None || (field->bound == Field::Bound::Positive ? value > 0 : value >= 0);
  if (!holds) node.refuse("'" + std::to_string(value) + "' is out of bounds", "give a " + describe(*field));
  return value;
}

bool Record::boolean(std::string_view key) const { return get(key, Field::Type::Boolean).toBoolean(); }
std::string Record::text(std::string_view key) const { return get(key, Field::Type::Text).toText(); }
std::string Record::choice(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Choice, &field);
  return node.toChoice(field->choices);
}
std::string Record::reference(std::string_view key, std::span<const std::string> known) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Reference, &field);
  return node.toReference(field->kind, known);
}
Eigen::Vector3d Record::vector3(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Vector, &field);
  return requireBound(*field, node, node.toVector3(field->dimension));
}
Eigen::VectorXd Record::numbers(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Numbers, &field);
  return requireBound(*field, node, node.toNumbers(field->rows, field->dimension));
}
Eigen::MatrixXd Record::matrix(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Matrix, &field);
  return requireBound(*field, node, node.toMatrix(field->rows, field->columns, field->dimension));
}
TimeFunction Record::timeFunction(std::string_view key, Dimension argument) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::TimeFunction, &field);
  return node.toTimeFunction(field->dimension, argument);
}
Record Record::object(std::string_view key) const {
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Object, &field);
  return Record(node, *field->object);
}
std::vector<Record> Record::objects(std::string_view key) const {
  if (!source.has(key)) return {};
  const Field* field = nullptr;
  const Node node = get(key, Field::Type::Objects, &field);
  std::vector<Record> records;
  for (const Node& item : node.items()) records.emplace_back(item, *field->object);
  return records;
}

}
