#include "support/files.h"
#include "tendril/documents/expression.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace tendril;
using tendril::testing::expectError;

namespace {

const SymbolTable scope{{"EI", 2.5}, {"L", 4.0}, {"e", 0.5}, {"shape", std::string("disc")}};

double evaluate(const std::string& text) { return Expression(text, scope).value(); }
Jet jetAt(const std::string& text, double t) { return Expression(text, scope, Expression::Time::Allowed).jet(t); }

void expectRefused(const std::string& text, std::size_t position, std::initializer_list<const char*> parts,
                   Expression::Time time = Expression::Time::Absent) {
  try {
    const double value = Expression(text, scope, time).value();
    ADD_FAILURE() << text << " gave " << value;
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.position, position) << error.what();
    EXPECT_FALSE(error.remedy.empty());
    const std::string message = std::string(error.what()) + "; " + error.remedy;
    for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << message << "\nmissing: " << part;
  }
}

}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(evaluate("1+2*3"), 7);
  EXPECT_EQ(evaluate("(1+2)*3"), 9);
  EXPECT_EQ(evaluate("-2^2"), -4);
  EXPECT_EQ(evaluate("2^3^2"), 512);
  EXPECT_EQ(evaluate("2^-2"), 0.25);
  EXPECT_EQ(evaluate("8/4/2"), 1);
  EXPECT_EQ(evaluate("5 - 3 - 1"), 1);
  EXPECT_EQ(evaluate("2 - -3"), 5);
  EXPECT_EQ(evaluate("1 + 2 < 4"), 1);
  EXPECT_EQ(evaluate("1e-3*1E3"), 1);
  EXPECT_EQ(evaluate(".5 + 2."), 2.5);
}

TEST(Expression, KnowsNamesAndFunctions) {
  EXPECT_DOUBLE_EQ(evaluate("2*pi*EI/L"), 2 * std::numbers::pi * 2.5 / 4);
  EXPECT_EQ(evaluate("$L + ${EI}"), 6.5);
  EXPECT_DOUBLE_EQ(evaluate("atan2(1, -1)"), 3 * std::numbers::pi / 4);
  EXPECT_EQ(evaluate("min(3, 1, 2) + max(3, 1, 7)"), 8);
  EXPECT_EQ(evaluate("floor(-0.5) + ceil(0.5) + sign(-3) + abs(-4)"), 3);
  EXPECT_EQ(evaluate("step(-1) + step(0) + ramp(-2) + ramp(0.25) + ramp(9)"), 2.25);
  EXPECT_EQ(evaluate("smoothstep(0.5) + smootherstep(0.5)"), 1);
  EXPECT_DOUBLE_EQ(evaluate("sin(rad(30)) + deg(pi)"), 180.5);
  EXPECT_DOUBLE_EQ(evaluate("sqrt(2)^2 + log(exp(3)) + asin(1) + acos(0) - atan(1)*4"), 5);
}

TEST(Expression, ChoosesABranchEvenIfTheOtherHasNoValue) {
  EXPECT_EQ(evaluate("if(L > 3, 1, 1/0)"), 1);
  EXPECT_EQ(evaluate("if(L > 5, sqrt(-1), 2)"), 2);
  EXPECT_EQ(evaluate("if(shape == \"disc\", 1/2, 2/5)"), 0.5);
  EXPECT_EQ(evaluate("if(shape != 'disc', 1/2, 2/5)"), 0.4);
}

