#include "solvers/program_kkt.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace tendril {

namespace {

using Vector = Eigen::VectorXd;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}

ProgramKkt::ProgramKkt(const ProgramStructure& structure)
    : structure_(structure), inequalityRow_(std::size_t(structure.inequalities()), -1), sigma_(Vector::Zero(structure.inequalities())) {
  orderRows();
  findPlaces();
  ldlt_.analyse(matrix_);
  right_.setZero(matrix_.order());
  solution_.setZero(matrix_.order());
}

/// Numbers the rows of the matrix stage by stage: variables, equalities, inequalities that stay.
void ProgramKkt::orderRows() {
  const int p = structure_.inequalities(), border = structure_.stages();
  std::vector<int> first(std::size_t(p), border), last(std::size_t(p), -1);
  for (const MatrixEntry& e : structure_.inequalityJacobian) {
    const int stage = structure_.variableStage[e.column];
    if (stage == ProgramStructure::global) continue;
    first[e.row] = std::min(first[e.row], stage);
    last[e.row] = std::max(last[e.row], stage);
  }
  std::vector<int> sizes(std::size_t(border) + 1, 0);
  const auto slot = [&](int label) -> int& { return sizes[label == ProgramStructure::global ? border : label]; };
  const auto number = [&](const std::vector<int>& labels, std::vector<int>& rows, auto chosen) {
    rows.assign(labels.size(), -1);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (chosen(i)) rows[i] = slot(labels[i])++;
  };
  const auto all = [](std::size_t) { return true; };
  number(structure_.variableStage, variableRow_, all);
  number(structure_.equalityStage, equalityRow_, all);
  number(structure_.inequalityStage, inequalityRow_, [&](std::size_t i) { return last[i] - first[i] > 1; });

  const int borderSize = sizes.back();
  sizes.pop_back();
  matrix_ = StagedMatrix(sizes, borderSize);
  const auto shift = [&](const std::vector<int>& labels, std::vector<int>& rows) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (rows[i] >= 0) rows[i] += matrix_.offset(labels[i] == ProgramStructure::global ? border : labels[i]);
  };
  shift(structure_.variableStage, variableRow_);
  shift(structure_.equalityStage, equalityRow_);
  shift(structure_.inequalityStage, inequalityRow_);
}

void ProgramKkt::findPlaces() {
  for (const MatrixEntry& e : structure_.hessian) hessianPlace_.push_back(matrix_.position(variableRow_[e.row], variableRow_[e.column]));
  for (const MatrixEntry& e : structure_.equalityJacobian)
    equalityPlace_.push_back(matrix_.position(equalityRow_[e.row], variableRow_[e.column]));
  for (int row : variableRow_) variableDiagonal_.push_back(matrix_.position(row, row));
  for (int row : equalityRow_) equalityDiagonal_.push_back(matrix_.position(row, row));
  for (std::size_t i = 0; i < inequalityRow_.size(); ++i)
    if (const int row = inequalityRow_[i]; row >= 0) keptRows_.push_back({int(i), matrix_.position(row, row)});

  std::map<std::pair<int, int>, int> places; // of Jd, by row: entries that name the same place are one number
  for (const MatrixEntry& e : structure_.inequalityJacobian) places.try_emplace({e.row, e.column}, 0);
  int count = 0;
  for (auto& [place, number] : places) {
    number = count++;
    merged_.push_back({place.first, place.second});
  }
  for (const MatrixEntry& e : structure_.inequalityJacobian) mergedEntry_.push_back(places[{e.row, e.column}]);
  inequality_.setZero(count);

  for (int begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && merged_[end].row == merged_[begin].row) ++end;
    const int row = merged_[begin].row;
    for (int a = begin; a < end; ++a) {
      if (inequalityRow_[row] >= 0) {
        keptEntry_.push_back(a);
        keptPlace_.push_back(matrix_.position(inequalityRow_[row], variableRow_[merged_[a].column]));
        continue;
      }
      for (int b = begin; b <= a; ++b)
        products_.push_back({row, a, b, matrix_.position(variableRow_[merged_[a].column], variableRow_[merged_[b].column])});
    }
  }
}

ProgramKkt::Residual ProgramKkt::makeResidual() const {
  const Eigen::Index p = structure_.inequalities();
  return {Vector::Zero(structure_.variables()), Vector::Zero(structure_.equalities()), Vector::Zero(p), Vector::Zero(p)};
}

ProgramKkt::Step ProgramKkt::makeStep() const {
  const Eigen::Index p = structure_.inequalities();
  return {Vector::Zero(structure_.variables()), Vector::Zero(structure_.equalities()), Vector::Zero(p), Vector::Zero(p)};
}

