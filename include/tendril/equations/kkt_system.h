#pragma once
#include "tendril/model/assembly.h"
#include "tendril/model/model.h"
#include "tendril/solvers/newton.h"
#include "tendril/solvers/sparse_ldlt.h"
#include "tendril/solvers/sparse_lu.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tendril {

struct KktTolerances {
  double force = 1e-8;       ///< relative to the mean force that single elements contribute
  double constraint = 1e-10; ///< lengths relative to the size of the model, angles in radians
};

/// What becomes of constraint rows that say nothing new.
///
/// SwitchOff: their multipliers are not solved for (statics, where iterates come from far and would make the rows disagree).
/// Share: all rows stay, with the compliance e on the multipliers themselves, G delta + e lambda / s = -g. Of all multipliers with the same
/// effect this picks the smallest, and it carries a mechanism through configurations in which more rows become dependent for an instant.
/// The compliance is far below the tolerance of constraints in dynamics, where s is of the order of mass over step squared: it moves a
/// joint by 1e-12 of what its force moves it in one step.
enum class Redundancy { SwitchOff, Share };

/// The equations of a model, gathered and factorised: what Newton's method needs in statics, dynamics and every later analysis.
///
///     [  S     -s G^T ] [ delta ]       [  r  ]
///     [ -s G   -e s   ] [  mu   ]  =  - [ -s g ],     Delta lambda = s mu      (model.4)
///
/// The multipliers are scaled by s, the mean stiffness of the softest kind of motion (translation, rotation over the size of the model),
/// and rotations are measured by what they move at the size of the model, so that no unit enters and the matrix stays balanced as a time
/// step shrinks (Bottasso, Bauchau & Cardona 2007) and for the slenderest beams. e = 1e-12 (relative) is a proximal term: it acts on the
/// increment of lambda alone, so that the converged solution does not contain it, and lets a mechanism pass configurations in which G loses
/// rank for an instant.
///
/// Constraints that say nothing new are found by rank at the start and switched off: their rows are solved as mu = 0, but their violation
/// is still measured, so that nothing is lost when the rank comes back. minimumNorm() then distributes the reactions.
///
/// Convergence is judged in groups, each in its own dimension and free of units: forces, moments, coordinates, lengths, angles. A residual
/// is the largest entry of its group; its reference the mean norm of what elements contribute, its floor what round-off of the stored
/// configuration produces in the stiffest element.
class KktSystem {
 public:
  KktSystem(const Model& model, const KktTolerances& tolerances, Redundancy treatment = Redundancy::SwitchOff);

  const Model& model() const { return model_; }
  Assembly& assembly() { return assembly_; }

  /// Evaluates the model into the assembly. False if an element cannot represent the configuration.
  bool evaluate(const State& state, const Request& request);
  /// Call before the state is moved by factor * delta: the next tangents use the internal forces that this predicts, until
  /// forgetPrediction().
  void predict(const State& state, const VectorX& delta, double factor) { model_.predict(state, delta, factor, assembly_); }
  void forgetPrediction() { assembly_.predicted = false; }
  /// Sets s from the diagonal of the matrix last assembled; call when the kind of step changes, then evaluate anew.
  void balance();

  // ---- redundant constraints -----------------------------------------------------------------------------------------------------------
  /// Finds the rank of G at the state and switches the dependent rows off. True if the set changed.
  bool findRedundancy(const State& state);
  const std::vector<int>& redundantRows() const { return redundant_; }
  /// Takes the rows found earlier (when a run is resumed).
  void setRedundantRows(const std::vector<int>& dependent);
  /// One sentence that names the joints, or empty.
  std::string describeRedundancy() const;
  /// The multipliers with the same constraint forces and least norm (moments measured against the size of the model).
  VectorX minimumNorm(const State& state);

  // ---- solution ------------------------------------------------------------------------------------------------------------------------
  static constexpr int groupCount = 5;
  void measure(const State& state, std::span<ResidualGroup> groups) const;
  /// Factorises the matrix last assembled.
  bool factorise();
  bool factorised() const { return factorised_; }
  /// Drops the factorisation and the pivots it was made with.
  void forget();
  /// Solves for the increments of the configuration and of lambda that belong to the residual last evaluated.
  bool solve(VectorX& delta, VectorX& deltaLambda);
  /// Solves with any right-hand side (upper: nv, lower: nc, before scaling: S x - G^T y = upper, G x = lower).
  bool solve(const VectorX& upper, const VectorX& lower, VectorX& x, VectorX& y);
  // For those who border the matrix with unknowns of their own: the matrix last assembled as factorise() takes it and the right-hand side
  // of the residual last evaluated, rows and columns measured in `unit`, multipliers in s = assembly().multiplierScale.
  const SparseMatrix& preparedMatrix();
  void prepareRightHandSide(Eigen::Ref<VectorX> rhs) const;
  const VectorX& unit() const { return unit_; }
  /// Signs of the static tangent on the null space of G at a state, from its symmetric part (all of it at an equilibrium under loads with
  /// a potential).
  /// Eigenvalues below the tolerance, relative to the scaled matrix, count as zero.
  std::optional<Inertia> tangentInertia(const State& state, double zeroTolerance = SparseLdltOptions{}.zeroTolerance);

  std::string describeWorst() const;
  /// Names what is free to move at a state: motions that meet no stiffness and violate no constraint. Empty if there is none.
  std::string describeFreeMotions(const State& state);
  /// The same for the matrix last assembled, which was found to be singular.
  std::string describeSingular();

 private:
  void prepareMatrix();
  SparseMatrix symmetricPart();
  std::string nameFreeMotions();

  const Model& model_;
  KktTolerances tolerances_;
  Redundancy treatment_;
  const State* evaluated_ = nullptr; ///< state of the last evaluation
  Assembly assembly_;
  SparseLu lu_;
  SparseLdlt ldlt_; ///< of the symmetric part
  bool analysed_ = false, factorised_ = false, prepared_ = false;
  std::vector<int> diagonal_;  ///< positions of the diagonal of the constraint rows among the values
  std::vector<int> redundant_; ///< rows of g
  std::vector<int> off_;       ///< those of them that are switched off
  std::vector<int> cleared_;   ///< positions of the values of redundant rows and columns
  std::vector<char> isMoment_; ///< per velocity: 0 force, 1 moment, 2 general
  VectorX unit_; ///< per row and column: that of lengths is 1; rotations are measured in units of 1 / size, moments and angles of the
                 ///< constraints likewise
  VectorX rhs_, solution_, corrected_;
};

}
