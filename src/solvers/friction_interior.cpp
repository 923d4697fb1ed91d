#include "friction_interior.h"

#include "friction_cone.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

double determinant(const ContactVector& x) {
  const double length = x.tail(x.size() - 1).norm();
  return (x[0] - length) * (x[0] + length);
}

/// The product of the Jordan algebra of a second-order cone, and its inverse.
ContactVector product(const ContactVector& a, const ContactVector& b) {
  ContactVector c = a[0] * b + b[0] * a;
  c[0] = a.dot(b);
  return c;
}

ContactVector quotient(const ContactVector& a, const ContactVector& b) {
  const int m = int(a.size()) - 1;
  ContactVector c(a.size());
  c[0] = (a[0] * b[0] - a.tail(m).dot(b.tail(m))) / determinant(a);
  c.tail(m) = (b.tail(m) - c[0] * a.tail(m)) / a[0];
  return c;
}

/// Largest t with x + t d in the cone, at most `limit`.
double stepToBoundary(const ContactVector& x, const ContactVector& d, double limit) {
  const int m = int(x.size()) - 1;
  if (d[0] < 0) limit = std::min(limit, -x[0] / d[0]);
  const double a = d[0] * d[0] - d.tail(m).squaredNorm(), b = x[0] * d[0] - x.tail(m).dot(d.tail(m)), c = determinant(x);
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return limit;
  const double q = -(b + std::copysign(std::sqrt(discriminant), b));
  for (const double root : {a != 0 ? q / a : -1, q != 0 ? c / q : -1})
    if (root > 0) limit = std::min(limit, root);
  return limit;
}

/// The symmetric root of 2 a a^T - J for a of determinant 1, J = diag(1, -1, ..., -1).
ContactMatrix boost(const ContactVector& a) {
  const int m = int(a.size()) - 1;
  ContactMatrix root = ContactMatrix::Identity(m + 1, m + 1);
  root(0, 0) = a[0];
  root.block(0, 1, 1, m) = a.tail(m).transpose();
  root.block(1, 0, m, 1) = a.tail(m);
  root.block(1, 1, m, m) += a.tail(m) * a.tail(m).transpose() / (1 + a[0]);
  return root;
}

}

void FrictionInterior::start(const FrictionSystem& system, FrictionEquations& equations, double weight) {
  weight_ = weight;
  system_ = &system;
  equations_ = &equations;
  cones_.clear();
  r_.setZero(system.rows());
  const double size = std::max(system.q.norm() / std::sqrt(double(std::max(1, system.contacts()))), 1e-300);
  for (int i = 0; i < system.contacts(); ++i) {
    const FrictionLaw& law = system.laws[i];
    if (law.kind == FrictionLaw::Kind::Bilateral) continue;
    r_[system.first[i]] = size;
    bool free = true;
    for (int d = 0; d < law.discCount; ++d) {
      if (law.discs[d].coefficient == 0) continue;
      free = false;
      cones_.push_back({i, system.first[i] + law.discs[d].first, law.discs[d].size + 1, law.discs[d].coefficient});
    }
    if (free) cones_.push_back({i, system.first[i], 1, 1});
  }
  for (Cone& cone : cones_) {
    cone.z = take(cone, r_);
    cone.y = ContactVector::Zero(cone.size);
    cone.y[0] = size;
  }
}

ContactVector FrictionInterior::take(const Cone& cone, const Eigen::VectorXd& rows) const {
  ContactVector part(cone.size);
  part[0] = cone.factor * rows[system_->first[cone.contact]];
  part.tail(cone.size - 1) = rows.segment(cone.row, cone.size - 1);
  return part;
}

void FrictionInterior::add(const Cone& cone, const ContactVector& part, Eigen::VectorXd& rows) const {
  rows[system_->first[cone.contact]] += cone.factor * part[0];
  rows.segment(cone.row, cone.size - 1) += part.tail(cone.size - 1);
}

void FrictionInterior::scale(Cone& cone) const {
  const double sizeZ = std::sqrt(determinant(cone.z)), sizeY = std::sqrt(determinant(cone.y));
  const ContactVector z = cone.z / sizeZ, y = cone.y / sizeY;
  ContactVector middle = z - y;
  middle[0] = z[0] + y[0];
  middle /= std::sqrt(2 * (1 + z.dot(y)));
  const double eta = std::sqrt(sizeY / sizeZ);
  cone.inverse = boost(middle) / eta;
  middle.tail(cone.size - 1) *= -1;
  cone.T = boost(middle) * eta;
  cone.lambda = cone.inverse * cone.y;
}

