#pragma once
#include "tendril/elements/joints.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/lie/se3.h"
#include "tendril/model/director_system.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace tendril::test {

/// Numbers without a pattern, the same in every run.
class Numbers {
 public:
  explicit Numbers(unsigned seed = 1) : engine_(seed) {}
  double within(double bound) { return std::uniform_real_distribution<>(-bound, bound)(engine_); }
  VectorX vector(int n, double bound) {
    return VectorX::NullaryExpr(n, [&](Eigen::Index) { return within(bound); });
  }
  Pose pose(double distance, double angle) {
    const Vector3 w = vector(3, angle);
    return {so3::exp(w), vector(3, distance)};
  }

 private:
  std::mt19937 engine_;
};

/// A frame at a point whose third axis is given.
inline Pose frameAlong(const Vector3& x, const Vector3& axis) { return {so3::shortestRotation(Vector3::UnitZ(), axis), x}; }

/// Bodies put together joint by joint.
class Mechanism {
 public:
  ModelBuilder builder;
  const Marker& ground = builder.groundMarker("", {});

  int body(const std::string& name, const Pose& pose = {}) {
    return addRigidBody(builder, name, MassProperties::box(1, {0.6, 0.8, 1}), pose);
  }
  /// A marker on a body (-1: the ground) whose frame at the start is given in the inertial frame.
  const Marker& marker(int block, const Pose& frame) {
    return block < 0 ? builder.groundMarker("", frame) : builder.bodyMarker("", block, builder.pose(block).relative(frame));
  }
  void join(JointKind kind, const std::string& name, int a, int b, const Pose& frame, JointParameters parameters = {}) {
    builder.term<Joints>().add(kind, name, marker(a, frame), marker(b, frame), std::move(parameters));
  }
  void hinge(const std::string& name, int a, int b, const Vector3& x, const Vector3& axis) {
    join(JointKind::Revolute, name, a, b, frameAlong(x, axis));
  }
};

/// A model with its form in director coordinates.
struct Directors {
  explicit Directors(ModelBuilder& builder) : model(builder.build()), system(*model), q(model->initialState().q) {}
  std::unique_ptr<const Model> model;
  DirectorSystem system;
  VectorX q;

  MatrixX constraintGradient(const VectorX& at, double t) const {
    SparseMatrix G = system.gradient();
    system.constraintGradient(at, t, G);
    return G;
  }
  MatrixX internalNullSpace(const VectorX& at) const {
    SparseMatrix N = system.internalNullSpace();
    system.internalNullSpace(at, N);
    return N;
  }
  VectorX constraint(const VectorX& at, double t) const {
    VectorX g(system.constraints());
    system.constraint(at, t, g);
    return g;
  }
};

/// Six bars along six edges of a cube, in a loop with six hinges (the invertible cube); the first bar is held.
inline void addSixBodyLinkage(Mechanism& m) {
  const Vector3 corners[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}};
  const Vector3 axes[] = {{0, -1, 0}, {0, 0, 1}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {1, 0, 0}};
  int bars[6];
  for (int i = 0; i < 6; ++i) bars[i] = m.body("bar" + std::to_string(i), {Matrix3::Identity(), (corners[i] + corners[(i + 1) % 6]) / 2});
  m.join(JointKind::Fixed, "base", -1, bars[0], {});
  for (int i = 1; i < 6; ++i) m.hinge("J" + std::to_string(i), bars[i - 1], bars[i], corners[i], axes[i]);
  m.hinge("J0", bars[5], bars[0], corners[0], axes[0]);
}

/// A parallelogram of three bars and the ground (base and coupler of length 2, cranks of length 1) in the plane e1, e2. At the angles 0 and
/// 180 degrees of the crank all bars lie on one line.
inline void addFourBar(Mechanism& m, double angle) {
  const Vector3 crank(std::cos(angle), std::sin(angle), 0), base(2, 0, 0);
  const Matrix3 turned = so3::exp(Vector3(0, 0, angle));
  const int first = m.body("crank", {turned, crank / 2}), coupler = m.body("coupler", {Matrix3::Identity(), crank + base / 2}),
            second = m.body("rocker", {turned, base + crank / 2});
  m.hinge("A", -1, first, Vector3::Zero(), Vector3::UnitZ());
  m.hinge("B", first, coupler, crank, Vector3::UnitZ());
  m.hinge("C", coupler, second, crank + base, Vector3::UnitZ());
  m.hinge("D", -1, second, base, Vector3::UnitZ());
}

}
