#include "tendril/contact/contact_detection.h"

#include "tendril/contact/mesh.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>

namespace tendril {
namespace {

Shape shapeOf(Shape::Kind kind, const Vector3& size = Vector3::Zero()) {
  Shape shape;
  shape.kind = kind;
  shape.size = size;
  return shape;
}

/// The union of a box and a smaller one on its top: a step of a stair.
Shape step() {
  TriangleMesh mesh;
  const std::array<Eigen::Vector2d, 6> outline{{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}}; // counter-clockwise in x, z
  for (const double y : {0., 1.})
    for (const Eigen::Vector2d& c : outline) mesh.vertices.emplace_back(c[0], y, c[1]);
  for (int i = 0; i < 6; ++i) {
    const int j = (i + 1) % 6;
    mesh.triangles.push_back({j, i, i + 6});
    mesh.triangles.push_back({j, i + 6, j + 6});
  }
  for (const std::array<int, 3>& t : {std::array{0, 1, 2}, std::array{0, 2, 3}, std::array{0, 3, 4}, std::array{0, 4, 5}}) {
    mesh.triangles.push_back(t);
    mesh.triangles.push_back({t[0] + 6, t[2] + 6, t[1] + 6});
  }
  EXPECT_EQ(findMeshDefect(mesh), "");
  Shape shape = shapeOf(Shape::Kind::TriangleMesh);
  shape.mesh = std::make_shared<const TriangleMesh>(mesh);
  return shape;
}

struct Rig {
  ModelBuilder builder;
  ContactModel contacts;
  std::unique_ptr<const Model> model;

