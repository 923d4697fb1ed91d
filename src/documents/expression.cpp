#include "tendril/documents/expression.h"
#include "tendril/documents/nearest_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

constexpr double pi = std::numbers::pi;

// ---- arithmetic on jets: u(t), u'(t), u''(t) ----

bool isConstant(const Jet& u) { return u.rate == 0 && u.acceleration == 0; }

/// f(u(t)); a constant argument stays one even where f' is infinite (sqrt(0)).
Jet chain(const Jet& u, double f, double df, double ddf) {
  if (isConstant(u)) return {f, 0, 0};
  return {f, df * u.rate, ddf * u.rate * u.rate + df * u.acceleration};
}

/// Whether u - level is, just after now, above zero: the side from which derivatives at a kink are taken.
bool isAbove(const Jet& u, double level) {
  if (u.value != level) return u.value > level;
  return u.rate != 0 ? u.rate > 0 : u.acceleration > 0;
}

Jet operator+(const Jet& a, const Jet& b) { return {a.value + b.value, a.rate + b.rate, a.acceleration + b.acceleration}; }
Jet operator-(const Jet& a, const Jet& b) { return {a.value - b.value, a.rate - b.rate, a.acceleration - b.acceleration}; }
Jet operator-(const Jet& a) { return {-a.value, -a.rate, -a.acceleration}; }
Jet operator*(const Jet& a, const Jet& b) {
  return {a.value * b.value, a.rate * b.value + a.value * b.rate,
          a.acceleration * b.value + 2 * a.rate * b.rate + a.value * b.acceleration};
}
Jet operator/(const Jet& a, const Jet& b) {
  const double q = a.value / b.value;
  const double rate = isConstant(a) && isConstant(b) ? 0 : (a.rate - q * b.rate) / b.value;
  const double acceleration = isConstant(a) && isConstant(b) ? 0 : (a.acceleration - 2 * rate * b.rate - q * b.acceleration) / b.value;
  return {q, rate, acceleration};
}

/// Jacobi's elliptic functions by the arithmetic-geometric mean (Abramowitz & Stegun, 16.4), 0 <= k <= 1.
struct Elliptic {
  double sn = 0, cn = 1, dn = 1;

  Elliptic(double u, double k) {
    if (k == 1) {
      sn = std::tanh(u), cn = dn = 1 / std::cosh(u);
      return;
    }
    constexpr int most = 32;
    std::array<double, most> a{1}, c{k};
    double b = std::sqrt((1 - k) * (1 + k));
    int n = 0;
    while (n + 1 < most && std::fabs(c[std::size_t(n)]) > 1e-17) {
      const std::size_t at = std::size_t(n++);
      a[at + 1] = (a[at] + b) / 2, c[at + 1] = (a[at] - b) / 2;
      b = std::sqrt(a[at] * b);
    }
    double phi = std::ldexp(a[std::size_t(n)] * u, n);
    for (; n > 0; --n) phi = (phi + std::asin(c[std::size_t(n)] / a[std::size_t(n)] * std::sin(phi))) / 2;
    sn = std::sin(phi), cn = std::cos(phi);
    dn = std::sqrt(cn * cn + (1 - k) * (1 + k) * sn * sn);
  }
};

double scalar(double u) { return u; }
double scalar(const Jet& u) { return u.value; }

