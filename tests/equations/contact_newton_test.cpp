#include "tendril/equations/contact_newton.h"

#include "equations/bordered_matrix.h"
#include "equations/contact_law_equations.h"
#include "equations/plane_contact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

constexpr double pi = std::numbers::pi;
using Method = ContactNewtonOptions::Method;
using Point = PlaneContact::Point;

// ---- the laws as equations -------------------------------------------------------------------------------------------------------------

struct Trial {
  Vector3 g, F;
  ContactStatus status;
};

const std::vector<Trial> trials{
    {{1e-3, 0.3, -0.2}, {0.2, 0.1, 0.1}, ContactStatus::Open},
    {{-2e-3, 1e-4, 2e-4}, {3, 0.2, -0.4}, ContactStatus::Stick},
    {{0, 6e-3, -8e-3}, {3, -0.72, 0.96}, ContactStatus::Slip}, // force and slip as the law wants them
};

TEST(ContactLawEquations, JacobianIsTheDerivativeAwayFromKinks) {
  const ContactWeights rho{300, 170};
  for (const auto& [g, F, status] : trials) {
    const ContactLawEquations law = ContactLawEquations::at(g, F, 0.4, rho);
    EXPECT_EQ(law.status, status);
    for (int i = 0; i < 3; ++i) {
      const Vector3 dg = 1e-7 * Vector3::Unit(i), dF = 1e-4 * Vector3::Unit(i);
      const Vector3 byGap = (ContactLawEquations::at(g + dg, F, 0.4, rho).c - ContactLawEquations::at(g - dg, F, 0.4, rho).c) / 2e-7;
      const Vector3 byForce = (ContactLawEquations::at(g, F + dF, 0.4, rho).c - ContactLawEquations::at(g, F - dF, 0.4, rho).c) / 2e-4;
      EXPECT_LT((byGap - law.byGap.col(i)).norm(), 1e-7);
      EXPECT_LT((byForce - law.byForce.col(i)).norm(), 1e-9);
    }
  }
}

TEST(ContactLawEquations, VanishExactlyWhereTheLawsHold) {
  const ContactWeights rho{300, 170};
  const double mu = 0.4;
  EXPECT_EQ(ContactLawEquations::at({1e-3, 5, 5}, {0, 0, 0}, mu, rho).c.norm(), 0);                // open, however it moves
  EXPECT_EQ(ContactLawEquations::at({0, 0, 0}, {2, 0.5, -0.5}, mu, rho).c.norm(), 0);              // sticks
  EXPECT_LT(ContactLawEquations::at({0, 3e-3, 4e-3}, {2, -0.48, -0.64}, mu, rho).c.norm(), 1e-17); // slips against the force
  EXPECT_GT(ContactLawEquations::at({0, 3e-3, 4e-3}, {2, 0.48, 0.64}, mu, rho).c.norm(), 1e-4);    // force along the slip
  EXPECT_GT(ContactLawEquations::at({0, 0, 0}, {2, 0.7, -0.7}, mu, rho).c.norm(), 1e-4);           // outside of the cone
  EXPECT_GT(ContactLawEquations::at({1e-3, 0, 0}, {2, 0, 0}, mu, rho).c.norm(), 0.9e-3);           // force at a distance
  EXPECT_GT(ContactLawEquations::at({-1e-3, 0, 0}, {0, 0, 0}, mu, rho).c.norm(), 0.9e-3);          // overlap without force
  EXPECT_EQ(ContactLawEquations::at({0, 1, 1}, {2, 0, 0}, 0, rho).c.norm(), 0);                    // no friction
}

