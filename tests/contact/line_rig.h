#pragma once
#include "contact/posed_model.h"
#include "tendril/contact/line_contacts.h"
#include "tendril/lie/se3.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tendril::test {

/// Curves and rigid parts of one model that touch by a law for all.
struct LineRig : PosedModel {
  ModelBuilder builder;
  ContactModel parts;
  std::unique_ptr<LineContacts> contacts;

  /// A curve with nodes at frame(s), s = 0 .. length.
  int curve(const std::string& name, int segments, double length, double radius, const std::function<Pose(double)>& frame) {
    ContactCurve curve;
    curve.radius = radius;
    int before = builder.addPose(name, 0, frame(0));
    for (int i = 1; i <= segments; ++i) {
      const int block = builder.addPose(name, i, frame(length * i / segments));
      curve.segments.push_back({{before, block}, length / segments});
      before = block;
    }
    return parts.addPart({name, "", nullptr, {}, curve});
  }
  int line(const std::string& name, int segments, const Vector3& from, const Vector3& to, double radius) {
    const Vector3 along = to - from;
    const Matrix3 R = so3::shortestRotation(Vector3::UnitX(), along);
    return curve(name, segments, along.norm(), radius, [=](double s) { return Pose{R, from + s * along.normalized()}; });
  }
  /// About the z axis, right-handed; a node every length / segments.
  int helix(const std::string& name, int segments, double turns, double coil, double pitch, double phase, double radius) {
    const double rise = pitch / (2 * M_PI), rate = 1 / std::hypot(coil, rise); // turning angle per arclength
    const Matrix3 axes = (Matrix3() << 0, -1, 0, coil * rate, 0, -rise * rate, rise * rate, 0, coil * rate).finished();
    return curve(name, segments, 2 * M_PI * turns / rate, radius, [=](double s) {
      const Matrix3 turn = so3::exp(Vector3(0, 0, rate * s + phase));
      return Pose{turn * axes, turn * Vector3(coil, 0, 0) + Vector3(0, 0, rise * rate * s)};
    });
  }
  int solid(const std::string& name, Shape::Kind kind, const Vector3& size, const Pose& pose,
            const std::shared_ptr<const TriangleMesh>& mesh = nullptr) {
    Shape shape;
    shape.kind = kind;
    shape.size = size;
    shape.mesh = mesh;
    return parts.addPart({name, "", &builder.groundMarker("", pose), {CollisionShape(shape, name)}, {}});
  }

  LineContacts& build(const LineContactOptions& options = {}, double reach = 0.05, double friction = 0) {
    if (!model) {
      ContactLaw law;
      law.friction = friction;
      parts.addLaw({"all", "all", law});
      model = builder.build();
      state = model->initialState();
    }
    contacts = std::make_unique<LineContacts>(*model, parts, options);
    contacts->begin(state, reach);
    contacts->evaluate(state);
    return *contacts;
  }
  VectorX forces(const Eigen::Matrix3Xd& F) const {
    VectorX f = VectorX::Zero(model->nv());
    const auto all = contacts->constraints();
    for (std::size_t j = 0; j < all.size(); ++j) {
      for (const GradientEntry& e : contacts->gradient(all[j])) {
        f.segment<6>(model->blocks()[std::size_t(e.block)].v) += e.B.transpose() * F.col(Eigen::Index(j));
      }
    }
    return f;
  }
  double totalWeight() const {
    double w = 0;
    for (const ContactConstraint& c : contacts->constraints()) w += c.isPresent ? c.weight : 0;
    return w;
  }
};

}
