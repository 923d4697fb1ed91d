#pragma once
#include "equations/bordered_matrix.h"
#include "equations/contact_iterate.h"
#include "tendril/solvers/friction_solver.h"
#include "tendril/solvers/sparse_lu.h"

namespace tendril {

/// A step of the Josephy-Newton method: only the equations of the model are linearised, the laws of contact are solved exactly. With the
/// matrix A of the model (and the stiffness of the present contact forces) and its residual r without contact,
///
///     g = W F + q,      W = B A^-1 B^T,      q = g_k - B A^-1 r,      law(g_j, F_j),      delta = A^-1 (B^T F - r)
///
/// is a friction problem in the unknown forces. Constraints that would stay open without forces are left out; those into which the others
/// push are taken in, until none is violated. W is made symmetric, as friction solvers want it: its skew part, which vanishes in
/// equilibria under loads with a potential, acts with the present forces.
///
/// A must be regular, hence nothing may float that only contact holds.
class ContactDualStep final : public ContactStep {
 public:
  void begin() override;
  bool compute(ContactIterate& iterate, ContactIncrement& increment) override;

 private:
  bool factorise(ContactIterate& iterate);
  void choose(const ContactIterate& iterate);
  void condense(const ContactIterate& iterate);
  void pose(const ContactIterate& iterate);
  void solveLaws(const ContactIterate& iterate, ContactIncrement& increment);
  void recover(const ContactIterate& iterate, ContactIncrement& increment);
  bool takeInViolated(const ContactIterate& iterate, const VectorX& delta);

  BorderedMatrix matrix_;
  SparseLu lu_;
  VectorX free_, rhs_;         ///< scaled solution without contact forces
  VectorX freeDelta_;          ///< increment of the configuration that belongs to it
  std::vector<char> isChosen_; ///< per constraint
  std::vector<int> chosen_;    ///< constraints that may carry forces
  MatrixX X_, W_;              ///< some columns of A^-1 B^T; B A^-1 B^T of the chosen
  VectorX F_, r_;              ///< present forces of the chosen; those sought, in the rows of the friction problem
  FrictionProblem friction_;
  FrictionSolver solver_;
  int unsolved_ = 0; ///< friction problems
};

}
