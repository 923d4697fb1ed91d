#pragma once
#include <ostream>
#include <stdexcept>
#include <string>

#include "term_program.h"

namespace tendril::test {

/// Hock & Schittkowski (1981), with start and optimum as printed there (more digits where they have a closed form).
struct HockSchittkowskiCase {
  const char* name;
  std::function<void(TermProgram&)> build;
  double optimum;
  double tolerance = 1e-8;
  bool solvedByIpopt = true;
};

inline void PrintTo(const HockSchittkowskiCase& c, std::ostream* out) { *out << c.name; }

inline void variables(TermProgram& p, std::vector<double> start, double lower = -TermProgram::infinity,
                      double upper = TermProgram::infinity) {
  for (double x : start) {
    if (std::isinf(lower) && std::isinf(upper))
      p.variable(x);
    else
      p.bounded(x, lower, upper);
  }
}

inline std::vector<HockSchittkowskiCase> hockSchittkowskiCases() {
  using Jets = TermProgram::Jets;
  constexpr double infinity = TermProgram::infinity;
  return {
      {"HS1",
       [](TermProgram& p) {
         p.variable(-2);
         p.bounded(1, -1.5, infinity);
         p.minimise({0, 1}, [](const Jets& x) { return 100 * sqr(x[1] - sqr(x[0])) + sqr(1 - x[0]); });
       },
       0},
      {"HS5",
       [](TermProgram& p) {
         p.bounded(0, -1.5, 4);
         p.bounded(0, -3, 3);
         p.minimise({0, 1}, [](const Jets& x) { return sin(x[0] + x[1]) + sqr(x[0] - x[1]) - 1.5 * x[0] + 2.5 * x[1] + 1; });
       },
       -0.5 * std::sqrt(3.0) - M_PI / 3},
      {"HS6",
       [](TermProgram& p) {
         variables(p, {-1.2, 1});
         p.minimise({0}, [](const Jets& x) { return sqr(1 - x[0]); });
         p.equality({0, 1}, [](const Jets& x) { return 10 * (x[1] - sqr(x[0])); });
       },
       0},
      {"HS7",
       [](TermProgram& p) {
         variables(p, {2, 2});
         p.minimise({0, 1}, [](const Jets& x) { return log(1 + sqr(x[0])) - x[1]; });
         p.equality({0, 1}, [](const Jets& x) { return sqr(1 + sqr(x[0])) + sqr(x[1]) - 4; });
       },
       -std::sqrt(3.0)},
      {"HS10",
       [](TermProgram& p) {
         variables(p, {-10, 10});
         p.minimise({0, 1}, [](const Jets& x) { return x[0] - x[1]; });
         p.inequality(
             0, {0, 1}, [](const Jets& x) { return -3.0 * sqr(x[0]) + 2 * x[0] * x[1] - sqr(x[1]) + 1; }, infinity);
       },
       -1},
      {"HS11",
       [](TermProgram& p) {
         variables(p, {4.9, 0.1});
         p.minimise({0, 1}, [](const Jets& x) { return sqr(x[0] - 5) + sqr(x[1]) - 25; });
         p.inequality(
             0, {0, 1}, [](const Jets& x) { return -sqr(x[0]) + x[1]; }, infinity);
       },
       -8.498464223},
      {"HS13, no constraint qualification at the solution",
       [](TermProgram& p) {
         variables(p, {-2, -2}, 0);
         p.minimise({0, 1}, [](const Jets& x) { return sqr(x[0] - 2) + sqr(x[1]); });
         p.inequality(
             0, {0, 1}, [](const Jets& x) { return pow(1 - x[0], 3) - x[1]; }, infinity);
       },
       1, 2e-2},
      {"HS14",
       [](TermProgram& p) {
         variables(p, {2, 2});
         p.minimise({0, 1}, [](const Jets& x) { return sqr(x[0] - 2) + sqr(x[1] - 1); });
         p.inequality(
             0, {0, 1}, [](const Jets& x) { return -0.25 * sqr(x[0]) - sqr(x[1]) + 1; }, infinity);
         p.equality({0, 1}, [](const Jets& x) { return x[0] - 2 * x[1] + 1; });
       },
       9 - 2.875 * std::sqrt(7.0)},
      {"HS15",
       [](TermProgram& p) {
         p.bounded(-2, -infinity, 0.5);
         p.variable(1);
         p.minimise({0, 1}, [](const Jets& x) { return 100 * sqr(x[1] - sqr(x[0])) + sqr(1 - x[0]); });
         p.inequality(
             1, {0, 1}, [](const Jets& x) { return x[0] * x[1]; }, infinity);
         p.inequality(
             0, {0, 1}, [](const Jets& x) { return x[0] + sqr(x[1]); }, infinity);
       },
       306.5},
      {"HS26, singular Hessian",
       [](TermProgram& p) {
         variables(p, {-2.6, 2, 2});
         p.minimise({0, 1, 2}, [](const Jets& x) { return sqr(x[0] - x[1]) + pow(x[1] - x[2], 4); });
         p.equality({0, 1, 2}, [](const Jets& x) { return (1 + sqr(x[1])) * x[0] + pow(x[2], 4) - 3; });
       },
       0},
      {"HS35",
       [](TermProgram& p) {
         variables(p, {0.5, 0.5, 0.5}, 0);
         p.minimise({0, 1, 2}, [](const Jets& x) {
           return 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * sqr(x[0]) + 2 * sqr(x[1]) + sqr(x[2]) + 2 * x[0] * x[1] + 2 * x[0] * x[2];
         });
         p.inequality(
             -infinity, {0, 1, 2}, [](const Jets& x) { return x[0] + x[1] + 2 * x[2]; }, 3);
       },
       1.0 / 9},
      {"HS39",
       [](TermProgram& p) {
         variables(p, {2, 2, 2, 2});
         p.minimise({0}, [](const Jets& x) { return -x[0]; });
         p.equality({0, 1, 2}, [](const Jets& x) { return x[1] - pow(x[0], 3) - sqr(x[2]); });
         p.equality({0, 1, 3}, [](const Jets& x) { return sqr(x[0]) - x[1] - sqr(x[2]); });
       },
       -1},
      {"HS71",
       [](TermProgram& p) {
         variables(p, {1, 5, 5, 1}, 1, 5);
         p.minimise({0, 1, 2, 3}, [](const Jets& x) { return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]; });
         p.inequality(
             25, {0, 1, 2, 3}, [](const Jets& x) { return x[0] * x[1] * x[2] * x[3]; }, infinity);
         p.equality({0, 1, 2, 3}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]) + sqr(x[2]) + sqr(x[3]) - 40; });
       },
       17.0140173},
      {"HS78",
       [](TermProgram& p) {
         variables(p, {-2, 1.5, 2, -1, -1});
         p.minimise({0, 1, 2, 3, 4}, [](const Jets& x) { return x[0] * x[1] * x[2] * x[3] * x[4]; });
         p.equality({0, 1, 2, 3, 4}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]) + sqr(x[2]) + sqr(x[3]) + sqr(x[4]) - 10; });
         p.equality({1, 2, 3, 4}, [](const Jets& x) { return x[0] * x[1] - 5 * x[2] * x[3]; });
         p.equality({0, 1}, [](const Jets& x) { return pow(x[0], 3) + pow(x[1], 3) + 1; });
       },
       -2.91970041},
      {"dependent equalities",
       [](TermProgram& p) {
         variables(p, {3, -1, 2});
         p.minimise({0, 1, 2}, [](const Jets& x) { return sqr(x[0]) + 2 * sqr(x[1]) + 3 * sqr(x[2]); });
         p.equality({0, 1, 2}, [](const Jets& x) { return x[0] + x[1] + x[2] - 1; });
         p.equality({0, 1, 2}, [](const Jets& x) { return 2 * x[0] + 2 * x[1] + 2 * x[2] - 2; });
       },
       6.0 / 11},
      {"no interior: x + y <= 1 and x + y >= 1",
       [](TermProgram& p) {
         variables(p, {3, -1});
         p.minimise({0, 1}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]); });
         p.inequality(
             -infinity, {0, 1}, [](const Jets& x) { return x[0] + x[1]; }, 1);
         p.inequality(
             1, {0, 1}, [](const Jets& x) { return x[0] + x[1]; }, infinity);
       },
       0.5, 1e-7},
      {"linear program with a degenerate vertex",
       [](TermProgram& p) {
         variables(p, {0.3, 0.3, 0.3}, 0, infinity);
         p.minimise({0, 1, 2}, [](const Jets& x) { return -x[0] - x[1] - 0.5 * x[2]; });
         p.inequality(
             -infinity, {0, 1, 2}, [](const Jets& x) { return x[0] + x[1] + x[2]; }, 1);
         p.inequality(
             -infinity, {0, 1}, [](const Jets& x) { return x[0] + x[1]; }, 1);
         p.inequality(
             -infinity, {0}, [](const Jets& x) { return x[0]; }, 1);
       },
       -1},
      {"Waechter & Biegler 2000, where line searches on the step alone fail",
       [](TermProgram& p) {
         p.variable(-2);
         p.bounded(3, 0, infinity);
         p.bounded(1, 0, infinity);
         p.minimise({0}, [](const Jets& x) { return x[0]; });
         p.equality({0, 1}, [](const Jets& x) { return sqr(x[0]) - x[1] - 1; });
         p.equality({0, 2}, [](const Jets& x) { return x[0] - x[1] - 0.5; });
       },
       1, 1e-8, false}, // which calls it infeasible
      {"starts where the Hessian is indefinite and the constraint far",
       [](TermProgram& p) {
         variables(p, {0.1, 0.05});
         p.minimise({0, 1}, [](const Jets& x) { return -sqr(x[0]) + pow(x[1], 4) - x[0]; });
         p.equality({0, 1}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]) - 4; });
       },
       -6},
  };
}

inline HockSchittkowskiCase hockSchittkowskiCase(const std::string& name) {
  for (const HockSchittkowskiCase& c : hockSchittkowskiCases())
    if (c.name == name) return c;
  throw std::invalid_argument(name);
}

}
