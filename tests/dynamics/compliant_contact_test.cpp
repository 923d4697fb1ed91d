// Contacts that give way along their tangents: the rod of Painleve above its bound, where a rigid contact has no finite force.
#include "dynamics/contact_rig.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <memory>

namespace tendril::test {
namespace {

/// Of length 2 and mass 1, at tan = 2 to the floor, its lower end slides to the left at 1 m/s: the bound on friction is 4/3.
struct SlidingRod {
  static constexpr double mu = 1.5, v = 1;
  const double s = 2 / std::sqrt(5.0), c = 1 / std::sqrt(5.0);
  const double Wnn = 1 + 3 * c * c, Wtt = 1 + 3 * s * s, Wtn = -3 * s * c; ///< tangent to the right
  const double stuck = Wtt - Wtn * Wtn / Wnn;                              ///< tangential velocity per impulse while the end stays down
  ContactRig rig;
  std::unique_ptr<Moreau> moreau;
  std::vector<FrictionProblem> problems;

  SlidingRod(double h, double duration, const TangentialCompliance* spring, double weight = 0.01) : rig({0, -weight, 0}) {
    rig.floor();
    rig.add("rod", ContactRig::flat(1, 1.0 / 3), ContactRig::polygon({{-1, 0}, {0, -0.02}, {1, 0}, {0, 0.02}}),
            {turn(std::atan(2.0)), {c, s, 0}}, {-v, 0, 0});
    rig.law({.friction = mu});
    MoreauOptions options{.duration = duration, .step = h};
    options.friction.tolerance = 1e-12;
    options.onProblem = [this](long, const FrictionProblem& problem, const VectorX&) { problems.push_back(problem); };
    moreau = std::make_unique<Moreau>(rig.build(), rig.contacts, options);
    moreau->start();
    if (spring) moreau->soften(rig.contacts.find("floor"), rig.contacts.find("rod"), *spring);
  }
  /// Impulse (normal, along the floor to the right) of the last step on the rod.
  Eigen::Vector2d impulse() const {
    Vector3 sum = Vector3::Zero();
    for (const ContactRecord& r : moreau->contacts()->contacts)
      sum += (r.first == rig.contacts.find("rod") ? 1 : -1) * (r.frame * r.impulse);
    return {sum[1], sum[0]};
  }
  double velocityOfEnd() const {
    const Vector3 arm = rig.rotation(moreau->state()) * Vector3(-1, 0, 0);
    return (rig.velocity(moreau->state()) + rig.spin(moreau->state()).cross(arm))[0];
  }
};

constexpr TangentialCompliance soft{.compliance = 1e-8};

/// Solutions of a contact in the plane: open, sticking, sliding either way.
int solutionsOf(const FrictionProblem& problem) {
  const Eigen::Matrix2d W = Eigen::Map<const Eigen::Matrix2d>(delassus(problem).values.data());
  const double mu = problem.laws[0].discs[0].coefficient;
  int count = problem.q[0] >= 0;
  const Eigen::Vector2d stick = -W.inverse() * problem.q;
  count += stick[0] > 0 && std::abs(stick[1]) <= mu * stick[0];
  for (const double sign : {-1.0, 1.0}) {
    const Eigen::Vector2d direction(1, -sign * mu);
    const double n = -problem.q[0] / W.row(0).dot(direction);
    count += n > 0 && sign * (W.row(1).dot(direction) * n + problem.q[1]) > 0;
  }
  return count;
}

}

// While the end sticks to its spring, F = v / sqrt(S C) sin(t sqrt(S / C)); Euler's rule is of first order.
TEST(CompliantContact, SpringTakesTheSpeedOfTheEnd) {
  std::vector<double> errors;
  for (const double h : {1e-6, 5e-7, 2.5e-7}) {
    SlidingRod rod(h, 1e-4, &soft);
    const double exact = SlidingRod::v / std::sqrt(rod.stuck * soft.compliance);
    double peak = 0;
    while (!rod.moreau->finished()) {
      rod.moreau->advance();
      peak = std::max(peak, rod.impulse()[1] / h);
    }
    errors.push_back(std::abs(peak / exact - 1));
  }
  EXPECT_LT(errors[2], 0.005);
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.15);
  EXPECT_NEAR(errors[1] / errors[2], 2, 0.15);
}

// In a step of given size the impulse is that of the rigid contact, which jams, but for C / h^2 beside W_tt.
TEST(CompliantContact, TendsToTheJamOfTheRigidContact) {
  constexpr double h = 1e-6, weight = 0.01;
  for (const double C : {1e-11, 1e-12, 1e-13, 1e-14}) {
    const TangentialCompliance spring{.compliance = C};
    SlidingRod rod(h, h, &spring, weight);
    rod.moreau->advance();
    Eigen::Matrix2d W;
    W << rod.Wnn, rod.Wtn, rod.Wtn, rod.Wtt + C / (h * h);
    const Eigen::Vector2d P = -W.inverse() * Eigen::Vector2d(-weight * h, -SlidingRod::v);
    EXPECT_LT((rod.impulse() - P).norm(), 1e-5) << C;
  }
  SlidingRod rigid(h, h, nullptr, weight);
  rigid.moreau->advance();
  EXPECT_LT((rigid.impulse() - Eigen::Vector2d(0.3, 0.4)).norm(), 1e-5);
}

