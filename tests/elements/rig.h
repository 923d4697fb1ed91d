#pragma once
#include "tendril/elements/rigid_bodies.h"
#include "tendril/lie/se3.h"
#include "tendril/model/model.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tendril::test {

inline Pose poseOf(double x, double y, double z, double a = 0, double b = 0, double c = 0) {
  return {so3::exp(Vector3(a, b, c)), Vector3(x, y, z)};
}

/// u = u0 + u1 t + sin(2 t) / 4, a motion with all derivatives.
inline TimeFunction wavy(double u0 = 0, double u1 = 0.5) {
  return {"wavy", [=](double t) { return Jet{u0 + u1 * t + std::sin(2 * t) / 4, u1 + std::cos(2 * t) / 2, -std::sin(2 * t)}; }};
}

/// Two bodies, two nodes with a segment between them, and one marker of every kind: what elements are tried on.
struct Rig {
  enum class Mass { Everywhere, None };

  explicit Rig(Mass mass = Mass::Everywhere) {
    const std::vector<std::pair<std::string, Pose>> poses{{"one", poseOf(0.1, 0.2, 0.3, 0.3, -0.2, 0.1)},
                                                          {"two", poseOf(0.9, -0.3, 0.2, -0.1, 0.4, 0.6)},
                                                          {"left", poseOf(-0.2, 0.8, 0.1, 0.2, 0.1, -0.2)},
                                                          {"right", poseOf(0.7, 1.0, -0.1, 0.5, 0.3, 0.2)}};
    std::vector<int> blocks;
    for (const auto& [name, pose] : poses) blocks.push_back(builder.addPose("body '" + name + "'", -1, pose));
    if (mass == Mass::Everywhere) {
      const Matrix3 tilt = so3::exp(Vector3(0.4, 0.5, -0.3));
      for (std::size_t i = 0; i < poses.size(); ++i) {
        MassProperties m{1.0 + 0.2 * double(i), Vector3(0.1, -0.05, 0.02), tilt * Vector3(0.3, 0.4, 0.5).asDiagonal() * tilt.transpose()};
        m.inertia = (0.5 * (m.inertia + m.inertia.transpose())).eval();
        builder.term<RigidBodies>().add(poses[i].first, blocks[i], m);
      }
    }
    builder.bodyMarker("one", blocks[0], poseOf(0.1, 0.2, -0.1, 0.2, 0.3, -0.4));
    builder.bodyMarker("one again", blocks[0], poseOf(-0.1, 0, 0.1, 0.2, 0, 0));
    builder.bodyMarker("two", blocks[1], poseOf(-0.2, 0.1, 0.3, -0.5, 0.1, 0.2));
    builder.segmentMarker("segment", blocks[2], blocks[3], 0.37, poseOf(0.02, 0.1, -0.05, 0.3, -0.6, 0.2));
    builder.segmentMarker("segment end", blocks[2], blocks[3], 0.9);
    builder.groundMarker("ground", poseOf(0.3, -0.1, 0.2, 0.1, 0.2, 0.3));
    builder.groundMarker("ground again", poseOf(1, 0, 0));
    GroundMotion motion;
    motion.translation = {wavy(), TimeFunction::proportional(), wavy(0.1, -0.2)};
    motion.axis = Vector3(1, 2, 2) / 3;
    motion.angle = wavy(0, 0.3);
    builder.movingMarker("moving", poseOf(0.2, 0.1, -0.3, -0.2, 0.1, 0.5), motion);
  }
  const Marker& marker(const std::string& name) const { return *builder.findMarker(name); }
  const Marker* operator[](const std::string& name) const { return builder.findMarker(name); }

  ModelBuilder builder;
};

/// Pairs of markers that between them cover every way in which two markers can move.
struct PairNames {
  const char *first, *second;
  bool internal, movingGround;
};
inline constexpr PairNames pairs[] = {{"one", "two", true, false},         {"one", "segment", true, false},
                                      {"segment", "two", true, false},     {"segment", "segment end", true, false},
                                      {"ground", "segment", false, false}, {"two", "ground", false, false},
                                      {"moving", "segment", false, true},  {"one", "moving", false, true}};

}
