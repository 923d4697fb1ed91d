#pragma once
#include "tendril/lie/types.h"
#include "tendril/model/director_frame.h"
#include "tendril/model/state.h"
#include "tendril/model/time_function.h"

#include <array>
#include <span>
#include <string>

namespace tendril {

/// Most velocities that a single marker can depend on.
inline constexpr int maxMarkerVelocities = 12;
using MarkerJacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, maxMarkerVelocities>;
using MarkerHessian = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, maxMarkerVelocities, maxMarkerVelocities>;

/// Generalized forces on the blocks of a marker, one column for each.
using MarkerForce = Eigen::Matrix<double, 6, 2>;

/// Frame of a marker and its first-order motion.
struct MarkerKinematics {
  Pose frame;
  MarkerJacobian J;                           ///< twist of the frame = J v + drift, v the velocities of the marker's blocks in order
  Vector6 twist = Vector6::Zero();            ///< of the frame, in the frame
  Vector6 drift = Vector6::Zero();            ///< the part of the twist that does not come from v (markers on a moving ground)
  Vector6 accelerationBias = Vector6::Zero(); ///< d(twist)/dt at a = 0; filled on request only
  MarkerJacobian Jdot;                        ///< dJ/dt along v; filled on request only
};

/// A frame that moves with the system: on the ground, on a rigid body or node, or at an arclength of a beam. Joints, loads, springs,
/// measurements and contacts see it through markers alone (model.3), so each of them serves every family of elements.
class Marker {
 public:
  virtual ~Marker() = default;

  /// Velocity blocks that the frame depends on; their velocities, stacked, are what the Jacobian multiplies.
  std::span<const int> blocks() const { return {blocks_.data(), std::size_t(blockCount_)}; }
  virtual Pose frame(const State& state) const = 0;
  /// Fills frame, J, twist and drift; accelerationBias and Jdot when asked.
  virtual void kinematics(const State& state, MarkerKinematics& k, bool withBias = false) const = 0;
  /// J^T w of a wrench w = (force, moment) in the marker's frame, without the matrix J; columns without a block are left alone.
  virtual void force(const State& state, const Vector6& wrench, MarkerForce& f) const = 0;
  /// H += scale d(J^T w)/dq at fixed wrench w = (force, moment) resolved in the marker's frame; zero unless J depends on q.
  virtual void addHessian(const State&, const Vector6& wrench, double scale, MarkerHessian& H) const;
  /// The frame in director coordinates.
  virtual DirectorFrame directors() const = 0;

  /// d(twist)/dq at fixed v, from kinematics filled with the bias. The twist is a left-invariant form, so its change in direction delta
  /// follows from the change of J along v: D_delta(J v) = D_v(J delta) + J [delta, v] - [J delta, J v].
  void twistGradient(const State& state, const MarkerKinematics& k, MarkerJacobian& gradient) const;

  const std::string& name() const { return name_; }
  /// What messages call it: its name in quotes or, without one, what it sits on ("beam 'cable', node 3", "the ground").
  const std::string& label() const { return label_; }
  /// Twist and its time derivative in the marker's frame at a full state (velocity and acceleration of outputs).
  Vector6 twist(const State& state) const;
  Vector6 acceleration(const State& state) const;

 protected:
  Marker(std::string name, std::array<int, 2> blocks, std::array<int, 2> q, std::array<int, 2> v, int count)
      : name_(std::move(name)), blocks_(blocks), q_(q), v_(v), blockCount_(count) {}
  /// A frame on the blocks of the marker, with these weights and at this offset from what they interpolate.
  DirectorFrame directors(std::array<double, 2> weights, const Pose& offset) const;
  Vector6 velocity(const State& state, int i) const { return state.v.segment<6>(v_[i]); }
  Pose pose(const State& state, int i) const { return loadPose(state.q.data() + q_[i]); }

 private:
  friend class ModelBuilder;
  std::string name_, label_;
  std::array<int, 2> blocks_;
  std::array<int, 2> q_, v_;
  int blockCount_;
};

/// Rigid motion of a ground marker: x(t) = x0 + (translation(t)) in the ground frame, turned about an axis fixed in the marker's frame.
struct GroundMotion {
  std::array<TimeFunction, 3> translation{TimeFunction::constant(0), TimeFunction::constant(0), TimeFunction::constant(0)};
  Vector3 axis = Vector3::UnitZ(); ///< of unit length; movingMarker() sees to it
  TimeFunction angle = TimeFunction::constant(0);
};

/// A frame in the inertial frame, at rest or in prescribed motion.
class GroundMarker final : public Marker {
 public:
  GroundMarker(std::string name, const Pose& frame) : Marker(std::move(name), {}, {}, {}, 0), rest_(frame), moves_(false) {}
  GroundMarker(std::string name, const Pose& frame, GroundMotion motion);
  Pose frame(const State& state) const override;
  void kinematics(const State& state, MarkerKinematics& k, bool withBias) const override;
  void force(const State&, const Vector6&, MarkerForce&) const override {}
  DirectorFrame directors() const override;

 private:
  Pose rest_;
  GroundMotion motion_;
  bool moves_;
};

/// A frame fixed to a pose block (rigid body or node) by a constant offset: J = Ad(offset^-1).
class BodyMarker final : public Marker {
 public:
  BodyMarker(std::string name, int block, int q, int v, const Pose& offset);
  Pose frame(const State& state) const override;
  void kinematics(const State& state, MarkerKinematics& k, bool withBias) const override;
  void force(const State& state, const Vector6& wrench, MarkerForce& f) const override;
  DirectorFrame directors() const override;

 private:
  Pose offset_;
  Matrix6 J_;
};

/// A frame at the fraction xi of a two-node segment whose frames follow the helix H(xi) = H_A exp(xi d), d = log(H_A^-1 H_B),
/// fixed to the section by a constant offset: J = Ad(offset^-1) [I - T*, T*], T* = xi T(xi d) T^-1(d) (Sonneville et al. 2014).
class SegmentMarker final : public Marker {
 public:
  SegmentMarker(std::string name, std::array<int, 2> blocks, std::array<int, 2> q, std::array<int, 2> v, double xi, const Pose& offset);
  Pose frame(const State& state) const override;
  void kinematics(const State& state, MarkerKinematics& k, bool withBias) const override;
  void force(const State& state, const Vector6& wrench, MarkerForce& f) const override;
  void addHessian(const State& state, const Vector6& wrench, double scale, MarkerHessian& H) const override;
  DirectorFrame directors() const override;

 private:
  double xi_;
  Pose offset_;
  Matrix6 toFrame_;
};

}
