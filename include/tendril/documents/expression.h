#pragma once
#include "tendril/model/error.h"
#include "tendril/model/time_function.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tendril {

/// An expression that cannot be read; `position` counts characters of the text from 0.
class ExpressionError : public Error {
 public:
  ExpressionError(std::size_t where, const std::string& message, std::string advice)
      : Error(message), position(where), remedy(std::move(advice)) {}
  std::size_t position;
  std::string remedy;
};

/// The names an expression may use: numbers, and texts (choices), which can be compared as in `if(shape == "disc", 1/2, 2/5)`.
class Scope {
 public:
  using Symbol = std::variant<double, std::string>;
  virtual ~Scope() = default;
  /// The meaning of a name; null when unknown. The pointer is valid until the next call.
  virtual const Symbol* find(std::string_view name) const = 0;
  /// Where the number behind a name stands if it may change after an expression is compiled; null for all other names.
  virtual const double* variable(std::string_view) const { return nullptr; }
  /// All names, for the advice in errors.
  virtual std::vector<std::string> names() const = 0;
};

/// A fixed table of names.
class SymbolTable : public Scope {
 public:
  SymbolTable() = default;
  SymbolTable(std::initializer_list<std::pair<const std::string, Symbol>> symbols) : table(symbols) {}
  void set(const std::string& name, Symbol value) { table[name] = std::move(value); }
  const Symbol* find(std::string_view name) const override;
  std::vector<std::string> names() const override;

 private:
  std::map<std::string, Symbol, std::less<>> table;
};

/// Whether a text has the form of a name: a letter or underscore, then letters, digits and underscores.
bool isName(std::string_view text);
/// Whether a name already means something in every expression (`t`, `pi`, the functions).
bool isReservedName(std::string_view name);

/// An arithmetic expression in named constants and, if allowed, the time `t` or the arclength `s`.
///
/// Grammar, loosest first: comparisons `< <= > >= == !=` (1 or 0), `+ -`, `* /`, unary `- +`, `^` (right-associative, binds tighter than a
/// unary minus on its left: -2^2 = -4), parentheses, numbers, names (`name`, `$name`, `${name}`), `pi`, and the functions sin cos tan asin
/// acos atan atan2(y,x) exp log sqrt abs min max floor ceil sign if(c,a,b), rad(x) (degrees to radians), deg(x), and
///   step(x)       0 for x < 0, else 1
///   ramp(x)       x clamped to [0,1]
///   smoothstep(x) 3 r^2 - 2 r^3 with r = ramp(x)
///   smootherstep(x) 6 r^5 - 15 r^4 + 10 r^3: its acceleration is continuous, for prescribed motions.
/// Trigonometric functions take radians. Jacobi's elliptic functions sn(u, k), cn(u, k), dn(u, k) take the modulus k (parameter m = k^2),
/// a constant from 0 to 1.
///
/// Compiled to a flat stack program; names are bound to their values at compilation, variables of the scope to their places (which must
/// outlive the expression), and constant parts are folded. Evaluation does not allocate and is thread-safe. Both branches of `if` are
/// computed, one is kept. Derivatives in t at a kink or jump are those from the right for ramp and its kin; a jump's own derivative counts
/// as zero.
class Expression {
 public:
  /// What the expression is a function of: nothing, the time `t`, or in its place the arclength `s` of a rod.
  enum class Time { Absent, Allowed, Arclength };

  Expression(std::string_view text, const Scope& scope, Time time = Time::Absent);

  double value(double t = 0) const;
  /// Value and first two derivatives in t, by second-order forward differentiation.
  Jet jet(double t) const;
  bool dependsOnTime() const;

  /// The longest stack a program may need; a deeper expression is refused.
  static constexpr int maxDepth = 64;

  struct Instruction {
    unsigned char operation;
    union {
      double constant;
      const double* place; ///< of a variable
    };
  };

 private:
  std::vector<Instruction> program;
};

}
