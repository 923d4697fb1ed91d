#include "statics/energy_program.h"

#include "tendril/model/increment.h"
#include "tendril/statics/equilibrium.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

/// Levels of a breadth-first search through the pattern, in the order in which unknowns are met from one of them on.
struct Levels {
  Levels(const SparseMatrix& A, int from) : level(std::size_t(A.cols()), -1) {
    for (int seed = from, next = 0; seed >= 0;) {
      level[std::size_t(seed)] = 0, order.push_back(seed);
      for (std::size_t i = order.size() - 1; i < order.size(); ++i) {
        const int c = order[i];
        for (SparseMatrix::InnerIterator a(A, c); a; ++a) {
          if (level[std::size_t(a.row())] >= 0) continue;
          level[std::size_t(a.row())] = level[std::size_t(c)] + 1, order.push_back(int(a.row()));
        }
      }
      while (next < A.cols() && level[std::size_t(next)] >= 0) ++next;
      seed = next < A.cols() ? next : -1;
    }
  }
  std::vector<int> level, order;
};

int placeOf(const SparseMatrix& A, int row, int column) {
  const int *begin = A.innerIndexPtr() + A.outerIndexPtr()[column], *end = A.innerIndexPtr() + A.outerIndexPtr()[column + 1];
  const int* found = std::lower_bound(begin, end, row);
  return found != end && *found == row ? int(found - A.innerIndexPtr()) : -1;
}

}

EnergyProgram::EnergyProgram(KktSystem& kkt, State& state)
    : kkt_(kkt), model_(kkt.model()), state_(state), unit_(units(kkt)), rowUnit_(VectorX::Ones(model_.nc())), delta_(model_.nv()) {
  for (int row = 0; row < model_.nc(); ++row)
    if (model_.constraintQuantities()[std::size_t(row)] == RowQuantity::Length) rowUnit_[row] = model_.characteristicLength();
  declare();
}

VectorX EnergyProgram::units(const KktSystem& kkt) {
  VectorX unit = kkt.model().characteristicLength() * kkt.unit().head(kkt.model().nv());
  for (const Block& b : kkt.model().blocks())
    if (b.kind == Block::Kind::Vector) unit.segment(b.v, b.nv).setConstant(unit.segment(b.v, b.nv).minCoeff());
  return unit;
}

void EnergyProgram::declare() {
  const SparseMatrix& A = kkt_.assembly().matrix();
  const int nv = model_.nv();
  const std::vector<int> level = Levels(A, Levels(A, 0).order.back()).level;
  for (int i = 0; i < nv; ++i) structure_.addVariable(level[std::size_t(i)]);
  for (int row = 0; row < model_.nc(); ++row) structure_.addEquality(level[std::size_t(nv + row)]);
  for (int c = 0; c < nv; ++c) {
    for (int k = A.outerIndexPtr()[c]; k < A.outerIndexPtr()[c + 1]; ++k) {
      const int row = A.innerIndexPtr()[k];
      if (row >= nv) {
        structure_.equalityJacobian.push_back({row - nv, c});
        jacobian_.push_back(k);
      } else if (row >= c) {
        structure_.hessian.push_back({row, c});
        hessian_.emplace_back(k, placeOf(A, c, row));
      }
    }
  }
  state_.lambda.setZero();
  kkt_.evaluate(state_, {.motion = false});
  double stiffest = 0;
  for (std::size_t k = 0; k < hessian_.size(); ++k)
    if (const MatrixEntry& e = structure_.hessian[k]; e.row == e.column)
      stiffest = std::max(stiffest, std::abs(A.valuePtr()[hessian_[k].first]) * unit_[e.row] * unit_[e.row]);
  const double force = kkt_.assembly().residual().cwiseProduct(unit_).lpNorm<Eigen::Infinity>();
  energyUnit_ = std::max(stiffest, force);
  if (!(energyUnit_ > 0 && std::isfinite(energyUnit_))) energyUnit_ = 1;
}

void EnergyProgram::retract(const Eigen::Ref<const VectorX>& increment) {
  delta_ = increment.cwiseProduct(unit_);
  model_.retract(state_.q, delta_, state_.q);
}

double EnergyProgram::longestFactor(const Eigen::Ref<const VectorX>& increment) const {
  return longestTurn(model_, increment.cwiseProduct(unit_));
}

bool EnergyProgram::evaluate(ProgramValues& values) {
  if (!kkt_.evaluate(state_, {.motion = false, .tangent = false})) return false;
  const Energy e = model_.energy(state_);
  values.objective = (e.elastic + e.gravitational) / energyUnit_;
  values.equality = kkt_.assembly().constraint().cwiseQuotient(rowUnit_);
  return std::isfinite(values.objective) && values.equality.allFinite();
}

void EnergyProgram::takeMultipliers(const VectorX& equality) { state_.lambda = -energyUnit_ * equality.cwiseQuotient(rowUnit_); }

void EnergyProgram::addHessian(double factor, VectorX& hessian) {
  const double* S = kkt_.assembly().matrix().valuePtr();
  for (std::size_t k = 0; k < hessian_.size(); ++k) {
    const auto [place, mirror] = hessian_[k];
    const MatrixEntry& e = structure_.hessian[k];
    const double value = (S[place] + (mirror < 0 ? 0 : S[mirror])) / 2;
    hessian[Eigen::Index(k)] += factor * unit_[e.row] * unit_[e.column] / energyUnit_ * value;
  }
}

/// weight V'' + sum y g'' is V'' + sum y g'' and (weight - 1) V''.
bool EnergyProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  derivatives.hessian.setZero();
  if (multipliers) {
    takeMultipliers(multipliers->equality);
    if (!kkt_.evaluate(state_, {.motion = false})) return false;
    addHessian(1, derivatives.hessian);
  }
  const bool isWeighted = multipliers && multipliers->weight != 1;
  state_.lambda.setZero();
  if (!kkt_.evaluate(state_, {.motion = false, .stiffness = isWeighted})) return false;
  if (isWeighted) addHessian(multipliers->weight - 1, derivatives.hessian);
  const Assembly& assembly = kkt_.assembly();
  derivatives.gradient = assembly.residual().cwiseProduct(unit_) / energyUnit_;
  const double* values = assembly.matrix().valuePtr();
  for (std::size_t k = 0; k < jacobian_.size(); ++k) {
    const MatrixEntry& e = structure_.equalityJacobian[k];
    derivatives.equalityJacobian[Eigen::Index(k)] = -values[jacobian_[k]] / assembly.multiplierScale * unit_[e.column] / rowUnit_[e.row];
  }
  return derivatives.gradient.allFinite() && derivatives.equalityJacobian.allFinite() && derivatives.hessian.allFinite();
}

}
