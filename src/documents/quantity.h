#pragma once
#include "documents/value.h"
#include "tendril/documents/expression.h"
#include "tendril/documents/units.h"

#include <optional>

namespace tendril {

struct Quantity {
  double value = 0;
  Unit unit;
};

/// A value of the form `number unit`; empty where it has not that form (it then is an expression).
std::optional<Quantity> quantityOf(const Value& value);
/// `$name` or `${name}` as a whole: the name; else empty.
std::string_view dollarName(std::string_view text);

/// Compiles an expression; its errors get the place of the value.
Expression compile(const Value& value, const Scope& scope, Expression::Time time = Expression::Time::Absent);
double requireFinite(const Value& value, double number);
/// `shown`: what has the dimension `given`, in words.
void requireDimension(const Value& value, const Dimension& given, const std::string& shown, const Dimension& expected);

}
