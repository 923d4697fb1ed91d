#include "solvers/scaled_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tendril {

namespace {

using Vector = Eigen::VectorXd;

/// Adds the time until its end to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

double scaleFor(double largest) {
  constexpr double allowed = 100, smallest = 1e-8;
  return largest > allowed ? std::max(smallest, allowed / largest) : 1.0;
}

Vector rowScales(const std::vector<MatrixEntry>& entries, const Vector& values, int rows) {
  Vector largest = Vector::Zero(rows);
  for (std::size_t k = 0; k < entries.size(); ++k)
    largest[entries[k].row] = std::max(largest[entries[k].row], std::abs(values[Eigen::Index(k)]));
  return largest.unaryExpr(&scaleFor);
}

void scaleRows(const std::vector<MatrixEntry>& entries, const Vector& scale, Vector& values) {
  for (std::size_t k = 0; k < entries.size(); ++k) values[Eigen::Index(k)] *= scale[entries[k].row];
}

}

ScaledProgram::ScaledProgram(NonlinearProgram& program, double widening)
    : program_(program), structure_(program.structure()), widening_(widening), equalityScale_(Vector::Ones(structure_.equalities())),
      inequalityScale_(Vector::Ones(structure_.inequalities())), handed_(makeMultipliers()) {}

bool ScaledProgram::chooseScales() {
  ProgramDerivatives first = makeDerivatives();
  objectiveScale_ = 1;
  equalityScale_.setOnes();
  inequalityScale_.setOnes();
  if (!differentiate(nullptr, first)) return false;
  objectiveScale_ = scaleFor(first.gradient.size() > 0 ? first.gradient.lpNorm<Eigen::Infinity>() : 0);
  equalityScale_ = rowScales(structure_.equalityJacobian, first.equalityJacobian, structure_.equalities());
  inequalityScale_ = rowScales(structure_.inequalityJacobian, first.inequalityJacobian, structure_.inequalities());
  const Eigen::Index p = structure_.inequalities();
  lower_.resize(p);
  upper_.resize(p);
  for (Eigen::Index i = 0; i < p; ++i) {
    const double l = inequalityScale_[i] * structure_.lower[i], u = inequalityScale_[i] * structure_.upper[i];
    lower_[i] = std::isinf(l) ? l : l - widening_ * std::max(1.0, std::abs(l));
    upper_[i] = std::isinf(u) ? u : u + widening_ * std::max(1.0, std::abs(u));
  }
  return true;
}

bool ScaledProgram::evaluate(ProgramValues& values) {
  const Stopwatch watch(evaluationTime);
  ++evaluations;
  if (!program_.evaluate(values)) return false;
  values.objective *= objectiveScale_;
  values.equality.array() *= equalityScale_.array();
  values.inequality.array() *= inequalityScale_.array();
  return std::isfinite(values.objective) && values.equality.allFinite() && values.inequality.allFinite();
}

bool ScaledProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  const Stopwatch watch(differentiationTime);
  ++differentiations;
  if (multipliers) {
    handed_.weight = multipliers->weight * objectiveScale_;
    handed_.equality = multipliers->equality.cwiseProduct(equalityScale_);
    handed_.inequality = multipliers->inequality.cwiseProduct(inequalityScale_);
  }
  if (!program_.differentiate(multipliers ? &handed_ : nullptr, derivatives)) return false;
  derivatives.gradient *= objectiveScale_;
  scaleRows(structure_.equalityJacobian, equalityScale_, derivatives.equalityJacobian);
  scaleRows(structure_.inequalityJacobian, inequalityScale_, derivatives.inequalityJacobian);
  return derivatives.gradient.allFinite() && derivatives.equalityJacobian.allFinite() && derivatives.inequalityJacobian.allFinite() &&
         (!multipliers || derivatives.hessian.allFinite());
}

double ScaledProgram::unscaledViolation(const ProgramValues& values, int i) const {
  const double d = values.inequality[i] / inequalityScale_[i];
  return std::max({0.0, structure_.lower[i] - d, d - structure_.upper[i]});
}

double ScaledProgram::unscaledViolation(const ProgramValues& values) const {
  double most = 0;
  for (int i = 0; i < structure_.equalities(); ++i) most = std::max(most, std::abs(unscaledEquality(values, i)));
  for (int i = 0; i < structure_.inequalities(); ++i) most = std::max(most, unscaledViolation(values, i));
  return most;
}

ProgramMultipliers ScaledProgram::unscaled(const ProgramMultipliers& m) const {
  return {1.0, m.equality.cwiseProduct(equalityScale_) / objectiveScale_, m.inequality.cwiseProduct(inequalityScale_) / objectiveScale_};
}

ProgramMultipliers ScaledProgram::scaled(const ProgramMultipliers& m) const {
  const double factor = objectiveScale_ / m.weight;
  return {1.0, m.equality.cwiseQuotient(equalityScale_) * factor, m.inequality.cwiseQuotient(inequalityScale_) * factor};
}

ProgramValues ScaledProgram::makeValues() const {
  return {0.0, Vector::Zero(structure_.equalities()), Vector::Zero(structure_.inequalities())};
}

ProgramDerivatives ScaledProgram::makeDerivatives() const {
  const auto zeros = [](const std::vector<MatrixEntry>& entries) -> Vector { return Vector::Zero(Eigen::Index(entries.size())); };
  return {Vector::Zero(structure_.variables()), zeros(structure_.equalityJacobian), zeros(structure_.inequalityJacobian),
          zeros(structure_.hessian)};
}

ProgramMultipliers ScaledProgram::makeMultipliers() const {
  return {1.0, Vector::Zero(structure_.equalities()), Vector::Zero(structure_.inequalities())};
}

}
