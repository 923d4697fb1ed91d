#include "tendril/rods/strain_rod.h"

#include "tendril/model/error.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace tendril {

namespace {

/// Element twist x = h (e3, u).
Vector6 twist(double h, const Vector3& u) {
  Vector6 x;
  x << 0, 0, h, h * u;
  return x;
}

/// d(T(x)^T f)/dx of the map of a step.
Matrix6 tangentTransposeDerivative(se3::StepMap map, const Vector6& x, const Vector6& f) {
  if (map == se3::StepMap::Exponential) return se3::tangentTransposeDerivative(x, f);
  // T = C^-1, so that d(T^T f) = -T^T d(C^T) y with y = T^T f.
  const Matrix6 T = se3::cayleyTangent(x);
  const Vector6 y = T.transpose() * f;
  const Vector3 u = x.head<3>(), w = x.tail<3>(), yu = y.head<3>(), yw = y.tail<3>();
  Matrix6 D = Matrix6::Zero();
  D.topRightCorner<3, 3>() = 0.5 * so3::hat(yu);
  D.bottomLeftCorner<3, 3>() = 0.5 * so3::hat(yu - 0.5 * w.cross(yu));
  D.bottomRightCorner<3, 3>() =
      -0.25 * so3::hat(u) * so3::hat(yu) + 0.5 * so3::hat(yw) + 0.25 * (w.dot(yw) * Matrix3::Identity() + w * yw.transpose());
  return -T.transpose() * D;
}

}

StrainRod::StrainRod(RodProperties properties, int elements, se3::StepMap map, RodWeight weight)
    : properties_(std::move(properties)), map_(map) {
  if (elements < 1) throw InputError("rod: it needs one element at least, not " + std::to_string(elements));
  if (!(properties_.length > 0) || !std::isfinite(properties_.length)) throw InputError("rod: its length must be positive");
  if (!(properties_.stiffness.minCoeff() > 0) || !properties_.stiffness.allFinite())
    throw InputError("rod: stiffnesses in bending and torsion must be positive");
  const double h = properties_.length / elements;
  natural_.setZero(3 * elements);
  for (int i = 0; i < elements && properties_.natural; ++i) natural_.segment<3>(3 * i) = properties_.natural((i + 0.5) * h);
  if (!natural_.allFinite()) throw InputError("rod: its natural strains are not finite; look at their formula");
  shares_.assign(std::size_t(elements) + 1, h);
  if (weight == RodWeight::Trapezoid) shares_.front() = shares_.back() = h / 2;
  if (weight == RodWeight::LeftRectangle) shares_.back() = 0;
  frames_.resize(std::size_t(elements) + 1);
  screws_.resize(std::size_t(elements));
  place({}, natural_);
}

void StrainRod::place(const Pose& begin, const VectorX& strains) {
  strains_ = strains;
  frames_[0] = begin;
  const double h = step();
  for (int i = 0; i < elements(); ++i)
    frames_[std::size_t(i) + 1] = frames_[std::size_t(i)] * se3::step(map_, twist(h, strains_.segment<3>(3 * i)));
  screwsCurrent_ = false;
}

double StrainRod::turns() const {
  double sum = 0;
  for (int i = 0; i < elements(); ++i) sum += strains_[3 * i + 2];
  return step() * sum / (2 * std::numbers::pi);
}

double StrainRod::elasticEnergy() const {
  double sum = 0;
  for (int i = 0; i < elements(); ++i) {
    const Vector3 change = strains_.segment<3>(3 * i) - natural_.segment<3>(3 * i);
    sum += change.dot(properties_.stiffness.cwiseProduct(change));
  }
  return step() / 2 * sum;
}

double StrainRod::weightEnergy() const {
  double sum = 0;
  for (std::size_t k = 0; k < frames_.size(); ++k) sum -= shares_[k] * properties_.weight.dot(frames_[k].x);
  return sum;
}

