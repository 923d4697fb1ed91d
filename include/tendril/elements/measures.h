#pragma once
#include "tendril/model/model.h"

#include <functional>
#include <string>

namespace tendril {

struct BeamPart;

/// A quantity that can be read off any state of a mechanism: `columns` numbers, their SI unit, their meaning and the frame in which their
/// components are given ("inertial", "section", "marker", "joint"; empty for scalars). Evaluation does not allocate.
///
/// A measure refers to the model it was made from, which must outlive it. Where a measure reads multipliers (reactions, resultants of
/// suppressed strains), the state must carry the ones to be reported: Analysis::reactions(), if constraints are redundant.
struct Measure {
  int columns = 1;
  std::string unit = "1";
  std::string description;
  std::string frame;
  bool readsMultipliers = false;
  std::function<void(const State&, double*)> evaluate;
};

/// Which axes the components of a vector refer to.
enum class MeasureFrame { Inertial, Marker };

/// Measures of a mechanism. Vectors are in the inertial frame unless said otherwise.
namespace measures {

// ---- markers
// -------------------------------------------------------------------------------------------------------------------------------
Measure position(const Marker& marker);
/// Rotation vector [rad] of R(t) R(0)^T in the inertial frame, at most half a turn; R(0) in the initial state of the model.
Measure rotation(const Model& model, const Marker& marker);
/// Position, then the directors d1, d2, d3.
Measure frame(const Marker& marker);
Measure velocity(const Marker& marker, MeasureFrame axes = MeasureFrame::Inertial);
Measure angularVelocity(const Marker& marker, MeasureFrame axes = MeasureFrame::Inertial);
Measure acceleration(const Marker& marker, MeasureFrame axes = MeasureFrame::Inertial);

// ---- beams
// ---------------------------------------------------------------------------------------------------------------------------------
/// Of an element of the beam (from 0), which has constant strain: force [N] and moment [N m] that the part beyond the section exerts on the
/// part before it, in the section frame (d1 along the beam).
Measure sectionForce(const Model& model, const BeamPart& beam, int element);
Measure sectionMoment(const Model& model, const BeamPart& beam, int element);
/// (elongation, shear, shear) and (torsion, bending, bending) [1/m] against the reference shape, in the section frame.
Measure strain(const Model& model, const BeamPart& beam, int element);
Measure curvature(const Model& model, const BeamPart& beam, int element);
/// Length of the centreline, sum_e |d_x|; and what it exceeds the reference length by.
Measure length(const Model& model, const BeamPart& beam);
Measure elongation(const Model& model, const BeamPart& beam);
/// Integral of the modulus of the Frenet torsion along the centreline, sum_e |d_x . d_Omega| / L_e [rad]: zero for a plane curve.
Measure frenetTorsion(const Model& model, const BeamPart& beam);
/// The element that contains an arclength of the reference shape; at a node, the one beyond it, at the end the last.
int elementAt(const BeamPart& beam, double arclength);

// ---- joints
// --------------------------------------------------------------------------------------------------------------------------------
/// Force and moment that a joint exerts on the part of its second marker, reduced to that marker.
Measure reactionForce(const Model& model, const std::string& joint);
Measure reactionMoment(const Model& model, const std::string& joint);
/// Angle about the axis of the joint [rad], within half a turn of zero or, of a driven joint, of the prescribed angle.
Measure jointAngle(const Model& model, const std::string& joint);
/// Position of the origin of the second marker in the frame of the first.
Measure jointDisplacement(const Model& model, const std::string& joint);

// ---- the whole mechanism
// -------------------------------------------------------------------------------------------------------------------
enum class EnergyPart { Kinetic, Elastic, Gravitational, Total };
Measure energy(const Model& model, EnergyPart part = EnergyPart::Total);
/// Power [W] of what has no potential: loads, drives and dampers.
Measure power(const Model& model);
Measure momentum(const Model& model);
/// About the inertial origin.
Measure angularMomentum(const Model& model);
/// Largest violation of a constraint: among lengths [m], among angles [rad].
Measure constraintViolation(const Model& model);
/// Time [s] or, in statics, the load parameter.
Measure time();

}

}
