#include "tendril/rods/strain_rod.h"

#include "rods/element_twist.h"
#include "tendril/model/error.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace tendril {

namespace {

Matrix3 momentOf(const Vector3& r, const Vector3& f) { return r * f.transpose() - r.dot(f) * Matrix3::Identity(); }

void check(const RodProperties& rod, int elements, se3::StepMap map, RodStrains kind) {
  if (elements < 1) throw InputError("rod: it needs one element at least, not " + std::to_string(elements));
  if (!(rod.length > 0) || !std::isfinite(rod.length)) throw InputError("rod: its length must be positive");
  if (!(rod.stiffness.minCoeff() > 0) || !rod.stiffness.allFinite())
    throw InputError("rod: stiffnesses in bending and torsion must be positive");
  if (rod.stretchStiffness && (!(rod.stretchStiffness->minCoeff() > 0) || !rod.stretchStiffness->allFinite()))
    throw InputError("rod: stiffnesses in shear and tension must be positive; leave them out for a rod that does not stretch");
  if (kind == RodStrains::Constant) return;
  if (map != se3::StepMap::Cayley) throw InputError("rod: linear strains go with the Cayley map");
  if (rod.stretchStiffness) throw InputError("rod: one that stretches has constant strains in its elements");
}

}

StrainRod::StrainRod(RodProperties properties, int elements, se3::StepMap map, RodWeight weight, RodStrains strains)
    : properties_(std::move(properties)), map_(map), weight_(weight), kind_(strains) {
  check(properties_, elements, map, strains);
  const bool isLinear = kind_ == RodStrains::Linear, stretches = properties_.stretchStiffness.has_value();
  const double h = properties_.length / elements;
  const int stride = stretches ? 6 : 3, places = elements + int(isLinear);
  natural_.setZero(Eigen::Index(stride) * places);
  elasticity_.setZero(natural_.size());
  for (int i = 0; i < places; ++i) {
    const double share = isLinear && (i == 0 || i == elements) ? h / 2 : h;
    if (properties_.natural) natural_.segment<3>(stride * i) = properties_.natural(isLinear ? i * h : (i + 0.5) * h);
    elasticity_.segment<3>(stride * i) = share * properties_.stiffness;
    if (!stretches) continue;
    natural_[stride * i + 5] = 1;
    elasticity_.segment<3>(stride * i + 3) = share * *properties_.stretchStiffness;
  }
  if (!natural_.allFinite()) throw InputError("rod: its natural strains are not finite; look at their formula");
  shares_.assign(std::size_t(elements) + 1, h);
  if (weight == RodWeight::Trapezoid) shares_.front() = shares_.back() = h / 2;
  if (weight == RodWeight::LeftRectangle) shares_.back() = 0;
  frames_.resize(std::size_t(elements) + 1);
  screws_.resize(std::size_t(elements));
  place({}, natural_);
}

ElementTwist StrainRod::element() const { return {step(), kind_ == RodStrains::Linear, properties_.stretchStiffness.has_value()}; }

double StrainRod::strainUnit(int strain) const { return strain % element().stride() < 3 ? 1 / properties_.length : 1; }

StrainRod StrainRod::scaled() const {
  const double L = properties_.length, EI = properties_.stiffness.maxCoeff();
  RodProperties unit{.length = 1, .stiffness = properties_.stiffness / EI, .weight = properties_.weight * (L * L * L / EI)};
  if (properties_.stretchStiffness) unit.stretchStiffness = *properties_.stretchStiffness * (L * L / EI);
  StrainRod rod(std::move(unit), elements(), map_, weight_, kind_);
  VectorX strains(size());
  for (int i = 0; i < size(); ++i) rod.natural_[i] = natural_[i] / strainUnit(i), strains[i] = strains_[i] / strainUnit(i);
  rod.place({frames_[0].R, frames_[0].x / L}, strains);
  return rod;
}

void StrainRod::place(const Pose& begin, const VectorX& strains) {
  strains_ = strains;
  frames_[0] = begin;
  const ElementTwist twist = element();
  for (int i = 0; i < elements(); ++i)
    frames_[std::size_t(i) + 1] = frames_[std::size_t(i)] * se3::step(map_, twist(strains_.data() + twist.stride() * i));
  screwsCurrent_ = false;
}