void StrainRod::screws() {
  if (screwsCurrent_) return;
  const double h = step();
  for (int i = 0; i < elements(); ++i) {
    const Screws local = h * se3::stepTangent(map_, twist(h, strains_.segment<3>(3 * i))).rightCols<3>();
    const Pose& H = frames_[std::size_t(i) + 1];
    Screws& A = screws_[std::size_t(i)];
    A.bottomRows<3>().noalias() = H.R * local.bottomRows<3>();
    A.topRows<3>().noalias() = H.R * local.topRows<3>();
    for (int c = 0; c < 3; ++c) A.col(c).head<3>() += H.x.cross(Vector3(A.col(c).tail<3>()));
  }
  screwsCurrent_ = true;
}

/// The wrench (F, M) about the origin of all loads beyond an element, on its screws.
void StrainRod::sweep(double scale, const EndFunction& end, VectorX& gradient) {
  screws();
  Vector3 F = end.y, M = frames_.back().x.cross(end.y) + end.couple;
  for (int i = elements() - 1; i >= 0; --i) {
    const Vector3 f = -scale * shares_[std::size_t(i) + 1] * properties_.weight;
    F += f, M += frames_[std::size_t(i) + 1].x.cross(f);
    const Screws& A = screws_[std::size_t(i)];
    gradient.segment<3>(3 * i) += A.topRows<3>().transpose() * F + A.bottomRows<3>().transpose() * M;
  }
}

void StrainRod::addEnergyGradient(double scale, VectorX& gradient) {
  for (int i = 0; i < elements(); ++i)
    gradient.segment<3>(3 * i) +=
        scale * step() * properties_.stiffness.cwiseProduct(strains_.segment<3>(3 * i) - natural_.segment<3>(3 * i));
  sweep(scale, {}, gradient);
}

void StrainRod::addEndGradient(const EndFunction& end, double scale, VectorX& gradient) {
  sweep(0, {scale * end.y, scale * end.couple, Matrix3::Zero()}, gradient);
}

void StrainRod::hessian(double scale, const EndFunction& end, MatrixX& H) {
  screws();
  const double h = step();
  H.setZero(size(), size());
  const auto moment = [](const Vector3& r, const Vector3& f) -> Matrix3 { return r * f.transpose() - r.dot(f) * Matrix3::Identity(); };
  const Vector3& tip = frames_.back().x;
  Vector3 F = end.y, M = tip.cross(end.y) + end.couple;
  Matrix3 B = moment(tip, end.y) + end.curvature;
  for (int j = elements() - 1; j >= 0; --j) {
    const Pose& node = frames_[std::size_t(j) + 1];
    const Vector3 f = -scale * shares_[std::size_t(j) + 1] * properties_.weight;
    F += f, M += node.x.cross(f), B += moment(node.x, f);
    const Screws& A = screws_[std::size_t(j)];
    const Matrix3 Z = B * A.bottomRows<3>() - so3::hat(F) * A.topRows<3>();
    for (int i = 0; i < j; ++i) {
      const Matrix3 block = screws_[std::size_t(i)].bottomRows<3>().transpose() * Z;
      H.block<3, 3>(3 * i, 3 * j) = block;
      H.block<3, 3>(3 * j, 3 * i) = block.transpose();
    }
    // Within the element: the product of screws, and the change of the tangent against the wrench at its end.
    Vector6 wrench;
    wrench << node.R.transpose() * F, node.R.transpose() * (M - node.x.cross(F));
    const Matrix6 D = tangentTransposeDerivative(map_, twist(h, strains_.segment<3>(3 * j)), wrench);
    Matrix3 own = A.bottomRows<3>().transpose() * Z + h * h * D.bottomRightCorner<3, 3>().transpose();
    own = 0.5 * (own + own.transpose()).eval();
    own.diagonal() += scale * h * properties_.stiffness;
    H.block<3, 3>(3 * j, 3 * j) = own;
  }
}

}