double sine(double u) { return std::sin(u); }
Jet sine(const Jet& u) { return chain(u, std::sin(u.value), std::cos(u.value), -std::sin(u.value)); }
double cosine(double u) { return std::cos(u); }
Jet cosine(const Jet& u) { return chain(u, std::cos(u.value), -std::sin(u.value), -std::cos(u.value)); }
double tangent(double u) { return std::tan(u); }
Jet tangent(const Jet& u) {
  const double f = std::tan(u.value), df = 1 + f * f;
  return chain(u, f, df, 2 * f * df);
}
double arcSine(double u) { return std::asin(u); }
Jet arcSine(const Jet& u) {
  const double df = 1 / std::sqrt(1 - u.value * u.value);
  return chain(u, std::asin(u.value), df, u.value * df * df * df);
}
double arcCosine(double u) { return std::acos(u); }
Jet arcCosine(const Jet& u) {
  const double df = -1 / std::sqrt(1 - u.value * u.value);
  return chain(u, std::acos(u.value), df, u.value * df * df * df);
}
double arcTangent(double u) { return std::atan(u); }
Jet arcTangent(const Jet& u) {
  const double df = 1 / (1 + u.value * u.value);
  return chain(u, std::atan(u.value), df, -2 * u.value * df * df);
}
double arcTangent2(double y, double x) { return std::atan2(y, x); }
Jet arcTangent2(const Jet& y, const Jet& x) {
  const double f = std::atan2(y.value, x.value);
  if (isConstant(y) && isConstant(x)) return {f, 0, 0};
  const double r2 = x.value * x.value + y.value * y.value;
  const double rate = (x.value * y.rate - y.value * x.rate) / r2;
  const double growth = 2 * (x.value * x.rate + y.value * y.rate) / r2;
  return {f, rate, (x.value * y.acceleration - y.value * x.acceleration) / r2 - rate * growth};
}
double exponential(double u) { return std::exp(u); }
Jet exponential(const Jet& u) {
  const double f = std::exp(u.value);
  return chain(u, f, f, f);
}
double logarithm(double u) { return std::log(u); }
Jet logarithm(const Jet& u) { return chain(u, std::log(u.value), 1 / u.value, -1 / (u.value * u.value)); }
double squareRoot(double u) { return std::sqrt(u); }
Jet squareRoot(const Jet& u) {
  const double f = std::sqrt(u.value);
  return chain(u, f, 0.5 / f, -0.25 / (f * u.value));
}
double power(double u, double v) { return std::pow(u, v); }
Jet power(const Jet& u, const Jet& v) {
  const double f = std::pow(u.value, v.value);
  if (isConstant(v)) {
    const double n = v.value;
    // The products vanish for n = 0 and n = 1 also at u = 0, where the powers are infinite.
    const double df = n == 0 ? 0 : n * std::pow(u.value, n - 1);
    const double ddf = n == 0 || n == 1 ? 0 : n * (n - 1) * std::pow(u.value, n - 2);
    return chain(u, f, df, ddf);
  }
  const Jet exponent = v * logarithm(u);
  return chain(exponent, f, f, f);
}
double absolute(double u) { return std::fabs(u); }
Jet absolute(const Jet& u) { return isAbove(u, 0) ? u : isConstant(u) ? Jet{std::fabs(u.value), 0, 0} : -u; }
double ellipticSine(double u, double k) { return Elliptic(u, k).sn; }
Jet ellipticSine(const Jet& u, const Jet& k) {
  const Elliptic f(u.value, k.value);
  const double m = k.value * k.value;
  return chain(u, f.sn, f.cn * f.dn, -f.sn * (f.dn * f.dn + m * f.cn * f.cn));
}
double ellipticCosine(double u, double k) { return Elliptic(u, k).cn; }
Jet ellipticCosine(const Jet& u, const Jet& k) {
  const Elliptic f(u.value, k.value);
  const double m = k.value * k.value;
  return chain(u, f.cn, -f.sn * f.dn, f.cn * (m * f.sn * f.sn - f.dn * f.dn));
}
double ellipticDelta(double u, double k) { return Elliptic(u, k).dn; }
Jet ellipticDelta(const Jet& u, const Jet& k) {
  const Elliptic f(u.value, k.value);
  const double m = k.value * k.value;
  return chain(u, f.dn, -m * f.sn * f.cn, m * f.dn * (f.sn * f.sn - f.cn * f.cn));
}
double smaller(double a, double b) { return std::fmin(a, b); }
Jet smaller(const Jet& a, const Jet& b) { return isAbove(a - b, 0) ? b : a; }
double larger(double a, double b) { return std::fmax(a, b); }
Jet larger(const Jet& a, const Jet& b) { return isAbove(a - b, 0) ? a : b; }
double signOf(double u) { return u > 0 ? 1 : u < 0 ? -1 : 0; }
double clampedRamp(double u) { return std::clamp(u, 0.0, 1.0); }
Jet clampedRamp(const Jet& u) {
  if (!isAbove(u, 0)) return {0, 0, 0};
  return isAbove(u, 1) || (u.value == 1 && isConstant(u)) ? Jet{1, 0, 0} : u;
}
template <class T> T polynomialStep(const T& u) {
  const T r = clampedRamp(u);
  return r * r * (T{3} - T{2} * r);
}
template <class T> T quinticStep(const T& u) {
  const T r = clampedRamp(u);
  return r * r * r * (T{10} + r * (T{6} * r - T{15}));
}