Vector3 StrainRod::curvature(int i) const {
  const int at = element().stride() * i;
  if (kind_ == RodStrains::Constant) return strains_.segment<3>(at);
  return 0.5 * (strains_.segment<3>(at) + strains_.segment<3>(at + 3));
}

Vector6 StrainRod::stress(int i) const {
  const int stride = element().stride(), at = stride * i;
  Vector3 change = curvature(i) - natural_.segment<3>(at);
  if (kind_ == RodStrains::Linear) change += 0.5 * (natural_.segment<3>(at) - natural_.segment<3>(at + 3));
  Vector6 stress = Vector6::Zero();
  stress.head<3>() = properties_.stiffness.cwiseProduct(change);
  if (properties_.stretchStiffness)
    stress.tail<3>() = properties_.stretchStiffness->cwiseProduct(strains_.segment<3>(at + 3) - natural_.segment<3>(at + 3));
  return stress;
}

double StrainRod::turns() const {
  double sum = 0;
  for (int i = 0; i < elements(); ++i) sum += curvature(i)[2];
  return step() * sum / (2 * std::numbers::pi);
}

double StrainRod::elasticEnergy() const { return 0.5 * elasticity_.dot((strains_ - natural_).cwiseAbs2()); }

double StrainRod::weightEnergy() const {
  double sum = 0;
  for (std::size_t k = 0; k < frames_.size(); ++k) sum -= shares_[k] * properties_.weight.dot(frames_[k].x);
  return sum;
}

void StrainRod::screws() {
  if (screwsCurrent_) return;
  const ElementTwist twist = element();
  ElementTwist::Jacobian J;
  for (int i = 0; i < elements(); ++i) {
    const double* w = strains_.data() + twist.stride() * i;
    twist.jacobian(w, J);
    const Screws local = se3::stepTangent(map_, twist(w)) * J;
    const Pose& H = frames_[std::size_t(i) + 1];
    Screws& A = screws_[std::size_t(i)];
    A.resize(6, local.cols());
    A.bottomRows<3>().noalias() = H.R * local.bottomRows<3>();
    A.topRows<3>().noalias() = H.R * local.topRows<3>();
    for (int c = 0; c < A.cols(); ++c) A.col(c).head<3>() += H.x.cross(Vector3(A.col(c).tail<3>()));
  }
  screwsCurrent_ = true;
}

/// visit(j, beyond) for every element, the last first.
template <class Visit> void StrainRod::fromTheEnd(double scale, const EndFunction& end, const NodeForces& forces, Visit visit) {
  screws();
  const Vector3& tip = frames_.back().x;
  Beyond beyond{end.y, tip.cross(end.y) + end.couple, momentOf(tip, end.y) + end.curvature};
  for (int j = elements() - 1; j >= 0; --j) {
    const Vector3& x = frames_[std::size_t(j) + 1].x;
    Vector3 f = -scale * shares_[std::size_t(j) + 1] * properties_.weight;
    if (forces.cols() > 0) f += forces.col(j + 1);
    beyond.F += f, beyond.M += x.cross(f), beyond.B += momentOf(x, f);
    visit(j, beyond);
  }
}

/// The wrench (F, M) about the origin of all loads beyond an element, on its screws.
void StrainRod::sweep(double scale, const EndFunction& end, const NodeForces& forces, VectorX& gradient) {
  const ElementTwist twist = element();
  fromTheEnd(scale, end, forces, [&](int j, const Beyond& beyond) {
    const Screws& A = screws_[std::size_t(j)];
    gradient.segment(twist.stride() * j, twist.size()) += A.topRows<3>().transpose() * beyond.F + A.bottomRows<3>().transpose() * beyond.M;
  });
}

void StrainRod::addEnergyGradient(double scale, VectorX& gradient) {
  gradient += scale * elasticity_.cwiseProduct(strains_ - natural_);
  sweep(scale, {}, {}, gradient);
}

void StrainRod::addEndGradient(const EndFunction& end, double scale, VectorX& gradient) {
  sweep(0, {scale * end.y, scale * end.couple, Matrix3::Zero()}, {}, gradient);
}