TEST(ContactLawEquations, HeldStatusKeepsDirectionWithItsOwnDerivative) {
  const ContactWeights rho{300, 170};
  const ContactLawEquations slip = ContactLawEquations::at(trials[2].g, trials[2].F, 0.4, rho);
  const Vector3 g{-1e-3, -4e-3, 0}, F{3, 0.5, 0.1};
  const ContactLawEquations held = ContactLawEquations::held(slip, g, F, 0.4, rho);
  EXPECT_EQ(held.tau, slip.tau);
  for (int i = 0; i < 3; ++i) {
    const Vector3 dg = 1e-7 * Vector3::Unit(i);
    const Vector3 byGap =
        (ContactLawEquations::held(slip, g + dg, F, 0.4, rho).c - ContactLawEquations::held(slip, g - dg, F, 0.4, rho).c) / 2e-7;
    EXPECT_LT((byGap - held.byGap.col(i)).norm(), 1e-7);
  }
}

// ---- equilibria ------------------------------------------------------------------------------------------------------------------------

/// Steel (E = 200 GPa, G = 77 GPa), round; sheared over the whole of its area.
SectionProperties wire(double R = 1e-3) {
  const double A = pi * R * R, I = pi * std::pow(R, 4) / 4, E = 200e9, G = 77e9;
  const Vector6 stiffness{{E * A, G * A, G * A, 2 * G * I, E * I, E * I}}, mass{{1, 1, 1, 1e-6, 1e-6, 1e-6}};
  return SectionProperties::general(stiffness.asDiagonal(), mass.asDiagonal());
}

Mechanism cantilever(int elements, const Vector3& perLength, const Vector3& tip = Vector3::Zero(), double R = 1e-3) {
  MechanismBuilder b;
  const auto beam = b.beam("wire", Curve::straight({0, 0, 0}, {0.3, 0, 0}), wire(R), {.elements = elements});
  b.clamp("root", beam.start());
  Vector6 load = Vector6::Zero();
  load.head<3>() = perLength;
  b.distributed(beam, load, LoadDirection::Dead);
  if (!tip.isZero(0)) b.force("pull", beam.end(), tip);
  return b.build();
}

/// Every node but the clamped one above a plane.
std::vector<Point> nodesAbove(const Mechanism& m, double distance, double mu = 0) {
  std::vector<Point> points;
  for (std::size_t i = 1; i < m.beams[0].nodes.size(); ++i) {
    points.push_back({.block = m.beams[0].nodes[i], .plane = {0, 0, -distance}, .law = {.friction = mu}});
  }
  return points;
}

// The cantilever of the thesis' table 3.1. Closed form for the semi-infinite Timoshenko beam on a rigid wall, in the units u2 = (EI g /
// p)^(1/4) and p u2.
TEST(ContactNewton, CantileverOnAWallTakesTheLoadOfTheClosedForm) {
  const double gap = 1e-5, p = 1, u2 = 35.4022e-3;
  const double total = 6.532621 * p * u2, liftOff = 102.297e-3;
  double last = 0;
  for (int elements : {75, 150, 300}) {
    const Mechanism m = cantilever(elements, {0, 0, -p});
    PlaneContact problem(m, nodesAbove(m, gap));
    ContactNewton newton;
    Eigen::Matrix3Xd F;
    const ContactNewtonReport& report = newton.solve(problem, {.method = Method::Newton}, F);
    ASSERT_TRUE(report.converged) << report.message;
    EXPECT_LE(report.gapViolation, problem.gapTolerance());
    const double h = 0.3 / elements, error = std::abs(F.row(0).sum() - total);
    EXPECT_LT(error, 0.05 * p * h) << elements;
    if (last > 0) {
      EXPECT_LT(error, 0.6 * last) << elements;
    }
    last = error;
    EXPECT_GE(F.row(0).minCoeff(), 0);
    int first = 0;
    while (F(0, first) == 0) ++first;
    EXPECT_NEAR((first + 1) * h, liftOff, 2 * h);
    for (int j = 0; j < first; ++j) EXPECT_GT(problem.constraints()[j].gap, 0);
  }
}

/// A cantilever that lies on a rough plane, pressed on it all along and pulled sideways at its tip.
struct PulledOverPlane {
  explicit PulledOverPlane(double pull = 100) : m(cantilever(20, {0, 0, -1e4}, {0, pull, 0}, 1e-2)), problem(m, nodesAbove(m, 0, 0.3)) {}