TEST(Expression, JetsAgreeWithCentralDifferences) {
  for (const char* text : {"sin(3*t) + cos(t^2)",
                           "tan(t)*exp(-t)",
                           "asin(t/2) + acos(t/3)",
                           "atan(t) + atan2(t, 1 + t^2)",
                           "log(1 + t)*sqrt(t)",
                           "t^3.5",
                           "(1+t)^t",
                           "2^t",
                           "abs(t - 2)",
                           "1/(1 + t^2)",
                           "smoothstep(t)",
                           "smootherstep(t/2)",
                           "ramp(t)*t",
                           "if(t < 1, t^2, t)",
                           "min(t, 1 - t^2)",
                           "max(t, t^3)",
                           "rad(t)",
                           "sn(2*t^2, 0.8)",
                           "cn(2*t^2, 0.8)",
                           "dn(2*t^2, 0.8)",
                           "-t",
                           "t^0 + t^1 + t^2"}) {
    for (const double t : {0.3, 0.7}) {
      const Expression f(text, scope, Expression::Time::Allowed);
      const double h = 1e-4;
      const Jet jet = f.jet(t);
      EXPECT_DOUBLE_EQ(jet.value, f.value(t)) << text;
      EXPECT_NEAR(jet.rate, (f.value(t + h) - f.value(t - h)) / (2 * h), 1e-6 * (1 + std::fabs(jet.rate))) << text;
      EXPECT_NEAR(jet.acceleration, (f.value(t + h) - 2 * f.value(t) + f.value(t - h)) / (h * h), 2e-6 * (1 + std::fabs(jet.acceleration)))
          << text;
    }
  }
}

TEST(Expression, JetsHoldAtTheEdges) {
  const auto expectJet = [](const std::string& text, double t, double value, double rate, double acceleration) {
    const Jet jet = jetAt(text, t);
    EXPECT_EQ(jet.value, value) << text;
    EXPECT_EQ(jet.rate, rate) << text;
    EXPECT_EQ(jet.acceleration, acceleration) << text;
  };
  expectJet("t^2", 0, 0, 0, 2);
  expectJet("t^1", 0, 0, 1, 0);
  expectJet("sqrt(0) + t", 0, 0, 1, 0);
  expectJet("0^0.5*t", 1, 0, 0, 0);
  expectJet("ramp(t)", 0, 0, 1, 0); // the rate from the right
  expectJet("ramp(t)", 1, 1, 0, 0);
  expectJet("ramp(1 - t)", 0, 1, -1, 0);
  expectJet("abs(t)", 0, 0, 1, 0);
  expectJet("abs(-t)", 0, 0, 1, 0);
  expectJet("abs(-3)", 0, 3, 0, 0);
  expectJet("step(t - 1)", 1, 1, 0, 0);
  expectJet("smootherstep(t)", 0, 0, 0, 0);
  expectJet("smootherstep(t)", 1, 1, 0, 0);
  expectJet("min(t, 0)", 0, 0, 0, 0);
  expectJet("max(t, 0)", 0, 0, 1, 0);
}

TEST(Expression, KnowsWhetherItDependsOnTime) {
  EXPECT_TRUE(Expression("L*t", scope, Expression::Time::Allowed).dependsOnTime());
  EXPECT_FALSE(Expression("L*2", scope, Expression::Time::Allowed).dependsOnTime());
}

TEST(Expression, ReadsVariablesWhenItIsEvaluated) {
  struct Watched final : Scope {
    double x = 2;
    Symbol two = 2.0;
    const Symbol* find(std::string_view name) const override { return name == "x" || name == "two" ? &two : nullptr; }
    const double* variable(std::string_view name) const override { return name == "x" ? &x : nullptr; }
    std::vector<std::string> names() const override { return {"x", "two"}; }
  } watched;
  const Expression expression("if(x > 3, x, two)*x + t", watched, Expression::Time::Allowed);
  EXPECT_EQ(expression.value(1), 5);
  watched.x = 4, watched.two = 7.0; // the latter is a constant: its value at compilation counts
  EXPECT_EQ(expression.value(1), 17);
  const Jet jet = expression.jet(1);
  EXPECT_EQ(jet.value, 17);
  EXPECT_EQ(jet.rate, 1);
  EXPECT_EQ(jet.acceleration, 0);
}