void FrictionInterior::direction(double target) {
  const FrictionSystem& system = *system_;
  Eigen::VectorXd F = residual_;
  for (const Cone& cone : cones_) {
    ContactVector aim = -product(cone.lambda, cone.lambda) - cone.correction;
    aim[0] += target;
    add(cone, -(cone.T * quotient(cone.lambda, aim)), F);
  }
  std::vector<AlartCurnier>& contacts = equations_->contacts();
  for (int i = 0; i < system.contacts(); ++i) {
    contacts[i].F = F.segment(system.first[i], system.laws[i].size);
    for (int k = 0; k < system.laws[i].size; ++k)
      if (contacts[i].B(k, k) == 0) contacts[i].F[k] = 0;
  }
  equations_->solve(dr_);
  for (Cone& cone : cones_) {
    ContactVector aim = -product(cone.lambda, cone.lambda) - cone.correction;
    aim[0] += target;
    cone.dz = take(cone, dr_);
    cone.dy = cone.T * (quotient(cone.lambda, aim) - cone.T * cone.dz);
  }
}

double FrictionInterior::largestStep() const {
  double length = 1e3;
  for (const Cone& cone : cones_) length = stepToBoundary(cone.y, cone.dy, stepToBoundary(cone.z, cone.dz, length));
  return length;
}

/// g grows with |u_i|: a derivative of the law that is not symmetric. Rounded near u_i = 0 by what the gap leaves open.
void FrictionInterior::differentiateShift(const Cone& cone) {
  const int f = cone.row - system_->first[cone.contact], m = cone.size - 1;
  if (m == 0) return;
  const auto slip = u_.segment(cone.row, m);
  equations_->contacts()[cone.contact].B.block(0, f, 1, m) +=
      weight_ * cone.factor * slip.transpose() / std::sqrt(slip.squaredNorm() + 10 * gap_);
}

bool FrictionInterior::step() {
  const FrictionSystem& system = *system_;
  system.velocities(r_, w_, u_);
  residual_ = u_;
  for (int i = 0; i < system.contacts(); ++i) residual_[system.first[i]] += coneShift(system.laws[i], &u_[system.first[i]]);
  std::vector<AlartCurnier>& contacts = equations_->contacts();
  for (int i = 0; i < system.contacts(); ++i) { // rows that no cone holds keep r = 0
    const FrictionLaw& law = system.laws[i];
    contacts[i].A.setIdentity(law.size, law.size);
    contacts[i].B.setZero(law.size, law.size);
    if (law.kind != FrictionLaw::Kind::Bilateral) continue;
    contacts[i].A.setZero();
    contacts[i].B.setIdentity();
  }
  gap_ = 0;
  for (Cone& cone : cones_) {
    scale(cone);
    add(cone, -cone.y, residual_);
    gap_ += cone.z.dot(cone.y) / double(cones_.size());
    cone.correction.setZero(cone.size);
    const ContactMatrix stiffness = cone.T * cone.T;
    AlartCurnier& contact = contacts[cone.contact];
    const int f = cone.row - system.first[cone.contact], m = cone.size - 1;
    if (contact.B(0, 0) == 0) contact.A(0, 0) = 0;
    contact.B(0, 0) = 1;
    contact.A(0, 0) += cone.factor * cone.factor * stiffness(0, 0);
    contact.A.block(f, 0, m, 1) = cone.factor * stiffness.block(1, 0, m, 1);
    contact.A.block(0, f, 1, m) = cone.factor * stiffness.block(0, 1, 1, m);
    contact.A.block(f, f, m, m) = stiffness.block(1, 1, m, m);
    contact.B.block(f, f, m, m).setIdentity();
  }
  for (const Cone& cone : cones_) differentiateShift(cone);
  if (!equations_->factorise(1e-12)) return false;
  direction(0);
  const double affine = std::min(1.0, largestStep());
  double reached = 0;
  for (Cone& cone : cones_) {
    reached += (cone.z + affine * cone.dz).dot(cone.y + affine * cone.dy) / double(cones_.size());
    cone.correction = product(cone.T * cone.dz, cone.inverse * cone.dy);
  }
  const double affineTarget = gap_ * std::clamp(std::pow(std::max(0.0, reached / gap_), 3), 1e-4, 1.0);
  direction(std::max(affineTarget, std::min(gap_, residual_.squaredNorm() / double(residual_.size()))));
  const double length = std::min(1.0, 0.99 * largestStep());
  if (!(length > 1e-6) || !dr_.allFinite()) return false;
  r_ += length * dr_;
  for (Cone& cone : cones_) {
    cone.z += length * cone.dz;
    cone.y += length * cone.dy;
  }
  return true;
}

}