TEST(CompliantContact, SpringGivesBackWhatADashpotKeeps) {
  const TangentialCompliance damped{.compliance = 1e-8, .relaxation = 1e-3};
  SlidingRod bare(2e-7, 1.9e-4, &soft), slow(2e-7, 1e-4, &damped);
  double most = -1;
  while (!bare.moreau->finished()) {
    bare.moreau->advance();
    most = std::max(most, bare.velocityOfEnd());
  }
  EXPECT_GT(most, 0.9 * SlidingRod::v); // thrown back
  while (!slow.moreau->finished()) {
    slow.moreau->advance();
    EXPECT_LT(slow.velocityOfEnd(), 0.01 * SlidingRod::v);
  }
  EXPECT_NEAR(slow.velocityOfEnd(), 0, 0.01 * SlidingRod::v); // stands still: the jam, resolved in time
}

// While the weight presses the end down; later the rod turns so fast that to open would be another solution.
TEST(CompliantContact, EveryStepHasOneSolution) {
  SlidingRod rod(1e-7, 3e-5, &soft, 9.81);
  while (!rod.moreau->finished()) {
    rod.moreau->advance();
    EXPECT_EQ(rod.moreau->contacts()->ambiguous, 0);
  }
  ASSERT_EQ(rod.problems.size(), 300u);
  for (const FrictionProblem& problem : rod.problems) EXPECT_EQ(solutionsOf(problem), 1);
  // Lifted by its weight: a rigid end may open, go on sliding or jam.
  SlidingRod rigid(1e-7, 1e-7, nullptr, -9.81), lifted(1e-7, 1e-7, &soft, -9.81);
  rigid.moreau->advance(), lifted.moreau->advance();
  ASSERT_TRUE(!rigid.problems.empty() && !lifted.problems.empty());
  EXPECT_EQ(solutionsOf(rigid.problems[0]), 3);
  EXPECT_EQ(solutionsOf(lifted.problems[0]), 1);
  EXPECT_EQ(rigid.moreau->contacts()->ambiguous, 1);
}

TEST(CompliantContact, EnergyIsAccountedFor) {
  SlidingRod rod(1e-6, 1e-3, &soft, 9.81);
  const Model& model = *rod.rig.mechanism.model;
  const double before = rod.moreau->energy(model).total();
  double dissipated = 0, moved = 0, stored = 0;
  while (!rod.moreau->finished()) {
    rod.moreau->advance();
    dissipated += rod.moreau->contacts()->dissipation, moved += rod.moreau->contacts()->projection;
    const Energy energy = rod.moreau->energy(model);
    stored = std::max(stored, energy.elastic);
    EXPECT_NEAR(energy.total() + dissipated - moved, before, 1e-10);
    EXPECT_GE(dissipated, -1e-12);
  }
  EXPECT_GT(stored, 0.9 * 0.5 * SlidingRod::v * SlidingRod::v / rod.stuck); // nearly all that the end has
}

TEST(CompliantContact, ResumedRunIsTheSame) {
  SlidingRod whole(1e-6, 6e-5, &soft), first(1e-6, 6e-5, &soft), second(1e-6, 6e-5, nullptr);
  for (int i = 0; i < 30; ++i) first.moreau->advance();
  second.moreau->restore(first.moreau->save());
  while (!whole.moreau->finished()) whole.moreau->advance();
  while (!second.moreau->finished()) second.moreau->advance();
  EXPECT_EQ((whole.moreau->state().v - second.moreau->state().v).norm(), 0);
  EXPECT_EQ((whole.moreau->state().q - second.moreau->state().q).norm(), 0);
}

TEST(CompliantContact, LongStepsAreToldAndBadNumbersRefused) {
  SlidingRod rod(1e-3, 1e-3, &soft);
  rod.moreau->advance();
  EXPECT_NE(rod.moreau->contacts()->note.find("too long"), std::string::npos) << rod.moreau->contacts()->note;
  EXPECT_THROW(rod.moreau->soften(0, 1, {.compliance = 0}), InputError);
  EXPECT_THROW(rod.moreau->soften(0, 1, {.compliance = std::nan("")}), InputError);
  EXPECT_THROW(rod.moreau->soften(0, 1, {.compliance = 1e305}), InputError);
  EXPECT_THROW(rod.moreau->soften(0, 1, {.compliance = 1, .relaxation = -1}), InputError);
}

}