void ProgramKkt::takeInequalities(const ProgramDerivatives& derivatives) {
  inequality_.setZero();
  for (std::size_t k = 0; k < mergedEntry_.size(); ++k) inequality_[mergedEntry_[k]] += derivatives.inequalityJacobian[Eigen::Index(k)];
}

void ProgramKkt::assemble(const ProgramDerivatives& derivatives, const Vector* hessian, const Vector& sigma) {
  std::vector<double>& values = matrix_.values();
  std::fill(values.begin(), values.end(), 0.0);
  sigma_ = sigma;
  takeInequalities(derivatives);
  if (hessian)
    for (std::size_t k = 0; k < hessianPlace_.size(); ++k) values[hessianPlace_[k]] += (*hessian)[Eigen::Index(k)];
  else
    for (std::size_t place : variableDiagonal_) values[place] = 1;
  for (std::size_t k = 0; k < equalityPlace_.size(); ++k) values[equalityPlace_[k]] += derivatives.equalityJacobian[Eigen::Index(k)];
  for (const Product& t : products_) values[t.position] += sigma[t.row] * inequality_[t.first] * inequality_[t.second];
  // A row that weighs nothing is replaced by dyd = 0.
  for (std::size_t k = 0; k < keptEntry_.size(); ++k)
    if (sigma[merged_[keptEntry_[k]].row] > 0) values[keptPlace_[k]] = inequality_[keptEntry_[k]];
  for (const KeptRow& row : keptRows_) values[row.diagonal] = sigma[row.inequality] > 0 ? -1 / sigma[row.inequality] : -1;
  bare_.resize(variableDiagonal_.size());
  for (std::size_t i = 0; i < variableDiagonal_.size(); ++i) bare_[i] = values[variableDiagonal_[i]];
}

bool ProgramKkt::factorise(double primal, double dual) {
  const auto start = Clock::now();
  std::vector<double>& values = matrix_.values();
  for (std::size_t i = 0; i < variableDiagonal_.size(); ++i) values[variableDiagonal_[i]] = bare_[i] + primal;
  for (std::size_t place : equalityDiagonal_) values[place] = -dual;
  const bool regular = ldlt_.factorise(matrix_);
  ++factorisations;
  factorisationTime += since(start);
  return regular;
}

bool ProgramKkt::convexOnConstraints() const {
  const int n = structure_.variables();
  return ldlt_.finite() && ldlt_.inertia() == Inertia{n, matrix_.order() - n, 0};
}

double ProgramKkt::solve(const Residual& r, Step& step) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < variableRow_.size(); ++i) right_[variableRow_[i]] = -r.x[Eigen::Index(i)];
  for (std::size_t i = 0; i < equalityRow_.size(); ++i) right_[equalityRow_[i]] = -r.c[Eigen::Index(i)];
  for (Eigen::Index k = 0; k < inequality_.size(); ++k) {
    const auto [row, column] = merged_[std::size_t(k)];
    if (inequalityRow_[row] < 0) right_[variableRow_[column]] -= inequality_[k] * (sigma_[row] * r.d[row] + r.s[row]);
  }
  for (std::size_t i = 0; i < inequalityRow_.size(); ++i) {
    const auto j = Eigen::Index(i);
    if (inequalityRow_[i] >= 0) right_[inequalityRow_[i]] = sigma_[j] > 0 ? -(r.d[j] + r.s[j] / sigma_[j]) : -r.s[j];
  }
  const double error = ldlt_.solve(matrix_, right_, solution_);
  for (std::size_t i = 0; i < variableRow_.size(); ++i) step.x[Eigen::Index(i)] = solution_[variableRow_[i]];
  for (std::size_t i = 0; i < equalityRow_.size(); ++i) step.yc[Eigen::Index(i)] = solution_[equalityRow_[i]];
  step.s = r.d;
  for (Eigen::Index k = 0; k < inequality_.size(); ++k)
    step.s[merged_[std::size_t(k)].row] += inequality_[k] * step.x[merged_[std::size_t(k)].column];
  step.yd = sigma_.cwiseProduct(step.s) + r.s;
  solutionTime += since(start);
  return error;
}

void ProgramKkt::addTransposed(const ProgramDerivatives& derivatives, const ProgramMultipliers& y, Vector& sum, Vector& magnitude) const {
  const auto add = [&](const std::vector<MatrixEntry>& entries, const Vector& values, const Vector& rows) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const double product = values[Eigen::Index(k)] * rows[entries[k].row];
      sum[entries[k].column] += product;
      magnitude[entries[k].column] += std::abs(product);
    }
  };
  add(structure_.equalityJacobian, derivatives.equalityJacobian, y.equality);
  add(structure_.inequalityJacobian, derivatives.inequalityJacobian, y.inequality);
}

}
