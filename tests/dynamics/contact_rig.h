#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tendril::test {

/// Frame whose third axis is a given normal; the first axis of a floor in the plane x, y stays in that plane.
inline Matrix3 frameWithNormal(const Vector3& normal) {
  Matrix3 R;
  R.col(2) = normal.normalized();
  const Vector3 across = std::abs(R(2, 2)) < 0.9 ? Vector3::UnitZ() : Vector3::UnitY();
  R.col(0) = across.cross(R.col(2)).normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return R;
}

inline Matrix3 turn(double angle) { return so3::exp(Vector3(0, 0, angle)); }

/// Bodies that touch, in the making. Plane systems lie in the plane x, y; gravity is along -y.
class ContactRig {
 public:
  using Body = MechanismBuilder::BodyHandle;
  MechanismBuilder builder;
  ContactModel contacts;
  Mechanism mechanism;

  explicit ContactRig(const Vector3& gravity = {0, -9.81, 0}) { builder.gravity(gravity); }

  static Shape shape(Shape::Kind kind, const Vector3& size, const Pose& pose = {}) {
    Shape s;
    s.kind = kind, s.size = size, s.pose = pose;
    return s;
  }
  static Shape polygon(const std::vector<std::pair<double, double>>& corners) {
    auto mesh = std::make_shared<TriangleMesh>();
    for (const auto& [x, y] : corners) mesh->vertices.emplace_back(x, y, 0);
    Shape s;
    s.kind = Shape::Kind::Polygon;
    s.mesh = mesh;
    return s;
  }
  static Shape rectangle(double b, double H) { return polygon({{-b, -H}, {b, -H}, {b, H}, {-b, H}}); }
  /// Moments of inertia of something flat with the given moment about its normal.
  static MassProperties flat(double mass, double inertia) {
    return {mass, Vector3::Zero(), Vector3(inertia / 2, inertia / 2, inertia).asDiagonal()};
  }

  void part(const std::string& name, const Marker& marker, const Shape& s) {
    contacts.addPart({name, "", &marker, {CollisionShape(s, name)}});
  }
  void wall(const std::string& name, const Vector3& normal, const Vector3& at = Vector3::Zero()) {
    part(name, builder.ground({frameWithNormal(normal), at}), shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  }
  void floor(const Vector3& normal = {0, 1, 0}) { wall("floor", normal); }
  Body add(const std::string& name, const MassProperties& mass, const Shape& s, const Pose& pose, const Vector3& velocity = Vector3::Zero(),
           const Vector3& spin = Vector3::Zero()) {
    const Body body = builder.body(name, mass, pose, velocity, spin);
    part(name, body.at(), s);
    return body;
  }
  Body disc(const std::string& name, double mass, double radius, const Vector3& x, const Vector3& velocity = Vector3::Zero(),
            double spin = 0) {
    return add(name, flat(mass, 0.5 * mass * radius * radius), shape(Shape::Kind::Disc, {radius, 0, 0}), {Matrix3::Identity(), x}, velocity,
               {0, 0, spin});
  }
  Body sphere(const std::string& name, double mass, double radius, const Vector3& x, const Vector3& velocity = Vector3::Zero(),
              const Vector3& spin = Vector3::Zero()) {
    const MassProperties ball{mass, Vector3::Zero(), 0.4 * mass * radius * radius * Matrix3::Identity()};
    return add(name, ball, shape(Shape::Kind::Sphere, {radius, 0, 0}), {Matrix3::Identity(), x}, velocity, spin);
  }
  /// A rectangle of half width b and half height H.
  Body block(const std::string& name, double mass, double b, double H, const Pose& pose, const Vector3& velocity = Vector3::Zero(),
             double spin = 0) {
    return add(name, flat(mass, mass * (b * b + H * H) / 3), rectangle(b, H), pose, velocity, {0, 0, spin});
  }
  void law(const ContactLaw& l, const std::string& first = "all", const std::string& second = "all") {
    contacts.addLaw({first, second, l});
  }
  const Model& build() {
    mechanism = builder.build();
    return *mechanism.model;
  }

  static Vector3 position(const State& s, int body = 0) { return s.q.segment<3>(12 * body); }
  static Matrix3 rotation(const State& s, int body = 0) { return loadPose(s.q.data() + 12 * body).R; }
  /// Of the body's origin, in the inertial frame.
  static Vector3 velocity(const State& s, int body = 0) { return rotation(s, body) * s.v.segment<3>(6 * body); }
  static Vector3 spin(const State& s, int body = 0) { return rotation(s, body) * s.v.segment<3>(6 * body + 3); }
};

}
