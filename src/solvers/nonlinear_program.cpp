#include "tendril/solvers/nonlinear_program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

namespace tendril {

namespace {

using Vector = Eigen::VectorXd;

bool coupled(int a, int b) { return a == ProgramStructure::global || b == ProgramStructure::global || std::abs(a - b) <= 1; }

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument("NonlinearProgram: " + message); }

void requireLabels(const std::vector<int>& stages, const char* what, auto nameOf) {
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i] < ProgramStructure::global)
      refuse(fmt::format("{} '{}' has stage {}; stages count from 0, {} is global", what, nameOf(int(i)), stages[i],
                         ProgramStructure::global));
}

void requireBounds(const NonlinearProgram& program) {
  const ProgramStructure& s = program.structure();
  if (s.lower.size() != s.inequalities() || s.upper.size() != s.inequalities())
    refuse(fmt::format("{} inequalities, but {} lower and {} upper bounds", s.inequalities(), s.lower.size(), s.upper.size()));
  for (int i = 0; i < s.inequalities(); ++i)
    if (!(s.lower[i] < s.upper[i]))
      refuse(fmt::format("inequality '{}' has lower bound {} and upper bound {}; make it an equality if they are meant to agree",
                         program.nameOfInequality(i), s.lower[i], s.upper[i]));
}

void requireRows(const NonlinearProgram& program, const std::vector<MatrixEntry>& entries, const std::vector<int>& rowStage,
                 const char* what, auto nameOf) {
  const std::vector<int>& variableStage = program.structure().variableStage;
  for (const MatrixEntry& e : entries) {
    if (e.row < 0 || e.row >= int(rowStage.size()) || e.column < 0 || e.column >= int(variableStage.size()))
      refuse(fmt::format("entry ({}, {}) of the {} lies outside {} rows and {} variables", e.row, e.column, what, rowStage.size(),
                         variableStage.size()));
    if (!coupled(rowStage[e.row], variableStage[e.column]))
      refuse(fmt::format("{}: '{}' of stage {} depends on '{}' of stage {}, which is no neighbour; make one of them global or add stages",
                         what, nameOf(e.row), rowStage[e.row], program.nameOfVariable(e.column), variableStage[e.column]));
  }
}

}

int ProgramStructure::stages() const {
  int last = 0;
  for (const auto* labels : {&variableStage, &equalityStage, &inequalityStage})
    for (int label : *labels) last = std::max(last, label);
  return last + 1;
}

int ProgramStructure::addVariable(int stage) {
  variableStage.push_back(stage);
  return variables() - 1;
}

int ProgramStructure::addEquality(int stage) {
  equalityStage.push_back(stage);
  return equalities() - 1;
}

int ProgramStructure::addInequality(int stage, double lowerBound, double upperBound) {
  inequalityStage.push_back(stage);
  lower.conservativeResize(inequalities());
  upper.conservativeResize(inequalities());
  lower[inequalities() - 1] = lowerBound;
  upper[inequalities() - 1] = upperBound;
  return inequalities() - 1;
}

std::string NonlinearProgram::nameOfVariable(int i) const { return fmt::format("variable {}", i); }
std::string NonlinearProgram::nameOfEquality(int i) const { return fmt::format("equality {}", i); }
std::string NonlinearProgram::nameOfInequality(int i) const { return fmt::format("inequality {}", i); }

void requireConsistent(const NonlinearProgram& program) {
  const ProgramStructure& s = program.structure();
  const auto variable = [&](int i) { return program.nameOfVariable(i); };
  const auto equality = [&](int i) { return program.nameOfEquality(i); };
  const auto inequality = [&](int i) { return program.nameOfInequality(i); };
  requireLabels(s.variableStage, "variable", variable);
  requireLabels(s.equalityStage, "equality", equality);
  requireLabels(s.inequalityStage, "inequality", inequality);
  requireBounds(program);
  requireRows(program, s.equalityJacobian, s.equalityStage, "Jacobian of the equalities", equality);
  requireRows(program, s.inequalityJacobian, s.inequalityStage, "Jacobian of the inequalities", inequality);
  requireRows(program, s.hessian, s.variableStage, "Hessian", variable);
  for (const MatrixEntry& e : s.hessian)
    if (e.row < e.column)
      refuse(fmt::format("entry ({}, {}) of the Hessian lies above the diagonal; give the lower triangle", e.row, e.column));
}

