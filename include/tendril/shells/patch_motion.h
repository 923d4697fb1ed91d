#pragma once
#include "tendril/model/term.h"
#include "tendril/shells/air_drag.h"
#include "tendril/shells/uniform_patch.h"

#include <array>

namespace tendril {

/// In what coordinates a uniform patch moves.
enum class PatchChart {
  Cone, ///< (kappa, phi), free of constraints
  Three ///< (b11, b22, b12) with the constraint q0 q1 = q2^2
};

/// What became of the flat state, the apex of the cone, in a motion.
enum class FlatPassage {
  None,     ///< the patch stayed away from it
  OnRay,    ///< it bent over from one side to the other along a ray, phi at rest, which symmetry alone allows
  Deflected ///< phi swept around it in small steps, the sign of the curvature kept
};

struct PatchMotionOptions {
  PatchChart chart = PatchChart::Cone;
  Matrix3 frame = Matrix3::Identity(); ///< R0, of the held point
  Vector3 gravity = {0, 0, -9.81};     ///< in the inertial frame [m/s^2]
  AirDrag air{};                       ///< its gusts are those in the middle of each step
  double step = 1e-3;                  ///< [s]
  double alpha = 10, beta = 10;        ///< Three: Baumgarte's constants, c'' + 2 alpha c' + beta^2 c = 0 [1/s]
  double flat = 1e-3;                  ///< |kappa| reach below which the patch counts as flat
  double nearFlat = 0.05;              ///< Cone: |kappa| reach below which the motion passes by the flat state
  double adaptiveTolerance = 1e-11;    ///< Cone: of the divided steps, relative
};

/// The motion of a uniform patch held at s = 0, by the classical Runge-Kutta method of order 4:
///
///     Three:  [M J^T; J 0] [a; mu] = [-C - dU; -J'v - 2 alpha c' - beta^2 c],    c = q0 q1 - q2^2, J = dc/dq,
///     Cone:   M a = -C - dU in (kappa, phi), free of constraints,
///
/// with the mass matrix, the convective forces C, the weight and the air of UniformPatch; the elastic force is exact. Nothing is allocated.
///
/// The flat state is singular in both: J = 0, and phi has no meaning. A motion that comes near is turned aside, phi sweeping by up to half
/// a turn in no time, unless it stays on a ray by symmetry. In the chart Cone steps near the flat state are divided to a tolerance
/// (Dormand & Prince 5(4)), and a motion on a ray goes on with kappa alone, through zero. The chart Three cannot do either: it ends in a
/// NumericalFailure when kappa comes too close to zero, changes its sign or loses the cone.
///
/// Source: Blumentals, Bertails-Descoubes & Casati (2016); Baumgarte (1972).
class PatchMotion {
 public:
  /// Starts at curvatures and rates, which must agree with the cone. InputError if they do not, or if the step is beyond what the method
  /// bears at this stiffness; the message names one that will do.
  PatchMotion(const UniformPatch& patch, const PatchMotionOptions& options, const Vector3& q, const Vector3& rates = Vector3::Zero());

  /// One step of the size of the options.
  void advance();

  double time() const { return t_; }
  const Vector3& curvatures() const { return q_; }
  const Vector3& rates() const { return v_; }
  /// kappa and phi, the latter followed through full turns.
  const ConePoint& cone() const { return cone_; }
  /// q0 q1 - q2^2 [1/m^2].
  double constraint() const { return gaussianCurvature(q_); }
  Energy energy() const;
  FlatPassage passage() const { return passage_; }
  /// Smallest |kappa| so far, within divided steps too.
  double closest() const { return closest_; }
  /// Parts into which steps were divided, in all.
  long divisions() const { return divisions_; }
  const UniformPatch& patch() const { return patch_; }

  /// Acceleration of the curvatures in the chart Three, and of (kappa, phi) in the chart Cone.
  Vector3 accelerationThree(const Vector3& q, const Vector3& v) const;
  Vector2 accelerationCone(const Vector2& y, const Vector2& v) const;

  /// All that a motion goes on from: t, q, rates, kappa, phi and their rates, passage, divisions, closest.
  std::array<double, 14> save() const;
  void restore(const std::array<double, 14>& saved);

 private:
  void advanceThree();
  void advanceCone();
  bool isOnRay() const;
  void startFlat(const Vector3& rates);
  void checkStep() const;
  UniformPatch::Air airAt(double t) const;

  UniformPatch patch_;
  PatchMotionOptions options_;
  Vector3 gravity_;         ///< in the frame of the held point
  UniformPatch::Air air_{}; ///< likewise, in the present step
  double reach_;
  double t_ = 0;
  long step_ = 0;
  Vector3 q_, v_;
  ConePoint cone_;
  Vector2 coneRates_ = Vector2::Zero();
  FlatPassage passage_ = FlatPassage::None;
  long divisions_ = 0;
  double closest_;
};

/// Angular frequencies [1/s], ascending, of small motions about curvatures q at which the forces balance, with gravity in the frame of the
/// held point. At the flat state phi has no frequency. A negative one stands for growth exp(|omega| t).
Vector2 patchFrequencies(const UniformPatch& patch, const Vector3& q, const Vector3& gravity = Vector3::Zero());

/// Of the potential energy in (kappa, phi): gradient and Hessian.
struct ConePotential {
  double value = 0;
  Vector2 gradient;
  Eigen::Matrix2d hessian;
};
ConePotential conePotential(const UniformPatch& patch, const ConePoint& at, const Vector3& gravity);

struct PatchEquilibrium {
  ConePoint at;
  int iterations = 0;
  double residual = 0; ///< largest generalized force over the size of those that meet
  bool isStable = false;
};
/// A stable equilibrium under gravity (in the frame of the held point), by Newton's method down the energy in (kappa, phi), from a shape
/// or, where that is flat, from the direction in which the weight bends it first. NumericalFailure if there is none.
PatchEquilibrium patchEquilibrium(const UniformPatch& patch, const Vector3& gravity, const Vector3& from);
/// From the natural shape.
inline PatchEquilibrium patchEquilibrium(const UniformPatch& patch, const Vector3& gravity) {
  return patchEquilibrium(patch, gravity, patch.properties().natural);
}

}
