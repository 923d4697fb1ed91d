#include "tendril/elements/measures.h"

#include "tendril/elements/beam_elements.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <memory>

namespace tendril::measures {

namespace {

/// A measure of three components.
template <class Function>
Measure vector(std::string unit, std::string description, std::string frame, Function function, bool readsMultipliers = false) {
  return {3, std::move(unit), std::move(description), std::move(frame), readsMultipliers, [function](const State& state, double* out) {
            Eigen::Map<Vector3>{out} = function(state);
          }};
}

template <class Function> Measure scalar(std::string unit, std::string description, Function function) {
  return {1, std::move(unit), std::move(description), "", false, [function](const State& state, double* out) { *out = function(state); }};
}

/// Half of a twist, or of its rate, in the axes asked for; `twist` gives it in the marker's.
template <class Twist> Measure half(const Marker& marker, MeasureFrame axes, std::string unit, const std::string& what, Twist twist) {
  const bool isInertial = axes == MeasureFrame::Inertial;
  return vector(std::move(unit), what, isInertial ? "inertial" : "marker", [&marker, isInertial, twist](const State& state) -> Vector3 {
    const Vector3 local = twist(state);
    return isInertial ? Vector3(marker.frame(state).R * local) : local;
  });
}

void requireElement(const BeamPart& beam, int element) {
  if (element >= 0 && element < beam.elements()) return;
  throw InputError("beam '" + beam.name + "' has elements 0 to " + std::to_string(beam.elements() - 1) + ", not " +
                   std::to_string(element));
}

std::string place(const BeamPart& beam, int element) { return " in element " + std::to_string(element) + " of beam '" + beam.name + "'"; }

/// Part (0 translation, 3 rotation) of a section quantity of an element.
using SectionQuantity = Vector6 (BeamElements::*)(const State&, int) const;
Measure section(const Model& model, const BeamPart& beam, int element, std::string unit, const std::string& what, SectionQuantity quantity,
                int part) {
  requireElement(beam, element);
  const bool isResultant = quantity == &BeamElements::sectionForce;
  return vector(
      std::move(unit), what + place(beam, element), "section",
      [elements = BeamElements(model, beam), element, quantity, part](const State& state) -> Vector3 {
        return (elements.*quantity)(state, element).segment<3>(part);
      },
      isResultant);
}

/// Sum over the elements of a beam of a function of (d, L).
template <class Function> Measure sum(const Model& model, const BeamPart& beam, std::string unit, std::string what, Function function) {
  return scalar(std::move(unit), std::move(what),
                [elements = BeamElements(model, beam), count = beam.elements(), function](const State& state) {
                  double total = 0;
                  for (int e = 0; e < count; ++e) total += function(elements.relativeVector(state, e), elements.length(e));
                  return total;
                });
}

struct JointOf {
  const Joints& joints;
  int number;
};

JointOf jointOf(const Model& model, const std::string& name) {
  const Joints* joints = model.term<Joints>();
  const int number = joints ? joints->find(name) : -1;
  if (number < 0) throw InputError("no joint is named '" + name + "'");
  return {*joints, number};
}

}

// ---- markers
// -------------------------------------------------------------------------------------------------------------------------------

Measure position(const Marker& marker) {
  return vector("m", "position", "inertial", [&marker](const State& state) { return marker.frame(state).x; });
}

Measure rotation(const Model& model, const Marker& marker) {
  const Matrix3 initial = marker.frame(model.initialState()).R;
  return vector("rad", "rotation vector against the initial orientation", "inertial",
                [&marker, initial](const State& state) { return so3::log(marker.frame(state).R * initial.transpose()); });
}

Measure frame(const Marker& marker) {
  return {12,         "m, 1", "position, directors d1, d2, d3",
          "inertial", false,  [&marker](const State& state, double* out) { storePose(marker.frame(state), out); }};
}

Measure velocity(const Marker& marker, MeasureFrame axes) {
  return half(marker, axes, "m/s", "velocity", [&marker](const State& state) -> Vector3 { return marker.twist(state).head<3>(); });
}

Measure angularVelocity(const Marker& marker, MeasureFrame axes) {
  return half(marker, axes, "rad/s", "angular velocity",
              [&marker](const State& state) -> Vector3 { return marker.twist(state).tail<3>(); });
}

Measure acceleration(const Marker& marker, MeasureFrame axes) {
  // x'' = R (v' + omega x v), v and omega in the marker's frame.
  return half(marker, axes, "m/s^2", "acceleration", [&marker](const State& state) -> Vector3 {
    const Vector6 twist = marker.twist(state);
    return marker.acceleration(state).head<3>() + twist.tail<3>().cross(twist.head<3>());
  });
}

// ---- beams
// ---------------------------------------------------------------------------------------------------------------------------------

Measure sectionForce(const Model& model, const BeamPart& beam, int element) {
  if (beam.rod >= 0)
    throw InputError("the force in rod '" + beam.name +
                     "' does not follow from its strains; measure the reaction of a joint that holds it, "
                     "or make it one of the `beams`");
  return section(model, beam, element, "N", "section force", &BeamElements::sectionForce, 0);
}
Measure sectionMoment(const Model& model, const BeamPart& beam, int element) {
  return section(model, beam, element, "N m", "section moment", &BeamElements::sectionForce, 3);
}
Measure strain(const Model& model, const BeamPart& beam, int element) {
  return section(model, beam, element, "1", "elongation and shear strains", &BeamElements::strain, 0);
}
Measure curvature(const Model& model, const BeamPart& beam, int element) {
  return section(model, beam, element, "1/m", "change of torsion and curvatures", &BeamElements::strain, 3);
}

Measure length(const Model& model, const BeamPart& beam) {
  return sum(model, beam, "m", "length of beam '" + beam.name + "'", [](const Vector6& d, double) { return d.head<3>().norm(); });
}

Measure elongation(const Model& model, const BeamPart& beam) {
  return sum(model, beam, "m", "elongation of beam '" + beam.name + "'",
             [](const Vector6& d, double length) { return d.head<3>().norm() - length; });
}

Measure frenetTorsion(const Model& model, const BeamPart& beam) {
  // The centreline of an element is a helix of constant Frenet torsion t, whose integral is |t| |d_x| = |d_x . d_Omega| / |d_x|; |d_x| = L
  // but for the elongation.
  return sum(model, beam, "rad", "integral of the Frenet torsion of beam '" + beam.name + "'",
             [](const Vector6& d, double length) { return std::abs(d.head<3>().dot(d.tail<3>())) / length; });
}

int elementAt(const BeamPart& beam, double arclength) {
  const double slack = 1e-9 * beam.length();
  if (!(arclength >= -slack && arclength <= beam.length() + slack)) {
    throw InputError("beam '" + beam.name + "' has arclengths 0 to " + std::to_string(beam.length()) + " m, not " +
                     std::to_string(arclength));
  }
  const auto after = std::upper_bound(beam.arclength.begin(), beam.arclength.end(), arclength + slack);
  return std::clamp(int(after - beam.arclength.begin()) - 1, 0, beam.elements() - 1);
}

// ---- joints
// --------------------------------------------------------------------------------------------------------------------------------

Measure reactionForce(const Model& model, const std::string& name) {
  const JointOf joint = jointOf(model, name);
  return vector(
      "N", "force of joint '" + name + "'", "inertial",
      [joint](const State& state) { return joint.joints.reaction(state, joint.number).force; }, true);
}

Measure reactionMoment(const Model& model, const std::string& name) {
  const JointOf joint = jointOf(model, name);
  return vector(
      "N m", "moment of joint '" + name + "'", "inertial",
      [joint](const State& state) { return joint.joints.reaction(state, joint.number).moment; }, true);
}

Measure jointAngle(const Model& model, const std::string& name) {
  const JointOf joint = jointOf(model, name);
  return scalar("rad", "angle of joint '" + name + "'", [joint](const State& state) { return joint.joints.angle(state, joint.number); });
}

Measure jointDisplacement(const Model& model, const std::string& name) {
  const JointOf joint = jointOf(model, name);
  return vector("m", "displacement of joint '" + name + "'", "joint",
                [joint](const State& state) { return joint.joints.displacement(state, joint.number); });
}

// ---- the whole mechanism
// -------------------------------------------------------------------------------------------------------------------

Measure energy(const Model& model, EnergyPart part) {
  const std::string names[] = {"kinetic energy", "elastic energy", "potential energy of gravity", "total energy"};
  return scalar("J", names[int(part)], [&model, part](const State& state) {
    const Energy energy = model.energy(state);
    return part == EnergyPart::Kinetic         ? energy.kinetic
           : part == EnergyPart::Elastic       ? energy.elastic
           : part == EnergyPart::Gravitational ? energy.gravitational
                                               : energy.total();
  });
}

Measure power(const Model& model) {
  return scalar("W", "power of loads, drives and dampers", [&model](const State& state) { return model.energy(state).power; });
}

Measure momentum(const Model& model) {
  return vector("N s", "momentum", "inertial", [&model](const State& state) { return model.momentum(state).linear; });
}

Measure angularMomentum(const Model& model) {
  return vector("N m s", "angular momentum about the origin", "inertial",
                [&model](const State& state) { return model.momentum(state).angular; });
}

Measure constraintViolation(const Model& model) {
  const auto assembly = std::make_shared<Assembly>(model);
  return {2, "m, rad", "largest violation of constraints: lengths, angles", "", false, [&model, assembly](const State& state, double* out) {
            assembly->begin({.motion = false, .tangent = false});
            model.evaluate(state, *assembly);
            out[0] = out[1] = 0;
            for (int row = 0; row < model.nc(); ++row) {
              double& worst = out[model.constraintQuantities()[row] == RowQuantity::Length ? 0 : 1];
              worst = std::max(worst, std::abs(assembly->constraint()[row]));
            }
          }};
}

Measure time() {
  return scalar("1", "time [s] or load parameter", [](const State& state) { return state.t; });
}

}