// ---- operations of the stack program ----

/// Grouped by the number of operands: 0, 2, 3, 1.
enum Operation : unsigned char {
  Constant,
  Variable,
  TimeValue,
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Atan2,
  EllipticSn,
  EllipticCn,
  EllipticDn,
  Min,
  Max,
  If,
  Negate,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Exp,
  Log,
  Sqrt,
  Abs,
  Floor,
  Ceil,
  Sign,
  Step,
  Ramp,
  Smoothstep,
  Smootherstep,
  Radians,
  Degrees
};

constexpr int arity(Operation operation) {
  if (operation <= TimeValue) return 0;
  if (operation <= Max) return 2;
  return operation == If ? 3 : 1;
}

struct Function {
  std::string_view name;
  Operation operation;
  int arguments;
  bool takesMore = false;
};

constexpr std::array functions{
    Function{"sin", Sin, 1},
    Function{"cos", Cos, 1},
    Function{"tan", Tan, 1},
    Function{"asin", Asin, 1},
    Function{"acos", Acos, 1},
    Function{"atan", Atan, 1},
    Function{"atan2", Atan2, 2},
    Function{"sn", EllipticSn, 2},
    Function{"cn", EllipticCn, 2},
    Function{"dn", EllipticDn, 2},
    Function{"exp", Exp, 1},
    Function{"log", Log, 1},
    Function{"sqrt", Sqrt, 1},
    Function{"abs", Abs, 1},
    Function{"min", Min, 2, true},
    Function{"max", Max, 2, true},
    Function{"floor", Floor, 1},
    Function{"ceil", Ceil, 1},
    Function{"sign", Sign, 1},
    Function{"step", Step, 1},
    Function{"ramp", Ramp, 1},
    Function{"smoothstep", Smoothstep, 1},
    Function{"smootherstep", Smootherstep, 1},
    Function{"rad", Radians, 1},
    Function{"deg", Degrees, 1},
    Function{"if", If, 3},
};

