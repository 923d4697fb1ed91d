#pragma once
#include "documents/quantity.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

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

  void define(Value& map);
  void override(std::string_view name, std::unique_ptr<Value> value);
  /// What an override takes the place of: parameters in it have a use, though not this time.
  void displace(const Value& value);
  void resolveAll();

  bool contains(std::string_view name) const;
  bool isText(std::string_view name) const;
  const Parameter* lookUp(std::string_view name) const;
  const Symbol* find(std::string_view name) const override;
  std::vector<std::string> names() const override { return order; }
  std::vector<std::string> unused() const;

 private:
  bool looksLikeText(const Value& value) const;
  void resolve(const std::string& name, Parameter& parameter) const;
  void evaluate(Parameter& parameter) const;
  void copyFrom(Parameter& parameter, const std::string& name) const;
  [[noreturn]] void refuseCycle(const std::string& name, const Parameter& parameter) const;
  bool usedByOthers(const std::string& name) const;

  // Resolving is done at the first question, hence mutable.
  mutable std::map<std::string, Parameter, std::less<>> table;
  mutable std::vector<std::string> visiting;
  std::vector<std::string> order;
  std::vector<std::unique_ptr<Value>> overriding;
  std::vector<std::string> displaced;
};

/// A number that is not a function of time, in SI.
double readNumber(const Value& value, const ParameterTable& parameters, const Dimension& dimension);

}