  void carry(const std::string& name, const Marker& marker, const Shape& shape, const std::string& surface = "") {
    contacts.addPart({name, surface, &marker, {CollisionShape(shape, name)}});
  }
  const Marker& body(const Pose& pose, const Pose& offset = {}) {
    return builder.bodyMarker("", builder.addPose("body", -1, pose), offset);
  }
  State build() {
    model = builder.build();
    return model->initialState();
  }
};

std::vector<Contact> contactsAt(ContactDetection& detection, const State& state, double margin = 1) {
  const std::vector<double> reach(detection.model().parts().size(), margin);
  detection.findPairs(state, reach);
  return detection.findContacts(state, margin);
}

/// The normal row is the derivative of the gap, and the others move the point of contact: on bodies with offsets, and between two nodes.
TEST(ContactDetection, RowsAreTheRatesOfGapAndSlip) {
  Rig rig;
  const Pose a{so3::exp(Vector3(0.3, -0.2, 0.9)), {0, 0, 0.31}}, offset{so3::exp(Vector3(0.1, 0.4, 0)), {0.2, -0.1, 0.05}};
  const Marker& first = rig.body(a, offset);
  const int nodeA = rig.builder.addPose("beam", 0, {so3::exp(Vector3(0, 0.2, 0)), {-0.4, -0.1, -0.1}});
  const int nodeB = rig.builder.addPose("beam", 1, {so3::exp(Vector3(0.1, 0.4, 0.2)), {0.6, -0.2, 0}});
  const Marker& second = rig.builder.segmentMarker("", nodeA, nodeB, 0.6, {Matrix3::Identity(), {0, 0.05, 0.1}});
  rig.carry("ball", first, shapeOf(Shape::Kind::Sphere, {0.2, 0, 0}));
  rig.carry("bead", second, shapeOf(Shape::Kind::Sphere, {0.1, 0, 0}));
  rig.contacts.addLaw({"all", "all", {}});
  const State state = rig.build();
  ContactDetection detection(rig.contacts);
  const Contact contact = contactsAt(detection, state).at(0);
  ContactRows rows;
  detection.rows(contact, state, rows);
  ASSERT_EQ(rows.count, 3);

  std::srand(1);
  const double e = 1e-6;
  for (int trial = 0; trial < 10; ++trial) {
    const VectorX v = VectorX::Random(rig.model->nv());
    Vector6 u = Vector6::Zero();
    for (int k = 0; k < rows.count; ++k) u += rows.H[k] * v.segment<6>(rig.model->blocks()[rows.block[k]].v);
    State ahead = state, behind = state;
    rig.model->retract(state.q, e * v, ahead.q);
    rig.model->retract(state.q, -e * v, behind.q);
    const double gapRate = (detection.findContacts(ahead, 1).at(0).point.gap - detection.findContacts(behind, 1).at(0).point.gap) / (2 * e);
    EXPECT_NEAR(u[0], gapRate, 1e-8);
    // The material points that are at the contact now, carried by their markers.
    const auto rate = [&](const Marker& marker) {
      const Vector3 local = marker.frame(state).inverse() * contact.point.position;
      return Vector3((marker.frame(ahead) * local - marker.frame(behind) * local) / (2 * e));
    };
    EXPECT_LT((u.head<3>() - contact.frame.transpose() * (rate(first) - rate(second))).norm(), 1e-8);
    const auto spin = [&](const Marker& marker) {
      return Vector3(so3::log(marker.frame(ahead).R * marker.frame(behind).R.transpose()) / (2 * e));
    };
    EXPECT_LT((u.tail<3>() - contact.frame.transpose() * (spin(first) - spin(second))).norm(), 1e-8);
  }
}

/// A law for the pair goes before one for a part and a surface, this before surfaces, these before all; an exclusion before everything.
TEST(ContactDetection, TheNarrowestLawCounts) {
  Rig rig;
  const Shape ball = shapeOf(Shape::Kind::Sphere, {1, 0, 0});
  for (const auto& [name, surface, x] :
       {std::tuple{"a", "steel", 0.}, {"b", "wood", 1.5}, {"c", "steel", 3.}, {"d", "wood", 4.5}, {"e", "", 6.}})
    rig.carry(name, rig.body({Matrix3::Identity(), {x, 0, 0}}), ball, surface);
  rig.contacts.addLaw({"b", "a", {.friction = 0.1}});
  rig.contacts.addLaw({"wood", "c", {.friction = 0.2}});
  rig.contacts.addLaw({"steel", "wood", {.friction = 0.3}});
  rig.contacts.addLaw({"all", "all", {.friction = 0.4}});
  const auto friction = [&](int i, int j) { return rig.contacts.law(i, j)->friction; };
  EXPECT_EQ(friction(0, 1), 0.1);
  EXPECT_EQ(friction(1, 0), 0.1);
  EXPECT_EQ(friction(1, 2), 0.2);
  EXPECT_EQ(friction(0, 3), 0.3);
  EXPECT_EQ(friction(3, 4), 0.4);
  rig.contacts.exclude("a", "b");
  EXPECT_EQ(rig.contacts.law(0, 1), nullptr);

  const State state = rig.build();
  ContactDetection detection(rig.contacts);
  const std::vector<Contact> found = contactsAt(detection, state, 1e-3);
  ASSERT_EQ(found.size(), 3U); // b-c, c-d, d-e overlap by half a radius
  for (const Contact& c : found) EXPECT_EQ(c.law, rig.contacts.law(c.first, c.second));
}

/// The part that moves comes first, whatever the order of the parts; keys stay from step to step.
TEST(ContactDetection, TheMovingPartComesFirstAndKeepsItsKey) {
  Rig rig;
  rig.carry("floor", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace));
  rig.carry("box", rig.body({Matrix3::Identity(), {0, 0, 0.1}}), shapeOf(Shape::Kind::Box, Vector3::Constant(0.2)));
  rig.contacts.addLaw({"all", "all", {}});
  State state = rig.build();
  ContactDetection detection(rig.contacts);
  const std::vector<Contact> before = contactsAt(detection, state, 1e-3);
  ASSERT_EQ(before.size(), 4U);
  state.q[0] += 0.05;
  const std::vector<Contact> after = contactsAt(detection, state, 1e-3);
  ASSERT_EQ(after.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(before[i].first, 1);
    EXPECT_EQ(before[i].point.normal, Vector3::UnitZ());
    EXPECT_EQ(before[i].key, after[i].key);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(before[i].key, before[j].key);
  }
}

TEST(ContactDetection, AConcaveMeshStandsOnAHalfSpace) {
  Rig rig;
  rig.carry("stair", rig.body({Matrix3::Identity(), Vector3::Zero()}), step());
  rig.carry("floor", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace));
  rig.contacts.addLaw({"all", "all", {}});
  const State state = rig.build();
  ContactDetection detection(rig.contacts);
  const std::vector<Contact> found = contactsAt(detection, state, 1e-3);
  ASSERT_GE(found.size(), 4U);
  for (const Contact& c : found) EXPECT_NEAR(c.point.gap, 0, 1e-15);
}