  Mechanism m;
  PlaneContact problem;
  ContactNewton newton;
  Eigen::Matrix3Xd F;

  const ContactNewtonReport& solve(const ContactNewtonOptions& options) { return newton.solve(problem, options, F); }
  VectorX positions() const {
    VectorX x(3 * F.cols());
    for (int j = 0; j < F.cols(); ++j) x.segment<3>(3 * j) = problem.point(j);
    return x;
  }
};

TEST(ContactNewton, APartOfABeamSlipsAndCoulombsLawHoldsEverywhere) {
  PulledOverPlane beam;
  const ContactNewtonReport& report = beam.solve({.method = Method::Newton});
  ASSERT_TRUE(report.converged) << report.message;
  int sticking = 0, slipping = 0;
  for (int j = 0; j < beam.F.cols(); ++j) {
    const ContactConstraint& c = beam.problem.constraints()[j];
    const Eigen::Vector2d Ft = beam.F.col(j).tail<2>();
    const double limit = 0.3 * beam.F(0, j);
    EXPECT_LT(std::abs(c.gap), 1e-12);
    if (c.slip.norm() > 1e-9) {
      EXPECT_NEAR(Ft.norm(), limit, 1e-8 * limit);
      EXPECT_NEAR(Ft.dot(c.slip), -limit * c.slip.norm(), 1e-8 * limit * c.slip.norm());
      ++slipping;
    } else {
      EXPECT_LT(c.slip.norm(), 1e-12);
      EXPECT_LE(Ft.norm(), limit * (1 + 1e-9));
      ++sticking;
    }
  }
  EXPECT_GT(sticking, 3);
  EXPECT_GT(slipping, 3);
}

TEST(ContactNewton, TheWeightMovesNoSolution) {
  // A pull under which slips are far above what rounding makes of their directions.
  const double pull = 400;
  PulledOverPlane reference(pull);
  ASSERT_TRUE(reference.solve({.method = Method::Newton}).converged);
  for (double weight : {1e-3, 1e-2, 0.1, 10., 100., 1e3}) {
    PulledOverPlane beam(pull);
    const ContactNewtonReport& report = beam.solve({.method = Method::Newton, .weight = weight});
    ASSERT_TRUE(report.converged) << weight << ": " << report.message;
    EXPECT_LT((beam.F - reference.F).norm(), 1e-7 * reference.F.norm()) << weight;
    EXPECT_LT((beam.positions() - reference.positions()).norm(), 1e-7 * reference.problem.constraints()[19].slip.norm()) << weight;
  }
}

TEST(ContactNewton, NewtonAndDualFindTheSameForces) {
  PulledOverPlane primal, dual;
  ASSERT_TRUE(primal.solve({.method = Method::Newton}).converged);
  const ContactNewtonReport& report = dual.solve({.method = Method::Dual});
  ASSERT_TRUE(report.converged) << report.message;
  EXPECT_TRUE(report.usedDual);
  EXPECT_LT((primal.F - dual.F).norm(), 1e-6 * primal.F.norm());

  const Mechanism m = cantilever(60, {0, 0, -1});
  Eigen::Matrix3Xd F[2];
  for (Method method : {Method::Newton, Method::Dual}) {
    PlaneContact problem(m, nodesAbove(m, 1e-5));
    ContactNewton newton;
    const ContactNewtonReport& smooth = newton.solve(problem, {.method = method}, F[method == Method::Dual]);
    ASSERT_TRUE(smooth.converged) << smooth.message;
  }
  EXPECT_LT((F[0] - F[1]).norm(), 1e-6 * F[0].norm());
}

