#include "rods/rod_program.h"

namespace tendril {

namespace {

RodEnds scaled(RodEnds ends, double length) {
  ends.begin.x /= length;
  if (ends.position) *ends.position /= length;
  return ends;
}

}

RodProgram::RodProgram(const StrainRod& rod, const RodEnds& ends)
    : rod_(rod.scaled()), ends_(scaled(ends, rod.properties().length)), length_(rod.properties().length),
      energyUnit_(rod.properties().stiffness.maxCoeff() / length_) {}

/// Stationarity of E + mu . c: the support's work on a motion of the end is -mu . dc.
RodSupport RodProgram::support(const VectorX& endMultipliers) {
  const StrainRod::EndFunction end = ends_.weighted(rod().frame(rod_.elements()), endMultipliers);
  return {-energyUnit_ / length_ * end.y, -energyUnit_ * end.couple};
}

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

const MatrixX& StrainProgram::jacobian() {
  const Pose& end = rod().frame(rod_.elements());
  J_.resize(ends_.rows(), rod_.size());
  for (int k = 0; k < ends_.rows(); ++k) {
    gradient_.setZero(rod_.size());
    rod_.addEndGradient(ends_.weighted(end, VectorX::Unit(ends_.rows(), k)), 1, gradient_);
    J_.row(k) = gradient_;
  }
  return J_;
}

const MatrixX& StrainProgram::hessian(double weight, const VectorX& multipliers) {
  rod().hessian(weight, ends_.weighted(rod_.frame(rod_.elements()), multipliers), H_);
  return H_;
}

bool StrainProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  if (!x.allFinite()) return false;
  derivatives.gradient.setZero();
  rod().addEnergyGradient(1, derivatives.gradient);
  Eigen::Map<MatrixX>(derivatives.equalityJacobian.data(), ends_.rows(), rod_.size()) = jacobian();
  if (!multipliers) return true;
  hessian(multipliers->weight, multipliers->equality);
  Eigen::Index at = 0;
  for (int j = 0; j < rod_.size(); ++j)
    for (int i = j; i < rod_.size(); ++i) derivatives.hessian[at++] = H_(i, j);
  return derivatives.hessian.allFinite();
}

}
