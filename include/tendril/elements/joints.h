#pragma once
#include "tendril/elements/relative_motion.h"
#include "tendril/model/term.h"
#include "tendril/model/time_function.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// What a joint between the frames of two markers leaves free. The axis of a joint is e3.
enum class JointKind {
  Fixed,             ///< nothing; a clamp when the first marker is on the ground, prescribed motion when that ground moves
  Revolute,          ///< rotation about e3
  Prismatic,         ///< translation along e3
  Cylindrical,       ///< rotation about and translation along e3
  Spherical,         ///< all rotations
  Universal,         ///< rotation about e1 of frame 1 and e2 of frame 2, which stay perpendicular
  Planar,            ///< translation in, and rotation about the normal e3 of, a plane of frame 1
  Screw,             ///< rotation about e3, tied to a translation of one pitch per turn
  Distance,          ///< everything but the distance of the origins
  DrivenRotation,    ///< nothing; a revolute joint whose angle is a function of time
  DrivenTranslation, ///< nothing; a prismatic joint whose displacement is a function of time
  AngleDrive,        ///< the angle about e3 alone is prescribed; drives a revolute, cylindrical or planar joint
  LengthDrive        ///< the displacement along e3 of frame 1 alone is prescribed
};
std::string_view nameOf(JointKind kind);

/// Where the frame of the first marker is taken to be.
enum class JointReference {
  Markers,     ///< where it is: the markers must fit together in the initial configuration
  Orientation, ///< turned once to the initial orientation of the second marker: only their origins must fit
  Pose         ///< moved once onto the second marker: any initial configuration fits, coordinates count from there
};

struct JointParameters {
  JointReference reference = JointReference::Markers;
  TimeFunction motion{};          ///< of driven joints: angle [rad] or displacement [m]
  std::optional<double> length{}; ///< of a distance joint [m]; the initial distance if not given
  double pitch = 0;               ///< of a screw: advance of frame 2 along e3 per right-handed turn [m], not zero
  double tolerance = 1e-5;        ///< accepted misfit in the initial configuration: angles [rad], lengths over the size of the model
};

/// Force and moment that a joint exerts on the body of its second marker, reduced to the origin of that marker; the first body receives
/// the opposite.
struct JointReaction {
  Vector3 force, moment;           ///< in the inertial frame
  Vector3 localForce, localMoment; ///< in the frame of the first marker
};

/// All joints of a model (elements.5). A joint is a list of rows g_i(H12, t), functions of the relative pose H12 = (R, x) of its markers:
///
/// | row      | g                           | used for                                                                            |
/// |----------|-----------------------------|-------------------------------------------------------------------------------------|
/// | position | x_i [- u(t)]                | component in frame 1 of the vector between the origins                              |
/// | align    | R_ij                        | e_i of frame 1 perpendicular to e_j of frame 2                                      |
/// | turn     | (R_kj - R_jk)/2             | i-th component of sin(phi) n, which vanishes with the rotation (phi, n)             |
/// | distance | (x.x - L^2)/(2L)            | smooth everywhere, unlike abs(x) - L; its multiplier is a force as the gradient is of length
/// one at g = 0 | | angle    | phi_3(R) - u(t)             | AxisAngle, the value nearest to u | | screw    | x_3 - p/(2 pi) phi_3 - c    |
/// phi_3 nearest to the angle that x_3 asks for; c makes it vanish initially           |
///
/// Rotations are suppressed by the three turn rows rather than by three entries R_12, R_23, R_31: their gradient at R = I is the identity,
/// so the multipliers are the moments; it stays invertible for phi < 90 degrees, treats both markers and all axes alike, and the only other
/// solutions are half turns (three entries also vanish for a permutation of the axes, a third of a turn). An axis is kept by R_13 = R_23 =
/// 0, whose gradients are orthonormal at every angle about it; the only other solution is the opposite axis. A misfit near such a solution
/// is refused in the initial configuration, where the true angle is looked at.
///
/// The multipliers lambda are forces [N] and moments [N m] on the second body along the gradients of the rows: r -= G^T lambda.
class Joints final : public Term {
 public:
  /// A joint between two markers. Wrong parameters, markers that no motion connects: InputError at once. A misfit in the initial
  /// configuration: InputError when the model is built, when its size is known.
  int add(JointKind kind, const std::string& name, const Marker& first, const Marker& second, JointParameters parameters = {});

  int size() const { return int(joints_.size()); }
  const std::string& name(int joint) const { return joints_[joint].name; }
  JointKind kind(int joint) const { return joints_[joint].kind; }
  const Marker& marker(int joint) const { return joints_[joint].pair.second(); }
  const Marker& firstMarker(int joint) const { return *joints_[joint].pair.first(); }
  /// Number of the joint of that name, or -1.
  int find(const std::string& name) const;
  JointReaction reaction(const State& state, int joint) const;
  /// Rows of the joint within g and lambda: first row and count.
  int firstRow(int joint) const { return joints_[joint].firstRow; }
  int rows(int joint) const { return joints_[joint].rowCount; }
  /// Angle about e3 of the joint frames (nearest to zero, or to the prescribed one) and position of the second origin in the first frame.
  double angle(const State& state, int joint) const;
  Vector3 displacement(const State& state, int joint) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void addConstraintBias(const State& state, VectorX& bias) const override;
  /// All kinds but the screw. A prescribed angle is held as sin(phi - u) = 0.
  void embed(DirectorSystem& system) const override;

  /// One scalar equation of a joint.
  struct Row {
    enum class Type { Position, Align, Turn, Distance, Angle, Screw };
    Type type;
    int i = 0, j = 0;
    bool driven = false;
  };

 private:
  struct Joint {
    JointKind kind;
    std::string name;
    MarkerPair pair;
    JointParameters parameters;
    Pose reference;        // inverse of the frame that stands for the first marker, seen from it
    double length = 1;     // of distance rows
    double screwShift = 0; // c of screw rows
    int constraint = -1;
    int firstRow = 0;
    int rowCount = 0;
  };
  struct Value {
    double g = 0;
    Vector6 gradient = Vector6::Zero();
    double rate = 0, acceleration = 0; // explicit derivatives in time
    bool isDefined = true;
  };

  static Value value(const Joint& joint, const Row& row, const Pose& H, const Jet& motion);
  /// d(gradient)/dpi12.
  static Matrix6 hessian(const Joint& joint, const Row& row, const Pose& H, const Jet& motion);
  void addResidual(const Joint& joint, const State& state, Assembly& assembly) const;
  void addAll(const Joint& joint, const State& state, RelativeMotion& m, Assembly& assembly) const;
  static Jet motion(const Joint& joint, double t);
  void takeReferences(Joint& joint, const Layout& layout) const;
  void checkFit(const Joint& joint, const Layout& layout) const;
  std::span<const Row> rowsOf(const Joint& joint) const;

  std::vector<Joint> joints_;
};

}
