#include "tendril/model/marker.h"

#include "tendril/lie/se3.h"

namespace tendril {

void Marker::addHessian(const State&, const Vector6&, double, MarkerHessian&) const {}

DirectorFrame Marker::directors(std::array<double, 2> weights, const Pose& offset) const {
  DirectorFrame frame;
  frame.count = blockCount_;
  frame.blocks = blocks_, frame.q = q_, frame.weights = weights;
  return frame.moved(offset);
}

void Marker::twistGradient(const State& state, const MarkerKinematics& k, MarkerJacobian& gradient) const {
  gradient.resize(6, 6 * blockCount_);
  for (int i = 0; i < blockCount_; ++i) {
    const Matrix6 J = k.J.middleCols<6>(6 * i);
    gradient.middleCols<6>(6 * i) = k.Jdot.middleCols<6>(6 * i) - J * se3::ad(velocity(state, i)) + se3::ad(k.twist - k.drift) * J;
  }
}

Vector6 Marker::twist(const State& state) const {
  MarkerKinematics k;
  kinematics(state, k);
  return k.twist;
}

Vector6 Marker::acceleration(const State& state) const {
  MarkerKinematics k;
  kinematics(state, k, true);
  Vector6 result = k.accelerationBias;
  for (int i = 0; i < blockCount_; ++i) result += k.J.middleCols<6>(6 * i) * state.a.segment<6>(v_[i]);
  return result;
}

// ---- ground ----------------------------------------------------------------------------------------------------------------------------

GroundMarker::GroundMarker(std::string name, const Pose& frame, GroundMotion motion)
    : Marker(std::move(name), {}, {}, {}, 0), rest_(frame), motion_(std::move(motion)), moves_(true) {}

Pose GroundMarker::frame(const State& state) const {
  if (!moves_) return rest_;
  Vector3 shift;
  for (int i = 0; i < 3; ++i) shift[i] = motion_.translation[i](state.t).value;
  return {rest_.R * so3::exp(motion_.angle(state.t).value * motion_.axis), rest_.x + shift};
}

DirectorFrame GroundMarker::directors() const {
  DirectorFrame frame;
  frame.ground = this;
  return frame;
}

void GroundMarker::kinematics(const State& state, MarkerKinematics& k, bool withBias) const {
  k.J.resize(6, 0);
  k.Jdot.resize(6, 0);
  k.frame = rest_;
  k.twist.setZero();
  k.drift.setZero();
  k.accelerationBias.setZero();
  if (!moves_) return;

  Vector3 shift, rate, acceleration;
  for (int i = 0; i < 3; ++i) {
    const Jet jet = motion_.translation[i](state.t);
    shift[i] = jet.value, rate[i] = jet.rate, acceleration[i] = jet.acceleration;
  }
  const Jet angle = motion_.angle(state.t);
  k.frame = {rest_.R * so3::exp(angle.value * motion_.axis), rest_.x + shift};
  k.drift << k.frame.R.transpose() * rate, angle.rate * motion_.axis;
  k.twist = k.drift;
  if (!withBias) return;
  const Vector3 omega = angle.rate * motion_.axis;
  k.accelerationBias << k.frame.R.transpose() * acceleration - omega.cross(k.drift.head<3>()), angle.acceleration * motion_.axis;
}

// ---- pose block ------------------------------------------------------------------------------------------------------------------------

BodyMarker::BodyMarker(std::string name, int block, int q, int v, const Pose& offset)
    : Marker(std::move(name), {block, -1}, {q, -1}, {v, -1}, 1), offset_(offset), J_(se3::AdInverse(offset)) {}

Pose BodyMarker::frame(const State& state) const { return pose(state, 0) * offset_; }

void BodyMarker::kinematics(const State& state, MarkerKinematics& k, bool withBias) const {
  k.frame = pose(state, 0) * offset_;
  k.J = J_;
  k.twist.noalias() = J_ * velocity(state, 0);
  k.drift.setZero();
  k.accelerationBias.setZero();
  if (withBias) k.Jdot.setZero(6, 6);
}

void BodyMarker::force(const State&, const Vector6& wrench, MarkerForce& f) const { f.col(0) = se3::transported(offset_, wrench); }

DirectorFrame BodyMarker::directors() const { return Marker::directors({1, 0}, offset_); }

// ---- beam segment ----------------------------------------------------------------------------------------------------------------------

SegmentMarker::SegmentMarker(std::string name, std::array<int, 2> blocks, std::array<int, 2> q, std::array<int, 2> v, double xi,
                             const Pose& offset)
    : Marker(std::move(name), blocks, q, v, 2), xi_(xi), offset_(offset), toFrame_(se3::AdInverse(offset)) {}

Pose SegmentMarker::frame(const State& state) const {
  const Pose A = pose(state, 0);
  const Vector6 d = se3::log(A.relative(pose(state, 1)));
  return A * se3::exp(xi_ * d) * offset_;
}

void SegmentMarker::kinematics(const State& state, MarkerKinematics& k, bool withBias) const {
  const Pose A = pose(state, 0);
  const Vector6 d = se3::log(A.relative(pose(state, 1)));
  const Matrix6 star = se3::interpolation(xi_, d);
  k.frame = A * se3::exp(xi_ * d) * offset_;
  k.J.resize(6, 12);
  k.J.leftCols<6>() = toFrame_ * (Matrix6::Identity() - star);
  k.J.rightCols<6>() = toFrame_ * star;
  const Vector6 vA = velocity(state, 0), vB = velocity(state, 1);
  k.twist.noalias() = k.J.leftCols<6>() * vA + k.J.rightCols<6>() * vB;
  k.drift.setZero();
  k.accelerationBias.setZero();
  if (!withBias) return;
  const Matrix6 inverse = se3::tangentInverse(d);
  const Vector6 rate = inverse * vB - (inverse - se3::ad(d)) * vA;
  k.Jdot.resize(6, 12);
  k.Jdot.rightCols<6>() = toFrame_ * se3::interpolationDirectional(xi_, d, rate);
  k.Jdot.leftCols<6>() = -k.Jdot.rightCols<6>();
  k.accelerationBias.noalias() = k.Jdot.rightCols<6>() * (vB - vA);
}

void SegmentMarker::force(const State& state, const Vector6& wrench, MarkerForce& f) const {
  const Vector6 d = se3::log(pose(state, 0).relative(pose(state, 1))), u = se3::transported(offset_, wrench);
  f.col(1).noalias() = se3::interpolation(xi_, d).transpose() * u;
  f.col(0) = u - f.col(1);
}

DirectorFrame SegmentMarker::directors() const { return Marker::directors({1 - xi_, xi_}, offset_); }

void SegmentMarker::addHessian(const State& state, const Vector6& wrench, double scale, MarkerHessian& H) const {
  // J^T w = [ u - T*^T u ; T*^T u ] with u the wrench at the section; it depends on the configuration through d alone.
  const Vector6 d = se3::log(pose(state, 0).relative(pose(state, 1)));
  const Vector6 u = toFrame_.transpose() * wrench;
  const Matrix6 inverse = se3::tangentInverse(d);
  Eigen::Matrix<double, 6, 12> P;
  P << se3::ad(d) - inverse, inverse;
  const Eigen::Matrix<double, 6, 12> D = scale * se3::interpolationTransposeDerivative(xi_, d, u) * P;
  H.topRows<6>() -= D;
  H.bottomRows<6>() += D;
}

}
