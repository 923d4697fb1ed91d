#include "dynamics/step_equations.h"
#include "tendril/discrete/null_space.h"
#include "tendril/discrete/twist_matrix.h"
#include "tendril/solvers/saddle_matrix.h"

#include <Eigen/LU>

namespace tendril {

namespace {

/// Trees with more coordinates are solved sparsely.
constexpr int largestDense = 40;

/// Size of a unit of each tree coordinate: lengths 1, angles 1 / L, found from what a force alone does to it.
VectorX unitsOfTree(const DirectorSystem& system, const KinematicTree& tree, const VectorX& q, double t) {
  const Model& model = system.model();
  VectorX unit = VectorX::Ones(tree.dimension()), force = VectorX::Zero(model.nv()), reduced(tree.dimension());
  for (std::size_t b = 0; b < model.blocks().size(); ++b) {
    const Block& block = model.blocks()[b];
    if (block.kind != Block::Kind::Pose) continue;
    VectorX turns = VectorX::Zero(tree.freedom(int(b)));
    for (int k = 3; k < 6; ++k) {
      force[block.v + k] = 1;
      tree.reduce(q, t, force, reduced);
      turns += reduced.segment(tree.first(int(b)), turns.size()).cwiseAbs();
      force[block.v + k] = 0;
    }
    for (int i = 0; i < turns.size(); ++i)
      if (turns[i] > 1e-12) unit[tree.first(int(b)) + i] = 1 / model.characteristicLength();
  }
  return unit;
}

/// Unknown increments u, q1 <- F(u, q1):  P(q0)^T (arrived + leaving(q0, q1)) = 0  by the matrix  P(q0)^T K P(q1).
class DenseReducedStep final : public StepEquations {
 public:
  DenseReducedStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q, double t)
      : StepEquations(system, balance, tolerance), start_(q), startTime_(t), projected_(system), before_(q), pulled_(system.model().nv()),
        lu_(NullSpace(system, q, t).dimension()) {
    constraintTolerance_ = 1e-12;
    forget();
    setBranch(atBegin_->tree());
    const int r = atBegin_->dimension();
    rates_.setZero(atBegin_->tree().dimension());
    step_.setZero(r), increment_.setZero(r), reduced_.setZero(r);
    J_.setZero(r, r);
    ST_.setZero(system.model().nv(), r);
    const VectorX unitsOfRates = unitsOfTree(system, atBegin_->tree(), q, t);
    atBegin_->update(q, t);
    const MatrixX shares = atBegin_->basis().cwiseAbs2(); // of each rate of the tree in each coordinate
    units_ = (shares.transpose() * unitsOfRates).cwiseQuotient(shares.colwise().sum().transpose());
  }

  void leftOver(VectorX& forces) override { atBegin_->leastForces(reduced_, forces); }
  void respond(const VectorX& momentum, VectorX& move) override {
    system_.pullBack(q0_, momentum, pulled_);
    increment_.noalias() = -atBegin_->twists().transpose() * pulled_;
    step_ = lu_.solve(increment_);
    turn_.noalias() = atEnd_->twists() * step_;
    system_.rates(q1_, turn_, move);
  }
  int unknowns() const override { return int(J_.rows()); }
  void forget() override {
    atBegin_ = std::make_unique<NullSpace>(system_, start_, startTime_);
    atEnd_ = std::make_unique<NullSpace>(system_, start_, startTime_);
  }
  std::string note() const override { return atBegin_->describeJump(); }

  bool evaluate(std::span<ResidualGroup> groups) override { return reached_ && StepEquations::evaluate(groups); }
  bool factorise() override {
    assemble();
    lu_.compute(J_);
    return lu_.rows() == 0 || lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  }
  bool solve() override {
    reduced_.noalias() = atBegin_->twists().transpose() * pulled_;
    step_ = lu_.solve(reduced_);
    step_ *= -1;
    turn_.noalias() = atEnd_->twists() * step_;
    return step_.allFinite();
  }
  void applyStep(double factor) override {
    before_ = q1_;
    increment_ = factor * step_;
    reached_ = atEnd_->retract(before_, increment_, t1(), t1(), q1_);
  }
  void undoStep() override { q1_ = before_, reached_ = true; }

  MatrixX rawMatrix() override {
    assemble();
    return J_;
  }
  MatrixX scaledMatrix() override { return (h_ / mass()) * (units_.asDiagonal() * rawMatrix() * units_.asDiagonal()); }

 protected:
  void guess(const VectorX& twist) override {
    atBegin_->update(q0_, t0_);
    atBegin_->tree().rates(q0_, t0_, twist, rates_);
    reached_ = atBegin_->follow(q0_, rates_, t0_, t1(), q1_);
  }
  void measureMomentum(ResidualGroup& group) override {
    system_.pullBack(q0_, unbalanced_, pulled_);
    reduced_.noalias() = atBegin_->twists().transpose() * pulled_;
    measure(reduced_, units_, group);
  }
  std::string nameOfMomentum(int row) const override {
    Eigen::Index largest = 0;
    atBegin_->twists().col(row).cwiseAbs().maxCoeff(&largest);
    return system_.model().nameOfVelocity(int(largest));
  }

 private:
  void assemble() {
    atEnd_->update(q1_, t1());
    linearise();
    projected_.project(K_, q0_, q1_);
    ST_.noalias() = projected_.matrix() * atEnd_->twists();
    J_.noalias() = atBegin_->twists().transpose().lazyProduct(ST_);
  }

