#include "dynamics/step_equations.h"

#include "tendril/discrete/momentum_units.h"
#include "tendril/model/increment.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double squaredSize(const Block& block, const VectorX& p, double length) {
  if (block.kind == Block::Kind::Vector) return p.segment(block.q, block.nq).squaredNorm();
  return p.segment<3>(block.q).squaredNorm() + p.segment<9>(block.q + 3).squaredNorm() / (length * length);
}

}

StepEquations::StepEquations(const DirectorSystem& system, NodeBalance& balance, double tolerance)
    : system_(system), balance_(balance), length_(system.model().characteristicLength()), K_(system.matrix()), G0_(system.gradient()),
      G1_(system.gradient()), tolerance_(tolerance) {
  for (VectorX* v : {&q0_, &q1_, &arrived_, &leaving_, &unbalanced_, &noise_}) v->setZero(system.size());
  closure_.setZero(system.constraints());
  turn_.setZero(system.model().nv());
  const MomentumUnits units(system);
  unit_ = units.unit, mass_ = units.mass;
}

void StepEquations::setBranch(const KinematicTree& tree) {
  for (std::size_t b = 0; b < system_.model().blocks().size(); ++b) {
    int links = 1;
    for (int parent = tree.parent(int(b)); parent >= 0; parent = tree.parent(parent)) ++links;
    branch_ = std::max(branch_, double(links));
  }
}

void StepEquations::begin(const VectorX& q0, const VectorX& arrived, double t0, double h, const VectorX& twist) {
  q0_ = q0, arrived_ = arrived, t0_ = t0, h_ = h;
  guess(twist);
}

bool StepEquations::evaluate(std::span<ResidualGroup> groups) {
  balance_.leaving(q0_, q1_, t0_, h_, leaving_);
  unbalanced_ = arrived_ + leaving_;
  const double blocks = double(system_.model().blocks().size());
  const double noise = branch_ * epsilon * size(noise_);
  groups[0] = {"momentum", 0, (size(arrived_) + size(leaving_)) / blocks, tolerance_, noise, 4 * noise};
  measureMomentum(groups[0]);

  system_.constraint(q1_, t1(), closure_);
  const double rounding = 4 * epsilon * std::max(1.0, q1_.lpNorm<Eigen::Infinity>() / length_);
  groups[1] = {"constraint", 0, 1, constraintTolerance_, rounding, 4 * rounding};
  for (int i = 0; i < closure_.size(); ++i) {
    const double value = std::abs(closure_[i]) * unit_[system_.size() + i] / length_;
    if (value <= groups[1].value) continue;
    groups[1].value = value, worstClosure_ = i;
  }
  if (!closure_.allFinite()) groups[1].value = std::numeric_limits<double>::quiet_NaN();
  isClosureWorse_ = !(groups[1].value * groups[0].threshold() <= groups[0].value * groups[1].threshold());
  return true;
}

void StepEquations::measure(const VectorX& values, const VectorX& units, ResidualGroup& group) {
  for (int i = 0; i < values.size(); ++i) {
    const double value = std::abs(values[i]) * units[i];
    if (value > group.value) group.value = value, worstMomentum_ = i;
  }
  if (!values.allFinite()) group.value = std::numeric_limits<double>::quiet_NaN();
}

double StepEquations::longestFactor() { return longestTurn(system_.model(), turn_); }

std::string StepEquations::describeWorst() const {
  return isClosureWorse_ ? system_.nameOfConstraint(worstClosure_) : "momentum of " + nameOfMomentum(worstMomentum_);
}

/// Momenta are differences of coordinates over the step: those are known to rounding.
void StepEquations::linearise() {
  balance_.leavingByEnd(q0_, q1_, t0_, h_, K_);
  noise_.setZero();
  for (int j = 0; j < K_.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(K_, j); entry; ++entry) noise_[entry.row()] += std::abs(entry.value() * q1_[j]);
}

double StepEquations::size(const VectorX& p) const {
  double sum = 0;
  for (const Block& block : system_.model().blocks()) sum += std::sqrt(squaredSize(block, p, length_));
  return sum;
}

}
