#include "tendril/shells/uniform_patch.h"

#include "shells/uniform_kernel.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

namespace uniform_patch {

namespace {

/// w, sigma and the Stumpff functions of a point.
struct Bend {
  Bend(const Vector3& q, const Vector2& s)
      : w(q[0] * s[0] + q[2] * s[1], q[2] * s[0] + q[1] * s[1]), sigma(s.dot(w)), c(so3::stumpff(w.squaredNorm())) {}
  double c2x() const { return c[4] - c[3] / 2; }
  double c3x() const { return 1.5 * c[5] - c[4] / 2; }
  double c2xx() const { return c[4] / 4 - 1.25 * c[5] + 2 * c[6]; }
  double c3xx() const { return c[5] / 4 - 1.75 * c[6] + 3.75 * c[7]; }

  Vector2 w;
  double sigma;
  std::array<double, 8> c;
};

}

Vector3 position(const Vector3& q, const Vector2& s) {
  const Bend b(q, s);
  const double f = b.c[3] * b.sigma;
  return {s[0] - f * b.w[0], s[1] - f * b.w[1], b.c[2] * b.sigma};
}

Pose frame(const Vector3& q, const Vector2& s) {
  const Bend b(q, s);
  return {so3::exp(Vector3(b.w[1], -b.w[0], 0)), position(q, s)};
}

Matrix3 jacobian(const Vector3& q, const Vector2& s) {
  const Bend b(q, s);
  const double f = b.c[3] * b.sigma;
  Eigen::Matrix<double, 2, 3> w;
  w << s[0], 0, s[1], 0, s[1], s[0];
  const Eigen::RowVector3d sigma = s.transpose() * w, x = 2 * b.w.transpose() * w;
  Matrix3 J;
  J.topRows<2>() = -(b.w * (b.c3x() * b.sigma * x + b.c[3] * sigma) + f * w);
  J.row(2) = b.c2x() * b.sigma * x + b.c[2] * sigma;
  return J;
}

Vector3 acceleration(const Vector3& q, const Vector3& v, const Vector2& s) {
  const Bend b(q, s);
  const Vector2 wv(v[0] * s[0] + v[2] * s[1], v[2] * s[0] + v[1] * s[1]);
  const double sigmav = s.dot(wv), xv = 2 * b.w.dot(wv), xvv = 2 * wv.squaredNorm();
  const double fvv = (b.c3xx() * xv * xv + b.c3x() * xvv) * b.sigma + 2 * b.c3x() * xv * sigmav;
  const double fv = b.c3x() * xv * b.sigma + b.c[3] * sigmav;
  const double z = (b.c2xx() * xv * xv + b.c2x() * xvv) * b.sigma + 2 * b.c2x() * xv * sigmav;
  return {-(fvv * b.w[0] + 2 * fv * wv[0]), -(fvv * b.w[1] + 2 * fv * wv[1]), z};
}

}

namespace {

/// |w|^2 is convex in s, so that it is largest at a corner.
double largestX(const PatchDomain& d, const Vector3& q) {
  double largest = 0;
  for (const double s1 : {d.begin1, d.end1})
    for (const double s2 : {d.begin2, d.end2})
      largest = std::max(largest, Vector2(q[0] * s1 + q[2] * s2, q[2] * s1 + q[1] * s2).squaredNorm());
  return largest;
}

const ProductRule& ruleFor(double angle1, double angle2) {
  const ProductRule* rule = productRule(angle1, angle2);
  if (!rule)
    throw NumericalFailure(fmt::format("shell: a patch is rolled up by {:.3g} and {:.3g} rad along its sides, more than can be integrated; "
                                       "the step may be too large for its stiffness",
                                       angle1, angle2));
  return *rule;
}

/// Angles by which a patch turns along its sides.
Vector2 turnsOf(const PatchDomain& d, const Vector3& q) {
  return {std::sqrt(q[0] * q[0] + q[2] * q[2]) * d.length(), std::sqrt(q[1] * q[1] + q[2] * q[2]) * d.width()};
}

const ProductRule& ruleFor(const PatchDomain& d, const Vector3& q) {
  const Vector2 angles = turnsOf(d, q);
  return ruleFor(angles[0], angles[1]);
}

/// The integrand in (kappa, phi) and the rule for it.
struct ConeIntegral {
  ConeIntegral(const PatchProperties& properties, const ConePoint& at, const Vector2& rates, const Vector3& gravity,
               const UniformPatch::Air& air) {
    const PatchDomain& domain = properties.domain;
    const double c = std::cos(at.phi), s = std::sin(at.phi), kappa = std::abs(at.kappa);
    const auto turned = [&](const Vector3& x) { return Vector3(c * x[0] + s * x[1], s * x[0] - c * x[1], x[2]); };
    const Vector3 g = turned(gravity), wind = turned(air.wind);
    double reach = 0;
    for (const double s1 : {domain.begin1, domain.end1})
      for (const double s2 : {domain.begin2, domain.end2}) reach = std::max(reach, std::abs(c * s1 + s * s2));
    integrand = {.kappa = at.kappa,
                 .cosine = c,
                 .sine = s,
                 .v = {rates[0], rates[1]},
                 .g = {g[0], g[1], g[2]},
                 .middle = {(domain.begin1 + domain.end1) / 2, (domain.begin2 + domain.end2) / 2},
                 .half = {domain.length() / 2, domain.width() / 2},
                 .drag = air.density / (2 * properties.areaDensity),
                 .wind = {wind[0], wind[1], wind[2]},
                 .largest = kappa * kappa * reach * reach};
    rule = &ruleFor(kappa * std::abs(c) * domain.length(), kappa * std::abs(s) * domain.width());
    weight = properties.areaDensity * domain.area() / 4;
  }