/// Points of one face lie in one plane, even where it closes at an angle.
TEST(ContactDetection, PointsOfAFaceAreLevelled) {
  Rig rig;
  const double tilt = 1e-3;
  rig.carry("box", rig.body({so3::exp(Vector3(0, tilt, 0)), {0, 0, 0.1 + 2e-4}}), shapeOf(Shape::Kind::Box, Vector3::Constant(0.2)));
  rig.carry("floor", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace));
  rig.contacts.addLaw({"all", "all", {}});
  const State state = rig.build();
  ContactDetection detection(rig.contacts);
  const std::vector<Contact> found = contactsAt(detection, state, 1e-3);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_GT(std::abs(found[0].point.gap - found[1].point.gap) + std::abs(found[0].point.gap - found[2].point.gap), 1e-4);
  for (const Contact& c : found) EXPECT_NEAR(c.point.position.z(), found[0].point.position.z(), 1e-17);
}

void expectRefusal(const std::function<void()>& act, const std::vector<std::string>& words) {
  try {
    act();
    FAIL() << "accepted";
  } catch (const InputError& error) {
    for (const std::string& word : words) EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(ContactDetection, PairsThatCannotTouchAreRefusedByName) {
  Rig rig;
  rig.carry("stair", rig.builder.groundMarker("", {}), step());
  rig.carry("other", rig.body({}), step());
  rig.carry("disc", rig.body({}), shapeOf(Shape::Kind::Disc, {1, 0, 0}), "plane");
  rig.contacts.addLaw({"stair", "other", {}});
  const State state = rig.build();
  expectRefusal([&] { ContactDetection{rig.contacts}; }, {"'stair'", "'other'", "exclude the pair"});
  rig.contacts.exclude("stair", "other");
  EXPECT_NO_THROW(ContactDetection{rig.contacts});
  rig.contacts.addLaw({"plane", "other", {}});
  expectRefusal([&] { ContactDetection{rig.contacts}; }, {"'disc'", "'other'"});
}

TEST(ContactDetection, PlaneShapesLieInOnePlaneAndSurfacesStandUprightOnIt) {
  const Shape disc = shapeOf(Shape::Kind::Disc, {1, 0, 0});
  const auto refuse = [&](const Vector3& turnOfDisc, const Vector3& turnOfFloor) {
    Rig rig;
    rig.carry("one", rig.body({}), disc);
    rig.carry("two", rig.body({so3::exp(turnOfDisc), {3, 0, 0}}), disc);
    rig.carry("floor", rig.builder.groundMarker("", {so3::exp(turnOfFloor), Vector3::Zero()}), shapeOf(Shape::Kind::HalfSpace));
    rig.contacts.addLaw({"all", "all", {}});
    const State state = rig.build();
    ContactDetection(rig.contacts).refuseTiltedPlanes(state);
  };
  const Vector3 upright(-M_PI / 2, 0, 0);
  EXPECT_NO_THROW(refuse(Vector3(0, 0, 1), upright));
  expectRefusal([&] { refuse(Vector3(0.1, 0, 0), upright); }, {"'one'", "'two'", "parallel"});
  expectRefusal([&] { refuse(Vector3::Zero(), Vector3(-M_PI / 2 + 0.1, 0, 0)); }, {"'floor'", "'one'", "upright"});
}

TEST(ContactModel, NamesAndLawsAreChecked) {
  Rig rig;
  rig.carry("ball", rig.body({}), shapeOf(Shape::Kind::Sphere, {1, 0, 0}), "steel");
  expectRefusal([&] { rig.carry("ball", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace)); }, {"'ball'"});
  for (const ContactLaw& law : {ContactLaw{.friction = -0.1}, ContactLaw{.friction = NAN}, ContactLaw{.restitution = 1.1},
                                ContactLaw{.tangentialRestitution = -0.1}, ContactLaw{.rolling = -1}, ContactLaw{.pivoting = INFINITY},
                                ContactLaw{.cohesion = -1}}) {
    expectRefusal([&] { rig.contacts.addLaw({"ball", "all", law}); }, {"'ball' and 'all'"});
  }
  rig.contacts.addLaw({"steel", "all", {}});
  EXPECT_NO_THROW(rig.contacts.check());
  rig.contacts.addLaw({"bal", "all", {}});
  expectRefusal([&] { rig.contacts.check(); }, {"'bal'", "ball"});
}

/// Of laws that name a pair, the narrower goes first; where none is narrower they must agree.
TEST(ContactModel, LawsOfOneRankMustAgree) {
  const auto rigOf = [](const std::vector<ContactModel::PairLaw>& laws, bool isExcluded = false) {
    Rig rig;
    const Shape ball = shapeOf(Shape::Kind::Sphere, {1, 0, 0});
    rig.carry("a", rig.body({}), ball, "steel");
    rig.carry("b", rig.body({}), ball, "wood");
    rig.carry("floor", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace), "ice");
    rig.carry("wall", rig.builder.groundMarker("", {}), shapeOf(Shape::Kind::HalfSpace), "ice");
    for (const ContactModel::PairLaw& law : laws) rig.contacts.addLaw(law);
    if (isExcluded) rig.contacts.exclude("a", "floor");
    return rig;
  };
  const ContactLaw one{.friction = 0.1}, two{.friction = 0.2};
  const auto refuses = [&](const std::vector<ContactModel::PairLaw>& laws, const std::vector<std::string>& parts) {
    const Rig rig = rigOf(laws);
    expectRefusal([&] { rig.contacts.check(); }, parts);
  };
  refuses({{"a", "floor", one}, {"floor", "a", two}}, {"'a' and 'floor'", "[a, floor]", "[floor, a]", "remove one"});
  refuses({{"all", "all", one}, {"all", "all", two}}, {"remove one"});
  refuses({{"steel", "ice", one}, {"ice", "steel", two}}, {"'a' and 'floor'", "remove one"});
  refuses({{"a", "all", one}, {"floor", "all", two}}, {"'a' and 'floor'", "law of its own", "exclude"});
  refuses({{"a", "ice", one}, {"steel", "floor", two}}, {"'a' and 'floor'", "law of its own"});
  refuses({{"steel", "all", one}, {"wood", "all", two}}, {"'a' and 'b'", "law of its own"});
  refuses({{"steel", "all", one}, {"a", "all", two}, {"b", "all", one}}, {"'a' and 'b'"});

  const auto accepts = [&](const std::vector<ContactModel::PairLaw>& laws, bool isExcluded = false) {
    const Rig rig = rigOf(laws, isExcluded);
    EXPECT_NO_THROW(rig.contacts.check());
  };
  accepts({{"all", "all", one}, {"steel", "all", two}, {"steel", "ice", one}, {"a", "ice", two}, {"a", "floor", one}});
  accepts({{"a", "floor", one}, {"a", "ice", two}, {"steel", "ice", one}, {"all", "all", two}});
  accepts({{"a", "all", one}, {"floor", "all", two}, {"a", "ice", two}, {"wall", "a", one}}); // the pairs have laws of their own
  accepts({{"a", "all", one}, {"floor", "all", one}});                                        // they agree
  accepts({{"a", "floor", one}, {"floor", "a", two}}, true);                                  // they never touch
  accepts({{"floor", "wall", one}, {"wall", "floor", two}});                                  // neither moves
}

}
}
