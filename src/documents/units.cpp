#include "tendril/documents/units.h"
#include "tendril/documents/nearest_name.h"
#include "tendril/model/error.h"

#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>
#include <vector>

namespace tendril {

namespace {

constexpr double pi = std::numbers::pi;

struct Symbol {
  std::string_view text;
  Unit unit;
  bool takesPrefix;
};

constexpr std::array symbols{
    Symbol{"m", {1, dimension::length}, true},
    Symbol{"g", {1e-3, dimension::mass}, true},
    Symbol{"s", {1, dimension::time}, true},
    Symbol{"N", {1, dimension::force}, true},
    Symbol{"Pa", {1, dimension::pressure}, true},
    Symbol{"J", {1, dimension::energy}, true},
    Symbol{"W", {1, dimension::power}, true},
    Symbol{"Hz", {1, dimension::frequency}, true},
    Symbol{"rad", {1, dimension::angle}, true},
    Symbol{"deg", {pi / 180, dimension::angle}, false},
    Symbol{"\u00b0", {pi / 180, dimension::angle}, false},
    Symbol{"rev", {2 * pi, dimension::angle}, false},
    Symbol{"turn", {2 * pi, dimension::angle}, false},
    Symbol{"turns", {2 * pi, dimension::angle}, false},
    Symbol{"rpm", {2 * pi / 60, dimension::angularVelocity}, false},
    Symbol{"min", {60, dimension::time}, false},
    Symbol{"h", {3600, dimension::time}, false},
    Symbol{"t", {1e3, dimension::mass}, false},
    Symbol{"bar", {1e5, dimension::pressure}, false},
    Symbol{"%", {1e-2, dimension::none}, false},
    Symbol{"in", {0.0254, dimension::length}, false},
    Symbol{"ft", {0.3048, dimension::length}, false},
    Symbol{"lb", {0.45359237, dimension::mass}, false},
    Symbol{"lbf", {4.4482216152605, dimension::force}, false},
    Symbol{"psi", {6894.757293168361, dimension::pressure}, false},
    Symbol{"1", {1, dimension::none}, false},
};

// Powers of ten up to 22 are exact in double precision, so a division by one rounds once; a product with 1e-3 rounds twice.
struct Prefix {
  std::string_view text;
  double numerator;
  double denominator;
};
constexpr std::array prefixes{
    Prefix{"f", 1, 1e15},     Prefix{"p", 1, 1e12}, Prefix{"n", 1, 1e9}, Prefix{"u", 1, 1e6},  Prefix{"\u00b5", 1, 1e6},
    Prefix{"\u03bc", 1, 1e6}, Prefix{"m", 1, 1e3},  Prefix{"c", 1, 1e2}, Prefix{"d", 1, 10},   Prefix{"h", 1e2, 1},
    Prefix{"k", 1e3, 1},      Prefix{"M", 1e6, 1},  Prefix{"G", 1e9, 1}, Prefix{"T", 1e12, 1},
};

const Symbol* findSymbol(std::string_view text) {
  for (const Symbol& symbol : symbols)
    if (symbol.text == text) return &symbol;
  return nullptr;
}

[[noreturn]] void refuseSymbol(std::string_view text) {
  static const std::vector<std::string> common{"m",   "mm", "cm", "km", "um",  "kg",  "g",    "t",   "s",   "ms",
                                               "min", "h",  "N",  "kN", "mN",  "Pa",  "kPa",  "MPa", "GPa", "bar",
                                               "J",   "kJ", "W",  "Hz", "rad", "deg", "turn", "rpm", "in",  "ft"};
  throw Error("unknown unit '" + std::string(text) + "'; " + adviceForName(text, common));
}

Unit readSymbol(std::string_view text) {
  if (const Symbol* symbol = findSymbol(text)) return symbol->unit;
  for (const Prefix& prefix : prefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const Symbol* symbol = findSymbol(text.substr(prefix.text.size()));
    if (!symbol || !symbol->takesPrefix) continue;
    const bool gram = symbol->unit.dimension == dimension::mass;
    const double denominator = gram ? prefix.denominator * 1e3 : prefix.denominator;
    return {prefix.numerator / denominator, symbol->unit.dimension};
  }
  refuseSymbol(text);
}

bool isBlank(char c) { return c == ' ' || c == '*'; }
bool endsSymbol(char c) { return isBlank(c) || c == '/' || c == '^'; }

/// Consumes the power after a symbol (`^2`, `^-1`), 1 where there is none.
int readPower(std::string_view& rest) {
  if (rest.empty() || rest.front() != '^') return 1;
  int power = 0;
  const auto [end, status] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), power);
  if (status != std::errc{} || std::abs(power) > 9)
    throw Error("the power in unit '" + std::string(rest) + "' is not a small integer; write e.g. m^2");
  rest.remove_prefix(end - rest.data());
  return power;
}

