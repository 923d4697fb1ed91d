#pragma once
#include "contact/posed_model.h"
#include "tendril/contact/section_contact.h"
#include "tendril/lie/se3.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace tendril::test {

inline VectorX randomVector(std::mt19937& random, int n, double amplitude) {
  std::uniform_real_distribution<double> uniform(-amplitude, amplitude);
  return VectorX::NullaryExpr(n, [&] { return uniform(random); });
}

/// Two curves of one model, each through its own nodes.
struct CurveRig : PosedModel {
  CurveRig(const std::vector<Pose>& firstNodes, const std::vector<Pose>& secondNodes, double firstRadius = 0.1, double secondRadius = 0.1) {
    ModelBuilder builder;
    first = addCurve(builder, "first", firstNodes, firstRadius);
    second = addCurve(builder, "second", secondNodes, secondRadius);
    model = builder.build();
    state = model->initialState();
    onFirst = CurveConfiguration(*model, first);
    onSecond = CurveConfiguration(*model, second);
    set(state);
  }

  void set(const State& s) {
    onFirst.set(s);
    onSecond.set(s);
  }
  /// The contact of a place on the first curve with what faces it on a segment of the second.
  SectionContact contactAt(const CurvePlace& place, const CurvePlace& other, const Vector3& previousNormal = Vector3::Zero()) const {
    SectionContact contact;
    contact.first = onFirst.carrier(place);
    contact.second = onSecond.carrier(other);
    contact.firstRadius = first.radius;
    contact.secondRadius = second.radius;
    contact.fillCurves(previousNormal);
    return contact;
  }

  ContactCurve first, second;
  CurveConfiguration onFirst, onSecond;

 private:
  static ContactCurve addCurve(ModelBuilder& builder, const std::string& name, const std::vector<Pose>& nodes, double radius) {
    ContactCurve curve;
    curve.radius = radius;
    int before = -1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int block = builder.addPose(name, int(i), nodes[i]);
      if (i > 0) curve.segments.push_back({{before, block}, se3::log(nodes[i - 1].relative(nodes[i])).head<3>().norm()});
      before = block;
    }
    return curve;
  }
};

/// Nodes of a straight line along x whose frames and positions are then disturbed by random increments.
inline std::vector<Pose> disturbedLine(std::mt19937& random, const Pose& begin, double length, int segments, double amplitude) {
  std::vector<Pose> nodes;
  for (int i = 0; i <= segments; ++i) {
    const Pose straight = begin * Pose{Matrix3::Identity(), Vector3(length * i / segments, 0, 0)};
    nodes.push_back(straight * se3::exp(randomVector(random, 6, amplitude)));
  }
  return nodes;
}

}
