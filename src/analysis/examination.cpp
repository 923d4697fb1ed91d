#include "tendril/analysis/examination.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tendril {
namespace {

std::string number(double x) { return std::isinf(x) ? "any" : fmt::format("{:.6g}", x); }

void describeBounds(const Examination& e, std::vector<std::string>& sentences) {
  const FrictionBound& b = e.bound;
  if (std::isinf(b.best())) {
    if ((e.sliding->friction.array() > 0).any())
      sentences.push_back("Friction cannot harm: forces exist and are unique for any coefficient.");
    return;
  }
  if (b.best() == 0 && b.beta2) {
    sentences.push_back(
        "No bound on friction can be given: nothing is known of the distance beta_2 of mixed contact from losing uniqueness.");
    return;
  }
  if (b.best() == 0) {
    sentences.push_back("Contacts that rub depend on each other: no bound on friction can be given.");
    return;
  }
  std::string text = "Forces exist and are unique for every load while the coefficients of friction are below " + number(b.best());
  text += fmt::format(" (by singular values {}, sharpened {}{})", number(b.norm), number(b.sharp),
                      b.exact ? ", exact " + number(*b.exact) : "");
  sentences.push_back(text + ".");
  if (b.beta2 && !b.beta2->isCertified)
    sentences.push_back(fmt::format("The distance beta_2 of mixed contact lies between {:.6g} and {:.6g}; the bound rests on the larger.",
                                    b.beta2->lower, b.beta2->upper));
}

std::string count(const FrictionMargin& m) {
  const std::string text = m.solutions.isContinuum ? "infinitely many forces, as contacts share them" : toString(m.verdict);
  if (m.verdict == Verdict::Multiple) return text + "; the forces of the results are one choice";
  if (m.verdict == Verdict::Undecided)
    return text + fmt::format(", as more than {} contacts are not tried one by one", maxEnumeratedContacts);
  return text;
}

void describeMargin(const Examination& e, std::vector<std::string>& sentences) {
  if (!(e.sliding->friction.array() > 0).any()) return;
  const FrictionMargin& m = e.margin;
  if (m.isCertified() && std::isfinite(m.factor))
    sentences.push_back(
        fmt::format("The coefficients given may grow by the factor {} before that is no longer certain.", number(m.factor)));
  else if (m.factor > 0 && !m.isCertified())
    sentences.push_back(fmt::format("The coefficients given reach the bound (factor {}): {}.", number(m.factor),
                                    e.bound.exact ? "there are loads with several solutions or none"
                                                  : "for some loads there may be several solutions or none, as this bound is not exact"));
  for (const int i : m.endangered)
    sentences.push_back(fmt::format("At risk: {}, with a coefficient of {:.6g} against {} by itself.", e.sliding->name(i),
                                    e.sliding->friction[i], number(m.bounds[i])));
  sentences.push_back("For the loads given: " + count(m) + ".");
}

}

double Examination::unique() const {
  if (!sliding) return 0;
  switch (margin.verdict) {
  case Verdict::Unique:
  case Verdict::Certified:
    return 1;
  case Verdict::Undecided:
    return std::numeric_limits<double>::quiet_NaN();
  default:
    return 0;
  }
}

double Examination::force(const std::string& contact) const {
  if (!motion) return std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < sliding->contacts(); ++i) {
    if (sliding->name(i) == contact) return motion->lambda[i];
  }
  for (std::size_t row = 0; row < jointNames.size(); ++row) {
    if (jointNames[row] == contact) return motion->jointForce[Eigen::Index(row)];
  }
  return 0;
}

std::vector<std::string> Examination::sentences() const {
  std::vector<std::string> all;
  const Solvability& s = solvability;
  std::string text = fmt::format("{} degree{} of freedom; {} equation{} of joints and guides of rank {}", s.degreesOfFreedom,
                                 s.degreesOfFreedom == 1 ? "" : "s", s.rows, s.rows == 1 ? "" : "s", s.rank);
  if (s.rank > 0)
    text += fmt::format(" (relative pivots: least kept {:.2g}, largest dropped {:.2g}, tolerance {:.0e})", s.smallestKept, s.largestDropped,
                        s.rankTolerance);
  all.push_back(text + ".");
  all.insert(all.end(), solvability.sentences.begin(), solvability.sentences.end());
  if (sliding && sliding->contacts() > 0) {
    describeBounds(*this, all);
    describeMargin(*this, all);
  }
  all.insert(all.end(), notes.begin(), notes.end());
  return all;
}

Examination examine(ModelContacts& contacts, const State& state) {
  const AccelerationProblem& problem = contacts.at(state);
  Examination e;
  e.notes = contacts.notes();
  e.jointNames = problem.jointNames;
  e.solvability = judge(problem);
  const ConstrainedResponse response(problem);
  if (!response.isRegular() || !response.isCompatible()) return e;
  e.sliding = eliminate(problem, response);
  e.bound = frictionBound(*e.sliding, problem.roughness);
  e.margin = frictionMargin(*e.sliding, e.bound.beta2);
  if (!e.margin.solutions.lambda.empty()) e.motion = motionOf(problem, response, e.margin.solutions.lambda.front());
  return e;
}

}
