#include "tendril/contact/section_contact.h"

#include "contact/curve_rig.h"

#include "support/allocation_counter.h"

#include <cmath>
#include <numbers>

namespace tendril {

namespace {

using namespace test;

using Matrix24 = Eigen::Matrix<double, 24, 24>;
using Vector24 = Eigen::Matrix<double, 24, 1>;

/// B^T F over the four blocks.
Vector24 nodalForces(const SectionContact& contact, const Vector3& force) {
  Vector24 f;
  for (int k = 0; k < 4; ++k) f.segment<6>(6 * k) = contact.B[k].transpose() * force;
  return f;
}

Eigen::Matrix<double, 3, 24> rows(const SectionContact& contact) {
  Eigen::Matrix<double, 3, 24> B;
  B << contact.B[0], contact.B[1], contact.B[2], contact.B[3];
  return B;
}

Pose turnedAndShifted(const Vector3& rotation, const Vector3& x) { return {so3::exp(rotation), x}; }

/// A random pair of segments near one another; their blocks are 0, 1 and 2, 3, so that velocities are those of B.
struct Pair {
  Pair(unsigned seed, Projection chosen, double curvature)
      : random(seed), projection(chosen),
        rig(disturbedLine(random, Pose{}, 1, 1, curvature),
            disturbedLine(random, turnedAndShifted(randomVector(random, 3, 0.5), Vector3(0.1, -0.3, 0.2)), 1, 1, curvature), 0.13, 0.21) {}

  std::optional<SectionContact> contactIn(const State& state) {
    rig.set(state);
    const std::optional<double> xi = project(rig.onFirst.frame(firstPlace), rig.onSecond, 0, secondPlace.xi, projection, 0.3);
    if (!xi) return std::nullopt;
    secondPlace.xi = *xi;
    return rig.contactAt(firstPlace, secondPlace, normal);
  }
  State along(int j, double h) const { return rig.moved(h * VectorX::Unit(24, j)); }
  Matrix24 stiffness(const SectionContact& contact, const Vector3& force) const {
    return contactStiffness(contact, force, &rig.onFirst, firstPlace, &rig.onSecond, secondPlace, projection);
  }

  std::mt19937 random;
  Projection projection;
  CurveRig rig;
  CurvePlace firstPlace{0, 0.45}, secondPlace{0, 0.5};
  Vector3 normal = Vector3::Zero();
};

/// Does the work for both projections and several random pairs, from gently to strongly curved (up to about two radians per segment).
template <class Check>
void forRandomPairs(const Check& check, std::vector<Projection> projections = {Projection::SectionPlane, Projection::ClosestPoint}) {
  for (const Projection projection : projections) {
    int facing = 0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
      Pair pair(seed, projection, seed <= 4 ? 0.05 : seed <= 8 ? 0.3 : 0.7);
      const std::optional<SectionContact> contact = pair.contactIn(pair.rig.state);
      if (!contact) continue;
      ++facing;
      SCOPED_TRACE("projection " + std::to_string(int(projection)) + ", seed " + std::to_string(seed));
      check(pair, *contact);
    }
    EXPECT_GE(facing, 8) << "too few of the random pairs face one another";
  }
}

// ---- the facing place ------------------------------------------------------------------------------------------------------------------

TEST(Project, SatisfiesItsEquation) {
  forRandomPairs([](const Pair& pair, const SectionContact& contact) {
    const Pose &C = contact.first.frame, &F = contact.second.frame;
    const Vector3 tangent = F.R * pair.rig.onSecond.relative(0).head<3>();
    const Vector3 direction = pair.projection == Projection::SectionPlane ? Vector3(C.R.col(0)) : tangent;
    EXPECT_LE(std::abs((F.x - C.x).dot(direction)), 1e-14);
  });
}

/// Distances at a thousand places: where the least of them lies inside, Newton's method from the nearest place ends there, and from the
/// middle in a minimum that is at least a local one.
TEST(Project, FindsTheClosestOfDenseSamples) {
  constexpr int samples = 1000;
  std::mt19937 random(5);
  int inside = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const CurveRig rig({Pose{}, turnedAndShifted(Vector3::Zero(), Vector3(1, 0, 0))}, disturbedLine(random, Pose{}, 1, 1, 0.9));
    const Pose C{Matrix3::Identity(), Vector3(0.5, 0, 0) + Vector3(randomVector(random, 3, 0.8))};
    const auto distance = [&](double xi) { return (rig.onSecond.frame({0, xi}).x - C.x).norm(); };
    int best = 0;
    for (int i = 0; i <= samples; ++i) {
      if (distance(double(i) / samples) < distance(double(best) / samples)) best = i;
    }
    if (best == 0 || best == samples) continue;
    ++inside;
    const double nearest = double(best) / samples;
    const std::optional<double> xi = project(C, rig.onSecond, 0, nearest, Projection::ClosestPoint, 0);
    ASSERT_TRUE(xi) << "trial " << trial;
    EXPECT_NEAR(*xi, nearest, 1.0 / samples) << "trial " << trial;
    EXPECT_LE(distance(*xi), distance(nearest) + 1e-15) << "trial " << trial;
    const std::optional<double> fromMiddle = project(C, rig.onSecond, 0, 0.5, Projection::ClosestPoint, 0);
    if (fromMiddle) {
      EXPECT_LE(distance(*fromMiddle), distance(*fromMiddle + 1e-3)) << "trial " << trial;
      EXPECT_LE(distance(*fromMiddle), distance(*fromMiddle - 1e-3)) << "trial " << trial;
    }
  }
  EXPECT_GE(inside, 50);
}

