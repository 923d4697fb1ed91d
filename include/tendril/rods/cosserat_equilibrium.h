#pragma once
#include "tendril/rods/cosserat_rod.h"
#include "tendril/solvers/path_follower.h"
#include "tendril/solvers/staged_ldlt.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// The balances of forces and moments of a discrete Cosserat rod, P^T dV/dq = 0, with its load factor as parameter: what Newton's method
/// and a PathFollower see. Increments are those of the rod, lengths measured by its length; the matrix is block tridiagonal and factorised
/// stage by stage, in time linear in N. The rod that was passed is the one that moves.
///
/// Residuals are the largest force and moment at a vertex or frame, relative to the mean of what segments exert, or as far as rounding of
/// the positions lets them fall.
class CosseratEquations final : public PathProblem {
 public:
  explicit CosseratEquations(CosseratRod& rod, double tolerance = 1e-13);

  int size() const override { return rod_.size(); }
  double parameter() const override { return rod_.loadFactor; }
  int groupCount() const override { return 2; }
  bool evaluate(std::span<ResidualGroup> groups) override;
  bool factorise() override;
  bool solve(VectorX& step) override;
  bool solveRate(VectorX& along) override;
  double inner(const VectorX& a, const VectorX& b) const override { return a.dot(b) / double(rod_.unknowns().size()); }
  /// No frame turns by more than half a radian in one iteration.
  double longestFactor(const VectorX& step) override;
  void move(const VectorX& step, double dt, double factor) override;
  void undo() override;
  void keep() override;
  void returnToKept() override;
  std::string describeWorst() const override;
  std::string describeSingular() const override;

  /// Signs of the second variation of the energy that the supports allow, at the present point.
  Inertia signs();
  /// Whether an eigenvalue vanishes: at a limit point or a bifurcation, or where the rod is free to move.
  bool isSingular() const { return ldlt_.inertia().zero > 0; }

 private:
  void assemble();
  double roundOff() const;

  CosseratRod& rod_;
  double tolerance_;
  VectorX unit_; ///< per unknown: the length of the rod for positions, 1 for frames
  VectorX gradient_, moved_, point_, kept_, values_;
  double heldLoad_ = 1, keptLoad_ = 1;
  std::vector<std::size_t> places_; ///< of the values of the Hessian
  StagedMatrix matrix_;
  StagedLdlt ldlt_;
};

struct CosseratEquilibriumOptions {
  double tolerance = 1e-13; ///< of the balances of forces and moments, relative to what segments exert
  int maxIterations = 500;
  /// Down the energy at first, with a line search and second derivatives, to a minimum; then, or without it at once, Newton's method on the
  /// balances: from near an equilibrium that need not be stable.
  bool descends = true;
};

struct CosseratEquilibrium {
  bool isSolved = false;
  /// The energy grows in all directions that the supports allow: the second variation is positive definite.
  bool isMinimum = false;
  Inertia signs;     ///< of the second variation
  double energy = 0; ///< elastic and of the loads [J]
  int iterations = 0;
  double residual = 0; ///< relative to what is allowed
  std::string message; ///< what went wrong, or that it is no minimum
};

/// Equilibrium at the load factor of the rod, from where it stands.
CosseratEquilibrium solveEquilibrium(CosseratRod& rod, const CosseratEquilibriumOptions& options = {});

}
