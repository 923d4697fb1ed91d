#include "documents/quantity.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace tendril {

namespace {

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

Location shifted(const Value& value, std::size_t position) {
  Location where = value.where;
  if (where.line > 0) where.column += static_cast<int>(position) + (value.quoted ? 1 : 0);
  return where;
}

}

std::string_view dollarName(std::string_view text) {
  if (!text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  return isName(text) ? text : std::string_view{};
}

Expression compile(const Value& value, const Scope& scope, Expression::Time time) {
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

}
