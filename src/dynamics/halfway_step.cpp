#include "dynamics/step_equations.h"
#include "tendril/discrete/null_space.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>

namespace tendril {

namespace {

/// The balance of a scheme whose constraints act halfway, along G_m = G((q0 + q1)/2): its null space P turns with the unknown, and comes
/// from a QR decomposition of G_m^T, with the multipliers that its derivative needs,
///
///     P^T (arrived + leaving(q0, q1)) = 0,     K = d(leaving)/dq1 - d(G_m^T mu)/dq1,     G_m^T mu = arrived + leaving.
///
/// Unknown are increments u, q1 <- F(u, q1), with the matrix P^T K P(q1); or q1 itself, with g(q1) = 0 as further rows.
class HalfwayStep final : public StepEquations {
 public:
  HalfwayStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q, double t, bool isReduced)
      : StepEquations(system, balance, tolerance), isReduced_(isReduced), start_(q), startTime_(t) {
    if (isReduced) constraintTolerance_ = 1e-10;
    forget();
    const int n = system.size(), r = space_->dimension(), m = system.constraints();
    rows_ = space_->keptConstraints();
    rank_ = n - r;
    Gt_.setZero(n, m), P_.setZero(n, r), P1_.setZero(n, r), KP_.setZero(n, isReduced ? r : n);
    A_.setZero(isReduced ? r : n, isReduced ? r : n);
    qr_ = Eigen::ColPivHouseholderQR<MatrixX>(n, m);
    lu_ = Eigen::PartialPivLU<MatrixX>(A_.rows());
    for (VectorX* v : {&middle_, &before_, &step_}) v->setZero(n);
    reduced_.setZero(r), increment_.setZero(r), solution_.setZero(A_.rows()), rhs_.setZero(A_.rows());
    mu_.setZero(m), column_.setZero(n, 1);
    rates_.setZero(space_->tree().dimension());
  }

  void leftOver(VectorX& forces) override {
    middle_.noalias() = P_ * reduced_;
    system_.pullBack(q0_, middle_, forces);
  }
  void respond(const VectorX& momentum, VectorX& move) override {
    rhs_.setZero();
    rhs_.head(reduced_.size()).noalias() = -P_.transpose() * momentum;
    solution_ = lu_.solve(rhs_);
    if (isReduced_) {
      turn_.noalias() = space_->twists() * solution_;
      system_.rates(q1_, turn_, move);
    } else {
      move = solution_.cwiseProduct(unit_.head(q1_.size()));
    }
  }
  int unknowns() const override { return int(A_.rows()); }
  void forget() override { space_ = std::make_unique<NullSpace>(system_, start_, startTime_); }

  bool evaluate(std::span<ResidualGroup> groups) override {
    if (!reached_) return false;
    middle_ = 0.5 * (q0_ + q1_);
    system_.constraintGradient(middle_, t0_ + h_ / 2, G0_);
    Gt_.setZero();
    for (int j = 0; j < G0_.outerSize(); ++j)
      for (SparseMatrix::InnerIterator entry(G0_, j); entry; ++entry) Gt_(j, entry.row()) = entry.value();
    qr_.compute(Gt_);
    P_.setZero();
    P_.bottomRows(P_.cols()).setIdentity();
    qr_.householderQ().applyThisOnTheLeft(P_, workspace_);
    return StepEquations::evaluate(groups);
  }
  bool factorise() override {
    assemble(1, mass() / h_);
    if (!isReduced_) A_ *= unit_.head(q1_.size()).asDiagonal();
    lu_.compute(A_);
    return lu_.rows() == 0 || lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  }
  bool solve() override {
    rhs_.head(reduced_.size()) = -reduced_;
    for (Eigen::Index k = reduced_.size(); k < rhs_.size(); ++k) {
      const int row = rows_[k - reduced_.size()];
      rhs_[k] = -mass() / h_ * closure_[row] * unit_[system_.size() + row];
    }
    solution_ = lu_.solve(rhs_);
    if (isReduced_) {
      turn_.noalias() = space_->twists() * solution_;
    } else {
      solution_.array() *= unit_.head(q1_.size()).array();
      step_ = 0.5 * solution_;
      system_.pullBack(q1_, step_, turn_); // N^T N is 2 on rotations
    }
    return solution_.allFinite();
  }
  void applyStep(double factor) override {
    before_ = q1_;
    if (isReduced_) {
      increment_ = factor * solution_;
      reached_ = space_->retract(before_, increment_, t1(), t1(), q1_);
    } else {
      q1_ += factor * solution_;
    }
  }
  void undoStep() override { q1_ = before_, reached_ = true; }

