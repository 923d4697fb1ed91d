#pragma once
#include "tendril/elements/relative_motion.h"
#include "tendril/model/term.h"

#include <string>
#include <vector>

namespace tendril {

class ModelBuilder;
struct Gravity;

/// Mass, centre of mass and inertia of a body, in a frame fixed to it. SI units.
///
/// The shapes are homogeneous with density rho [kg/m^3], their centre of mass is the origin and their axis is e3.
struct MassProperties {
  double mass = 0;
  Vector3 centre = Vector3::Zero();  ///< centre of mass
  Matrix3 inertia = Matrix3::Zero(); ///< about the centre of mass, along the axes of the frame

  static MassProperties sphere(double density, double radius);
  static MassProperties box(double density, const Vector3& edges);
  static MassProperties cylinder(double density, double radius, double length);
  static MassProperties tube(double density, double innerRadius, double outerRadius, double length);
  /// A cylinder of the given length between two half spheres.
  static MassProperties capsule(double density, double radius, double length);
  /// Apex at (3/4) height along +e3 from the centre of mass, base at height/4 along -e3.
  static MassProperties cone(double density, double radius, double height);
  static MassProperties ellipsoid(double density, const Vector3& semiAxes);

  /// The same body seen from a frame in which its present frame has the given pose.
  MassProperties placed(const Pose& pose) const;
  /// Both bodies welded together (parallel axis theorem).
  MassProperties operator+(const MassProperties& other) const;
  Matrix3 inertiaAboutOrigin() const;
  /// Inertia of twists of the frame, M = [m I, -m S(c); m S(c), J_0]: kinetic energy v^T M v / 2.
  Matrix6 spatial() const;
  /// Throws InputError unless the mass is positive and the inertia symmetric, positive definite, and the inertia of some distribution of
  /// mass: no principal moment larger than the sum of the others. A point mass (`allowPoint`) may have none, or that of a line.
  void validate(const std::string& name, bool allowPoint = false) const;
};

/// Rigid bodies: pose blocks with constant inertia M about the frame of the block,
///
///     M v' - ad(v)^T M v - M (R^T g, 0) = r,      (elements.1)
///
/// v the twist in the local frame, g the gravity of the model (M (R^T g, 0) is its force and its moment about the origin of the block).
/// The tangent is exact: dr/dv = -ad(v)^T M - coad(M v). The equation is left-invariant but for gravity. Energy is measured from the
/// plane through the inertial origin. Bauchau, "Flexible Multibody Dynamics"; Arnold & Bruls 2007.
class RigidBodies final : public Term {
 public:
  /// Gives a pose block its inertia, which is validated; returns the number of the body.
  int add(const std::string& name, int block, const MassProperties& properties);

  int size() const { return int(bodies_.size()); }
  int find(const std::string& name) const;
  const std::string& name(int body) const { return bodies_[body].name; }
  int block(int body) const { return bodies_[body].block; }
  const MassProperties& properties(int body) const { return bodies_[body].properties; }

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void addMomentum(const State& state, Momentum& momentum) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Body {
    std::string name;
    int block = -1;
    MassProperties properties;
    Matrix6 M;
    int q = 0, v = 0, coupling = -1;
  };
  std::vector<Body> bodies_;
  const Gravity* gravity_ = nullptr;
};

/// A pose block "body 'name'" with inertia; returns the block.
int addRigidBody(ModelBuilder& builder, const std::string& name, const MassProperties& properties, const Pose& pose,
                 const Vector6& velocity = Vector6::Zero());

/// Masses carried by markers (on a body or anywhere along a beam), with an optional rotational inertia J about the marker. With the twist
/// w and its rate w' = J a + bias of the marker,
///
///     r = J^T F,      F = M w' - ad(w)^T M w - M (R^T g, 0),      M = diag(m I, J).
///
/// dr/dv, dr/da and the tangent of gravity are exact everywhere. dr/dq is exact on bodies; on a marker between two nodes the share of
/// M d(w')/dq is left out: it is of first order in the velocities and accelerations relative to the stretch of one element, and costs
/// third derivatives of the interpolation.
class PointMasses final : public Term {
 public:
  int add(const std::string& name, const Marker& marker, double mass, const Matrix3& inertia = Matrix3::Zero());

  int size() const { return int(masses_.size()); }

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void addMomentum(const State& state, Momentum& momentum) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Mass {
    MarkerPair pair; // the inertial frame and the marker
    double mass;
    Matrix6 M;
  };
  void addInertia(const Mass& mass, const RelativeMotion& motion, bool isCarried, Assembly& assembly) const;

  std::vector<Mass> masses_;
  const Gravity* gravity_ = nullptr;
};

}
