#include "equations/contact_dual.h"

#include <algorithm>

namespace tendril {

namespace {
/// Right-hand sides solved for at once.
constexpr int bundle = 32;
/// Iterations of each attempt at a friction problem; unsolved ones that are forgiven. Far from a solution the problems may have none.
constexpr long mostIterations = 500;
constexpr int mostUnsolved = 2;
}

void ContactDualStep::begin() {
  isChosen_.clear();
  failure_.clear();
  isSingular_ = false;
  unsolved_ = 0;
}

bool ContactDualStep::compute(ContactIterate& iterate, ContactIncrement& increment) {
  if (!factorise(iterate)) return false;
  choose(iterate);
  do {
    condense(iterate);
    pose(iterate);
    solveLaws(iterate, increment);
    recover(iterate, increment);
  } while (takeInViolated(iterate, increment.delta));
  increment.longest = 1;
  if (unsolved_ > mostUnsolved) {
    failure_ = "the friction problems of the linearised equations are not solved";
    return false;
  }
  if (increment.delta.allFinite()) return true;
  failure_ = "the step is not finite";
  return false;
}

bool ContactDualStep::factorise(ContactIterate& iterate) {
  KktSystem& kkt = iterate.kkt();
  const std::vector<StiffnessBlock>& stiffness = iterate.stiffness();
  matrix_.begin();
  for (const StiffnessBlock& block : stiffness) matrix_.declare({iterate.offset(block.row), iterate.offset(block.column), 6, 6});
  const SparseMatrix& A = kkt.preparedMatrix();
  if (matrix_.layOut(A, int(A.cols()))) lu_.analyse(matrix_.matrix());
  for (const StiffnessBlock& block : stiffness) matrix_.add(iterate.scaled(block));
  if (lu_.factorise(matrix_.matrix())) return true;
  failure_ = "the matrix without contact is singular";
  const std::string free = kkt.describeSingular();
  isSingular_ = !free.empty();
  if (isSingular_) failure_ += "; " + free;
  return false;
}

/// The motion without contact forces, and which constraints it meets.
void ContactDualStep::choose(const ContactIterate& iterate) {
  KktSystem& kkt = iterate.kkt();
  free_.resize(matrix_.matrix().cols());
  kkt.prepareRightHandSide(free_);
  for (int j = 0; j < iterate.count(); ++j) iterate.addForce(j, -iterate.forces().col(j), free_);
  lu_.solve(free_);
  freeDelta_ = kkt.unit().head(kkt.model().nv()).cwiseProduct(free_.head(kkt.model().nv()));

  isChosen_.resize(std::size_t(iterate.count()), 0);
  chosen_.clear();
  for (int j = 0; j < iterate.count(); ++j) {
    const bool carries = iterate.law(j).status != ContactStatus::Open || iterate.forces()(0, j) > 0;
    if (!iterate.isPresent(j)) {
      isChosen_[j] = 0;
    } else if (carries || iterate.gap(j)[0] + iterate.motion(j, freeDelta_)[0] <= 0) {
      isChosen_[j] = 1;
    }
    if (isChosen_[j]) chosen_.push_back(j);
  }
}

/// W, some columns of A^-1 B^T at a time.
void ContactDualStep::condense(const ContactIterate& iterate) {
  const KktSystem& kkt = iterate.kkt();
  const int count = int(chosen_.size());
  W_.resize(3 * count, 3 * count);
  for (int first = 0; first < count; first += bundle) {
    const int taken = std::min(bundle, count - first);
    X_.setZero(matrix_.matrix().cols(), 3 * taken);
    for (int k = 0; k < 3 * taken; ++k) iterate.addForce(chosen_[first + k / 3], Vector3::Unit(k % 3), X_.col(k));
    lu_.solveMany(X_);
    X_.topRows(kkt.model().nv()).array().colwise() *= kkt.unit().head(kkt.model().nv()).array();
    for (int k = 0; k < 3 * taken; ++k) {
      for (int i = 0; i < count; ++i) W_.block<3, 1>(3 * i, 3 * first + k) = iterate.motion(chosen_[i], X_.col(k));
    }
  }
}

/// The friction problem of the chosen constraints.
void ContactDualStep::pose(const ContactIterate& iterate) {
  const int count = int(chosen_.size());
  F_.resize(3 * count);
  friction_.laws.clear();
  for (int i = 0; i < count; ++i) {
    F_.segment<3>(3 * i) = iterate.forces().col(chosen_[i]);
    const double mu = iterate.friction(chosen_[i]);
    friction_.laws.push_back(mu > 0 ? FrictionLaw::coulomb(mu) : FrictionLaw::frictionless());
  }
  friction_.layOut();
  rhs_ = 0.5 * (W_ * F_ - W_.transpose() * F_);
  W_ = 0.5 * (W_ + W_.transpose()).eval();

  BlockMatrix& blocks = friction_.W;
  blocks.start.assign(1, 0);
  blocks.blocks.clear();
  blocks.values.clear();
  friction_.q.resize(friction_.rows());
  r_.resize(friction_.rows());
  for (int i = 0; i < count; ++i) {
    const int rows = friction_.laws[i].size;
    const Vector3 q = iterate.gap(chosen_[i]) + iterate.motion(chosen_[i], freeDelta_) + rhs_.segment<3>(3 * i);
    friction_.q.segment(friction_.firstRow[i], rows) = q.head(rows);
    r_.segment(friction_.firstRow[i], rows) = F_.segment(3 * i, rows);
    for (int j = 0; j < count; ++j) {
      blocks.blocks.push_back({j, blocks.values.size()});
      for (int c = 0; c < friction_.laws[j].size; ++c) {
        for (int k = 0; k < rows; ++k) blocks.values.push_back(W_(3 * i + k, 3 * j + c));
      }
    }
    blocks.start.push_back(int(blocks.blocks.size()));
  }
}

void ContactDualStep::solveLaws(const ContactIterate& iterate, ContactIncrement& increment) {
  // Well below what the iteration around asks for; the solver measures against the norm of q.
  const double size = friction_.q.norm();
  FrictionOptions options;
  options.measure = FrictionOptions::Measure::Scaled;
  options.tolerance = size > 0 ? std::clamp(0.01 * iterate.problem().gapTolerance() / size, 1e-14, 1e-8) : 1e-8;
  options.maxIterations = mostIterations;
  // What it found counts even if it wanted more: the residual of the iteration around judges it.
  if (!solver_.solve(friction_, options, r_).converged) ++unsolved_;
  increment.F = -iterate.forces();
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const int rows = friction_.laws[i].size;
    increment.F.col(chosen_[i]).head(rows) += r_.segment(friction_.firstRow[i], rows);
  }
}

void ContactDualStep::recover(const ContactIterate& iterate, ContactIncrement& increment) {
  KktSystem& kkt = iterate.kkt();
  rhs_.resize(free_.size());
  kkt.prepareRightHandSide(rhs_);
  for (int j = 0; j < iterate.count(); ++j) iterate.addForce(j, increment.F.col(j), rhs_);
  lu_.solve(rhs_);
  iterate.setIncrement(rhs_, increment);
}

bool ContactDualStep::takeInViolated(const ContactIterate& iterate, const VectorX& delta) {
  const std::size_t before = chosen_.size();
  for (int j = 0; j < iterate.count(); ++j) {
    if (isChosen_[j] || !iterate.isPresent(j)) continue;
    if (iterate.gap(j)[0] + iterate.motion(j, delta)[0] < -iterate.problem().gapTolerance()) isChosen_[j] = 1, chosen_.push_back(j);
  }
  return chosen_.size() > before;
}

}