namespace {

/// Differences of all functions at once around one point.
class Differences {
 public:
  Differences(NonlinearProgram& program, const ProgramMultipliers& multipliers, double step)
      : program_(program), multipliers_(multipliers), step_(step), point_(program.pointSize()) {
    const ProgramStructure& s = program.structure();
    values_.equality.resize(s.equalities());
    values_.inequality.resize(s.inequalities());
    program.getPoint(point_);
  }
  ~Differences() { program_.setPoint(point_); }
  Differences(const Differences&) = delete;
  Differences& operator=(const Differences&) = delete;

  /// (f, c, d) along a direction.
  Vector first(const Vector& direction) {
    const auto central = [&](double h) -> Vector { return (at(h * direction) - at(-h * direction)) / (2 * h); };
    return (4 * central(step_) - central(2 * step_)) / 3;
  }
  /// u^T (Hessian of the Lagrangian) v.
  double second(const Vector& u, const Vector& v) {
    const auto central = [&](double h) {
      return (lagrangian(h * (u + v)) + lagrangian(-h * (u + v)) - lagrangian(h * (u - v)) - lagrangian(h * (v - u))) / (4 * h * h);
    };
    return (4 * central(step_) - central(2 * step_)) / 3;
  }

 private:
  Vector at(const Vector& increment) {
    program_.setPoint(point_);
    program_.retract(increment);
    if (!program_.evaluate(values_)) throw std::invalid_argument("checkDerivatives: the functions do not exist around this point");
    Vector all(1 + values_.equality.size() + values_.inequality.size());
    all << values_.objective, values_.equality, values_.inequality;
    return all;
  }
  double lagrangian(const Vector& increment) {
    const Vector all = at(increment);
    const Eigen::Index m = multipliers_.equality.size();
    return multipliers_.weight * all[0] + multipliers_.equality.dot(all.segment(1, m)) +
           multipliers_.inequality.dot(all.tail(all.size() - 1 - m));
  }

  NonlinearProgram& program_;
  const ProgramMultipliers& multipliers_;
  double step_;
  Vector point_;
  ProgramValues values_;
};

/// Errors of a matrix, in the measure of DerivativeCheck.
template <class RowName, class ColumnName>
DerivativeCheck::Error compare(const Eigen::MatrixXd& given, const Eigen::MatrixXd& differences, RowName rowName, ColumnName columnName) {
  DerivativeCheck::Error error;
  for (Eigen::Index i = 0; i < given.rows(); ++i) {
    const double scale = std::max(1.0, differences.row(i).cwiseAbs().maxCoeff());
    for (Eigen::Index j = 0; j < given.cols(); ++j) {
      const double e = std::abs(given(i, j) - differences(i, j)) / scale;
      if (std::isnan(error.value) || e <= error.value) continue;
      error = {e, fmt::format("{}, {}: given {:.9g}, by differences {:.9g}", rowName(int(i)), columnName(int(j)), given(i, j),
                              differences(i, j))};
    }
  }
  return error;
}

Eigen::MatrixXd dense(const std::vector<MatrixEntry>& entries, const Vector& values, int rows, int columns) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(rows, columns);
  for (std::size_t k = 0; k < entries.size(); ++k) A(entries[k].row, entries[k].column) += values[Eigen::Index(k)];
  return A;
}

Vector timesHessian(const std::vector<MatrixEntry>& entries, const Vector& values, const Vector& v) {
  Vector product = Vector::Zero(v.size());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto [row, column] = entries[k];
    product[row] += values[Eigen::Index(k)] * v[column];
    if (row != column) product[column] += values[Eigen::Index(k)] * v[row];
  }
  return product;
}

Vector weights(int n, std::mt19937& engine) {
  std::uniform_real_distribution<double> value(0.5, 1);
  return Vector::NullaryExpr(n, [&] { return value(engine); });
}

