#include "contact/line_rig.h"

#include "tendril/contact/contact_detection.h"
#include "tendril/contact/mesh.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace tendril {
namespace {

using test::LineRig;
using Method = LineContactOptions::Method;

std::vector<LineContactOptions> allOptions() {
  std::vector<LineContactOptions> all;
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    for (const Projection projection : {Projection::ClosestPoint, Projection::SectionPlane}) {
      LineContactOptions options;
      options.method = method;
      options.projection = projection;
      options.points = 2;
      all.push_back(options);
    }
  }
  return all;
}

TEST(LineContacts, OfParallelCurvesHaveTheirGapAndStandForTheOverlap) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 8, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 5, {1.5, 0, 0.21}, {0.25, 0, 0.21}, 0.1); // runs the other way, 0.25 before a segment's end
    const LineContacts& contacts = rig.build(options);
    ASSERT_FALSE(contacts.constraints().empty());
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_TRUE(c.isPresent);
      EXPECT_EQ(c.first, 0);
      EXPECT_NEAR(c.gap, 0.01, 1e-12);
      EXPECT_NEAR(c.frame(2, 0), -1, 1e-12) << "normal towards the first";
      EXPECT_NEAR(c.otherArclength, 1.5 - c.arclength, 1e-10);
      EXPECT_LT(c.slip.norm(), 1e-14);
    }
    EXPECT_NEAR(rig.totalWeight(), 0.75, 1e-10);
  }
}

/// int Q^T f ds over [from, to] of a straight curve, f in the inertial frame, by Simpson's rule (exact: Q is quadratic).
void addLineLoad(const CurveConfiguration& curve, const Model& model, const Vector3& f, double from, double to, VectorX& forces) {
  double start = 0;
  for (int k = 0; k < curve.segments(); ++k) {
    const double length = curve.curve().segments[std::size_t(k)].length;
    const double a = std::max(0.0, (from - start) / length), b = std::min(1.0, (to - start) / length);
    start += length;
    if (a >= b) continue;
    for (const auto& [x, w] : {std::pair(0.0, 1.0), std::pair(0.5, 4.0), std::pair(1.0, 1.0)}) {
      const Carrier c = curve.carrier({k, a + x * (b - a)});
      Vector6 wrench = Vector6::Zero();
      wrench.head<3>() = c.frame.R.transpose() * f;
      for (int i = 0; i < 2; ++i) {
        forces.segment<6>(model.blocks()[std::size_t(c.block[std::size_t(i)])].v) +=
            w / 6 * (b - a) * length * c.J[std::size_t(i)].transpose() * wrench;
      }
    }
  }
}

TEST(LineContacts, MortarPassesAUniformPressureExactlyBetweenMeshesThatDoNotMatch) {
  constexpr double pressure = 7;
  for (const Projection projection : {Projection::ClosestPoint, Projection::SectionPlane}) {
    LineRig rig;
    rig.line("a", 7, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 4, {-0.1, 0, 0.2}, {0.93, 0, 0.2}, 0.1);
    LineContactOptions options;
    options.projection = projection;
    const LineContacts& contacts = rig.build(options);
    Eigen::Matrix3Xd F = Eigen::Matrix3Xd::Zero(3, Eigen::Index(contacts.constraints().size()));
    for (Eigen::Index j = 0; j < F.cols(); ++j) F(0, j) = pressure * contacts.constraints()[std::size_t(j)].weight;
    VectorX expected = VectorX::Zero(rig.model->nv());
    for (const auto& [part, sign, from, to] : {std::tuple(0, -1.0, 0.0, 0.93), std::tuple(1, 1.0, 0.1, 1.03)}) {
      CurveConfiguration curve(*rig.model, *rig.parts.parts()[std::size_t(part)].curve);
      curve.set(rig.state);
      addLineLoad(curve, *rig.model, {0, 0, sign * pressure}, from, to, expected);
    }
    EXPECT_LT((rig.forces(F) - expected).norm(), 1e-11 * expected.norm());
  }
}

TEST(LineContacts, OfTwoHelicesThatTouchHaveNoGapAnywhere) {
  constexpr double R = 0.1, pitch = 3;
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.helix("a", 24, 2, R, pitch, 0, R);
    rig.helix("b", 30, 2, R, pitch, M_PI, R);
    const LineContacts& contacts = rig.build(options, 0.02);
    double length = 0;
    for (const auto& segment : rig.parts.parts()[1].curve->segments) length += segment.length;
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_EQ(c.first, 1) << "the one with shorter segments looks for the other";
      EXPECT_GT(c.weight, 0) << "lines that touch all along do not cross";
      EXPECT_NEAR(c.gap, 0, 1e-12);
      EXPECT_NEAR(c.otherArclength, c.arclength, 1e-6 * length);
    }
    EXPECT_NEAR(rig.totalWeight(), length, 1e-9 * length);
  }
}

