#pragma once
#include "tendril/contact/section_contact.h"
#include "tendril/lie/se3.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace tendril::test {

/// Fourth-order central difference of f at 0.
template <class F> auto differentiate(const F& f, double h) {
  using Value = std::decay_t<decltype(f(0.0))>;
  return Value((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
}

inline VectorX randomVector(std::mt19937& random, int n, double amplitude) {
  std::uniform_real_distribution<double> uniform(-amplitude, amplitude);
  return VectorX::NullaryExpr(n, [&] { return uniform(random); });
}

/// Two curves of one model, each through its own nodes.
struct CurveRig {
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
  State moved(const VectorX& delta) const {
    State s = state;
    model->retract(state.q, delta, s.q);
    return s;
  }
  State movedRigidly(const Pose& motion) const {
    State s = state;
    for (const Block& b : model->blocks()) storePose(motion * loadPose(state.q.data() + b.q), s.q.data() + b.q);
    return s;
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
  std::shared_ptr<const Model> model;
  State state;
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
