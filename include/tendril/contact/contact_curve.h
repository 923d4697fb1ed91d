#pragma once
#include "tendril/lie/types.h"
#include "tendril/model/state.h"

#include <array>
#include <vector>

namespace tendril {

class Model;

/// A round curve that touches along its length: the segments of a beam in the order of their arclength, neighbours sharing a block.
struct ContactCurve {
  struct Segment {
    std::array<int, 2> blocks{}; ///< pose blocks of its ends
    double length = 0;           ///< reference length [m]
  };
  double radius = 0; ///< [m]
  std::vector<Segment> segments;
};

/// A place on a curve: the fraction xi in [0, 1] of a segment.
struct CurvePlace {
  int segment = 0;
  double xi = 0;
};

/// A frame on what touches, and its Jacobian: the section of a curve, or the frame of a rigid part.
///
///     twist of the frame, in the frame, = sum_k J_k v_(block k)
struct Carrier {
  Pose frame;
  int count = 0; ///< blocks; none for what does not move
  std::array<int, 2> block{};
  std::array<Matrix6, 2> J;
};

/// The segments of one curve in one configuration. On a segment with ends A and B the frames follow the helix (Sonneville et al. 2014)
///
///     H(xi) = H_A exp(xi d),  d = log(H_A^-1 H_B),      twist = (I - T*) v_A + T* v_B,  T* = xi T(xi d) T^-1(d)
///
/// so the frame moves along the curve by d exp(xi d)/dxi = exp(xi d) S(d): the derivative along xi, resolved in the frame, is d itself.
class CurveConfiguration {
 public:
  CurveConfiguration() = default;
  /// Model and curve must outlive the configuration.
  CurveConfiguration(const Model& model, const ContactCurve& curve);

  /// Takes the poses of a state; takes no memory.
  void set(const State& state);

  const ContactCurve& curve() const { return *curve_; }
  int segments() const { return int(curve_->segments.size()); }
  const Pose& node(int i) const { return nodes_[i]; }
  /// d of a segment: the twist of the frame along xi.
  const Vector6& relative(int segment) const { return d_[segment]; }
  Pose frame(const CurvePlace& place) const;
  Carrier carrier(const CurvePlace& place) const;
  /// d(T*)/dxi = Ad(exp(-xi d)) T^-1(d): J_1 of the carrier at a place changes by this, J_0 by its opposite.
  Matrix6 jacobianRate(const CurvePlace& place) const;
  /// d(J^T w)/dq at a fixed wrench w in the section, 12 x 12 over the two blocks: how the shape functions change.
  Eigen::Matrix<double, 12, 12> hessian(const CurvePlace& place, const Vector6& wrench) const;
  /// Reference arclength from the begin of the curve [m].
  double arclength(const CurvePlace& place) const { return starts_[place.segment] + place.xi * curve_->segments[place.segment].length; }
  /// The place at an arclength; beyond the ends of the curve, its ends.
  CurvePlace place(double arclength) const;

 private:
  const ContactCurve* curve_ = nullptr;
  std::vector<int> q_; ///< of the nodes, in State::q
  std::vector<double> starts_;
  std::vector<Pose> nodes_;
  std::vector<Vector6> d_;
  std::vector<Matrix6> tangentInverse_; ///< T^-1(d)
};

}
