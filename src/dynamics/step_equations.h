#pragma once
#include "dynamics/node_balance.h"
#include "tendril/discrete/kinematic_tree.h"
#include "tendril/dynamics/variational.h"
#include "tendril/solvers/newton.h"

#include <memory>
#include <string>

namespace tendril {

/// The equations from which a step finds the end of an interval: what Newton's method needs, and what is the same however constraints are
/// met. The derived classes, one per elimination, know the unknowns.
class StepEquations : public NewtonProblem {
 public:
  StepEquations(const DirectorSystem& system, NodeBalance& balance, double tolerance);

  /// The interval of size h begins at q0, t0, where `arrived` comes in. Blocks move by `twist` in the first guess.
  void begin(const VectorX& q0, const VectorX& arrived, double t0, double h, const VectorX& twist);
  /// Other momentum comes in; the end stays for the next guess.
  void bring(const VectorX& arrived) { arrived_ = arrived; }
  const VectorX& end() const { return q1_; }
  const VectorX& leaving() const { return leaving_; }

  /// What the iteration left of the balance: forces on the blocks in their frames at q0, without those of constraints [N s, N m s].
  virtual void leftOver(VectorX& forces) = 0;

  /// How the end moves, to first order, when this momentum comes in besides: by the matrix factorised last, which must be that of
  /// the end found.
  virtual void respond(const VectorX& momentum, VectorX& move) = 0;

  virtual int unknowns() const = 0;
  /// The matrix of the equations at the end found, dense; and with rows and unknowns scaled to the sizes of momenta, lengths and h.
  virtual MatrixX rawMatrix() = 0;
  virtual MatrixX scaledMatrix() = 0;
  /// What is worth telling of the configuration reached; usually nothing.
  virtual std::string note() const { return {}; }
  /// Forgets what the steps before left behind, so that a resumed run goes on the same way.
  virtual void forget() {}

  int groupCount() const override { return 2; }
  bool evaluate(std::span<ResidualGroup> groups) override;
  double longestFactor() override;
  std::string describeWorst() const override;

 protected:
  /// First guess of the end; `twist` as in begin().
  virtual void guess(const VectorX& twist) = 0;
  /// The balance of the node in the coordinates of the elimination, from unbalanced_, into the group of momenta.
  virtual void measureMomentum(ResidualGroup& group) = 0;
  /// The largest of the values, each times its unit.
  void measure(const VectorX& values, const VectorX& units, ResidualGroup& group);
  virtual std::string nameOfMomentum(int row) const = 0;

  /// Blocks that are placed one after the other along a branch of the tree are known to so many times the rounding of one.
  void setBranch(const KinematicTree& tree);
  /// K and the rounding that it tells of.
  void linearise();
  /// Sum over the blocks of the sizes of a covector, directors' parts over the length of the model.
  double size(const VectorX& p) const;
  /// Mass, to scale by; m L^2 / h is a momentum of a director.
  double mass() const { return mass_; }
  double t1() const { return t0_ + h_; }

  const DirectorSystem& system_;
  NodeBalance& balance_;
  double length_; ///< of the model
  double t0_ = 0, h_ = 1;
  VectorX q0_, q1_, arrived_, leaving_;
  VectorX unbalanced_; ///< arrived + leaving
  VectorX closure_;    ///< g(q1)
  VectorX turn_;       ///< twists of the blocks that belong to the step computed last
  VectorX unit_;       ///< of coordinates, then of constraints: 1 for positions, 1 / L for directors, and what is made of them
  SparseMatrix K_, G0_, G1_;
  /// Lengths over the size of the model, angles. Where q1 <- F(u, q1) holds the joints, only rounding wanders, and Newton cannot help it.
  double constraintTolerance_ = 1e-13;
  int worstMomentum_ = 0, worstClosure_ = 0;

 private:
  double tolerance_, mass_ = 1;
  double branch_ = 1;
  VectorX noise_;
  bool isClosureWorse_ = false;
};

std::unique_ptr<StepEquations> makeMultiplierStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                                  double t);
/// Null space of the constraints at q0; the end in redundant coordinates.
std::unique_ptr<StepEquations> makeNullSpaceStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                                 double t);
/// Increments of the nodal reparametrisation; trees beyond a certain size by the sparse matrix that is bordered by their joints.
std::unique_ptr<StepEquations> makeReducedStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                               double t);
/// For schemes whose constraints act halfway: in increments, or in q1 with the constraints beside.
std::unique_ptr<StepEquations> makeHalfwayStep(const DirectorSystem& system, NodeBalance& balance, double tolerance, const VectorX& q,
                                               double t, bool isReduced);

}
