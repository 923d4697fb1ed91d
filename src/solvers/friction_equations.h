#pragma once
#include "friction_block_lu.h"
#include "friction_map.h"
#include "friction_system.h"

namespace tendril {

/// The linear equations behind Newton's method and its relatives, with small A, B and F of each contact:
///
///     A dr + B (W dr + epsilon dr) = -F.
///
/// With bodies they are solved for dw = H^T dr, six unknowns per body: (1 + H^T C H) dw = H^T c with C = (A + epsilon B)^-1 B and
/// c = -(A + epsilon B)^-1 F; else for the dr of all contacts whose B is not zero.
class FrictionEquations {
 public:
  void set(const FrictionSystem& system); ///< must outlive the equations
  /// The coefficients, to be filled in before factorise() (A and B) and solve() (F).
  std::vector<AlartCurnier>& contacts() { return maps_; }
  /// False if the matrix is singular.
  bool factorise(double epsilon);
  /// Of the matrix A + B (W + epsilon), after factorise().
  int determinantSign() const;
  /// Multiplications of a factorisation; zero before the first one where that depends on the contacts that are closed.
  double cost();
  /// False if the result is not finite.
  bool solve(Eigen::VectorXd& dr);

 private:
  void analyseBodies();
  bool factoriseBodies(double epsilon);
  void solveBodies(Eigen::VectorXd& dr);
  template <int N> bool factoriseContacts(BlockLu<N>& lu, double epsilon);
  template <int N> void solveContacts(BlockLu<N>& lu, Eigen::VectorXd& dr);
  Eigen::Map<const Eigen::MatrixXd> blockAt(int contact, int block) const;

  const FrictionSystem* system_ = nullptr;
  std::vector<AlartCurnier> maps_;
  int largest_ = 0; ///< rows of a contact
  bool analysed_ = false;
  BlockLu<6> bodies_, large_;
  BlockLu<3> small_;
  std::vector<ContactMatrix> inverse_, C_;
  std::vector<ContactVector> c_;
  std::vector<int> active_, analysedActive_; ///< place among the unknowns, or -1
  int activeCount_ = 0;
  std::vector<std::pair<int, int>> couplings_;
  Eigen::VectorXd unknowns_;
};

}