TEST(LineContacts, OfACoilWithItselfAreFoundButNotOfNeighboursAlongIt) {
  constexpr double R = 0.1, coil = 1, pitch = 0.22;
  const double turn = std::hypot(2 * M_PI * coil, pitch);
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.helix("coil", 100, 4, coil, pitch, 0, R);
    const LineContacts& contacts = rig.build(options, 0.02);
    double total = 0;
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_NEAR(c.otherArclength - c.arclength, turn, 0.2 * turn);
      EXPECT_NEAR(c.gap, pitch * 2 * M_PI * coil / turn - 2 * R, 1e-4 * R)
          << "distance of neighbouring turns, seen along the normal of both";
      total += c.weight;
    }
    EXPECT_NEAR(total, 3 * turn, 0.1 * turn);
  }
  LineRig rig;
  rig.line("straight", 200, {0, 0, 0}, {1, 0, 0}, 0.1); // segments far shorter than the radius
  EXPECT_TRUE(rig.build().constraints().empty());
}

Pose onPolyline(const std::vector<Vector3>& points, int i) {
  const auto leg = [&](int k) { return (points[std::size_t(k) + 1] - points[std::size_t(k)]).normalized(); };
  const Vector3 along = (leg(std::max(i - 1, 0)) + leg(std::min(i, int(points.size()) - 2))).normalized();
  return {Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), along).toRotationMatrix(), points[std::size_t(i)]};
}

TEST(LineContacts, LoseAndDoubleNothingAtKinks) {
  std::vector<Vector3> points;
  for (int i = 0; i <= 10; ++i) points.emplace_back(-0.5 + 0.5 * i, 0.03 * (i % 3), 0.25 + (i % 2 ? 0.15 : 0));
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 13, {0, 0, 0}, {4, 0, 0}, 0.1);
    rig.curve("b", 10, 10, 0.1, [&](double s) { return onPolyline(points, int(std::lround(s))); });
    rig.build(options, 1);
    EXPECT_NEAR(rig.totalWeight(), 4, 1e-9);
    std::map<double, int> seen;
    for (const ContactConstraint& c : rig.contacts->constraints()) {
      if (c.weight == 0) continue; // a crossing
      EXPECT_EQ(++seen[c.arclength], 1);
    }
  }
}

TEST(LineContacts, KeepTheirKeysWhileCurvesSlide) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 8, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 6, {-0.5, 0, 0.2}, {1.5, 0, 0.2}, 0.1);
    LineContacts& contacts = rig.build(options);
    std::map<std::uint64_t, double> place;
    for (const ContactConstraint& c : contacts.constraints()) place[c.key] = c.arclength;
    const std::size_t count = place.size();
    ASSERT_EQ(count, contacts.constraints().size()) << "keys differ";
    State s = rig.state;
    for (int step = 0; step < 10; ++step) { // over several segments of the other
      for (int i = 0; i <= 8; ++i) s.q[12 * i] += 0.04;
      contacts.begin(s, 0.05);
      contacts.evaluate(s);
      for (const ContactConstraint& c : contacts.constraints()) {
        ASSERT_TRUE(place.contains(c.key));
        EXPECT_NEAR(c.arclength, place[c.key], 1e-9);
      }
      EXPECT_EQ(contacts.constraints().size(), count);
    }
    // Within a step indices stay, what is gone is absent, and what returns is itself again.
    const auto before = std::vector<ContactConstraint>(contacts.constraints().begin(), contacts.constraints().end());
    State away = s;
    for (int i = 0; i <= 8; ++i) away.q[12 * i + 2] -= 0.5;
    contacts.evaluate(away);
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_FALSE(c.isPresent);
      EXPECT_TRUE(contacts.gradient(c).empty());
    }
    contacts.evaluate(s);
    ASSERT_EQ(contacts.constraints().size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(contacts.constraints()[i].key, before[i].key);
      EXPECT_EQ(contacts.constraints()[i].gap, before[i].gap);
      EXPECT_TRUE(contacts.constraints()[i].isPresent);
    }
  }
}

}
}