/// Wherever the section's plane is crossed between two of a thousand places, the crossing is found from there.
TEST(Project, FindsTheCrossingsOfTheSectionPlane) {
  constexpr int samples = 1000;
  std::mt19937 random(6);
  int crossings = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const CurveRig rig({Pose{}, turnedAndShifted(Vector3::Zero(), Vector3(1, 0, 0))}, disturbedLine(random, Pose{}, 1, 1, 0.9));
    const Pose C{so3::exp(randomVector(random, 3, 1)), Vector3(0.5, 0, 0) + Vector3(randomVector(random, 3, 0.8))};
    const auto height = [&](double xi) { return (rig.onSecond.frame({0, xi}).x - C.x).dot(C.R.col(0)); };
    for (int i = 0; i < samples; ++i) {
      const double a = double(i) / samples, b = double(i + 1) / samples;
      if (height(a) * height(b) > 0) continue;
      ++crossings;
      const std::optional<double> xi = project(C, rig.onSecond, 0, a, Projection::SectionPlane, 0);
      ASSERT_TRUE(xi) << "trial " << trial;
      EXPECT_TRUE(*xi >= a - 1e-12 && *xi <= b + 1e-12) << "trial " << trial << ": " << *xi << " instead of " << a;
      EXPECT_LE(std::abs(height(*xi)), 1e-14) << "trial " << trial;
    }
  }
  EXPECT_GE(crossings, 50);
}

/// Beyond the centre of curvature the nearer half of an arc is a maximum of the distance: Newton's method alone would stay there.
TEST(Project, LeavesTheRegionWhereTheDistanceIsNotConvex) {
  const double angle = 0.9 * std::numbers::pi;
  const Pose end{so3::exp(Vector3(0, 0, angle)), Vector3(std::sin(angle), 1 - std::cos(angle), 0)};
  const CurveRig rig({Pose{}, end}, {Pose{}, end}); // circle about (0, 1, 0), radius 1
  const double chosen = 0.8;
  const Vector3 outward(std::sin(chosen * angle), -std::cos(chosen * angle), 0); // from the centre to the place chosen
  const Pose C{Matrix3::Identity(), Vector3(0, 1, 0) + 0.2 * outward};
  for (const double guess : {0.0, 0.2, 0.3, 0.5, 1.0}) {
    const std::optional<double> xi = project(C, rig.onSecond, 0, guess, Projection::ClosestPoint, 0.01);
    ASSERT_TRUE(xi) << "guess " << guess;
    EXPECT_NEAR(*xi, chosen, 1e-13) << "guess " << guess;
  }
  const Pose opposite{Matrix3::Identity(), Vector3(0, 1, 0) - 0.2 * Vector3(std::sin(angle / 2), -std::cos(angle / 2), 0)};
  for (const double guess : {0.5, 0.5 + 1e-3}) { // the middle is farthest: only the ends are nearest
    EXPECT_FALSE(project(opposite, rig.onSecond, 0, guess, Projection::ClosestPoint, 0)) << "guess " << guess;
  }
}

