#include "dynamics/step_equations.h"
#include "tendril/discrete/null_space.h"

#include <Eigen/LU>

namespace tendril {

namespace {

/// Unknown q1:  P(q0)^T (arrived + leaving(q0, q1)) = 0,  g(q1) = 0, rows that are redundant left out.
class NullSpaceStep final : public StepEquations {
 public:
  NullSpaceStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q, double t)
      : StepEquations(system, balance, tolerance), start_(q), startTime_(t), before_(q), pulled_(system.model().nv()), lu_(system.size()) {
    forget();
    rows_ = space_->keptConstraints();
    rowOf_.assign(system.constraints(), -1);
    for (std::size_t k = 0; k < rows_.size(); ++k) rowOf_[rows_[k]] = space_->dimension() + int(k);
    reduced_.setZero(space_->dimension()), ones_.setOnes(space_->dimension());
    A_.setZero(system.size(), system.size());
    P_.setZero(system.size(), space_->dimension());
    Pt_ = P_.transpose();
    step_.setZero(system.size());
  }

  void leftOver(VectorX& forces) override { space_->leastForces(reduced_, forces); }
  void respond(const VectorX& momentum, VectorX& move) override {
    system_.pullBack(q0_, momentum, pulled_);
    before_.setZero();
    before_.head(reduced_.size()).noalias() = -space_->twists().transpose() * pulled_;
    move = lu_.solve(before_);
    move.array() *= unit_.head(q1_.size()).array();
  }
  int unknowns() const override { return int(A_.rows()); }
  void forget() override { space_ = std::make_unique<NullSpace>(system_, start_, startTime_); }
  std::string note() const override { return space_->describeJump(); }

  bool factorise() override {
    assemble(1, mass() / h_);
    A_ *= unit_.head(q1_.size()).asDiagonal();
    lu_.compute(A_);
    return lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  }
  bool solve() override {
    const double s = mass() / h_;
    step_.head(reduced_.size()) = -reduced_;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      step_[reduced_.size() + Eigen::Index(k)] = -s * closure_[rows_[k]] * unit_[system_.size() + rows_[k]];
    before_ = step_;
    step_ = lu_.solve(before_);
    step_.array() *= unit_.head(q1_.size()).array();
    system_.pullBack(q1_, step_, turn_);
    turn_ *= 0.5; // N^T N is 2 on rotations
    return step_.allFinite();
  }
  void applyStep(double factor) override {
    before_ = q1_;
    q1_ += factor * step_;
  }
  void undoStep() override { q1_ = before_; }

  MatrixX rawMatrix() override {
    assemble(1, 1);
    return A_;
  }
  MatrixX scaledMatrix() override {
    assemble(h_ / mass(), 1);
    return A_ * unit_.head(q1_.size()).asDiagonal();
  }

 protected:
  void guess(const VectorX& twist) override {
    system_.model().retract(q0_, twist, q1_);
    space_->update(q0_, t0_);
    space_->matrix(q0_, P_);
    Pt_ = P_.transpose();
  }
  void measureMomentum(ResidualGroup& group) override {
    system_.pullBack(q0_, unbalanced_, pulled_);
    reduced_.noalias() = space_->twists().transpose() * pulled_;
    measure(reduced_, ones_, group);
  }
  std::string nameOfMomentum(int row) const override {
    Eigen::Index largest = 0;
    P_.col(row).cwiseAbs().maxCoeff(&largest);
    return system_.nameOfCoordinate(int(largest));
  }

 private:
  /// k P^T K above s G(q1).
  void assemble(double k, double s) {
    linearise();
    system_.constraintGradient(q1_, t1(), G1_);
    A_.setZero();
    for (int j = 0; j < K_.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator entry(K_, j); entry; ++entry)
        A_.col(j).head(reduced_.size()) += (k * entry.value()) * Pt_.col(entry.row());
      for (SparseMatrix::InnerIterator entry(G1_, j); entry; ++entry)
        if (rowOf_[entry.row()] >= 0) A_(rowOf_[entry.row()], j) = s * entry.value() * unit_[system_.size() + entry.row()];
    }
  }

  VectorX start_;
  double startTime_;
  std::unique_ptr<NullSpace> space_; ///< at q0
  std::vector<int> rows_, rowOf_;    ///< constraints that count; the row of each in A_, -1: redundant
  VectorX before_, pulled_, reduced_, ones_, step_;
  MatrixX A_, P_, Pt_;
  Eigen::PartialPivLU<MatrixX> lu_;
};

}

std::unique_ptr<StepEquations> makeNullSpaceStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                                 double t) {
  return std::make_unique<NullSpaceStep>(system, balance, tolerance, q, t);
}

}