  VectorX start_;
  double startTime_;
  std::unique_ptr<NullSpace> atBegin_, atEnd_;
  TwistMatrix projected_;
  VectorX before_, pulled_, rates_, step_, increment_, reduced_, units_;
  MatrixX J_, ST_;
  Eigen::PartialPivLU<MatrixX> lu_;
  bool reached_ = true; ///< the closure, by the last move
};

/// The same step for trees, in time linear in their size: twists w of the blocks, bordered by the joints (SaddleMatrix) with
/// K = N(q0)^T d(leaving)/dq1 N(q1) and H = G N;  q1 <- F(u, q1), u the rates of w.
class TreeStep final : public StepEquations {
 public:
  TreeStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q, double t)
      : StepEquations(system, balance, tolerance), tree_(system), projected_(system), H0_(projected_.rows()), H1_(H0_), before_(q),
        pulled_(VectorX::Zero(system.model().nv())), reaction_(VectorX::Zero(system.model().nc())),
        solution_(VectorX::Zero(system.model().nv() + system.model().nc())), reduced_(VectorX::Zero(tree_.dimension())), rates_(reduced_),
        increment_(reduced_), units_(unitsOfTree(system, tree_, q, t)), saddle_(projected_.matrix(), H0_, unitsOfTwists()) {
    constraintTolerance_ = 1e-12;
    setBranch(tree_);
  }

  void leftOver(VectorX& forces) override {
    solveForReaction();
    forces = pulled_;
    forces.noalias() -= H0_.transpose() * reaction_;
  }
  void respond(const VectorX& momentum, VectorX& move) override {
    system_.pullBack(q0_, momentum, turn_);
    solution_.setZero();
    solution_.head(turn_.size()) = turn_;
    saddle_.solve(solution_);
    turn_ = solution_.head(turn_.size());
    system_.rates(q1_, turn_, move);
  }
  int unknowns() const override { return tree_.dimension(); }
  void forget() override { saddle_.forget(); }

  bool factorise() override {
    linearise();
    projected_.project(K_, q0_, q1_);
    system_.constraintGradient(q1_, t1(), G1_);
    projected_.projectRows(G1_, q1_, H1_);
    return saddle_.factorise(projected_.matrix(), H0_, H1_, mass() / h_);
  }
  bool solve() override {
    solveForReaction();
    turn_ = solution_.head(pulled_.size());
    tree_.rates(q1_, t1(), turn_, rates_);
    return rates_.allFinite();
  }
  void applyStep(double factor) override {
    before_ = q1_;
    increment_ = factor * rates_;
    tree_.retract(before_, increment_, t1(), t1(), q1_);
  }
  void undoStep() override { q1_ = before_; }

  MatrixX rawMatrix() override {
    linearise();
    projected_.project(K_, q0_, q1_);
    MatrixX begin, end;
    tree_.matrix(q0_, t0_, begin);
    tree_.matrix(q1_, t1(), end);
    return begin.transpose() * (projected_.matrix() * end);
  }
  MatrixX scaledMatrix() override { return (h_ / mass()) * (units_.asDiagonal() * rawMatrix() * units_.asDiagonal()); }

 protected:
  void guess(const VectorX& twist) override {
    tree_.rates(q0_, t0_, twist, rates_);
    tree_.retract(q0_, rates_, t0_, t1(), q1_);
    system_.constraintGradient(q0_, t0_, G0_);
    projected_.projectRows(G0_, q0_, H0_);
    reaction_.setZero();
  }
  void measureMomentum(ResidualGroup& group) override {
    system_.pullBack(q0_, unbalanced_, pulled_);
    tree_.reduce(q0_, t0_, pulled_, reduced_);
    measure(reduced_, units_, group);
  }
  std::string nameOfMomentum(int row) const override { return tree_.nameOfCoordinate(row); }

 private:
  /// Increments of the impulses of the joints are unknown, not these as a whole, as the compliance of the matrix would move what they hold.
  void solveForReaction() {
    solution_.setZero();
    solution_.head(pulled_.size()) = pulled_;
    solution_.head(pulled_.size()).noalias() -= H0_.transpose() * reaction_;
    saddle_.solve(solution_);
    reaction_ += solution_.tail(reaction_.size());
  }
  VectorX unitsOfTwists() const {
    const Model& model = system_.model();
    VectorX unit = VectorX::Ones(model.nv() + model.nc());
    for (const Block& block : model.blocks())
      if (block.kind == Block::Kind::Pose) unit.segment<3>(block.v + 3).setConstant(1 / length_);
    unit.tail(model.nc()) = unit_.tail(model.nc());
    return unit;
  }

  KinematicTree tree_;
  TwistMatrix projected_;
  SparseMatrix H0_, H1_;
  VectorX before_, pulled_, reaction_, solution_, reduced_, rates_, increment_, units_;
  SaddleMatrix saddle_;
};

}

std::unique_ptr<StepEquations> makeReducedStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                               double t) {
  const KinematicTree tree(system);
  if (tree.closure().empty() && tree.dimension() > largestDense) return std::make_unique<TreeStep>(system, balance, tolerance, q, t);
  return std::make_unique<DenseReducedStep>(system, balance, tolerance, q, t);
}

}