TEST(Project, EndsAtTheSlack) {
  const CurveRig rig({Pose{}, turnedAndShifted(Vector3::Zero(), Vector3(1, 0, 0))},
                     {Pose{}, turnedAndShifted(Vector3::Zero(), Vector3(2, 0, 0))});
  for (const Projection projection : {Projection::SectionPlane, Projection::ClosestPoint}) {
    for (const double guess : {0.0, 0.5, 1.0, 7.0}) {
      const auto at = [&](double x, double slack) {
        return project(turnedAndShifted(Vector3::Zero(), Vector3(x, 0.3, 0)), rig.onSecond, 0, guess, projection, slack);
      };
      EXPECT_NEAR(at(0.5, 0).value_or(9), 0.25, 1e-15);
      EXPECT_NEAR(at(2.0, 0).value_or(9), 1, 1e-15); // the very end belongs to the segment
      EXPECT_NEAR(at(2.1, 0.06).value_or(9), 1.05, 1e-15);
      EXPECT_NEAR(at(-0.1, 0.06).value_or(9), -0.05, 1e-15);
      EXPECT_FALSE(at(2.1, 0.04));
      EXPECT_FALSE(at(-0.1, 0.04));
    }
  }
}

/// Parallel straight lines face one another at the same place in both projections, also where they run against one another.
TEST(Project, ProjectionsAgreeForParallelLines) {
  const Matrix3 back = so3::exp(Vector3(0, 0, std::numbers::pi));
  const CurveRig rig({Pose{}, {Matrix3::Identity(), Vector3(1, 0, 0)}}, {{back, Vector3(1.2, 0.25, 0)}, {back, Vector3(-0.3, 0.25, 0)}});
  const Pose C = rig.onFirst.frame({0, 0.37});
  const std::optional<double> plane = project(C, rig.onSecond, 0, 0.1, Projection::SectionPlane, 0);
  const std::optional<double> closest = project(C, rig.onSecond, 0, 0.1, Projection::ClosestPoint, 0);
  ASSERT_TRUE(plane && closest);
  EXPECT_NEAR(*plane, (1.2 - 0.37) / 1.5, 1e-14);
  EXPECT_NEAR(*closest, *plane, 1e-14);
}

/// Lines that cross at right angles: no place of the second lies in the first's section plane, but there is a nearest one.
TEST(Project, ClosestPointOfOrthogonalLines) {
  const Matrix3 across = so3::exp(Vector3(0, 0, std::numbers::pi / 2));
  CurveRig rig({Pose{}, {Matrix3::Identity(), Vector3(1, 0, 0)}},
               {{across, Vector3(0.4, -0.3, -0.21)}, {across, Vector3(0.4, 0.7, -0.21)}});
  const CurvePlace place{0, 0.4};
  const std::optional<double> xi = project(rig.onFirst.frame(place), rig.onSecond, 0, 0.9, Projection::ClosestPoint, 0);
  ASSERT_TRUE(xi);
  EXPECT_NEAR(*xi, 0.3, 1e-14);
  EXPECT_FALSE(project(rig.onFirst.frame({0, 0.3}), rig.onSecond, 0, 0.9, Projection::SectionPlane, 0.1));
  const SectionContact contact = rig.contactAt(place, {0, *xi});
  EXPECT_NEAR(contact.gap, 0.01, 1e-15);
  EXPECT_LE((contact.R.col(0) - Vector3::UnitZ()).norm(), 1e-14);
  EXPECT_LE((contact.R.col(1) - Vector3::UnitX()).norm(), 1e-14);
  EXPECT_LE((contact.R.col(2) - Vector3::UnitY()).norm(), 1e-14);
}

// ---- gradient --------------------------------------------------------------------------------------------------------------------------

