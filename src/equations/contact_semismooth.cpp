#include "equations/contact_semismooth.h"

#include <algorithm>
#include <fmt/format.h>

namespace tendril {

namespace {

/// Bounds of e once statuses stay, its value where there is no force yet, and the share of the tolerance of gaps by which contact may yield
/// under the largest force.
constexpr double hardest = 1e-12, hard = 1e-5, first = 1e-10, negligible = 0.01;
/// What e is multiplied by in an iteration that changes many statuses, and a few.
constexpr double hardening = 0.3, fastHardening = 0.1;
constexpr int few = 2;
/// Steps in which e may rise again, and the share of closed contacts that must change for it.
constexpr std::size_t searching = 8;
constexpr double many = 0.15;
/// Cycles that are broken before the method gives up.
constexpr int patience = 6;

std::size_t digest(const ContactIterate& iterate) {
  std::size_t hash = 0;
  for (int j = 0; j < iterate.count(); ++j) {
    const auto status = std::size_t(iterate.law(j).status);
    if (status != 0) hash = hash * 1099511628211u + (3 * std::size_t(j) + status);
  }
  return hash;
}

int closedRows(const ContactIterate& iterate, int j) {
  if (iterate.law(j).status == ContactStatus::Open) return 0;
  return iterate.friction(j) > 0 ? 3 : 1;
}

}

void ContactSemismoothStep::begin() {
  history_.clear();
  earlier_.clear();
  cycles_ = 0;
  softness_ = 1;
  failure_.clear();
  isSingular_ = false;
}

bool ContactSemismoothStep::compute(ContactIterate& iterate, ContactIncrement& increment) {
  harden(iterate);
  if (!breakCycle(iterate, increment)) return false;
  earlier_ = iterate.laws();
  if (!factorise(iterate)) return false;
  solve(iterate, increment);
  if (increment.delta.allFinite()) return true;
  failure_ = "the step is not finite";
  return false;
}

void ContactSemismoothStep::harden(const ContactIterate& iterate) {
  int changes = 0;
  for (int j = 0; j < iterate.count(); ++j) {
    const bool isKnown = j < int(earlier_.size());
    const bool isOpen = iterate.law(j).status == ContactStatus::Open;
    // Of what is new there is only the force from which it starts.
    changes += isKnown ? earlier_[j].status != iterate.law(j).status : isOpen == (iterate.forces()(0, j) > 0);
  }
  isSettled_ = changes == 0;
  if (isSettled_) return;
  const double share = std::min(1.0, double(changes) / std::max(iterate.closed(), 1)), needed = share * share;
  if (history_.empty())
    softness_ = needed;
  else
    softness_ *= changes <= few ? fastHardening : hardening;
  // The first steps may find that far more changes than was seen from the start.
  if (history_.size() < searching && share > many) softness_ = std::max(softness_, needed);
}

bool ContactSemismoothStep::breakCycle(ContactIterate& iterate, ContactIncrement& increment) {
  increment.longest = 1;
  const Past present{digest(iterate), iterate.merit()};
  bool repeats = false;
  if (!history_.empty() && history_.back().statuses != present.statuses) {
    for (const Past& past : history_) repeats = repeats || (past.statuses == present.statuses && present.merit > 0.5 * past.merit);
  }
  history_.push_back(present);
  if (!repeats) return true;
  if (++cycles_ > patience) {
    failure_ = "contacts open and close, or stick and slip, in a cycle";
    return false;
  }
  if (cycles_ % 2 == 1) {
    iterate.hold(earlier_);
  } else {
    increment.longest = 0.5;
  }
  return true;
}

bool ContactSemismoothStep::factorise(ContactIterate& iterate) {
  const std::vector<StiffnessBlock>& stiffness = iterate.stiffness();
  layOut(iterate, stiffness);
  const bool isNew = matrix_.layOut(iterate.kkt().preparedMatrix(), size_);
  fill(iterate, stiffness);
  if (isNew) lu_.analyse(matrix_.matrix(), matrix_.groups(iterate.kkt().model()));
  if (lu_.factorise(matrix_.matrix()) || factoriseCarefully()) return true;

  failure_ = "the matrix is singular";
  const int column = careful_.singular().column;
  for (int j = 0; j < iterate.count(); ++j) {
    if (column >= border_[j] && column < border_[j] + rows_[j]) {
      failure_ += " at the force of " + iterate.problem().describe(iterate.problem().constraints()[j]);
      return false;
    }
  }
  const std::string free = iterate.kkt().describeSingular();
  isSingular_ = !free.empty();
  if (isSingular_) failure_ += "; without contact " + free + ", or let it begin in touch with what is to hold it";
  return false;
}

bool ContactSemismoothStep::factoriseCarefully() {
  careful_.analyse(matrix_.matrix());
  return careful_.factorise(matrix_.matrix());
}

/// By the factors with pivots on the diagonal where the solution is accurate, else by the others.
void ContactSemismoothStep::solveLinear() {
  constexpr double accurate = 1e-15; // backward error
  if (lu_.factorised()) {
    solution_ = rhs_;
    lu_.solve(solution_);
    if (lu_.refine(matrix_.matrix(), rhs_, solution_, 1) <= accurate || !factoriseCarefully()) return;
  }
  solution_ = rhs_;
  careful_.solve(solution_);
}

void ContactSemismoothStep::layOut(ContactIterate& iterate, const std::vector<StiffnessBlock>& stiffness) {
  const Model& model = iterate.kkt().model();
  size_ = model.nv() + model.nc();
  border_.resize(std::size_t(iterate.count()));
  rows_.resize(border_.size());
  matrix_.begin();
  for (const StiffnessBlock& block : stiffness) matrix_.declare({iterate.offset(block.row), iterate.offset(block.column), 6, 6});
  for (int j = 0; j < iterate.count(); ++j) {
    border_[j] = size_;
    rows_[j] = closedRows(iterate, j);
    if (rows_[j] == 0) continue;
    for (const GradientEntry& entry : iterate.problem().gradient(iterate.problem().constraints()[j])) {
      matrix_.declare({iterate.offset(entry.block), size_, 6, rows_[j]});
      matrix_.declare({size_, iterate.offset(entry.block), rows_[j], 6});
    }
    matrix_.declare({size_, size_, rows_[j], rows_[j]});
    size_ += rows_[j];
  }
}

Vector3 ContactSemismoothStep::yield(const ContactIterate& iterate) const {
  const Vector3& compliance = iterate.compliance();
  const double force = iterate.largestForce(), allowed = negligible * iterate.problem().gapTolerance();
  Vector3 least = first * compliance;
  if (force > 0) least = (hard * compliance).cwiseMin(allowed / force).cwiseMax(hardest * compliance);
  return isSettled_ || !iterate.isHeldWithoutContact() ? least : least.cwiseMax(softness_ * compliance);
}

void ContactSemismoothStep::fill(ContactIterate& iterate, const std::vector<StiffnessBlock>& stiffness) {
  const VectorX& unit = iterate.kkt().unit();
  const double s = iterate.kkt().assembly().multiplierScale;
  const Vector3 W = yield(iterate);
  for (const StiffnessBlock& block : stiffness) matrix_.add(iterate.scaled(block));
  for (int j = 0; j < iterate.count(); ++j) {
    const int rows = rows_[j];
    if (rows == 0) continue;
    const ContactLawEquations& law = iterate.law(j);
    for (const GradientEntry& entry : iterate.problem().gradient(iterate.problem().constraints()[j])) {
      const Matrix36 B = entry.B * unit.segment<6>(iterate.offset(entry.block)).asDiagonal();
      matrix_.add((-s * B.transpose()).leftCols(rows));
      matrix_.add((-s * law.byGap * B).topRows(rows));
    }
    const Matrix3 D = law.byForce + Matrix3(W.asDiagonal());
    matrix_.add((-s * s * D).topLeftCorner(rows, rows));
  }
}

void ContactSemismoothStep::solve(const ContactIterate& iterate, ContactIncrement& increment) {
  const Model& model = iterate.kkt().model();
  const int size = model.nv() + model.nc();
  const double s = iterate.kkt().assembly().multiplierScale;
  rhs_.resize(size_);
  iterate.kkt().prepareRightHandSide(rhs_.head(size));
  increment.F = -iterate.forces();
  for (int j = 0; j < iterate.count(); ++j) {
    increment.F.col(j).head(rows_[j]).setZero();
    iterate.addForce(j, increment.F.col(j), rhs_);
    rhs_.segment(border_[j], rows_[j]) = s * iterate.law(j).c.head(rows_[j]);
  }
  solveLinear();
  iterate.setIncrement(solution_.head(size), increment);
  for (int j = 0; j < iterate.count(); ++j) increment.F.col(j).head(rows_[j]) = s * solution_.segment(border_[j], rows_[j]);
}

}
