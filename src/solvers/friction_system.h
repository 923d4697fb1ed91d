#pragma once
#include "tendril/solvers/friction_solver.h"

#include <array>
#include <vector>

#include <Eigen/Core>

namespace tendril {

/// The contacts of one island, packed for the solvers, in variables without units (see scalesOf):
///
///     u' = W' r' + q',    W' = s W s  or  W' = H' H'^T,    H' = s H L,    A^-1 = L L^T body by body.
///
/// With bodies a solver keeps w = H'^T r', six numbers per body, so that u' = q' + H' w costs 36 products per contact of three rows. What
/// does not move is one more body, whose columns of H' are zero. Everywhere below r, u, q, W, H are the primed ones.
class FrictionSystem {
 public:
  /// `contacts`: of the problem that belong to this island, ascending.
  void pack(const FrictionProblem& problem, const std::vector<int>& contacts);

  /// Some contacts of `whole`, ascending, while the others keep their impulses: q is what they leave of u. Bodies only.
  void packPart(const FrictionSystem& whole, const std::vector<int>& contacts, const Eigen::VectorXd& r, const Eigen::VectorXd& u);

  int contacts() const { return int(laws.size()); }
  int rows() const { return first.back(); }
  bool hasBodies() const { return bodyCount > 0; }
  double density() const { return bodyCount > 0 ? double(rows()) / (6 * bodyCount) : 0; }

  void scatter(const Eigen::VectorXd& global, Eigen::VectorXd& r) const; ///< takes the island's impulses and removes their units
  void gather(const Eigen::VectorXd& r, Eigen::VectorXd& global) const;  ///< the inverse

  void motion(const Eigen::VectorXd& r, Eigen::VectorXd& w) const; ///< w = H^T r
  void velocitiesOf(const Eigen::VectorXd& w, Eigen::VectorXd& u) const;
  /// u = W r + q; with bodies w comes with it.
  void velocities(const Eigen::VectorXd& r, Eigen::VectorXd& w, Eigen::VectorXd& u) const;
  /// out = W x.
  void apply(const Eigen::VectorXd& x, Eigen::VectorXd& out) const;
  /// Squares of both residuals, in the units of the problem, not divided by q.
  struct Squares {
    double published = 0, scaled = 0;
  };
  Squares residualOf(int contact, const Eigen::VectorXd& r, const Eigen::VectorXd& u) const;
  Squares residual(const Eigen::VectorXd& r, const Eigen::VectorXd& u) const;

  std::vector<FrictionLaw> laws;
  std::vector<int> first;
  std::vector<int> globalFirst; ///< first row of each contact in the problem
  std::vector<int> globalContact;
  Eigen::VectorXd q, scale;
  std::vector<double> mass; ///< effective mass of each contact

  std::vector<int> start, column; ///< blocks of W, by rows; without bodies
  std::vector<std::size_t> offset;
  std::vector<double> values;
  std::vector<int> diagonal; ///< of each row, the block on the diagonal

  int bodyCount = 0;
  std::vector<std::array<int, 2>> touched; ///< bodyCount stands for what does not move
  std::vector<double> H;                   ///< rows x 12, row by row

  std::vector<double> D; ///< diagonal blocks, column by column
  std::vector<std::size_t> diagonalOffset;

 private:
  void packBlocks(const FrictionProblem& problem, const std::vector<int>& contacts);
  void packBodies(const FrictionProblem& problem, const std::vector<int>& contacts);

  std::vector<int> localIndex_; ///< of contacts or bodies of the problem
  std::vector<double> factors_; ///< L of each body, 6 x 6
  std::vector<FrictionLaw> originalLaws_;
  Eigen::VectorXd partImpulses_, partMotion_; ///< of packPart()
};

}