/// Points carried along by the sections: their relative displacement, in the contact frame, has the derivative B.
TEST(SectionContact, GradientIsTheRelativeMotionOfSurfacePoints) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    const Vector3 M = 0.5 * (contact.firstPoint + contact.secondPoint);
    const Vector3 armC = contact.first.frame.inverse() * M, armF = contact.second.frame.inverse() * M;
    const Eigen::Matrix<double, 3, 24> B = rows(contact);
    for (int j = 0; j < 24; ++j) {
      const Vector3 slope = differentiate(
          [&](double h) {
            pair.rig.set(pair.along(j, h));
            return Vector3(contact.R.transpose() *
                           (pair.rig.onFirst.frame(pair.firstPlace) * armC - pair.rig.onSecond.frame(pair.secondPlace) * armF));
          },
          2e-3);
      EXPECT_LE((slope - B.col(j)).norm(), 1e-8) << "column " << j;
    }
  });
}

TEST(SectionContact, ClosestGapHasTheNormalRowAsDerivative) {
  forRandomPairs(
      [](Pair& pair, const SectionContact& contact) {
        const Eigen::Matrix<double, 3, 24> B = rows(contact);
        for (int j = 0; j < 24; ++j) {
          const double slope = differentiate([&](double h) { return pair.contactIn(pair.along(j, h)).value().gap; }, 1e-3);
          EXPECT_NEAR(slope, B(0, j), 1e-7) << "column " << j;
        }
      },
      {Projection::ClosestPoint});
}

TEST(SectionContact, PointsLieOnTheSurfacesAndTheFrameIsRight) {
  forRandomPairs([](const Pair&, const SectionContact& contact) {
    const Vector3 n = contact.R.col(0);
    EXPECT_LE((contact.R.transpose() * contact.R - Matrix3::Identity()).norm(), 1e-14);
    EXPECT_NEAR(contact.R.determinant(), 1, 1e-14);
    EXPECT_GT(n.dot(contact.first.frame.x - contact.second.frame.x), 0);
    EXPECT_GT(contact.R.col(1).dot(contact.first.frame.R.col(0)), 0);
    EXPECT_NEAR(contact.R.col(2).dot(contact.first.frame.R.col(0)), 0, 1e-14);
    EXPECT_NEAR((contact.firstPoint - contact.first.frame.x).norm(), 0.13, 1e-14);
    EXPECT_NEAR((contact.secondPoint - contact.second.frame.x).norm(), 0.21, 1e-14);
    EXPECT_LE((contact.firstPoint - contact.secondPoint - contact.gap * n).norm(), 1e-14);
  });
}

/// Action and reaction: the nodal forces of any contact force have no resultant and no moment.
TEST(SectionContact, ForcesAreInBalance) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    const Vector24 f = nodalForces(contact, Vector3(1.7, -0.6, 0.9));
    Vector3 force = Vector3::Zero(), moment = Vector3::Zero();
    for (int k = 0; k < 4; ++k) {
      const Pose node = loadPose(pair.rig.state.q.data() + 12 * k);
      const Vector3 g = node.R * f.segment<3>(6 * k);
      force += g;
      moment += node.x.cross(g) + node.R * f.segment<3>(6 * k + 3);
    }
    EXPECT_LE(force.norm(), 1e-12 * f.norm());
    EXPECT_LE(moment.norm(), 1e-12 * f.norm());
  });
}

TEST(SectionContact, RigidMotionChangesNothing) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    const Vector3 force(1.7, -0.6, 0.9);
    const Matrix24 K = pair.stiffness(contact, force);
    const State state = pair.rig.movedRigidly(se3::exp(randomVector(pair.random, 6, 1.5)));
    const SectionContact other = pair.contactIn(state).value();
    EXPECT_NEAR(other.gap, contact.gap, 1e-11);
    EXPECT_LE((rows(other) - rows(contact)).norm(), 1e-11 * rows(contact).norm());
    EXPECT_LE((pair.stiffness(other, force) - K).norm(), 1e-11 * K.norm());
  });
}

