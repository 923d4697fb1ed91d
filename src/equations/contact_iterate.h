#pragma once
#include "equations/bordered_matrix.h"
#include "equations/contact_law_equations.h"
#include "tendril/equations/contact_newton.h"
#include "tendril/solvers/sparse_lu.h"

#include <array>
#include <string>
#include <vector>

namespace tendril {

/// A step of an iteration: increments of configuration, multipliers and contact forces.
struct ContactIncrement {
  VectorX delta, deltaLambda;
  Eigen::Matrix3Xd F;
  double longest = 1; ///< share of it that may be taken
};

/// Everything evaluated at one iterate (x, lambda, F): residual with contact forces, laws, and how far all are from zero. Both methods
/// start their steps from here.
///
/// The weights rho come from the compliance of the model, the median over some constraints of B A^-1 B^T: this is what a force of one
/// contact has to do with its gap, whatever units or step. Along the surfaces it is the compliance of the model that contacts closed at the
/// start hold in their normals: what is pressed on a drum cannot bend, only stretch.
class ContactIterate {
 public:
  /// Begins a solution from the iterate at which the problem stands.
  void begin(ContactProblem& problem, double weight, Eigen::Matrix3Xd& F);
  /// False if the problem refuses the configuration.
  bool evaluate();
  void apply(const ContactIncrement& increment);

  // ---- what a step is made of ----------------------------------------------------------------------------------------------------------
  ContactProblem& problem() const { return *problem_; }
  KktSystem& kkt() const { return problem_->kkt(); }
  const Eigen::Matrix3Xd& forces() const { return *F_; }
  int count() const { return int(laws_.size()); }
  bool isPresent(int j) const { return problem_->constraints()[j].isPresent; }
  double friction(int j) const { return problem_->constraints()[j].law->friction; }
  double largestForce() const { return F_->cols() > 0 ? F_->row(0).maxCoeff() : 0; }
  /// (gap, slip).
  Vector3 gap(int j) const;
  /// Laws with the weights of the status test.
  const ContactLawEquations& law(int j) const { return laws_[j]; }
  /// Weights of the status test, and those of the model, which measure.
  ContactWeights weights() const { return {weight_ * rho_.normal, weight_ * rho_.tangent}; }
  const ContactWeights& modelWeights() const { return rho_; }
  /// By how much a contact yields to a force when those that are closed at the start stay so (normal, tangential twice).
  const Vector3& compliance() const { return compliance_; }
  /// False if the model floats without contact, so that it has no compliance of its own.
  bool isHeldWithoutContact() const { return isHeld_; }
  /// Replaces the laws of closed contacts by those that keep the status and direction found earlier.
  void hold(const std::vector<ContactLawEquations>& earlier);
  const std::vector<ContactLawEquations>& laws() const { return laws_; }
  /// B delta of one constraint.
  Vector3 motion(int j, const Eigen::Ref<const VectorX>& delta) const;
  /// rhs += unit B^T f, in the scaled rows of the KKT system.
  void addForce(int j, const Vector3& f, Eigen::Ref<VectorX> rhs) const;
  /// - d(B^T F)/dx at the iterate; and a block of it in the scaled rows and columns of the KKT system.
  const std::vector<StiffnessBlock>& stiffness();
  Matrix6 scaled(const StiffnessBlock& block) const;
  /// delta and the increment of lambda from a solution of the scaled KKT system.
  void setIncrement(Eigen::Ref<VectorX> solution, ContactIncrement& increment) const;
  int offset(int block) const { return kkt().model().blocks()[block].v; }

  // ---- how good it is ------------------------------------------------------------------------------------------------------------------
  bool isFinite() const;
  bool passes() const;
  /// Nothing but rounding is left.
  bool isNegligible() const;
  /// Root of the sum of squares of residuals over their thresholds.
  double merit() const { return merit_; }
  /// Largest residual over its threshold (or rounding).
  double residual() const;
  double gapViolation() const { return groups_[KktSystem::groupCount].value; }
  /// Constraints that carry a force; those whose law says that they touch.
  int active() const;
  int closed() const;
  /// What is worst: residual, place, and the contact with the largest violation.
  std::string describeWorst() const;

 private:
  void weigh();
  bool isClosedAtStart(int j) const;
  /// Factorises the model with the normals of closed constraints held.
  bool holdNormals();
  Vector3 compliance(int j);
  Vector3 heldCompliance(int j);
  Vector3 diagonalCompliance(int j) const;
  void measure();

  ContactProblem* problem_ = nullptr;
  Eigen::Matrix3Xd* F_ = nullptr;
  double weight_ = 1;
  ContactWeights rho_;
  Vector3 compliance_ = Vector3::Ones();
  bool isHeld_ = true;
  bool isFirst_ = true;     ///< the next iterate is the one to start from
  int weighed_ = 0;         ///< constraints present when rho was found; 0: it was not
  int weighedClosed_ = 0;   ///< of them, those that were closed
  double weighedScale_ = 0; ///< mean stiffness of the model then
  std::vector<ContactLawEquations> laws_;
  std::vector<StiffnessBlock> stiffness_;
  std::array<ResidualGroup, KktSystem::groupCount + 1> groups_; ///< the last one holds the laws of contact
  int worst_ = -1;                                              ///< constraint
  double merit_ = 0;
  VectorX upper_, lower_, x_, y_;
  BorderedMatrix held_;
  SparseLu heldLu_;
  VectorX heldRhs_;
};

/// One of the methods: how to get from an iterate to the next.
class ContactStep {
 public:
  virtual ~ContactStep() = default;
  virtual void begin() = 0;
  /// False if there is no step; failure() tells why.
  virtual bool compute(ContactIterate& iterate, ContactIncrement& increment) = 0;
  const std::string& failure() const { return failure_; }
  /// The failure is that something floats.
  bool isSingular() const { return isSingular_; }

 protected:
  std::string failure_;
  bool isSingular_ = false;
};

}
