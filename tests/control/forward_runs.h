#pragma once
#include "control/arms.h"
#include "tendril/control/forward_function.h"

/// Forward runs for the tests and benchmarks of their derivatives.
namespace tendril {

/// A model, with what acts on it and what its run is judged by.
struct ForwardSample {
  std::shared_ptr<Mechanism> mechanism;
  std::vector<Actuator> actuators;
  PathFunction function;
  ForwardOptions options;

  ForwardPath path() const { return {*mechanism->model, actuators, options}; }
  ForwardCase asCase() const { return {{mechanism, mechanism->model.get()}, actuators, function}; }
};

/// Three forces along the inertial axes at a marker.
inline std::vector<Actuator> wind(const Marker& on, const std::string& name) {
  std::vector<Actuator> all;
  for (int i = 0; i < 3; ++i) {
    Vector6 wrench = Vector6::Zero();
    wrench[i] = 1;
    all.push_back({.name = name + " " + std::to_string(i + 1), .loads = {{.marker = &on, .follows = false, .wrench = wrench}}});
  }
  return all;
}

inline void append(std::vector<Actuator>& to, std::vector<Actuator> more) {
  for (Actuator& actuator : more) to.push_back(std::move(actuator));
}

/// Bobs on strings from the origin, the first along e1, with wind on the last, which flies towards a target.
inline ForwardSample bobsOnStrings(int count, int steps, double duration, double gravity = 9.81) {
  MechanismBuilder b;
  b.gravity({0, 0, -gravity});
  const Marker* hook = &b.ground();
  const Marker* last = nullptr;
  for (int i = 0; i < count; ++i) {
    const MassProperties bob{10.0 / (i + 1), Vector3::Zero(), Vector3::Constant(0.04).asDiagonal()};
    const auto body =
        b.body("bob" + std::to_string(i), bob, {Matrix3::Identity(), {1 + 1.5 * i, 0, 0}}, {0, 1, double(i)}, {0.3, 0.2, -0.4});
    last = &body.at();
    b.joint(JointKind::Distance, "string" + std::to_string(i), *hook, *last);
    hook = last;
  }
  ForwardSample s{.mechanism = std::make_shared<Mechanism>(b.build()), .actuators = wind(*last, "wind"), .function = {}, .options = {}};
  s.function = distanceOf("miss", *last, {0.3, 1.2, -0.9}, steps);
  s.options = {.steps = steps, .duration = duration};
  return s;
}

/// What is uncertain in the robot arm.
struct ArmParameters {
  double cone = 0.6, boom = 1, coneMass = 10, boomMass = 5, gravity = 9.81, lean = 0.25 * std::numbers::pi;

  static ArmParameters of(const VectorX& c) { return {c[0], c[1], c[2], c[3], c[4], c[5]}; }
  VectorX vector() const { return (VectorX(6) << cone, boom, coneMass, boomMass, gravity, lean).finished(); }
};

/// scenes/control/robot-arm.yaml: torques of base and wrist, wind on both bodies (12 controls); how far the tip misses a place.
inline ForwardSample robotArm(const ArmParameters& p, int steps = 15) {
  constexpr double r = 0.05;
  MechanismBuilder b;
  b.gravity({0, 0, -p.gravity});
  const auto diagonal = [](double across, double along) { return Vector3(across, across, along).asDiagonal().toDenseMatrix(); };
  const MassProperties boom{p.boomMass, Vector3::Zero(), diagonal(p.boomMass * (3 * r * r + p.boom * p.boom) / 12, p.boomMass * r * r / 2)};
  const MassProperties cone{p.coneMass, Vector3::Zero(),
                            diagonal(p.coneMass * (0.15 * r * r + 0.0375 * p.cone * p.cone), 0.3 * p.coneMass * r * r)};
  const Matrix3 R = so3::exp(Vector3(p.lean, 0, 0));
  const auto along = [&](double distance) { return Pose{R, distance * R.col(2)}; };
  const auto first = b.body("boom", boom, along(p.boom / 2)), second = b.body("cone", cone, along(p.boom + p.cone / 4));
  const auto on = [](double z) { return Pose{Matrix3::Identity(), {0, 0, z}}; };
  b.joint(JointKind::Spherical, "base", b.ground(), first.at(on(-p.boom / 2)));
  b.joint(JointKind::Spherical, "wrist", first.at(on(p.boom / 2)), second.at(on(-p.cone / 4)));
  const Marker &tip = second.at(on(0.75 * p.cone), "tip"), &ofBoom = first.at(), &ofCone = second.at();
  ForwardSample s{.mechanism = std::make_shared<Mechanism>(b.build()), .actuators = {}, .function = {}, .options = {}};
  s.actuators = motors(*s.mechanism, {"base", "wrist"});
  append(s.actuators, wind(ofBoom, "wind on boom"));
  append(s.actuators, wind(ofCone, "wind on cone"));
  s.function = distanceOf("miss", tip, {0.1, -1.131, 0.283}, steps);
  s.options = {.steps = steps, .duration = 1.5};
  return s;
}

/// Controls of the arm at random: torques of this size in its plane, a tenth of it as wind in the plane; and, since the torques that carry
/// the arm spin its slender bodies about their axes as soon as they leave the plane, a millionth of it across.
inline MatrixX armDirection(int steps, unsigned seed, double size, bool inPlane = true, bool across = true) {
  MatrixX tau = randomVector(12 * steps, seed, size).reshaped(12, steps);
  for (const int row : {0, 3, 7, 8, 10, 11}) tau.row(row) *= inPlane ? (row < 6 ? 1 : 0.1) : 0;
  for (const int row : {1, 2, 4, 5, 6, 9}) tau.row(row) *= across ? 1e-6 : 0;
  return tau;
}

/// About what holds the arm as it leans at first, and more at random.
inline MatrixX armControls(int steps = 15, double size = 2) {
  MatrixX tau = armDirection(steps, 1, size);
  tau.row(0).array() -= 97;
  tau.row(3).array() -= 10;
  return tau;
}

/// scenes/control/rotors.yaml: a hull that three rotors turn; the speed of a corner of it.
inline ForwardSample rotors(int steps = 20) {
  MechanismBuilder b;
  const auto hull = b.body("hull", {1e4, Vector3::Zero(), Vector3::Constant(6460).asDiagonal()}, {});
  const MassProperties disc{500, Vector3::Zero(), Vector3(281.7, 281.7, 562.5).asDiagonal()};
  const std::array turns{Vector3(0, std::numbers::pi / 2, 0), Vector3(-std::numbers::pi / 2, 0, 0), Vector3(0, 0, 0)};
  std::vector<std::string> shafts;
  for (int i = 0; i < 3; ++i) {
    const Pose place{so3::exp(turns[std::size_t(i)]), 1.5 * Vector3::Unit(i)};
    const auto rotor = b.body("rotor" + std::to_string(i), disc, place);
    shafts.push_back("shaft" + std::to_string(i));
    b.joint(JointKind::Revolute, shafts.back(), hull.at(place), rotor.at());
  }
  const Marker& corner = hull.at({Matrix3::Identity(), {1, 1, 1}});
  ForwardSample s{.mechanism = std::make_shared<Mechanism>(b.build()), .actuators = {}, .function = {}, .options = {}};
  s.actuators = motors(*s.mechanism, shafts);
  std::vector<PathRow> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(markerVelocity("speed of the corner", corner, Vector3::Unit(i)));
  s.function = weightedSquares("energy of the corner", std::move(rows), {1, 2, 3}, steps);
  s.options = {.steps = steps, .duration = 5};
  return s;
}

}