/// The normal goes on where the centrelines pass through one another, and where they coincide.
TEST(SectionContact, NormalDoesNotTurnOver) {
  const auto contactAtHeight = [](double z, const Vector3& previous) {
    const CurveRig rig({{Matrix3::Identity(), Vector3(0, 0, z)}, {Matrix3::Identity(), Vector3(1, 0, z)}},
                       {Pose{}, {Matrix3::Identity(), Vector3(1, 0, 0)}});
    return rig.contactAt({0, 0.5}, {0, 0.5}, previous);
  };
  const Vector3 up(0, 0, 1);
  EXPECT_NEAR(contactAtHeight(0.05, Vector3::Zero()).gap, -0.15, 1e-15);
  EXPECT_NEAR(contactAtHeight(-0.05, Vector3::Zero()).gap, -0.15, 1e-15);
  EXPECT_NEAR(contactAtHeight(-0.05, up).gap, -0.25, 1e-15);
  EXPECT_LE((contactAtHeight(-0.05, up).R.col(0) - up).norm(), 1e-15);
  EXPECT_LE((contactAtHeight(0, up).R.col(0) - up).norm(), 1e-15);
  EXPECT_NEAR(contactAtHeight(0, up).gap, -0.2, 1e-15);
  const Matrix3 R = contactAtHeight(0, Vector3::Zero()).R;
  EXPECT_LE((R.transpose() * R - Matrix3::Identity()).norm(), 1e-15);
  EXPECT_NEAR(R.col(0).dot(Vector3::UnitX()), 0, 1e-15);
}

// ---- slip ------------------------------------------------------------------------------------------------------------------------------

/// Discs in the plane with normals along the first curve's axis; their contact at the origin is closed, the first disc at +x.
SectionContact discs(double firstRadius, double secondRadius) {
  const Matrix3 alongZ = (Matrix3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished(); // d1 along z
  SectionContact contact;
  contact.first.frame = {alongZ, Vector3(firstRadius, 0, 0)};
  contact.second.frame = {alongZ, Vector3(-secondRadius, 0, 0)};
  contact.firstRadius = firstRadius;
  contact.secondRadius = secondRadius;
  contact.fillCurves(Vector3::Zero());
  return contact;
}

/// The first disc has rolled to where it is by going round the second, fixed one by an angle; it has turned by (1 + R2/R1) angle itself.
Eigen::Vector2d rollingSlip(double firstRadius, double secondRadius, double angle) {
  const SectionContact contact = discs(firstRadius, secondRadius);
  const Vector3 axis = Vector3::UnitZ(), centre = contact.second.frame.x;
  const Pose& now = contact.first.frame;
  const Pose old{so3::exp(-(1 + secondRadius / firstRadius) * angle * axis) * now.R, centre + so3::exp(-angle * axis) * (now.x - centre)};
  return slipSince(contact, old, contact.second.frame);
}

TEST(SlipSince, VanishesExactlyWhereEqualDiscsRoll) {
  for (const double angle : {0.01, 0.1, 0.3, 0.5}) EXPECT_LE(rollingSlip(0.01, 0.01, angle).norm(), 1e-17) << "angle " << angle;
}

/// Of unequal discs an error of third order remains: values of the specification (2.9) for a disc that rolls on one half as large.
TEST(SlipSince, IsOfThirdOrderWhereUnequalDiscsRoll) {
  EXPECT_NEAR(rollingSlip(0.02, 0.01, 0.5).norm(), 7.94e-5, 0.005e-5);
  EXPECT_NEAR(rollingSlip(0.02, 0.01, 0.01).norm(), 6.3e-10, 0.05e-10);
}

/// Pure translation and pure spinning of the first disc: the slip is that of its surface point.
TEST(SlipSince, IsTheMotionOfTheFirstSurfacePoint) {
  const SectionContact contact = discs(0.01, 0.02);
  Pose old = contact.first.frame;
  old.x -= contact.R * Vector3(0, 1e-3, -2e-3);
  EXPECT_LE((slipSince(contact, old, contact.second.frame) - Eigen::Vector2d(1e-3, -2e-3)).norm(), 1e-16);

  const double angle = 1e-3; // about +z at +x of the contact: its surface point at the origin moves by R angle towards -y
  old = contact.first.frame;
  old.R = so3::exp(Vector3(0, 0, -angle)) * old.R;
  const Vector3 moved = contact.R.rightCols<2>() * slipSince(contact, old, contact.second.frame);
  EXPECT_LE((moved - Vector3(0, -0.01 * angle, 0)).norm(), 1e-11);
}

/// For a small motion the slip is the tangential part of B delta, at any gap.
TEST(SlipSince, HasTheTangentialRowsAsDerivative) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    const VectorX delta = randomVector(pair.random, 24, 1);
    const Eigen::Vector2d slope = differentiate(
        [&](double h) {
          pair.rig.set(pair.rig.moved(-h * delta));
          return slipSince(contact, pair.rig.onFirst.frame(pair.firstPlace), pair.rig.onSecond.frame(pair.secondPlace));
        },
        1e-3);
    EXPECT_LE((slope - (rows(contact) * delta).tail<2>()).norm(), 1e-8);
  });
}