DerivativeCheck::Error checkHessian(NonlinearProgram& program, const ProgramDerivatives& given, Differences& differences,
                                    std::mt19937& engine) {
  const ProgramStructure& s = program.structure();
  const int n = s.variables();
  std::bernoulli_distribution coin;
  DerivativeCheck::Error error;
  int worstRow = -1;
  for (int direction = 0; direction < 2; ++direction) {
    Vector v = weights(n, engine);
    for (double& entry : v) entry *= coin(engine) ? 1 : -1;
    const Vector product = timesHessian(s.hessian, given.hessian, v);
    for (int i = 0; i < n; ++i) {
      const double byDifferences = differences.second(Vector::Unit(n, i), v);
      const double e = std::abs(product[i] - byDifferences) / std::max(1.0, std::abs(byDifferences));
      if (std::isnan(error.value) || e <= error.value) continue;
      error.value = e;
      worstRow = i;
    }
  }
  if (worstRow < 0) return error;
  const Vector row = timesHessian(s.hessian, given.hessian, Vector::Unit(n, worstRow));
  Vector byDifferences(n);
  for (int j = 0; j < n; ++j) byDifferences[j] = differences.second(Vector::Unit(n, worstRow), Vector::Unit(n, j));
  const auto name = [&](int i) { return program.nameOfVariable(i); };
  error.place = compare(
                    row.transpose(), byDifferences.transpose(), [&](int) { return name(worstRow); }, name)
                    .place;
  return error;
}

}

double DerivativeCheck::worst() const {
  double worst = 0;
  for (const Error* error : {&gradient, &equalityJacobian, &inequalityJacobian, &hessian}) {
    if (std::isnan(error->value)) return error->value;
    worst = std::max(worst, error->value);
  }
  return worst;
}

std::string DerivativeCheck::describe() const {
  const auto line = [](const char* what, const Error& e) {
    return fmt::format("{} {:.2e}{}{}", what, e.value, e.place.empty() ? "" : " at ", e.place);
  };
  return fmt::format("{}\n{}\n{}\n{}", line("gradient", gradient), line("equality Jacobian", equalityJacobian),
                     line("inequality Jacobian", inequalityJacobian), line("Hessian", hessian));
}

DerivativeCheck checkDerivatives(NonlinearProgram& program, const ProgramMultipliers* multipliers, double step) {
  requireConsistent(program);
  const ProgramStructure& s = program.structure();
  const int n = s.variables(), m = s.equalities(), p = s.inequalities();
  if (multipliers && (multipliers->equality.size() != m || multipliers->inequality.size() != p))
    throw std::invalid_argument("checkDerivatives: there must be a multiplier for each of the " + std::to_string(m) + " equalities and " +
                                std::to_string(p) + " inequalities");
  std::mt19937 engine(1);
  const ProgramMultipliers own = multipliers ? *multipliers : ProgramMultipliers{0.75, weights(m, engine), weights(p, engine)};

  ProgramDerivatives given{Vector::Zero(n), Vector::Zero(Eigen::Index(s.equalityJacobian.size())),
                           Vector::Zero(Eigen::Index(s.inequalityJacobian.size())), Vector::Zero(Eigen::Index(s.hessian.size()))};
  if (!program.differentiate(&own, given)) throw std::invalid_argument("checkDerivatives: the derivatives do not exist at this point");

  Differences differences(program, own, step);
  Eigen::MatrixXd first(1 + m + p, n);
  for (int j = 0; j < n; ++j) first.col(j) = differences.first(Vector::Unit(n, j));

  const auto variable = [&](int i) { return program.nameOfVariable(i); };
  DerivativeCheck check;
  check.gradient = compare(
      given.gradient.transpose(), first.topRows(1), [](int) { return "objective"; }, variable);
  check.equalityJacobian = compare(
      dense(s.equalityJacobian, given.equalityJacobian, m, n), first.middleRows(1, m), [&](int i) { return program.nameOfEquality(i); },
      variable);
  check.inequalityJacobian = compare(
      dense(s.inequalityJacobian, given.inequalityJacobian, p, n), first.bottomRows(p), [&](int i) { return program.nameOfInequality(i); },
      variable);
  check.hessian = checkHessian(program, given, differences, engine);
  return check;
}

}
