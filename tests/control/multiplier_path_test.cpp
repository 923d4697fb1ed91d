#include "tendril/control/multiplier_path.h"

#include "control/arms.h"
#include "tendril/model/error.h"
#include "tendril/solvers/ipopt_program.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tendril {
namespace {

struct Case {
  std::string name;
  Mechanism mechanism;
  OptimalControlOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, Mechanism m, const std::vector<std::string>& joints, const JointMotions& end,
                       int intervals) {
    OptimalControlOptions o = swing(m, joints, end, intervals, 0.8);
    all.push_back({name, std::move(m), std::move(o)});
  };
  add("arm", twoLink(), {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 12);
  all.back().options.upper.assign(2, 15), all.back().options.lower.assign(2, -15); // reached
  add("loop", fourBar(), {"left foot"}, {{"left foot", one(0.4)}, {"right foot", one(0.4)}}, 8);
  add("bounded turn", twoLink(), {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 12);
  all.back().options.largestTurn = 0.13; // reached
  all.back().options.quadrature = Quadrature::Trapezoidal;
  return all;
}

TEST(MultiplierPath, DerivativesAreExact) {
  for (const Case& c : cases()) {
    OptimalControlOptions o = c.options;
    o.method = TranscriptionMethod::Multipliers, o.intervals = 3;
    o.largestTurn = c.options.largestTurn ? std::optional(1.2) : std::nullopt;
    OptimalControl control(*c.mechanism.model, o);
    auto& path = dynamic_cast<MultiplierPath&>(const_cast<Transcription&>(control.path()));
    requireConsistent(path);
    path.x += randomVector(path.x.size(), 5, 0.05);
    EXPECT_LT(checkDerivatives(path).worst(), 1e-6) << c.name << "\n" << checkDerivatives(path).describe();
  }
}

/// The same optimum as on the manifold, whose reduced equations these are before elimination, and found by an independent solver, too.
TEST(MultiplierPath, HasTheSolutionsOfTheReducedForm) {
  for (const Case& c : cases()) {
    OptimalControl reduced(*c.mechanism.model, c.options);
    reduced.start();
    ASSERT_TRUE(reduced.report().converged()) << c.name << ": " << reduced.report().message;
    OptimalControlOptions o = c.options;
    o.method = TranscriptionMethod::Multipliers;
    for (const ProgramSolver solver : {ProgramSolver::InteriorPoint, ProgramSolver::Ipopt}) {
      if (solver == ProgramSolver::Ipopt && !ipoptAvailable()) continue;
      o.programSolver = solver;
      o.solver.tolerance = solver == ProgramSolver::Ipopt ? 1e-9 : 1e-11;
      OptimalControl full(*c.mechanism.model, o);
      full.start();
      ASSERT_TRUE(full.report().converged()) << c.name << ": " << full.report().message;
      EXPECT_NEAR(full.cost(), reduced.cost(), 1e-7 * std::abs(reduced.cost())) << c.name;
      for (int k = 0; k <= o.intervals; ++k)
        EXPECT_LT((full.path().node(k) - reduced.path().node(k)).lpNorm<Eigen::Infinity>(), 1e-5) << c.name << ", node " << k;
      EXPECT_LT(full.path().closure(), 1e-9);
      EXPECT_LT(full.momentumDefect(), 1e-8);
    }
  }
}

/// Forces of constraints and controls are of second order, as configurations are.
TEST(MultiplierPath, MultipliersConvergeWithOrderTwo) {
  const Mechanism m = twoLink();
  std::vector<VectorX> lambda, tau, q;
  for (const int intervals : {10, 20, 40}) {
    OptimalControlOptions o = swing(m, {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, intervals, 0.8);
    o.method = TranscriptionMethod::Multipliers;
    OptimalControl control(*m.model, o);
    control.start();
    ASSERT_TRUE(control.report().converged()) << control.report().message;
    const auto& path = dynamic_cast<const MultiplierPath&>(control.path());
    lambda.push_back(path.multipliers(intervals / 2));
    q.push_back(path.node(intervals / 2));
    tau.push_back(0.5 * (path.control(intervals / 2) + path.control(intervals / 2 - 1)));
  }
  for (const auto& values : {lambda, q, tau}) {
    const double coarse = (values[1] - values[0]).norm(), fine = (values[2] - values[1]).norm();
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.25);
  }
}

TEST(MultiplierPath, RefusesWhatItDoesNotKnow) {
  const Mechanism m = twoLink();
  OptimalControlOptions o = swing(m, {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 8);
  o.method = TranscriptionMethod::Multipliers;
  o.durationBounds = {{0.5, 1.5}};
  try {
    OptimalControl(*m.model, o);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("method multipliers: the duration is fixed"), std::string::npos) << error.what();
  }
}

}
}