// ---- stiffness -------------------------------------------------------------------------------------------------------------------------

TEST(ContactStiffness, IsTheDerivativeOfTheNodalForces) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    for (const Vector3& force : {Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1), Vector3(1.7, -0.6, 0.9)}) {
      const Matrix24 K = pair.stiffness(contact, force);
      for (int j = 0; j < 24; ++j) {
        const Vector24 slope = differentiate([&](double h) { return nodalForces(pair.contactIn(pair.along(j, h)).value(), force); }, 5e-4);
        EXPECT_LE((slope + K.col(j)).norm(), 1e-7 * K.norm()) << "column " << j << ", force " << force.transpose();
      }
      pair.contactIn(pair.rig.state);
    }
  });
}

/// Without friction the closest gap is a potential: K - K^T is that of second derivatives in local frames, - coad of the nodal forces.
TEST(ContactStiffness, IsSymmetricForTheClosestPointWithoutFriction) {
  forRandomPairs(
      [](Pair& pair, const SectionContact& contact) {
        const Vector3 force(1.3, 0, 0);
        const Matrix24 K = pair.stiffness(contact, force);
        const Vector24 f = nodalForces(contact, force);
        Matrix24 turning = Matrix24::Zero();
        for (int k = 0; k < 4; ++k) turning.block<6, 6>(6 * k, 6 * k) = se3::coad(f.segment<6>(6 * k));
        EXPECT_LE((K - K.transpose() + turning).norm(), 1e-12 * K.norm());
      },
      {Projection::ClosestPoint});
}

/// ... and K is the Hessian of - F_n gap: along a geodesic q exp(h delta), delta^T K delta is its second derivative.
TEST(ContactStiffness, IsTheHessianOfTheClosestGap) {
  forRandomPairs(
      [](Pair& pair, const SectionContact& contact) {
        const Matrix24 K = pair.stiffness(contact, Vector3(1, 0, 0));
        const State start = pair.rig.state;
        for (int trial = 0; trial < 3; ++trial) {
          const VectorX delta = randomVector(pair.random, 24, 1);
          const auto gap = [&](double h) { return pair.contactIn(pair.rig.moved(h * delta)).value().gap; };
          const double h = 1e-3, second = (16 * (gap(h) + gap(-h)) - (gap(2 * h) + gap(-2 * h)) - 30 * gap(0)) / (12 * h * h);
          EXPECT_NEAR(-second, delta.dot(K * delta), 1e-6 * K.norm());
        }
      },
      {Projection::ClosestPoint});
}

/// A second curve that has passed through the first: the normal has kept its side, and the derivative holds.
TEST(ContactStiffness, HoldsBehindTheCentreline) {
  forRandomPairs([](Pair& pair, const SectionContact& contact) {
    pair.normal = -contact.R.col(0);
    const SectionContact behind = pair.contactIn(pair.rig.state).value();
    EXPECT_NEAR(behind.gap, -contact.gap - 2 * (0.13 + 0.21), 1e-13);
    const Vector3 force(1.7, -0.6, 0.9);
    const Matrix24 K = pair.stiffness(behind, force);
    for (int j = 0; j < 24; ++j) {
      const Vector24 slope = differentiate([&](double h) { return nodalForces(pair.contactIn(pair.along(j, h)).value(), force); }, 5e-4);
      EXPECT_LE((slope + K.col(j)).norm(), 1e-7 * K.norm()) << "column " << j;
    }
  });
}

