#pragma once
#include "tendril/model/marker.h"

#include <array>

namespace tendril {

class Assembly;
class Layout;

/// Motion of frame 2 relative to frame 1, as a function of the velocity blocks k that the two markers depend on.
struct RelativeMotion {
  static constexpr int maxBlocks = 4;

  MarkerKinematics first, second;
  Pose frame;                        ///< H12 = H1^-1 H2
  std::array<Matrix6, maxBlocks> J;  ///< delta H12 = H12 S(pi12), pi12 = sum_k J_k delta_k
  Vector6 twist = Vector6::Zero();   ///< w12 = sum_k J_k v_k + drift, of frame 2 relative to frame 1, resolved in frame 2
  Vector6 drift = Vector6::Zero();   ///< the part of w12 that comes from a moving ground
  Vector6 carried = Vector6::Zero(); ///< Ad(H12^-1) w1, the twist of frame 1 carried over to frame 2
  Matrix6 toSecond;                  ///< Ad(H12^-1)

  // Filled on request only.
  Vector6 accelerationBias = Vector6::Zero();   ///< d(w12)/dt at a = 0
  Vector6 twistRate = Vector6::Zero();          ///< partial derivative of w12 in time, at fixed q and v
  std::array<Matrix6, maxBlocks> twistGradient; ///< d(w12)/dq_k at fixed v
};

/// A generalized force dual to pi12: its virtual work is w^T pi12. A potential V(H12) has w = dV/dpi12.
struct PairWrench {
  Vector6 w = Vector6::Zero();
  Matrix6 stiffness = Matrix6::Zero(); ///< dw/dpi12 at fixed w12
  Matrix6 damping = Matrix6::Zero();   ///< dw/dw12
  Vector6 rate = Vector6::Zero();      ///< dw/dt at fixed H12 and w12
};

/// Two markers whose relative motion a joint, spring or load acts upon. Without a first marker, frame 1 is the inertial frame, and
/// H12 = H2 is the absolute pose of the second.
///
///     pi12 = pi2 - Ad(H12^-1) pi1,      w12 = w2 - Ad(H12^-1) w1,
///     w12' = w2' - Ad(H12^-1) w1' + ad(w12) Ad(H12^-1) w1.
///
/// Whatever is built on H12 alone is invariant under a superimposed rigid motion of both markers, and its forces on the two sides are
/// in balance, because J1 enters through Ad(H12^-1).
class MarkerPair {
 public:
  MarkerPair(const Marker* first, const Marker& second);

  const Marker* first() const { return first_; }
  const Marker& second() const { return *second_; }
  /// "'a' and 'b'", or "'b'": what messages call the pair.
  std::string names() const;
  /// False when no block moves the pair, or both markers are fixed to one and the same block.
  bool canMove() const;
  /// H12 alone.
  Pose frame(const State& state) const;

  /// Couples the blocks of the pair with one another, and with the rows of a constraint if one is given.
  void declare(Layout& layout, int constraint = -1);
  void kinematics(const State& state, RelativeMotion& motion, bool withRates = false) const;
  /// w12' at the accelerations of the state; of a motion filled with rates.
  Vector6 acceleration(const State& state, const RelativeMotion& motion) const;

  /// r += J12^T w alone, where nothing but the residual is wanted; frame is H12 at the state.
  void addForce(const State& state, const Pose& frame, const Vector6& w, Assembly& assembly) const;

  int count() const { return count_; }
  int block(int k) const { return blocks_[k]; }
  /// First velocity of block k in State::v.
  int velocity(int k) const { return velocities_[k]; }
  /// Coupling of block k (row) with block l (column).
  int coupling(int k, int l) const { return couplings_[k * RelativeMotion::maxBlocks + l]; }
  /// Couplings (constraint, block l) and (block l, constraint).
  int constraintRow(int l) const { return constraintRows_[l]; }
  int constraintColumn(int l) const { return constraintColumns_[l]; }

  /// r += J12^T w, with dr/dq, dr/dv and dr/dt as requested. Besides J12^T (dw/dpi12) J12 the tangent holds what the change of J12 does:
  /// -coad(w) from Ad(H12^-1) in the rows of the first marker, and the Hessians of markers between two nodes. The motion must be
  /// filled with rates when `damping` is not zero.
  void addWrench(const State& state, const RelativeMotion& motion, const PairWrench& wrench, Assembly& assembly) const;

 private:
  void addHessians(const State& state, const RelativeMotion& motion, const Vector6& w, Assembly& assembly) const;
  void addHessian(const State& state, const Marker& marker, const Vector6& wrench, int firstBlock, Assembly& assembly) const;

  const Marker* first_;
  const Marker* second_;
  int split_ = 0; // blocks of the first marker
  int count_ = 0;
  std::array<int, RelativeMotion::maxBlocks> blocks_{}, velocities_{};
  std::array<int, RelativeMotion::maxBlocks * RelativeMotion::maxBlocks> couplings_{};
  std::array<int, RelativeMotion::maxBlocks> constraintRows_{}, constraintColumns_{};
};

/// The angle phi by which R turns about the third axis: the rotation is split into a tilt and a turn about e3, R = R_tilt R_3(phi). It
/// is the rotation angle itself when both third axes coincide, and is then independent of which frame is called the first:
///     tan phi = (R21 - R12) / (R11 + R22).
/// Of all phi + 2 pi n the value nearest to `near` is taken, so the angle needs no memory; it is unique within half a turn of `near`.
/// Undefined where the third axes are opposite (`isDefined` is false).
struct AxisAngle {
  AxisAngle(const Matrix3& R, double near);

  bool isDefined = true;
  double value = 0;
  Vector3 gradient = Vector3::Zero(); ///< d(phi) = gradient . theta12
  Matrix3 hessian = Matrix3::Zero();  ///< d(gradient)/d(theta12)
};

/// Entry R(i,j) = e_i . R e_j of a rotation, with dR = R S(theta).
struct DirectionCosine {
  DirectionCosine(const Matrix3& R, int i, int j);

  double value;
  Vector3 row; ///< R^T e_i
  int j;
  Vector3 gradient; ///< e_j x R^T e_i
  /// S(e_j) S(R^T e_i) = R^T e_i e_j^T - R_ij I.
  Matrix3 hessian() const;
};

}
