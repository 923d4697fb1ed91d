#include "tendril/elements/section.h"

#include "tendril/model/error.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

void requirePositive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw InputError(std::string(what) + " must be positive and finite, not " + std::to_string(value));
  }
}

void requireSymmetric(const Matrix6& A, const std::string& name, const char* what, double least) {
  const double size = A.cwiseAbs().maxCoeff();
  if (!A.allFinite() || !((A - A.transpose()).cwiseAbs().maxCoeff() <= 1e-10 * size)) {
    throw InputError(name + ": the " + what + " matrix must be finite and symmetric");
  }
  // Scaled to a unit diagonal first, since forces and moments differ by orders of magnitude.
  const Vector6 scale = A.diagonal().cwiseAbs().cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt().cwiseInverse();
  const Matrix6 scaled = scale.asDiagonal() * A * scale.asDiagonal();
  const double smallest = Eigen::SelfAdjointEigenSolver<Matrix6>(scaled, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (!(smallest > least)) {
    throw InputError(name + ": the " + what + " matrix must be positive " + (least < 0 ? "semidefinite" : "definite") +
                     "; check the signs and sizes of its entries");
  }
}

}

void Material::check(const std::string& name) const {
  if (!(youngsModulus > 0) || !std::isfinite(youngsModulus)) throw InputError(name + ": Young's modulus must be positive and finite");
  if (!(poissonRatio > -1 && poissonRatio <= 0.5)) throw InputError(name + ": Poisson's ratio must lie in (-1, 0.5]");
  if (!(density >= 0) || !std::isfinite(density)) throw InputError(name + ": the density must not be negative");
  if (!(dampingTime >= 0) || !std::isfinite(dampingTime)) throw InputError(name + ": the damping time must not be negative");
}

Section Section::circle(double radius) {
  requirePositive(radius, "the radius of a circular section");
  Section s;
  s.area = std::numbers::pi * radius * radius;
  s.I2 = s.I3 = s.area * radius * radius / 4;
  s.torsion = 2 * s.I2;
  s.width = s.height = 2 * radius;
  return s;
}

Section Section::tube(double outerRadius, double innerRadius) {
  requirePositive(outerRadius, "the outer radius of a tube");
  requirePositive(innerRadius, "the inner radius of a tube");
  if (innerRadius >= outerRadius) throw InputError("the inner radius of a tube must be smaller than the outer radius");
  Section s = circle(outerRadius);
  const Section hole = circle(innerRadius);
  s.shape = Shape::Tube;
  s.area -= hole.area;
  s.I2 -= hole.I2;
  s.I3 -= hole.I3;
  s.torsion -= hole.torsion;
  s.innerRadius = innerRadius;
  return s;
}

Section Section::rectangle(double width, double height, Torsion torsion) {
  requirePositive(width, "the width of a rectangular section");
  requirePositive(height, "the height of a rectangular section");
  Section s;
  s.shape = Shape::Rectangle;
  s.area = width * height;
  s.I2 = width * height * height * height / 12;
  s.I3 = height * width * width * width / 12;
  s.torsion = torsion == Torsion::Polar ? s.I2 + s.I3 : saintVenantTorsion(width, height);
  s.width = width;
  s.height = height;
  return s;
}

double saintVenantTorsion(double a, double b) {
  const double longer = std::max(a, b), shorter = std::min(a, b);
  double sum = 0;
  // The tail beyond n is about tanh -> 1 times the sum of 1/n^5, below 1/(8 n^4).
  for (int n = 2001; n > 0; n -= 2) sum += std::tanh(n * std::numbers::pi * longer / (2 * shorter)) / std::pow(n, 5);
  return longer * std::pow(shorter, 3) * (1.0 / 3 - 64 / std::pow(std::numbers::pi, 5) * shorter / longer * sum);
}

SectionProperties SectionProperties::of(const Section& s, const Material& m) {
  const double E = m.youngsModulus, G = m.shearModulus(), rho = m.density;
  SectionProperties p;
  p.stiffness.diagonal() << E * s.area, s.shear2 * G * s.area, s.shear3 * G * s.area, G * s.torsion, E * s.I2, E * s.I3;
  p.mass.diagonal() << rho * s.area, rho * s.area, rho * s.area, rho * (s.I2 + s.I3), rho * s.I2, rho * s.I3;
  p.dampingTime = m.dampingTime;
  p.outline = s;
  return p;
}

SectionProperties SectionProperties::general(const Matrix6& stiffness, const Matrix6& mass, double dampingTime) {
  SectionProperties p;
  p.stiffness = stiffness;
  p.mass = mass;
  p.dampingTime = dampingTime;
  p.outline.shape = Section::Shape::General;
  return p;
}

void SectionProperties::check(const std::string& name) const {
  requireSymmetric(stiffness, name, "stiffness", 0);
  if (!mass.isZero(0)) requireSymmetric(mass, name, "mass", -1e-12);
  if (!(dampingTime >= 0) || !std::isfinite(dampingTime)) throw InputError(name + ": the damping time must not be negative");
}

}