// ---- rigid part ------------------------------------------------------------------------------------------------------------------------

/// A segment near a half-space or a ball on a body: block 2, seen through a frame of its own.
struct OnRigidPart {
  explicit OnRigidPart(unsigned seed)
      : random(seed),
        rig(disturbedLine(random, Pose{}, 1, 1, 0.5), disturbedLine(random, turnedAndShifted({0.3, 0, 0.2}, {0.2, 0.1, -0.4}), 1, 1, 0.5)) {
  }

  /// On a ball around the origin of the body, if it has a radius.
  SectionContact contactIn(const State& state, double ball = 0) {
    rig.onFirst.set(state);
    SectionContact contact;
    contact.first = rig.onFirst.carrier(place);
    contact.firstRadius = 0.13;
    const Pose body = loadPose(state.q.data() + 24);
    contact.second = {body * offset, 1, {2, -1}, {se3::AdInverse(offset), Matrix6::Zero()}};
    const Vector3 apart = contact.first.frame.x - body.x, n = ball > 0 ? apart.normalized() : body.R * normal;
    if (ball > 0) contact.normalRate = (Matrix3::Identity() - n * n.transpose()) / apart.norm();
    ContactPoint nearest;
    nearest.normal = n;
    nearest.gap = n.dot(apart) - contact.firstRadius - ball;
    nearest.position = contact.first.frame.x - (contact.firstRadius + 0.5 * nearest.gap) * n;
    contact.fillRigid(nearest);
    contact.B[3].setZero();
    return contact;
  }

  std::mt19937 random;
  CurveRig rig;
  CurvePlace place{0, 0.45};
  Pose offset = turnedAndShifted(Vector3(0.3, -0.2, 0.5), Vector3(0.1, 0.2, -0.1));
  Vector3 normal = Vector3(0.3, -0.2, 0.9).normalized();
};

class SectionOnRigidPart : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(PlaneAndBall, SectionOnRigidPart, ::testing::Values(0, 0.3));

TEST_P(SectionOnRigidPart, GapAndForcesHaveTheirDerivatives) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    OnRigidPart rig(seed);
    const SectionContact contact = rig.contactIn(rig.rig.state, GetParam());
    EXPECT_LE((contact.firstPoint - contact.first.frame.x + 0.13 * contact.R.col(0)).norm(), 1e-14);
    EXPECT_LE((contact.firstPoint - contact.secondPoint - contact.gap * contact.R.col(0)).norm(), 1e-14);
    const Vector3 force(1.7, -0.6, 0.9);
    const Matrix24 K = contactStiffness(contact, force, &rig.rig.onFirst, rig.place, nullptr, {}, Projection::ClosestPoint);
    EXPECT_TRUE(K.bottomRows<6>().isZero(0) && K.rightCols<6>().isZero(0));
    for (int j = 0; j < 18; ++j) {
      const auto at = [&](double h) { return rig.contactIn(rig.rig.moved(h * VectorX::Unit(24, j)), GetParam()); };
      EXPECT_NEAR(differentiate([&](double h) { return at(h).gap; }, 1e-3), rows(contact)(0, j), 1e-9) << "column " << j;
      const Vector24 slope = differentiate([&](double h) { return nodalForces(at(h), force); }, 1e-3);
      EXPECT_LE((slope + K.col(j)).norm(), 1e-8 * K.norm()) << "column " << j;
    }
  }
}

TEST(SectionContact, TakesNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "allocations are not counted here";
  Pair pair(1, Projection::ClosestPoint, 0.05);
  const long before = allocationCount;
  const SectionContact contact = *pair.contactIn(pair.rig.state);
  const Matrix24 K = pair.stiffness(contact, Vector3(1, 0.2, 0.3));
  const Eigen::Vector2d slip = slipSince(contact, contact.first.frame, contact.second.frame);
  EXPECT_EQ(allocationCount, before);
  EXPECT_TRUE(K.allFinite() && slip.allFinite());
}

}

}