  MatrixX rawMatrix() override { return matrix(1); }
  MatrixX scaledMatrix() override {
    MatrixX A = matrix(h_ / mass());
    if (!isReduced_) A *= unit_.head(q1_.size()).asDiagonal();
    return A;
  }

 protected:
  void guess(const VectorX& twist) override {
    if (isReduced_) {
      space_->update(q0_, t0_);
      space_->tree().rates(q0_, t0_, twist, rates_);
      reached_ = space_->follow(q0_, rates_, t0_, t1(), q1_);
    } else {
      system_.model().retract(q0_, twist, q1_);
    }
  }
  void measureMomentum(ResidualGroup& group) override {
    reduced_.noalias() = P_.transpose() * unbalanced_;
    middle_.noalias() = P_ * reduced_;
    measure(middle_, unit_, group);
  }
  std::string nameOfMomentum(int row) const override { return system_.nameOfCoordinate(row); }

 private:
  /// Multipliers of the forces that are left, of the rows that the decomposition takes.
  void findMultipliers() {
    column_ = unbalanced_;
    qr_.householderQ().adjoint().applyThisOnTheLeft(column_, workspaceOfColumn_);
    qr_.matrixQR().topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().solveInPlace(column_.col(0).head(rank_));
    mu_.setZero();
    for (int k = 0; k < rank_; ++k) mu_[qr_.colsPermutation().indices()[k]] = column_(k, 0);
  }
  /// The matrix at the present guess, momenta times k.
  MatrixX matrix(double k) {
    std::array<ResidualGroup, 2> groups;
    evaluate(groups); // finds P
    assemble(k, 1);
    return A_;
  }
  /// k P^T K P(q1), or k P^T K above s G(q1).
  void assemble(double k, double s) {
    linearise();
    findMultipliers();
    system_.addConstraintHessian(mu_, t0_ + h_ / 2, -0.5, K_);
    if (isReduced_) {
      space_->update(q1_, t1());
      space_->matrix(q1_, P1_);
      KP_.noalias() = K_ * P1_;
      A_.noalias() = P_.transpose().lazyProduct(KP_);
      A_ *= k;
      return;
    }
    KP_.setZero();
    for (int j = 0; j < K_.outerSize(); ++j)
      for (SparseMatrix::InnerIterator entry(K_, j); entry; ++entry) KP_(entry.row(), j) = k * entry.value();
    A_.topRows(P_.cols()).noalias() = P_.transpose().lazyProduct(KP_);
    system_.constraintGradient(q1_, t1(), G1_);
    Gt_.setZero();
    for (int j = 0; j < G1_.outerSize(); ++j)
      for (SparseMatrix::InnerIterator entry(G1_, j); entry; ++entry)
        Gt_(j, entry.row()) = s * entry.value() * unit_[system_.size() + entry.row()];
    for (std::size_t i = 0; i < rows_.size(); ++i) A_.row(P_.cols() + Eigen::Index(i)) = Gt_.col(rows_[i]).transpose();
  }

  bool isReduced_, reached_ = true;
  VectorX start_;
  double startTime_;
  std::unique_ptr<NullSpace> space_; ///< at q1, and in a first guess at q0
  std::vector<int> rows_;            ///< constraints that count
  int rank_ = 0;
  MatrixX Gt_, P_, P1_, KP_, A_, column_; ///< a matrix of one column: reflections of a vector allocate
  Eigen::ColPivHouseholderQR<MatrixX> qr_;
  Eigen::PartialPivLU<MatrixX> lu_;
  VectorX middle_, before_, step_, reduced_, increment_, solution_, rhs_, mu_, rates_;
  Eigen::RowVectorXd workspace_, workspaceOfColumn_; ///< one size each
};

}

std::unique_ptr<StepEquations> makeHalfwayStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                               double t, bool isReduced) {
  return std::make_unique<HalfwayStep>(system, balance, tolerance, q, t, isReduced);
}

}
