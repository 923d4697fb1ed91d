#pragma once
#include "tendril/contact/contact_constraints.h"
#include "tendril/equations/kkt_system.h"

#include <memory>
#include <string>

namespace tendril {

/// Equilibrium or motion with contact, as ContactNewton sees it:
///
///     R(x) - G^T lambda - B(x)^T F = 0,   g(x) = 0,      law(gap_j, slip_j, F_j) for every constraint j
///
/// An implementation evaluates R and g (and the matrix) of everything but contact into kkt().assembly(); in statics R are the internal and
/// applied forces, in a position problem of dynamics inertia takes part, and in a velocity problem gaps are normal velocities and forces
/// are impulses.
class ContactProblem {
 public:
  virtual ~ContactProblem() = default;

  virtual KktSystem& kkt() = 0;
  /// Evaluates all but contact, with the matrix, at the present iterate, and the constraints. False if the configuration is refused.
  virtual bool evaluate() = 0;
  /// The state of the iterate, for measuring.
  virtual const State& state() const = 0;
  virtual std::span<const ContactConstraint> constraints() const = 0;
  virtual std::span<const GradientEntry> gradient(const ContactConstraint& constraint) const = 0;
  /// Appends - d(B^T F)/dx; nothing where the constraints are linear.
  virtual void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const = 0;
  /// What gaps and slips count as zero, in their own unit.
  virtual double gapTolerance() const = 0;
  /// Largest share of a step that may be taken (chart of rotations).
  virtual double longestFactor(const VectorX& delta) const = 0;
  virtual void applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) = 0;
  /// Back to the first iterate, for another method.
  virtual void restart() = 0;
  virtual std::string describe(const ContactConstraint& constraint) const = 0;
};

struct ContactNewtonOptions {
  /// Newton: semismooth Newton on all unknowns at once. Dual: in every iteration the linearised equations are eliminated, and the friction
  /// problem in W = B A^-1 B^T that is left is solved exactly. Newton is fast and made for many contacts; Dual needs few iterations and
  /// hardly ever fails, but W is dense. Automatic: Newton and, where that does not converge and at most 200 contacts are closed, Dual.
  enum class Method { Automatic, Newton, Dual } method = Method::Automatic;
  int maxIterations = 100; ///< a front of slip may move by one contact in each
  /// Multiplies the weight rho that joins forces and gaps in the test of a contact's status, F - rho gap. It moves no solution.
  double weight = 1;
};

struct ContactNewtonReport {
  bool converged = false;
  int iterations = 0;
  int factorisations = 0;
  bool usedDual = false;
  /// There is no step from the first iterate: something floats that neither the model nor a closed contact holds. No smaller step helps.
  bool isSingular = false;
  double residual = 0;     ///< largest residual over its threshold: forces, constraints, contact
  double gapViolation = 0; ///< largest violation of the law in gaps and slips, in their unit
  int active = 0;          ///< constraints that carry a force
  std::string message;     ///< why it failed: what residual, which contact
};

/// Solves equations with unilateral contact and Coulomb friction. Contact laws are those of ContactConstraint, written as equations of
/// Alart & Curnier (1991) in forces F_j and mean gaps,
///
///     F_n = max(0, F_n - rho gap),      F_t = P_{mu max(0, F_n - rho gap)} (F_t - rho slip),
///
/// whose generalised Jacobian borders the matrix of the model. rho_j is taken from the compliance of the model itself (samples of
/// B A^-1 B^T), so no unit and no parameter enters. Keeps its memory.
class ContactNewton {
 public:
  ContactNewton();
  ~ContactNewton();
  /// F: on entry the forces to start from (3 x constraints; missing columns count as zero), on return the solution or the best found.
  const ContactNewtonReport& solve(ContactProblem& problem, const ContactNewtonOptions& options, Eigen::Matrix3Xd& F);
  /// Of the last solution.
  const ContactNewtonReport& report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
