#include "rods/rod_program.h"

namespace tendril {

namespace {

RodEnds scaled(RodEnds ends, double length) {
  ends.begin.x /= length;
  if (ends.position) *ends.position /= length;
  return ends;
}

}

RodProgram::RodProgram(const StrainRod& rod, const RodEnds& ends) : rod_(rod.scaled()), ends_(scaled(ends, rod.properties().length)) {}

std::string RodProgram::nameOfStrain(int i) const {
  static const char* const names[] = {"curvature 1", "curvature 2", "torsion", "shear 1", "shear 2", "stretch"};
  const int stride = rod_.element().stride();
  return std::string(names[i % stride]) + " of element " + std::to_string(i / stride);
}

std::string RodProgram::nameOfVariable(int i) const { return nameOfStrain(i); }

StrainProgram::StrainProgram(const StrainRod& rod, const RodEnds& ends) : RodProgram(rod, ends), x(rod_.strains()) {
  const int n = rod_.size();
  for (int i = 0; i < n; ++i) structure_.addVariable(0);
  for (int k = 0; k < ends_.rows(); ++k) structure_.addEquality(0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < ends_.rows(); ++k) structure_.equalityJacobian.push_back({k, i});
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) structure_.hessian.push_back({i, j});
  rod_.place(ends_.begin(), x);
}

StrainRod& StrainProgram::rod() {
  if (rod_.strains() != x) rod_.place(ends_.begin(), x);
  return rod_;
}

bool StrainProgram::evaluate(ProgramValues& values) {
  if (!x.allFinite()) return false;
  values.objective = rod().energy();
  ends_.evaluate(rod_.frame(rod_.elements()), values.equality);
  return std::isfinite(values.objective);
}

bool StrainProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  if (!x.allFinite()) return false;
  derivatives.gradient.setZero();
  rod().addEnergyGradient(1, derivatives.gradient);
  const Pose& end = rod_.frame(rod_.elements());
  for (int k = 0; k < ends_.rows(); ++k) {
    gradient_.setZero(rod_.size());
    rod_.addEndGradient(ends_.weighted(end, VectorX::Unit(ends_.rows(), k)), 1, gradient_);
    for (int i = 0; i < rod_.size(); ++i) derivatives.equalityJacobian[Eigen::Index(ends_.rows()) * i + k] = gradient_[i];
  }
  if (!multipliers) return true;
  rod_.hessian(multipliers->weight, ends_.weighted(end, multipliers->equality), H_);
  Eigen::Index at = 0;
  for (int j = 0; j < rod_.size(); ++j)
    for (int i = j; i < rod_.size(); ++i) derivatives.hessian[at++] = H_(i, j);
  return derivatives.hessian.allFinite();
}

}