const Function* findFunction(std::string_view name) {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

template <class T> T applyUnary(Operation operation, const T& u) {
  switch (operation) {
  case Negate:
    return -u;
  case Sin:
    return sine(u);
  case Cos:
    return cosine(u);
  case Tan:
    return tangent(u);
  case Asin:
    return arcSine(u);
  case Acos:
    return arcCosine(u);
  case Atan:
    return arcTangent(u);
  case Exp:
    return exponential(u);
  case Log:
    return logarithm(u);
  case Sqrt:
    return squareRoot(u);
  case Abs:
    return absolute(u);
  case Floor:
    return T{std::floor(scalar(u))};
  case Ceil:
    return T{std::ceil(scalar(u))};
  case Sign:
    return T{signOf(scalar(u))};
  case Step:
    return T{scalar(u) < 0 ? 0.0 : 1.0};
  case Ramp:
    return clampedRamp(u);
  case Smoothstep:
    return polynomialStep(u);
  case Smootherstep:
    return quinticStep(u);
  case Radians:
    return u * T{pi / 180};
  default:
    return u * T{180 / pi};
  }
}

template <class T> T applyBinary(Operation operation, const T& a, const T& b) {
  const auto truth = [](bool holds) { return T{holds ? 1.0 : 0.0}; };
  switch (operation) {
  case Add:
    return a + b;
  case Subtract:
    return a - b;
  case Multiply:
    return a * b;
  case Divide:
    return a / b;
  case Power:
    return power(a, b);
  case Less:
    return truth(scalar(a) < scalar(b));
  case LessEqual:
    return truth(scalar(a) <= scalar(b));
  case Greater:
    return truth(scalar(a) > scalar(b));
  case GreaterEqual:
    return truth(scalar(a) >= scalar(b));
  case Equal:
    return truth(scalar(a) == scalar(b));
  case NotEqual:
    return truth(scalar(a) != scalar(b));
  case Atan2:
    return arcTangent2(a, b);
  case EllipticSn:
    return ellipticSine(a, b);
  case EllipticCn:
    return ellipticCosine(a, b);
  case EllipticDn:
    return ellipticDelta(a, b);
  case Min:
    return smaller(a, b);
  default:
    return larger(a, b);
  }
}

template <class T> T run(const std::vector<Expression::Instruction>& program, const T& time) {
  std::array<T, Expression::maxDepth> stack;
  int top = -1;
  for (const Expression::Instruction& instruction : program) {
    const auto operation = static_cast<Operation>(instruction.operation);
    if (operation == Constant) {
      stack[++top] = T{instruction.constant};
    } else if (operation == Variable) {
      stack[++top] = T{*instruction.place};
    } else if (operation == TimeValue) {
      stack[++top] = time;
    } else if (operation == If) {
      top -= 2;
      stack[top] = scalar(stack[top]) != 0 ? stack[top + 1] : stack[top + 2];
    } else if (arity(operation) == 1) {
      stack[top] = applyUnary(operation, stack[top]);
    } else {
      --top;
      stack[top] = applyBinary(operation, stack[top], stack[top + 1]);
    }
  }
  return stack[0];
}

// ---- parser ----

bool startsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continuesName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Recursive descent over the grammar in the class comment; emits the program in postfix order.
class Parser {
 public:
  Parser(std::string_view source, const Scope& known, Expression::Time time, std::vector<Expression::Instruction>& target)
      : text(source), scope(known), variable(nameOf(time)), program(target) {}

  void parse() {
    skipBlanks();
    if (atEnd()) fail(0, "the expression is empty", "write a number or an expression");
    comparison();
    if (!atEnd()) fail(position, "unexpected " + token() + " after the end of the expression", "check for a missing operator such as '*'");
  }

 private:
  static constexpr int maxNesting = 200;

  static std::string_view nameOf(Expression::Time time) {
    return time == Expression::Time::Absent ? "" : time == Expression::Time::Allowed ? "t" : "s";
  }
  bool isVariable(std::string_view name) const { return !variable.empty() && name == variable; }

  bool atEnd() const { return position >= text.size(); }
  char peek() const { return atEnd() ? '\0' : text[position]; }
  void skipBlanks() {
    while (!atEnd() && std::isspace(static_cast<unsigned char>(text[position]))) ++position;
  }
  bool accept(std::string_view symbol) {
    if (!text.substr(position).starts_with(symbol)) return false;
    position += symbol.size();
    skipBlanks();
    return true;
  }
  void expect(std::string_view symbol, const std::string& after) {
    if (!accept(symbol))
      fail(position, "expected '" + std::string(symbol) + "' " + after + ", found " + token(),
           "add the missing '" + std::string(symbol) + "'");
  }
  /// The offending token at the current position, quoted, for messages.
  std::string token() const {
    if (atEnd()) return "the end";
    std::size_t end = position + 1;
    if (continuesName(peek()))
      while (end < text.size() && continuesName(text[end])) ++end;
    else
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end; // the rest of a UTF-8 character
    return "'" + std::string(text.substr(position, end - position)) + "'";
  }
  [[noreturn]] void fail(std::size_t where, const std::string& message, const std::string& remedy) const {
    throw ExpressionError(where, message + " (character " + std::to_string(where + 1) + " of '" + std::string(text) + "')", remedy);
  }

  void emit(Operation operation, double constant = 0) { emit({operation, {constant}}); }

  void emit(const Expression::Instruction& instruction) {
    const int operands = arity(Operation(instruction.operation));
    program.push_back(instruction);
    depth += 1 - operands;
    if (depth > Expression::maxDepth) fail(position, "the expression is too deep", "split it into parameters");
    const auto isNumber = [](const Expression::Instruction& i) { return i.operation == Constant; };
    if (operands == 0 || !std::all_of(program.end() - 1 - operands, program.end() - 1, isNumber)) return;
    const double folded = run<double>({program.end() - 1 - operands, program.end()}, 0.0);
    program.erase(program.end() - 1 - operands, program.end());
    program.push_back({Constant, {folded}});
  }

  void comparison() {
    if (++nesting > maxNesting) fail(position, "the expression is nested too deeply", "split it into parameters");
    if (!textComparison()) {
      sum();
      static constexpr std::array<std::pair<std::string_view, Operation>, 6> operators{
          {{"<=", LessEqual}, {">=", GreaterEqual}, {"==", Equal}, {"!=", NotEqual}, {"<", Less}, {">", Greater}}};
      for (const auto& [symbol, operation] : operators) {
        if (!accept(symbol)) continue;
        sum();
        emit(operation);
        break;
      }
    }
    --nesting;
  }

  /// `choice == "text"`, known at compilation; false if no text starts here.
  bool textComparison() {
    const std::size_t start = position;
    std::string left, right;
    if (!textOperand(left)) return false;
    const bool equal = accept("==");
    if (!equal && !accept("!="))
      fail(start, "'" + left + "' is a text, not a number",
           "compare it with another text, e.g. " + std::string(text.substr(start, position - start)) + " == \"...\"");
    const std::size_t second = position;
    if (!textOperand(right)) fail(second, "expected a text after the comparison, found " + token(), "write the text in quotation marks");
    emit(Constant, (left == right) == equal ? 1 : 0);
    return true;
  }

  bool textOperand(std::string& result) {
    const std::size_t start = position;
    if (peek() == '"' || peek() == '\'') {
      const std::size_t end = text.find(peek(), position + 1);
      if (end == std::string_view::npos) fail(start, "the text " + token() + " is not closed", "add the closing quotation mark");
      result = text.substr(position + 1, end - position - 1);
      position = end + 1;
      skipBlanks();
      return true;
    }
    if (!startsName(peek()) && peek() != '$') return false;
    const std::string name = readName();
    const bool isPlain = name != "pi" && !isVariable(name) && !findFunction(name);
    const Scope::Symbol* symbol = isPlain ? scope.find(name) : nullptr;
    if (symbol && std::holds_alternative<std::string>(*symbol)) {
      result = std::get<std::string>(*symbol);
      return true;
    }
    position = start;
    return false;
  }

  void sum() {
    product();
    while (true) {
      if (accept("+")) {
        product();
        emit(Add);
      } else if (accept("-")) {
        product();
        emit(Subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    signedFactor();
    while (true) {
      if (peek() == '*' && text.substr(position).starts_with("**")) fail(position, "unknown operator '**'", "write a power as x^2");
      if (accept("*")) {
        signedFactor();
        emit(Multiply);
      } else if (accept("/")) {
        signedFactor();
        emit(Divide);
      } else {
        return;
      }
    }
  }

  void signedFactor() {
    bool negative = false;
    while (peek() == '-' || peek() == '+') {
      if (peek() == '-') negative = !negative;
      ++position;
      skipBlanks();
    }
    powerTerm();
    if (negative) emit(Negate);
  }

  void powerTerm() {
    primary();
    if (!accept("^")) return;
    if (++nesting > maxNesting) fail(position, "the expression is nested too deeply", "split it into parameters");
    signedFactor();
    --nesting;
    emit(Power);
  }

  void primary() {
    if (accept("(")) {
      comparison();
      expect(")", "to close the parenthesis");
    } else if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '.') {
      number();
    } else if (startsName(peek()) || peek() == '$') {
      nameOrCall();
    } else {
      fail(position, "expected a number, a name or '(', found " + token(), "check the operators around it");
    }
  }

  void number() {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data() + position, text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range)
      fail(position, "the number " + token() + " is too large or too small for double precision", "change the units");
    if (status != std::errc{}) fail(position, "cannot read the number at " + token(), "write it like 0.5 or 1e-3");
    position = end - text.data();
    skipBlanks();
    emit(Constant, value);
  }

  /// name, $name or ${name}.
  std::string readName() {
    const bool dollar = peek() == '$';
    if (dollar) ++position;
    const bool braces = dollar && peek() == '{';
    if (braces) ++position;
    const std::size_t start = position;
    if (startsName(peek()))
      while (continuesName(peek())) ++position;
    const std::string name(text.substr(start, position - start));
    if (name.empty()) fail(start, "expected a name after '$', found " + token(), "write $name or ${name}");
    if (braces && peek() != '}') fail(position, "expected '}' after the name, found " + token(), "write ${" + name + "}");
    if (braces) ++position;
    skipBlanks();
    return name;
  }

  void nameOrCall() {
    const std::size_t start = position;
    const std::string name = readName();
    if (peek() == '(') return call(name, start);
    if (name == "pi") return emit(Constant, pi);
    if (isVariable(name)) {
      if (scope.find(name)) fail(start, "'" + name + "' is both the arclength and a parameter", "give the parameter another name");
      return emit(TimeValue);
    }
    if (findFunction(name)) fail(start, "'" + name + "' is a function", "write its argument: " + name + "(...)");
    if (const double* place = scope.variable(name)) return emit({Variable, {.place = place}});
    const Scope::Symbol* symbol = scope.find(name);
    if (!symbol) unknownName(name, start);
    if (const auto* value = std::get_if<double>(symbol)) return emit(Constant, *value);
    fail(start, "'" + name + "' is the text '" + std::get<std::string>(*symbol) + "', not a number", "compare it: " + name + " == \"...\"");
  }

  [[noreturn]] void unknownName(const std::string& name, std::size_t start) const {
    if (name == "t") {
      fail(start, "the time 't' is not known here",
           variable == "s" ? "a rod in equilibrium depends on its arclength 's'" : "only functions of time may use it");
    }
    if (name == "nan" || name == "inf" || name == "infinity") fail(start, "'" + name + "' is not a finite number", "give a finite value");
    std::vector<std::string> known = scope.names();
    known.push_back("pi");
    if (!variable.empty()) known.emplace_back(variable);
    fail(start, "unknown name '" + name + "'", adviceForName(name, known));
  }

  void call(const std::string& name, std::size_t start) {
    const Function* function = findFunction(name);
    if (!function) {
      std::vector<std::string> known;
      for (const Function& f : functions) known.emplace_back(f.name);
      const bool isValue = name == "pi" || name == "t" || scope.find(name);
      fail(start, "unknown function '" + name + "'", isValue ? "write a product as " + name + "*(...)" : adviceForName(name, known));
    }
    accept("(");
    int count = 0;
    do {
      comparison();
      ++count;
      if (function->takesMore && count >= 2) emit(function->operation);
    } while (accept(","));
    expect(")", "to close " + name + "(");
    const bool right = function->takesMore ? count >= function->arguments : count == function->arguments;
    if (!right)
      fail(start,
           "'" + name + "' takes " + std::to_string(function->arguments) + (function->takesMore ? " or more" : "") + " arguments, not " +
               std::to_string(count),
           "give it the right number of arguments");
    if (function->operation >= EllipticSn && function->operation <= EllipticDn) {
      const Expression::Instruction& modulus = program.back();
      if (modulus.operation != Constant || !(modulus.constant >= 0 && modulus.constant <= 1))
        fail(start, "the modulus of '" + name + "' is no constant from 0 to 1", "write " + name + "(u, k) with the modulus k, not m = k^2");
    }
    if (!function->takesMore) emit(function->operation);
  }

  std::string_view text;
  const Scope& scope;
  std::string_view variable; ///< what the expression is a function of; empty if of nothing
  std::vector<Expression::Instruction>& program;
  std::size_t position = 0;
  int nesting = 0;
  int depth = 0;
};

}

const Scope::Symbol* SymbolTable::find(std::string_view name) const {
  const auto entry = table.find(name);
  return entry == table.end() ? nullptr : &entry->second;
}

std::vector<std::string> SymbolTable::names() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : table) all.push_back(name);
  return all;
}

Expression::Expression(std::string_view text, const Scope& scope, Time time) {
  Parser(text, scope, time, program).parse();
  program.shrink_to_fit();
}

double Expression::value(double t) const { return run<double>(program, t); }
Jet Expression::jet(double t) const { return run<Jet>(program, Jet{t, 1, 0}); }
bool Expression::dependsOnTime() const {
  return std::any_of(program.begin(), program.end(), [](const Instruction& i) { return i.operation == TimeValue; });
}

bool isReservedName(std::string_view name) { return name == "t" || name == "pi" || findFunction(name) != nullptr; }

bool isName(std::string_view text) {
  return !text.empty() && startsName(text.front()) && std::all_of(text.begin(), text.end(), continuesName);
}

}