  ConeIntegrand integrand;
  const ProductRule* rule;
  double weight; ///< of the sums
};

}

UniformPatch::UniformPatch(const PatchProperties& properties)
    : properties_(properties), stiffness_(properties.domain.area() * properties.stiffness()) {
  properties_.check();
  const ConePoint natural = ConePoint::of(properties_.natural);
  kappa0_ = natural.kappa, cosine0_ = std::cos(natural.phi), sine0_ = std::sin(natural.phi);
}

void UniformPatch::evaluate(const Vector3& q, const Vector3& v, const Vector3& gravity, const Air& air, Dynamics& d) const {
  const PatchDomain& domain = properties_.domain;
  const UniformIntegrand integrand{.q = {q[0], q[1], q[2]},
                                   .v = {v[0], v[1], v[2]},
                                   .g = {gravity[0], gravity[1], gravity[2]},
                                   .middle = {(domain.begin1 + domain.end1) / 2, (domain.begin2 + domain.end2) / 2},
                                   .half = {domain.length() / 2, domain.width() / 2},
                                   .drag = air.density / (2 * properties_.areaDensity),
                                   .wind = {air.wind[0], air.wind[1], air.wind[2]},
                                   .largest = largestX(domain, q)};
  UniformSums sums;
  sumUniformPatch(integrand, ruleFor(domain, q), sums);
  const double weight = properties_.areaDensity * domain.area() / 4;
  const double* m = sums.mass;
  d.M << m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5];
  d.M *= weight;
  d.force = weight * Vector3(sums.force[0], sums.force[1], sums.force[2]);
}

void UniformPatch::evaluate(const ConePoint& at, const Vector2& rates, const Vector3& gravity, const Air& air, ConeDynamics& d) const {
  const ConeIntegral integral(properties_, at, rates, gravity, air);
  ConeSums sums;
  sumConePatch(integral.integrand, *integral.rule, sums);
  const double weight = integral.weight;
  d.M << weight * sums.mass[0], weight * sums.mass[1], weight * sums.mass[1], weight * sums.mass[2];
  d.force = weight * Vector2(sums.force[0], sums.force[1]);

  const double c = integral.integrand.cosine, s = integral.integrand.sine;
  const double D = properties_.domain.area() * properties_.rigidity, shear = 1 - properties_.poissonRatio, tau = properties_.dampingTime;
  const double cosine = c * cosine0_ + s * sine0_, sine = s * cosine0_ - c * sine0_; // of phi - phi0
  d.elastic[0] = -D * (at.kappa - kappa0_ + shear * kappa0_ * sine * sine + tau * rates[0]);
  d.elastic[1] = -2 * D * shear * at.kappa * (kappa0_ * sine * cosine + tau * at.kappa * rates[1]);
}

UniformPatch::ConeEnergies UniformPatch::energies(const ConePoint& at, const Vector2& rates, const Vector3& gravity, const Air& air) const {
  const ConeIntegral integral(properties_, at, rates, gravity, air);
  ConeEnergySums sums;
  sumConeEnergies(integral.integrand, *integral.rule, sums);
  const double D = properties_.domain.area() * properties_.rigidity, shear = 2 * (1 - properties_.poissonRatio);
  const double turning = at.kappa * rates[1];
  const double damping = D * properties_.dampingTime * (rates[0] * rates[0] + shear * turning * turning);
  return {.kinetic = integral.weight / 2 *
                     (sums.mass[0] * rates[0] * rates[0] + 2 * sums.mass[1] * rates[0] * rates[1] + sums.mass[2] * rates[1] * rates[1]),
          .elastic = elasticEnergy(at.curvatures()),
          .gravitational = -integral.weight * sums.weight,
          .power = integral.weight * sums.power - damping};
}

Matrix3 UniformPatch::mass(const Vector3& q) const {
  Dynamics d;
  evaluate(q, Vector3::Zero(), Vector3::Zero(), d);
  return d.M;
}

bool UniformPatch::canIntegrate(const Vector3& q) const {
  const Vector2 angles = turnsOf(properties_.domain, q);
  return productRule(angles[0], angles[1]) != nullptr;
}

Vector3 UniformPatch::moment(const Vector3& q) const {
  const PatchDomain& d = properties_.domain;
  const ProductRule& rule = ruleFor(d, q);
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < rule.points; ++i) {
    const Vector2 s((d.begin1 + d.end1 + d.length() * rule.x1[i]) / 2, (d.begin2 + d.end2 + d.width() * rule.x2[i]) / 2);
    sum += rule.w[i] * uniform_patch::position(q, s);
  }
  return d.area() / 4 * sum;
}

Vector3 UniformPatch::elasticForce(const Vector3& q, const Vector3& v) const {
  return -stiffness_ * (q - properties_.natural + properties_.dampingTime * v);
}

/// The generalized force of the air is what it adds to the forces at these rates.
double UniformPatch::airPower(const Vector3& q, const Vector3& v, const Air& air) const {
  if (!(air.density > 0)) return 0;
  Dynamics with, without;
  evaluate(q, v, Vector3::Zero(), air, with);
  evaluate(q, v, Vector3::Zero(), without);
  return (without.force - with.force).dot(v);
}

double UniformPatch::kineticEnergy(const Vector3& q, const Vector3& v) const { return 0.5 * v.dot(mass(q) * v); }

double UniformPatch::elasticEnergy(const Vector3& q) const {
  const Vector3 change = q - properties_.natural;
  return 0.5 * change.dot(stiffness_ * change);
}

double UniformPatch::gravitationalEnergy(const Vector3& q, const Vector3& gravity) const {
  return -properties_.areaDensity * gravity.dot(moment(q));
}

}