/// Within an element: the product of its screws, and the change of its twist and tangent against the wrench at its end.
StrainRod::Block StrainRod::ownBlock(int j, const Beyond& beyond, const Moments& Z) const {
  const ElementTwist twist = element();
  const double* w = strains_.data() + twist.stride() * j;
  const Pose& node = frames_[std::size_t(j) + 1];
  const Vector6 x = twist(w);
  Vector6 wrench;
  wrench << node.R.transpose() * beyond.F, node.R.transpose() * (beyond.M - node.x.cross(beyond.F));
  ElementTwist::Jacobian J;
  twist.jacobian(w, J);
  Block own = screws_[std::size_t(j)].bottomRows<3>().transpose() * Z;
  own.noalias() += J.transpose() * se3::stepTangentTransposeDerivative(map_, x, wrench).transpose() * J;
  own = 0.5 * (own + own.transpose()).eval();
  twist.addHessian(w, se3::stepTangent(map_, x).transpose() * wrench, own);
  return own;
}

void StrainRod::addNodeMotion(int node, double scale, Eigen::Ref<MatrixX> motion) {
  screws();
  const ElementTwist twist = element();
  const Vector3 x = scale * frame(node).x;
  for (int i = 0; i < node; ++i) {
    const Screws& A = screws_[std::size_t(i)];
    motion.middleCols(Eigen::Index(twist.stride()) * i, twist.size()) += scale * A.topRows<3>() - so3::hat(x) * A.bottomRows<3>();
  }
}

void StrainRod::hessian(double scale, const EndFunction& end, const NodeForces& forces, MatrixX& H) {
  const ElementTwist twist = element();
  const int stride = twist.stride(), n = twist.size();
  H.setZero(size(), size());
  fromTheEnd(scale, end, forces, [&](int j, const Beyond& beyond) {
    const Screws& A = screws_[std::size_t(j)];
    const Moments Z = beyond.B * A.bottomRows<3>() - so3::hat(beyond.F) * A.topRows<3>();
    for (int i = 0; i < j; ++i) H.block(stride * i, stride * j, n, n) += screws_[std::size_t(i)].bottomRows<3>().transpose() * Z;
    H.block(stride * j, stride * j, n, n) += 0.5 * ownBlock(j, beyond, Z);
  });
  H += H.transpose().eval();
  H.diagonal() += scale * elasticity_;
}

StrainRod::SecondVariation StrainRod::secondVariation(double scale, const EndFunction& end, const NodeForces& forces) {
  SecondVariation variation(*this);
  variation.scale_ = scale;
  variation.Z_.resize(frames_.size() - 1), variation.own_.resize(frames_.size() - 1);
  fromTheEnd(scale, end, forces, [&](int j, const Beyond& beyond) {
    const Screws& A = screws_[std::size_t(j)];
    Moments& Z = variation.Z_[std::size_t(j)];
    Z = beyond.B * A.bottomRows<3>() - so3::hat(beyond.F) * A.topRows<3>();
    variation.own_[std::size_t(j)] = ownBlock(j, beyond, Z);
  });
  return variation;
}

/// One sweep with the rotation of all elements before j, and the moment of the motions of all beyond.
void StrainRod::SecondVariation::times(const VectorX& direction, VectorX& product) const {
  const ElementTwist twist = rod_->element();
  const int stride = twist.stride(), n = twist.size();
  const std::vector<Screws>& A = rod_->screws_;
  product = scale_ * rod_->elasticity_.cwiseProduct(direction);
  Vector3 before = Vector3::Zero(), moment = Vector3::Zero();
  for (std::size_t i = 0; i < A.size(); ++i) before += A[i].bottomRows<3>() * direction.segment(stride * Eigen::Index(i), n);
  for (std::size_t j = A.size(); j-- > 0;) {
    const Eigen::Index at = stride * Eigen::Index(j);
    const auto d = direction.segment(at, n);
    before -= A[j].bottomRows<3>() * d;
    product.segment(at, n) += Z_[j].transpose() * before + A[j].bottomRows<3>().transpose() * moment + own_[j] * d;
    moment += Z_[j] * d;
  }
}

void StrainRod::nodeMotions(const VectorX& direction, NodeForces& motions) {
  screws();
  const ElementTwist twist = element();
  motions.setZero(3, Eigen::Index(frames_.size()));
  Vector6 screw = Vector6::Zero();
  for (std::size_t i = 0; i < screws_.size(); ++i) {
    screw += screws_[i] * direction.segment(twist.stride() * Eigen::Index(i), twist.size());
    motions.col(Eigen::Index(i) + 1) = screw.head<3>() + screw.tail<3>().cross(frames_[i + 1].x);
  }
}

}