Unit multiply(const Unit& a, const Unit& b, int power) {
  Unit product = a;
  for (int i = 0; i < std::abs(power); ++i) product.factor = power > 0 ? product.factor * b.factor : product.factor / b.factor;
  product.dimension.length += power * b.dimension.length;
  product.dimension.mass += power * b.dimension.mass;
  product.dimension.time += power * b.dimension.time;
  product.dimension.angle += power * b.dimension.angle;
  return product;
}

bool isMechanical(const Dimension& d) { return d.length != 0 || d.mass != 0 || d.time != 0; }

/// Symbols with their powers as one unit.
std::string compose(std::initializer_list<std::pair<std::string_view, int>> parts) {
  std::string above, below;
  for (const auto& [symbol, power] : parts) {
    if (power == 0) continue;
    std::string factor(symbol);
    if (std::abs(power) > 1) factor += "^" + std::to_string(std::abs(power));
    if (power > 0)
      above += (above.empty() ? "" : " ") + factor;
    else
      below += "/" + factor;
  }
  return (above.empty() ? "1" : above) + below;
}

}

Unit parseUnit(std::string_view text) {
  Unit unit;
  bool divide = false, any = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (isBlank(rest.front())) {
      rest.remove_prefix(1);
      continue;
    }
    if (rest.front() == '/') {
      if (divide || !any) throw Error("misplaced '/' in unit '" + std::string(text) + "'; write e.g. N/m or 1/s");
      divide = true;
      rest.remove_prefix(1);
      continue;
    }
    std::size_t length = 0;
    while (length < rest.size() && !endsSymbol(rest[length])) ++length;
    const std::string_view symbol = rest.substr(0, length);
    if (symbol.empty()) throw Error("misplaced '^' in unit '" + std::string(text) + "'; write e.g. m^2");
    rest.remove_prefix(length);
    const Unit factor = readSymbol(symbol);
    const int power = readPower(rest);
    if (!rest.empty() && !endsSymbol(rest.front())) throw Error("cannot read unit '" + std::string(text) + "'; write e.g. kg/m^3 or N m");
    unit = multiply(unit, factor, divide ? -power : power);
    divide = false;
    any = true;
  }
  if (divide || !any) throw Error("unit '" + std::string(text) + "' is incomplete; write e.g. N/m");
  return unit;
}

bool compatible(const Dimension& given, const Dimension& expected) {
  const bool mechanical = given.length == expected.length && given.mass == expected.mass && given.time == expected.time;
  if (!mechanical || given.angle == expected.angle) return mechanical;
  return isMechanical(expected) && (given.angle == 0 || expected.angle == 0);
}

UnitSystem::UnitSystem(std::string_view length, std::string_view mass, std::string_view time)
    : lengthName_(length), massName_(mass), timeName_(time) {
  const auto read = [](std::string_view text, const Dimension& expected, const char* what) {
    const Unit unit = parseUnit(text);
    if (unit.dimension != expected) throw Error("'" + std::string(text) + "' is not a unit of " + what);
    return unit.factor;
  };
  length_ = read(length, dimension::length, "length");
  mass_ = read(mass, dimension::mass, "mass");
  time_ = read(time, dimension::time, "time");
}

double UnitSystem::factor(const Dimension& d) const {
  return std::pow(length_, d.length) * std::pow(mass_, d.mass) * std::pow(time_, d.time);
}

std::string UnitSystem::unit(const Dimension& d) const {
  if (isSi()) return siUnit(d);
  // Forces are named where they have a name: N in mm, t, s; kN in mm, kg, ms.
  static constexpr std::array forces{std::pair{"N", 1.0}, std::pair{"kN", 1e3}, std::pair{"mN", 1e-3}};
  const double force = factor(dimension::force);
  for (const auto& [name, value] : forces) {
    if (d.mass == 0 || d.time == 0 || std::abs(force / value - 1) > 1e-12) continue;
    return compose({{name, d.mass}, {lengthName_, d.length - d.mass}, {timeName_, d.time + 2 * d.mass}, {"rad", d.angle}});
  }
  return compose({{massName_, d.mass}, {lengthName_, d.length}, {timeName_, d.time}, {"rad", d.angle}});
}

double plainFactor(const Dimension& expected, const UnitSystem& system) {
  return expected == dimension::angle ? pi / 180 : system.factor(expected);
}

std::string siUnit(const Dimension& d) {
  static const std::vector<std::pair<Dimension, std::string>> named{
      {dimension::force, "N"},
      {dimension::moment, "N m"},
      {dimension::pressure, "Pa"},
      {dimension::power, "W"},
      {dimension::stiffness, "N/m"},
      {dimension::torsionalStiffness, "N m/rad"},
      {dimension::bendingRigidity, "N m^2"},
      {dimension::damping, "N s/m"},
      {dimension::angularVelocity, "rad/s"},
      {dimension::angularMomentum, "N m s"},
  };
  for (const auto& [dimension, text] : named)
    if (dimension == d) return text;
  return compose({{"kg", d.mass}, {"m", d.length}, {"s", d.time}, {"rad", d.angle}});
}

std::string sceneUnit(const Dimension& d, const UnitSystem& system) { return d == dimension::angle ? "deg" : system.unit(d); }

}
