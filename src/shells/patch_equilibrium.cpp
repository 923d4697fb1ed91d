#include "shells/gauss_rule.h"
#include "tendril/model/error.h"
#include "tendril/shells/patch_motion.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tendril {

namespace {

/// Second derivative of the energy of the weight along directions of q, from that along single ones.
double weightCurve(const UniformPatch& patch, const Vector3& q, const Vector3& v, const Vector3& gravity) {
  const PatchDomain& d = patch.properties().domain;
  const ProductRule* rule = productRule(std::hypot(q[0], q[2]) * d.length(), std::hypot(q[1], q[2]) * d.width());
  if (!rule) throw NumericalFailure("shell: no equilibrium is found before the patch is rolled up");
  double sum = 0;
  for (std::size_t i = 0; i < rule->points; ++i) {
    const Vector2 s((d.begin1 + d.end1 + d.length() * rule->x1[i]) / 2, (d.begin2 + d.end2 + d.width() * rule->x2[i]) / 2);
    sum -= rule->w[i] * gravity.dot(uniform_patch::acceleration(q, v, s));
  }
  return patch.properties().areaDensity * d.area() / 4 * sum;
}

/// Where the weight bends a flat sheet first: the (kappa, phi) of largest decrease, with the energy quadratic in kappa.
ConePoint firstBend(const UniformPatch& patch, const Vector3& gravity) {
  UniformPatch::Dynamics d;
  patch.evaluate(Vector3::Zero(), Vector3::Zero(), gravity, d);
  const Matrix3 K = patch.properties().domain.area() * patch.properties().stiffness();
  // force . q(kappa, phi) is kappa (A + B cos(2 phi - C)): the extremum of larger size.
  const Vector3 f = -d.force;
  const double half = std::atan2(f[2], f[0] - f[1]) / 2;
  ConePoint best;
  double largest = -1;
  for (const double phi : {half, half + 2 * std::atan(1.0)}) {
    const Vector3 ray = ConePoint::toCurvatures(1, phi);
    const double push = f.dot(ray), stiffness = ray.dot(K * ray);
    if (push * push / stiffness > largest) largest = push * push / stiffness, best = {push / stiffness, phi};
  }
  return best;
}

}

ConePotential conePotential(const UniformPatch& patch, const ConePoint& at, const Vector3& gravity) {
  const Vector3 q = at.curvatures();
  const Eigen::Matrix<double, 3, 2> T = at.tangent();
  UniformPatch::Dynamics d;
  patch.evaluate(q, Vector3::Zero(), gravity, d);
  const Vector3 gradient = d.force - patch.elasticForce(q, Vector3::Zero());
  const Matrix3 K = patch.properties().domain.area() * patch.properties().stiffness();
  const auto second = [&](const Vector2& v) { return weightCurve(patch, q, T * v, gravity) + gradient.dot(at.curve(v)); };
  ConePotential p;
  p.value = patch.elasticEnergy(q) + patch.gravitationalEnergy(q, gravity);
  p.gradient = T.transpose() * gradient;
  p.hessian = T.transpose() * K * T;
  const double along = second({1, 0}), across = second({0, 1}), both = second({1, 1});
  p.hessian(0, 0) += along, p.hessian(1, 1) += across;
  p.hessian(0, 1) += (both - along - across) / 2;
  p.hessian(1, 0) = p.hessian(0, 1);
  return p;
}

Vector2 patchFrequencies(const UniformPatch& patch, const Vector3& q, const Vector3& gravity) {
  const ConePoint at = ConePoint::of(q);
  if (at.kappa == 0) throw InputError("shell: at the flat state the direction phi has no frequency; give curvatures");
  const Eigen::Matrix<double, 3, 2> T = at.tangent();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::Matrix2d> modes(conePotential(patch, at, gravity).hessian,
                                                                        T.transpose() * patch.mass(q) * T, Eigen::EigenvaluesOnly);
  Vector2 omega;
  for (int i = 0; i < 2; ++i) omega[i] = std::copysign(std::sqrt(std::abs(modes.eigenvalues()[i])), modes.eigenvalues()[i]);
  return omega;
}

PatchEquilibrium patchEquilibrium(const UniformPatch& patch, const Vector3& gravity, const Vector3& from) {
  constexpr int mostIterations = 200;
  const double reach = patch.properties().domain.reach();
  PatchEquilibrium e;
  e.at = ConePoint::of(from);
  if (e.at.kappa == 0) e.at = firstBend(patch, gravity);
  if (e.at.kappa == 0) throw InputError("shell: a naturally flat sheet that no weight bends stays flat; there is nothing to solve");
  const double force = patch.properties().domain.area() * patch.properties().rigidity * std::abs(e.at.kappa) +
                       patch.properties().areaDensity * gravity.norm() * patch.properties().domain.area() * reach * reach;
  e.at.kappa = std::clamp(e.at.kappa, -3 / reach, 3 / reach);
  const auto residualOf = [&](const ConePotential& p, const ConePoint& at) {
    return std::max(std::abs(p.gradient[0]), std::abs(p.gradient[1] / at.kappa)) / force;
  };
  ConePotential p = conePotential(patch, e.at, gravity);
  for (; e.iterations < mostIterations; ++e.iterations) {
    e.residual = residualOf(p, e.at);
    // Steps are measured by (dkappa, kappa dphi), in which both have the unit of a curvature.
    const Vector2 unit(1, 1 / e.at.kappa);
    const Eigen::Matrix2d H = unit.asDiagonal() * p.hessian * unit.asDiagonal();
    const Vector2 g = unit.asDiagonal() * p.gradient;
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> modes(H);
    e.isStable = modes.eigenvalues()[0] > 0;
    if (e.residual < 1e-14 && e.isStable) return e;
    const double floor = 1e-6 * modes.eigenvalues().cwiseAbs().maxCoeff();
    const Vector2 along = modes.eigenvectors().transpose() * g;
    Vector2 step = -(modes.eigenvectors() * (along.array() / modes.eigenvalues().cwiseAbs().cwiseMax(floor).array()).matrix());
    if (e.residual < 1e-14) step = modes.eigenvectors().col(0) * (0.01 / reach); // off a saddle
    step *= std::min(1.0, 0.5 * std::max(std::abs(e.at.kappa), 0.5 / reach) / step.norm());
    ConePoint next;
    ConePotential after;
    double share = 1;
    for (int halving = 0; halving < 40; ++halving, share /= 2) {
      next = {e.at.kappa + share * step[0], e.at.phi + share * step[1] / e.at.kappa};
      after = conePotential(patch, next, gravity);
      if (after.value <= p.value + 1e-4 * share * g.dot(step) || residualOf(after, next) < 0.5 * e.residual) break;
    }
    const bool isStuck = share < 1e-9;
    if (isStuck && e.residual < 1e-11 && e.isStable) return e;
    if (isStuck) break;
    e.at = next, p = after;
  }
  throw NumericalFailure(
      fmt::format("shell: no stable equilibrium after {} iterations; the last has kappa = {:.6g} 1/m, phi = {:.6g} rad and a "
                  "residual of {:.2g} of the forces that meet",
                  e.iterations, e.at.kappa, e.at.phi, e.residual));
}

}