TEST(Expression, ErrorsNameThePlaceTheTokenAndTheNearestName) {
  expectRefused("2*EJ", 2, {"unknown name 'EJ'", "did you mean 'EI'", "character 3"});
  expectRefused("sine(1)", 0, {"unknown function 'sine'", "did you mean 'sin'"});
  expectRefused("2 L", 2, {"unexpected 'L'", "missing operator"});
  expectRefused("L(2)", 0, {"unknown function 'L'", "L*(...)"});
  expectRefused("2*", 2, {"found the end"});
  expectRefused("(1+2", 4, {"expected ')'"});
  expectRefused("1+)", 2, {"found ')'"});
  expectRefused("atan2(1)", 0, {"takes 2 arguments, not 1"});
  expectRefused("sin(1, 2)", 0, {"takes 1 arguments, not 2"});
  expectRefused("min(1)", 0, {"takes 2 or more arguments, not 1"});
  expectRefused("sin", 0, {"is a function"});
  expectRefused("2**3", 1, {"'**'", "x^2"});
  expectRefused("", 0, {"empty"});
  expectRefused("  ", 0, {"empty"});
  expectRefused("1e999", 0, {"too large"});
  expectRefused("nan", 0, {"not a finite number"});
  expectRefused("2*t", 2, {"time 't' is not known here"});
  expectRefused("shape + 1", 0, {"is a text"});
  expectRefused("1 + shape", 4, {"is the text 'disc'"});
  expectRefused("shape == 2", 9, {"expected a text"});
  expectRefused("\"disc", 0, {"not closed"});
  expectRefused("$", 1, {"expected a name after '$'"});
  expectRefused("${L", 3, {"expected '}'"});
  expectRefused("1 \u00d7 2", 2, {"unexpected '\u00d7'"});
}

TEST(Expression, RefusesBottomlessNestingWithoutCrashing) {
  EXPECT_THROW(Expression(std::string(100000, '('), scope), ExpressionError);
  EXPECT_EQ(evaluate(std::string(100000, '-') + "1"), 1);
  std::string powers = "t", sums = "t";
  for (int i = 0; i < 100000; ++i) powers += "^t";
  EXPECT_THROW(Expression(powers, scope, Expression::Time::Allowed), ExpressionError);
  for (int i = 0; i < 100; ++i) sums = "t+(" + sums + ")";
  EXPECT_THROW(Expression(sums, scope, Expression::Time::Allowed), ExpressionError);
}

/// sn(F(phi, k), k) = sin phi, with Legendre's integral of the standard library.
TEST(Expression, KnowsEllipticFunctions) {
  for (const double k : {0.0, 0.3, 0.8, 0.99, 0.999999})
    for (const double phi : {-4.0, -0.7, 0.0, 0.2, 1.5, 3.0, 20.0}) {
      const SymbolTable names{{"u", std::ellint_1(k, phi)}, {"k", k}};
      EXPECT_NEAR(Expression("sn(u, k)", names).value(), std::sin(phi), 1e-9);
      EXPECT_NEAR(Expression("cn(u, k)", names).value(), std::cos(phi), 1e-9);
      EXPECT_NEAR(Expression("dn(u, k)", names).value(), std::sqrt(1 - k * k * std::pow(std::sin(phi), 2)), 1e-9);
    }
  EXPECT_DOUBLE_EQ(evaluate("sn(0.4, 1)"), std::tanh(0.4));
  EXPECT_DOUBLE_EQ(evaluate("cn(0.4, 1) - dn(0.4, 1) + dn(0, 0)"), 1);
  expectRefused("sn(1)", 0, {"takes 2 arguments"});
  expectRefused("1 + cn(1, 1.2)", 4, {"modulus", "m = k^2"});
  expectRefused("dn(1, t)", 0, {"modulus"}, Expression::Time::Allowed);
}

TEST(Expression, MayBeAFunctionOfTheArclength) {
  const auto arclength = Expression::Time::Arclength;
  const Expression bend("2*s + L", scope, arclength);
  EXPECT_EQ(bend.value(3), 10);
  EXPECT_TRUE(bend.dependsOnTime());
  expectRefused("t", 0, {"time 't' is not known", "arclength 's'"}, arclength);
  expectRefused("2*s", 2, {"unknown name 's'"});
  EXPECT_THROW(Expression("s", SymbolTable{{"s", 1.0}}, arclength), ExpressionError);
}
