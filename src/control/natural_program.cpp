#include "control/natural_program.h"

namespace tendril {

NaturalProgram::NaturalProgram(NonlinearProgram& program, Units units)
    : program_(program), units_(std::move(units)), structure_(program.structure()), increment_(units_.variable) {
  structure_.lower.array() /= units_.inequality.array();
  structure_.upper.array() /= units_.inequality.array();
  multipliers_.equality.setZero(units_.equality.size());
  multipliers_.inequality.setZero(units_.inequality.size());
}

void NaturalProgram::retract(const Eigen::Ref<const Eigen::VectorXd>& increment) {
  increment_ = increment.cwiseProduct(units_.variable);
  program_.retract(increment_);
}

double NaturalProgram::longestFactor(const Eigen::Ref<const Eigen::VectorXd>& increment) const {
  increment_ = increment.cwiseProduct(units_.variable);
  return program_.longestFactor(increment_);
}

bool NaturalProgram::evaluate(ProgramValues& values) {
  if (!program_.evaluate(values)) return false;
  values.objective /= units_.objective;
  values.equality.array() /= units_.equality.array();
  values.inequality.array() /= units_.inequality.array();
  return true;
}

bool NaturalProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) {
  if (multipliers) {
    multipliers_.weight = multipliers->weight / units_.objective;
    multipliers_.equality = multipliers->equality.cwiseQuotient(units_.equality);
    multipliers_.inequality = multipliers->inequality.cwiseQuotient(units_.inequality);
  }
  if (!program_.differentiate(multipliers ? &multipliers_ : nullptr, d)) return false;
  d.gradient.array() *= units_.variable.array() / units_.objective;
  const auto scale = [&](const std::vector<MatrixEntry>& entries, const Eigen::VectorXd& rows, Eigen::VectorXd& values) {
    for (std::size_t i = 0; i < entries.size(); ++i) values[Eigen::Index(i)] *= units_.variable[entries[i].column] / rows[entries[i].row];
  };
  scale(structure_.equalityJacobian, units_.equality, d.equalityJacobian);
  scale(structure_.inequalityJacobian, units_.inequality, d.inequalityJacobian);
  if (!multipliers) return true;
  for (std::size_t i = 0; i < structure_.hessian.size(); ++i)
    d.hessian[Eigen::Index(i)] *= units_.variable[structure_.hessian[i].row] * units_.variable[structure_.hessian[i].column];
  return true;
}

}
