#pragma once
#include "friction_block_lu.h"
#include "friction_map.h"
#include "friction_system.h"

namespace tendril {

/// Semismooth Newton steps on the Alart-Curnier map of all contacts,
///
///     A dr + B (du + epsilon dr) = -F,    du = W dr.
///
/// epsilon > 0 makes a step one of the proximal point method: W may be singular, r then changes least. The equations are solved for dw,
/// (1 + H^T C H) dw = H^T c with C = (A + epsilon B)^-1 B, c = -(A + epsilon B)^-1 F, where there are bodies and epsilon allows, else for
/// the dr of the contacts that are not open.
class FrictionNewton {
 public:
  void set(const FrictionSystem& system); ///< must outlive the steps
  /// The step from r with the velocities u. False if the matrix is singular.
  bool step(const Eigen::VectorXd& r, const Eigen::VectorXd& u, double epsilon, Eigen::VectorXd& dr);
  /// Flops of a factorisation are about blocks x (blocks per row); a guess before anything was analysed.
  long factorisations() const { return factorisations_; }
  void resetCount() { factorisations_ = 0; }

 private:
  void linearise(const Eigen::VectorXd& r, const Eigen::VectorXd& u);
  bool stepOnBodies(double epsilon, Eigen::VectorXd& dr);
  template <int N> bool stepOnContacts(BlockLu<N>& lu, double epsilon, Eigen::VectorXd& dr);
  void findCouplings();

  const FrictionSystem* system_ = nullptr;
  std::vector<AlartCurnier> maps_;
  std::vector<ContactMatrix> C_;
  std::vector<ContactVector> c_;
  BlockLu<6> bodies_, large_;
  BlockLu<3> small_;
  bool analysedBodies_ = false;
  int largest_ = 0; ///< rows of a contact
  std::vector<char> active_, analysedActive_;
  std::vector<int> activeIndex_;
  std::vector<std::vector<int>> neighbours_; ///< with bodies: contacts that share one
  std::vector<std::pair<int, int>> couplings_;
  Eigen::VectorXd w_, rhs_;
  long factorisations_ = 0;
};

}
