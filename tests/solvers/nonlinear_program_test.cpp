#include "tendril/solvers/nonlinear_program.h"

#include <gtest/gtest.h>

#include "term_program.h"

namespace tendril {
namespace {

using test::Jet;
using test::TermProgram;
using Jets = TermProgram::Jets;

/// A program whose derivatives can be made wrong in one place.
class Faulty : public TermProgram {
 public:
  enum class Fault { None, Gradient, EqualityJacobian, InequalityJacobian, Hessian, Pattern };
  explicit Faulty(Fault fault) : fault_(fault) {
    for (double start : {0.3, -0.7, 1.1, 0.4}) variable(start);
    minimise({0, 1, 2}, [](const Jets& v) { return exp(v[0]) * sin(v[1]) + pow(v[2], 3); });
    equality({0, 3}, [](const Jets& v) { return v[0] * sqr(v[1]) - 1; });
    inequality(
        0, {1, 2}, [](const Jets& v) { return v[0] / v[1]; }, 2);
    if (fault_ == Fault::Pattern) minimise({0}, [](const Jets& v) { return sqr(v[0]); });
  }
  bool evaluate(ProgramValues& values) override {
    if (!TermProgram::evaluate(values)) return false;
    if (fault_ == Fault::Pattern) values.objective += 0.01 * x[2] * x[3]; // a coupling that no derivative knows
    return true;
  }
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) override {
    if (!TermProgram::differentiate(multipliers, d)) return false;
    constexpr double error = 1e-5;
    if (fault_ == Fault::Gradient) d.gradient[1] += error;
    if (fault_ == Fault::EqualityJacobian) d.equalityJacobian[1] += error;
    if (fault_ == Fault::InequalityJacobian) d.inequalityJacobian[0] += error;
    if (fault_ == Fault::Hessian) d.hessian[4] += error; // (2, 1)
    if (fault_ == Fault::Pattern) {
      d.gradient[2] += 0.01 * x[3];
      d.gradient[3] += 0.01 * x[2];
    }
    return true;
  }

 private:
  Fault fault_;
};

TEST(CheckDerivatives, PassesRightOnes) {
  Faulty program(Faulty::Fault::None);
  const Eigen::VectorXd before = program.x;
  const DerivativeCheck check = checkDerivatives(program);
  EXPECT_LE(check.gradient.value, 1e-9);
  EXPECT_LE(check.equalityJacobian.value, 1e-9);
  EXPECT_LE(check.inequalityJacobian.value, 1e-9);
  EXPECT_LE(check.hessian.value, 1e-7);
  EXPECT_EQ(program.x, before);
}

TEST(CheckDerivatives, FindsEachWrongOneAndNamesIt) {
  using Fault = Faulty::Fault;
  struct Expected {
    Fault fault;
    DerivativeCheck::Error DerivativeCheck::*kind;
    const char* place;
  };
  for (const Expected& e : {Expected{Fault::Gradient, &DerivativeCheck::gradient, "objective, variable 1"},
                            Expected{Fault::EqualityJacobian, &DerivativeCheck::equalityJacobian, "equality 0, variable 3"},
                            Expected{Fault::InequalityJacobian, &DerivativeCheck::inequalityJacobian, "inequality 0, variable 1"},
                            Expected{Fault::Hessian, &DerivativeCheck::hessian, "variable "},
                            Expected{Fault::Pattern, &DerivativeCheck::hessian, "variable "}}) {
    Faulty program(e.fault);
    const DerivativeCheck check = checkDerivatives(program);
    EXPECT_GE((check.*e.kind).value, 1e-6) << e.place;
    EXPECT_EQ((check.*e.kind).place.rfind(e.place, 0), 0u) << (check.*e.kind).place;
    EXPECT_EQ(check.worst(), (check.*e.kind).value);
    EXPECT_NE(check.describe().find(e.place), std::string::npos);
  }
}

TEST(CheckDerivatives, NamesBothVariablesOfAWrongSecondDerivative) {
  Faulty program(Faulty::Fault::Hessian);
  const std::string place = checkDerivatives(program).hessian.place;
  EXPECT_TRUE(place.rfind("variable 1, variable 2", 0) == 0 || place.rfind("variable 2, variable 1", 0) == 0) << place;
}

TEST(CheckDerivatives, ReportsNaN) {
  struct Broken : TermProgram {
    bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) override {
      TermProgram::differentiate(multipliers, d);
      d.gradient[0] = NAN;
      return true;
    }
  } program;
  program.variable(1);
  program.minimise({0}, [](const Jets& v) { return sqr(v[0]); });
  EXPECT_TRUE(std::isnan(checkDerivatives(program).worst()));
}

TEST(ProgramStructure, RefusesContradictionsByName) {
  const auto message = [](TermProgram& program) {
    try {
      requireConsistent(program);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  TermProgram apart;
  apart.variable(0, 0);
  apart.variable(0, 1);
  apart.variable(0, 2);
  apart.equality(
      {0, 2}, [](const Jets& v) { return v[0] + v[1]; }, 2);
  EXPECT_NE(message(apart).find("'equality 0' of stage 2 depends on 'variable 0' of stage 0"), std::string::npos) << message(apart);

  TermProgram crossed;
  crossed.bounded(0, 2, 1);
  EXPECT_NE(message(crossed).find("'inequality 0' has lower bound 2 and upper bound 1"), std::string::npos) << message(crossed);

  TermProgram linked; // the same coupling through a global row is in order, but not in the Hessian
  linked.variable(0, 0);
  linked.variable(0, 5);
  linked.equality(
      {0, 1}, [](const Jets& v) { return v[0] + v[1]; }, ProgramStructure::global);
  EXPECT_NE(message(linked).find("Hessian"), std::string::npos) << message(linked);
}

}
}
