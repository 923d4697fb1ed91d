#include "dynamics/step_equations.h"
#include "tendril/discrete/null_space.h"
#include "tendril/solvers/saddle_matrix.h"

#include <numeric>

namespace tendril {

namespace {

/// Unknowns q1 and mu:  arrived + leaving(q0, q1) - G^T mu = 0,  g(q1) = 0,  with K = d(leaving)/dq1 - d(G^T mu)/dq1.
class MultiplierStep final : public StepEquations {
 public:
  MultiplierStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q, double t)
      : StepEquations(system, balance, tolerance), mu_(VectorX::Zero(system.constraints())), muBefore_(mu_),
        step_(VectorX::Zero(system.size() + system.constraints())), before_(VectorX::Zero(system.size())), impulse_(before_),
        middle_(before_), saddle_(K_, G0_, unit_), isShared_(!NullSpace(system, q, t).redundantRows().empty()) {
    if (isShared_) constraintTolerance_ = 1e-11; // what the compliance moves
  }

  void leftOver(VectorX& forces) override {
    middle_ = unbalanced_ - impulse_;
    system_.pullBack(q0_, middle_, forces);
  }
  void respond(const VectorX& momentum, VectorX& move) override {
    step_.setZero();
    step_.head(q1_.size()) = momentum;
    saddle_.solve(step_);
    move = step_.head(q1_.size());
  }
  int unknowns() const override {
    if (unknowns_ == 0) unknowns_ = int(kept().size());
    return unknowns_;
  }
  void forget() override { saddle_.forget(); }

  bool evaluate(std::span<ResidualGroup> groups) override {
    if (balance_.turnsWithEnd()) findDirections();
    return StepEquations::evaluate(groups);
  }
  bool factorise() override {
    findTangent();
    return saddle_.factorise(K_, G0_, G1_, mass() / h_);
  }
  bool solve() override {
    step_.head(q1_.size()) = unbalanced_ - impulse_;
    step_.tail(mu_.size()) = -closure_;
    if (isShared_) saddle_.share(mu_, step_);
    saddle_.solve(step_);
    middle_ = 0.5 * step_.head(q1_.size());
    system_.pullBack(q1_, middle_, turn_); // N^T N is 2 on rotations
    return step_.allFinite();
  }
  void applyStep(double factor) override {
    before_ = q1_, muBefore_ = mu_;
    q1_ += factor * step_.head(q1_.size());
    mu_ += factor * step_.tail(mu_.size());
    impulse_.noalias() = G0_.transpose() * mu_;
  }
  void undoStep() override {
    q1_ = before_, mu_ = muBefore_;
    impulse_.noalias() = G0_.transpose() * mu_;
  }

  MatrixX rawMatrix() override { return matrix(1, h_); }
  MatrixX scaledMatrix() override {
    const VectorX unit = unit_(kept());
    return unit.asDiagonal() * matrix(h_ / mass(), 1) * unit.asDiagonal();
  }

 protected:
  void guess(const VectorX& twist) override {
    system_.model().retract(q0_, twist, q1_);
    mu_.setZero();
    findDirections();
  }
  void measureMomentum(ResidualGroup& group) override {
    group.reference += size(impulse_) / double(system_.model().blocks().size());
    middle_ = unbalanced_ - impulse_;
    measure(middle_, unit_, group);
  }
  std::string nameOfMomentum(int row) const override { return system_.nameOfCoordinate(row); }

 private:
  void findDirections() {
    if (balance_.turnsWithEnd()) {
      middle_ = 0.5 * (q0_ + q1_);
      system_.constraintGradient(middle_, t0_ + h_ / 2, G0_);
    } else {
      system_.constraintGradient(q0_, t0_, G0_);
    }
    impulse_.noalias() = G0_.transpose() * mu_;
  }
  void findTangent() {
    linearise();
    if (balance_.turnsWithEnd()) system_.addConstraintHessian(mu_, t0_ + h_ / 2, -0.5, K_);
    system_.constraintGradient(q1_, t1(), G1_);
  }
  /// Unknowns without the multipliers of redundant rows.
  std::vector<int> kept() const {
    std::vector<int> numbers(system_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int row : NullSpace(system_, q1_, t1()).keptConstraints()) numbers.push_back(system_.size() + row);
    return numbers;
  }
  /// [[k K, -c G0^T], [G1, 0]] of the unknowns kept.
  MatrixX matrix(double k, double c) {
    findTangent();
    const int n = system_.size(), m = system_.constraints();
    MatrixX full = MatrixX::Zero(n + m, n + m);
    full.topLeftCorner(n, n) = k * MatrixX(K_);
    full.topRightCorner(n, m) = -c * MatrixX(G0_).transpose();
    full.bottomLeftCorner(m, n) = MatrixX(G1_);
    const std::vector<int> numbers = kept();
    return full(numbers, numbers);
  }

  VectorX mu_, muBefore_, step_, before_;
  VectorX impulse_; ///< G^T mu
  VectorX middle_;
  SaddleMatrix saddle_;
  bool isShared_;            ///< redundant rows share their force
  mutable int unknowns_ = 0; ///< counted where they are asked for
};

}

std::unique_ptr<StepEquations> makeMultiplierStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                                  double t) {
  return std::make_unique<MultiplierStep>(system, balance, tolerance, q, t);
}

}
