#include "tendril/elements/relative_motion.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/model.h"

#include <cmath>
#include <numbers>

namespace tendril {

MarkerPair::MarkerPair(const Marker* first, const Marker& second) : first_(first), second_(&second) {
  if (first_) {
    for (int b : first_->blocks()) blocks_[count_++] = b;
  }
  split_ = count_;
  for (int b : second_->blocks()) blocks_[count_++] = b;
}

std::string MarkerPair::names() const { return first_ ? first_->label() + " and " + second_->label() : second_->label(); }

bool MarkerPair::canMove() const { return count_ > 0 && !(count_ == 2 && split_ == 1 && blocks_[0] == blocks_[1]); }

Pose MarkerPair::frame(const State& state) const {
  return first_ ? first_->frame(state).relative(second_->frame(state)) : second_->frame(state);
}

void MarkerPair::declare(Layout& layout, int constraint) {
  for (int k = 0; k < count_; ++k) {
    velocities_[k] = layout.block(blocks_[k]).v;
    for (int l = 0; l < count_; ++l) couplings_[k * RelativeMotion::maxBlocks + l] = layout.couple(blocks_[k], blocks_[l]);
    if (constraint < 0) continue;
    constraintRows_[k] = layout.couple(constraint, blocks_[k]);
    constraintColumns_[k] = layout.couple(blocks_[k], constraint);
  }
}

void MarkerPair::kinematics(const State& state, RelativeMotion& m, bool withRates) const {
  second_->kinematics(state, m.second, withRates);
  for (int k = split_; k < count_; ++k) m.J[k] = m.second.J.middleCols<6>(6 * (k - split_));
  m.frame = m.second.frame;
  m.twist = m.second.twist;
  m.drift = m.second.drift;
  m.carried.setZero();
  if (first_) {
    first_->kinematics(state, m.first, withRates);
    m.frame = m.first.frame.relative(m.second.frame);
    m.toSecond = se3::AdInverse(m.frame);
    for (int k = 0; k < split_; ++k) m.J[k].noalias() = -m.toSecond * m.first.J.middleCols<6>(6 * k);
    m.carried.noalias() = m.toSecond * m.first.twist;
    m.twist -= m.carried;
    m.drift.noalias() -= m.toSecond * m.first.drift;
  }
  if (!withRates) return;

  // Only the ground has a twist that depends on time explicitly; it depends on nothing else.
  const auto explicitRate = [](const Marker& marker, const MarkerKinematics& k) -> Vector6 {
    return marker.blocks().empty() ? k.accelerationBias : Vector6::Zero();
  };
  MarkerJacobian gradient;
  second_->twistGradient(state, m.second, gradient);
  for (int k = split_; k < count_; ++k) m.twistGradient[k] = gradient.middleCols<6>(6 * (k - split_));
  m.accelerationBias = m.second.accelerationBias;
  m.twistRate = explicitRate(*second_, m.second);
  if (!first_) return;

  first_->twistGradient(state, m.first, gradient);
  for (int k = 0; k < split_; ++k) m.twistGradient[k].noalias() = -m.toSecond * gradient.middleCols<6>(6 * k);
  const Matrix6 transport = se3::ad(m.carried);
  for (int k = 0; k < count_; ++k) m.twistGradient[k].noalias() -= transport * m.J[k];
  m.accelerationBias -= m.toSecond * m.first.accelerationBias + transport * m.twist;
  m.twistRate -= m.toSecond * explicitRate(*first_, m.first) + transport * m.drift;
}

Vector6 MarkerPair::acceleration(const State& state, const RelativeMotion& m) const {
  Vector6 sum = m.accelerationBias;
  for (int k = 0; k < count_; ++k) sum.noalias() += m.J[k] * state.a.segment<6>(velocities_[k]);
  return sum;
}

void MarkerPair::addWrench(const State& state, const RelativeMotion& m, const PairWrench& wrench, Assembly& assembly) const {
  const Request& request = assembly.request();
  for (int k = 0; k < count_; ++k) assembly.addForce(blocks_[k], m.J[k].transpose() * wrench.w);
  if (!request.tangent && !request.timeRate) return;

  // The rows of the first marker see w change with the frame it is transported to.
  const Matrix6 transported = wrench.stiffness - se3::coad(wrench.w);
  const bool damped = !wrench.damping.isZero(0);
  if (request.timeRate) {
    Vector6 rate = wrench.rate;
    if (damped) rate.noalias() += wrench.damping * m.twistRate;
    for (int k = 0; k < count_; ++k) {
      const Vector6 change = (k < split_ ? transported : wrench.stiffness) * m.drift + rate;
      assembly.addForceRate(blocks_[k], m.J[k].transpose() * change);
    }
  }
  if (!request.tangent) return;

  if (damped && request.damping != 0) {
    for (int l = 0; l < count_; ++l) {
      const Matrix6 viscous = request.damping * wrench.damping * m.J[l];
      for (int k = 0; k < count_; ++k) assembly.addRate(coupling(k, l), blocks_[l], (m.J[k].transpose() * viscous).eval());
    }
  }
  if (!request.stiffness) return;

  for (int l = 0; l < count_; ++l) {
    Matrix6 first = transported * m.J[l], second = wrench.stiffness * m.J[l];
    if (damped) {
      const Matrix6 viscous = wrench.damping * m.twistGradient[l];
      first += viscous, second += viscous;
    }
    for (int k = 0; k < count_; ++k) assembly.addStiffness(coupling(k, l), m.J[k].transpose() * (k < split_ ? first : second));
  }
  addHessians(state, m, wrench.w, assembly);
}

void MarkerPair::addForce(const State& state, const Pose& frame, const Vector6& w, Assembly& assembly) const {
  MarkerForce f;
  second_->force(state, w, f);
  for (int k = split_; k < count_; ++k) assembly.addForce(blocks_[k], f.col(k - split_));
  if (split_ == 0) return;
  first_->force(state, -se3::transported(frame, w), f);
  for (int k = 0; k < split_; ++k) assembly.addForce(blocks_[k], f.col(k));
}

void MarkerPair::addHessians(const State& state, const RelativeMotion& m, const Vector6& w, Assembly& assembly) const {
  if (split_ > 1) addHessian(state, *first_, -m.toSecond.transpose() * w, 0, assembly);
  if (count_ - split_ > 1) addHessian(state, *second_, w, split_, assembly);
}

void MarkerPair::addHessian(const State& state, const Marker& marker, const Vector6& wrench, int firstBlock, Assembly& assembly) const {
  const int n = int(marker.blocks().size());
  MarkerHessian H = MarkerHessian::Zero(6 * n, 6 * n);
  marker.addHessian(state, wrench, 1, H);
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) assembly.addStiffness(coupling(firstBlock + k, firstBlock + l), H.block<6, 6>(6 * k, 6 * l));
  }
}