TEST(ContactNewton, AutomaticGoesBackAndOnByTheDual) {
  const Mechanism m = cantilever(60, {0, 0, -1});
  PlaneContact problem(m, nodesAbove(m, 1e-5)), primal(m, nodesAbove(m, 1e-5));
  ContactNewton newton;
  Eigen::Matrix3Xd F, reference;
  EXPECT_FALSE(newton.solve(primal, {.method = Method::Newton, .maxIterations = 6}, reference).converged);
  EXPECT_EQ(primal.restarts, 0);
  const ContactNewtonReport& report = newton.solve(problem, {.maxIterations = 6}, F);
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_TRUE(report.usedDual);
  EXPECT_TRUE(report.message.empty());
  EXPECT_EQ(problem.restarts, 1);

  PlaneContact easy(m, nodesAbove(m, 1e-5));
  const ContactNewtonReport& first = newton.solve(easy, {}, reference = {});
  EXPECT_TRUE(first.converged);
  EXPECT_FALSE(first.usedDual);
  EXPECT_LT((F - reference).norm(), 1e-6 * F.norm());
}

/// A cantilever whose tip is pressed by 1 N on a plane it touches (mu = 0.3) and pulled sideways by 1 N times t.
struct PulledTip {
  static Mechanism make(double press) {
    MechanismBuilder b;
    const auto beam = b.beam("wire", Curve::straight({0, 0, 0}, {0.3, 0, 0}), wire(), {.elements = 8});
    b.clamp("root", beam.start());
    b.force("press", beam.end(), {0, 0, -press});
    b.force("pull", beam.end(), {0, 1, 0}, LoadDirection::Dead, TimeFunction::proportional());
    return b.build();
  }
  Mechanism m = make(1);
  PlaneContact problem{m, {{.block = m.beams[0].nodes.back(), .law = {.friction = 0.3}}}, 0.3 * (1 - 1e-6)};
  ContactNewton newton;
  Eigen::Matrix3Xd F;
};

TEST(ContactNewton, TipSticksUpToTheThresholdAndSlipsBeyond) {
  PulledTip tip;
  ASSERT_TRUE(tip.newton.solve(tip.problem, {}, tip.F).converged) << tip.newton.report().message;
  EXPECT_NEAR(tip.F(0, 0), 1, 1e-9);
  EXPECT_NEAR(tip.F.col(0).tail<2>().norm(), 0.3 * (1 - 1e-6), 1e-9);
  EXPECT_LT(tip.problem.constraints()[0].slip.norm(), 1e-14);

  tip.problem.moveTo(0.35);
  ASSERT_TRUE(tip.newton.solve(tip.problem, {}, tip.F).converged) << tip.newton.report().message;
  EXPECT_NEAR(tip.F.col(0).tail<2>().norm(), 0.3 * tip.F(0, 0), 1e-9);
  // What friction does not take, the beam carries: the same beam without contact under that force alone.
  const Mechanism bare = PulledTip::make(0);
  PlaneContact free(bare, {}, 0.05);
  Eigen::Matrix3Xd none;
  ASSERT_TRUE(ContactNewton().solve(free, {}, none).converged);
  const double deflection = free.state().q[bare.model->blocks()[bare.beams[0].nodes.back()].q + 1];
  EXPECT_NEAR(tip.problem.point(0).y(), deflection, 1e-3 * deflection);

  // Back a little, friction lets the tip stick where it is.
  tip.problem.moveTo(0.30);
  ASSERT_TRUE(tip.newton.solve(tip.problem, {}, tip.F).converged) << tip.newton.report().message;
  EXPECT_LT(tip.problem.constraints()[0].slip.norm(), 1e-13);
  EXPECT_NEAR(tip.F.col(0).tail<2>().norm(), 0.25, 1e-3);
}

/// A block on four feet (12 conditions for 6 motions), held by nothing but contact, pulled at its centre.
Mechanism block(double pull) {
  MechanismBuilder b;
  b.gravity({0, 0, -10});
  const auto body = b.body("block", {2, Vector3::Zero(), Vector3(1, 1, 1).asDiagonal()}, {Matrix3::Identity(), {0, 0, 0.1}});
  b.force("pull", body.at(), {pull, 0, 0});
  return b.build();
}

