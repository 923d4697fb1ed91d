#include "rods/rod_program.h"

namespace tendril {

RodProgram::RodProgram(StrainRod& rod, const RodEnds& ends)
    : rod_(rod), ends_(ends), length_(rod.properties().length), energyUnit_(rod.properties().stiffness.maxCoeff() / length_),
      positions_(ends.position ? 3 : 0) {
  const int n = rod.size();
  for (int i = 0; i < n; ++i) structure_.addVariable(0);
  const int equations = positions_ + (ends.orientation ? 3 : 0);
  for (int k = 0; k < equations; ++k) structure_.addEquality(0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < equations; ++k) structure_.equalityJacobian.push_back({k, i});
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) structure_.hessian.push_back({i, j});
  x = length_ * rod.strains();
  place();
}

void RodProgram::place() {
  if (placed_.size() == x.size() && placed_ == x) return;
  placed_ = x;
  rod_.place(ends_.begin, x / length_);
}

Vector3 RodProgram::turn() const { return so3::log(ends_.orientation->transpose() * rod_.frame(rod_.elements()).R); }

/// Positions over L, and c = log(R*^T R): dc = T^-1(c) R^T omega, so that y . c has the couple m = R T^-T(c) y, and as its second
/// derivative along exp(a) exp(b) R the change of m along a with that of the trivialisation: a . (R T^-T N^T R^T) b, N = d(T^-T y)/dc.
StrainRod::EndFunction RodProgram::functionOf(const VectorX& multipliers) const {
  StrainRod::EndFunction end;
  if (ends_.position) end.y = multipliers.head<3>() / length_;
  if (!ends_.orientation) return end;
  const Vector3 y = multipliers.segment<3>(positions_), c = turn();
  const Matrix3& R = rod_.frame(rod_.elements()).R;
  const Matrix3 inverse = so3::tangentInverse(c), N = -so3::tangentInverseDerivative(-c, y);
  end.couple = R * (inverse.transpose() * y);
  end.curvature = R * (inverse.transpose() * N.transpose()) * R.transpose();
  return end;
}

bool RodProgram::evaluate(ProgramValues& values) {
  if (!x.allFinite()) return false;
  place();
  values.objective = rod_.energy() / energyUnit_;
  if (ends_.position) values.equality.head<3>() = (rod_.frame(rod_.elements()).x - *ends_.position) / length_;
  if (ends_.orientation) values.equality.segment<3>(positions_) = turn();
  return std::isfinite(values.objective);
}

const MatrixX& RodProgram::jacobian() {
  place();
  J_.setZero(structure_.equalities(), rod_.size());
  for (int k = 0; k < structure_.equalities(); ++k) {
    gradient_.setZero(rod_.size());
    rod_.addEndGradient(functionOf(VectorX::Unit(structure_.equalities(), k)), 1 / length_, gradient_);
    J_.row(k) = gradient_;
  }
  return J_;
}

const MatrixX& RodProgram::hessian(const VectorX& multipliers) {
  place();
  rod_.hessian(1 / energyUnit_, functionOf(multipliers), H_);
  H_ /= length_ * length_;
  return H_;
}

bool RodProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  if (!x.allFinite()) return false;
  place();
  derivatives.gradient.setZero();
  rod_.addEnergyGradient(1 / (energyUnit_ * length_), derivatives.gradient);
  Eigen::Map<MatrixX>(derivatives.equalityJacobian.data(), structure_.equalities(), rod_.size()) = jacobian();
  if (!multipliers) return true;
  rod_.hessian(multipliers->weight / energyUnit_, functionOf(multipliers->equality), H_);
  Eigen::Index at = 0;
  for (int j = 0; j < rod_.size(); ++j)
    for (int i = j; i < rod_.size(); ++i) derivatives.hessian[at++] = H_(i, j) / (length_ * length_);
  return derivatives.hessian.allFinite();
}

/// Stationarity of E + mu . c: the support's work on a motion of the end is -mu . dc.
RodSupport RodProgram::support(const VectorX& multipliers) const {
  const StrainRod::EndFunction end = functionOf(multipliers);
  return {-energyUnit_ * end.y, -energyUnit_ * end.couple};
}

std::string RodProgram::nameOfEquality(int i) const {
  const std::string axis = "123";
  return isPosition(i) ? "position of the rod's end, component " + axis.substr(std::size_t(i), 1)
                       : "orientation of the rod's end, axis " + axis.substr(std::size_t(i - positions_), 1);
}

std::string RodProgram::nameOfVariable(int i) const {
  static const char* const names[] = {"curvature 1", "curvature 2", "torsion"};
  return std::string(names[i % 3]) + " of element " + std::to_string(i / 3);
}

}