DirectionCosine::DirectionCosine(const Matrix3& R, int i, int column) : value(R(i, column)), row(R.row(i)), j(column) {
  const int k = (j + 1) % 3, l = (j + 2) % 3;
  gradient[j] = 0, gradient[k] = -row[l], gradient[l] = row[k];
}

Matrix3 DirectionCosine::hessian() const {
  Matrix3 H = Matrix3::Zero();
  H.col(j) = row;
  H.diagonal().array() -= value;
  return H;
}

AxisAngle::AxisAngle(const Matrix3& R, double near) {
  const DirectionCosine a(R, 1, 0), b(R, 0, 1), c(R, 0, 0), d(R, 1, 1);
  const double sine = a.value - b.value, cosine = c.value + d.value;
  const double square = sine * sine + cosine * cosine;
  constexpr double roundoff = 1e-14; // sine and cosine carry errors of this order
  if (square < roundoff * roundoff) {
    isDefined = false;
    value = near;
    return;
  }
  const double principal = std::atan2(sine, cosine);
  constexpr double turn = 2 * std::numbers::pi;
  value = principal + turn * std::round((near - principal) / turn);

  const Vector3 gs = a.gradient - b.gradient, gc = c.gradient + d.gradient;
  gradient = (cosine * gs - sine * gc) / square;
  hessian = (gs * gc.transpose() - gc * gs.transpose() + cosine * (a.hessian() - b.hessian()) - sine * (c.hessian() + d.hessian()) -
             2 * gradient * (sine * gs + cosine * gc).transpose()) /
            square;
}

}