std::vector<Point> feet(const Mechanism& m, double mu) {
  std::vector<Point> points;
  for (double x : {-0.3, 0.3}) {
    for (double y : {-0.2, 0.2}) points.push_back({.block = m.bodies[0].block, .offset = {x, y, -0.1}, .law = {.friction = mu}});
  }
  return points;
}

TEST(ContactNewton, BlockHeldByContactAloneSticksBelowTheLimitAndHasNoEquilibriumAbove) {
  for (double share : {0.5, 0.999}) {
    const Mechanism m = block(share * 0.4 * 20);
    PlaneContact problem(m, feet(m, 0.4));
    ContactNewton newton;
    Eigen::Matrix3Xd F;
    const ContactNewtonReport& report = newton.solve(problem, {.method = Method::Newton}, F);
    ASSERT_TRUE(report.converged) << report.message;
    EXPECT_NEAR(F.row(0).sum(), 20, 1e-7);
    EXPECT_NEAR((problem.constraints()[0].frame * F.rowwise().sum() - Vector3(-share * 8, 0, 20)).norm(), 0, 1e-7);
    EXPECT_NEAR(problem.state().q[0], 0, 1e-12);
  }
  const Mechanism m = block(1.001 * 0.4 * 20);
  PlaneContact problem(m, feet(m, 0.4));
  ContactNewton newton;
  Eigen::Matrix3Xd F;
  const ContactNewtonReport& report = newton.solve(problem, {}, F);
  EXPECT_FALSE(report.converged);
  EXPECT_NE(report.message.find("block"), std::string::npos) << report.message;
}

TEST(ContactNewton, ConstraintsSaidTwiceShareTheForce) {
  const Mechanism m = cantilever(40, {0, 0, -1});
  std::vector<Point> once = nodesAbove(m, 1e-5, 0.2), twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  PlaneContact single(m, once), redundant(m, twice);
  ContactNewton newton;
  Eigen::Matrix3Xd F, G;
  ASSERT_TRUE(newton.solve(single, {}, F).converged) << newton.report().message;
  for (Method method : {Method::Newton, Method::Dual}) {
    redundant.restart();
    ASSERT_TRUE(newton.solve(redundant, {.method = method}, G = {}).converged) << newton.report().message;
    EXPECT_NEAR(G.row(0).sum(), F.row(0).sum(), 1e-6 * F.row(0).sum());
    EXPECT_LT((G.leftCols(40) + G.rightCols(40) - F).norm(), 1e-5 * F.norm());
  }
}

/// A wire bent far, whose tip rubs with its surface on an inclined plane.
struct BentWire {
  static Mechanism make() {
    MechanismBuilder b;
    const auto beam = b.beam("wire", Curve::straight({0, 0, 0}, {0.3, 0, 0}), wire(), {.elements = 10});
    b.clamp("root", beam.start());
    b.force("tip", beam.end(), {0, 1, -4});
    return b.build();
  }
  explicit BentWire(double mu)
      : problem(m, {{.block = m.beams[0].nodes.back(),
                     .offset = {0, 2e-3, -5e-3},
                     .plane = {0.3, 0, -0.1},
                     .normal = Vector3(0.4, 0.1, 1).normalized(),
                     .law = {.friction = mu}}}) {}
  Mechanism m = make();
  PlaneContact problem;
  ContactNewton newton;
  Eigen::Matrix3Xd F;
};

TEST(ContactNewton, ConvergesQuadratically) {
  for (double mu : {0., 0.1}) {
    BentWire wire(mu);
    ASSERT_TRUE(wire.newton.solve(wire.problem, {.method = Method::Newton}, wire.F).converged) << wire.newton.report().message;
    EXPECT_GT(wire.F(0, 0), 0.5);
    EXPECT_NEAR(wire.F.col(0).tail<2>().norm(), mu * wire.F(0, 0), 1e-9);
    // Of the last steps above rounding.
    std::vector<double>& steps = wire.problem.steps;
    while (steps.size() > 3 && steps.back() < 1e-9) steps.pop_back();
    const std::size_t n = steps.size();
    ASSERT_GE(n, 3u);
    EXPECT_LT(steps[n - 1], 3 * steps[n - 2] * steps[n - 2]) << mu;
    EXPECT_LT(steps[n - 2], 3 * steps[n - 3] * steps[n - 3]) << mu;
  }
}

// Friction has no potential: the forces' own stiffness makes W unsymmetric.
TEST(ContactNewton, DualServesUnsymmetricEquations) {
  for (double mu : {0., 0.1, 0.5}) {
    BentWire primal(mu), dual(mu);
    ASSERT_TRUE(primal.newton.solve(primal.problem, {.method = Method::Newton}, primal.F).converged);
    ASSERT_TRUE(dual.newton.solve(dual.problem, {.method = Method::Dual}, dual.F).converged) << dual.newton.report().message;
    EXPECT_LT((primal.F - dual.F).norm(), 1e-6 * primal.F.norm());
  }
}

TEST(ContactNewton, FailureNamesTheContactItsGapAndForce) {
  const Mechanism m = cantilever(4, {0, 0, -1});
  // The clamped node would have to move.
  std::vector<Point> points = nodesAbove(m, 1e-3);
  points.push_back({.block = m.beams[0].nodes.front(), .plane = {0, 0, 1e-3}});
  PlaneContact problem(m, points);
  ContactNewton newton;
  Eigen::Matrix3Xd F;
  const ContactNewtonReport& report = newton.solve(problem, {}, F);
  EXPECT_FALSE(report.converged);
  EXPECT_GT(report.residual, 1);
  // Either side of the contradiction, and always a contact with its gap and force.
  const bool namesIt = report.message.find("point 4") != std::string::npos || report.message.find("joint 'root'") != std::string::npos;
  EXPECT_TRUE(namesIt) << report.message;
  EXPECT_NE(report.message.find("contact worst at point"), std::string::npos) << report.message;
  EXPECT_NE(report.message.find("Newton's method"), std::string::npos) << report.message;
  EXPECT_NE(report.message.find("dual"), std::string::npos) << report.message;
}

// ---- the bordered matrix ---------------------------------------------------------------------------------------------------------------

TEST(BorderedMatrix, IsTheSumOfItsPiecesAndKeepsItsPattern) {
  MatrixX dense = MatrixX::Zero(12, 12);
  dense.topLeftCorner(6, 6).setConstant(2);
  dense.bottomRightCorner(6, 6).setIdentity();
  const SparseMatrix A = dense.sparseView();
  const Matrix6 K = Matrix6::Random();
  const Matrix36 B = Matrix36::Random();
  MatrixX expected = MatrixX::Zero(15, 15);
  expected.topLeftCorner(12, 12) = dense;
  expected.block<6, 6>(0, 6) += 2 * K;
  expected.block<6, 6>(6, 6) += K;
  expected.block<3, 6>(12, 6) = B;
  expected.block<6, 3>(6, 12) = B.transpose();
  expected.bottomRightCorner(3, 3).setConstant(7);

  BorderedMatrix matrix;
  for (bool isNew : {true, false}) {
    matrix.begin();
    matrix.declare({0, 6, 6, 6});
    matrix.declare({6, 6, 6, 6});
    matrix.declare({0, 6, 6, 6});
    matrix.declare({12, 6, 3, 6});
    matrix.declare({6, 12, 6, 3});
    matrix.declare({12, 12, 3, 3});
    EXPECT_EQ(matrix.layOut(A, 15), isNew);
    matrix.add(K);
    matrix.add(K);
    matrix.add(K);
    matrix.add(B);
    matrix.add(B.transpose());
    matrix.add(Matrix3::Constant(7));
    EXPECT_EQ((MatrixX(matrix.matrix()) - expected).norm(), 0);
  }
  matrix.begin();
  EXPECT_TRUE(matrix.layOut(A, 12));
  EXPECT_EQ((MatrixX(matrix.matrix()) - dense).norm(), 0);
}

}
}
