#pragma once
#include "control/multi_jet.h"
#include "tendril/discrete/kinematic_tree.h"
#include "tendril/model/director_system.h"

#include <vector>

namespace tendril {

/// Gradient and Hessian of a function of (u, v), the Hessian by blocks: uv(i, j) = d2/du_i dv_j.
struct LagrangianDerivatives {
  VectorX u, v;
  MatrixX uu, uv, vv;
  void setZero(int d);
};

/// The Lagrangian L(u, v) = v^T M(u) v / 2 - V(u, t) of a tree of rigid bodies in the coordinates of its joints: angles [rad] and
/// displacements [m] from a configuration q0, by the product of exponentials (Brockett 1984). With spatial screws s_i, 4 x 4 matrices in
/// the inertial frame, of the joints from the root to body b,
///
///     Q_b = exp(s_1 u_1) ... exp(s_m u_m) Q_b(0),     dQ_b/du_i = s_i Q_b,     d2Q_b/du_i du_j = s_i s_j Q_b,   i <= j,
///
/// and so on with every further factor in the order of the chain, s_i taken at u. All derivatives are therefore sums of products of these
/// matrices; those of third and fourth order along given directions come from jets of the same products.
///
/// InputError for what joint coordinates cannot describe: loops, free bodies, ball joints, nodes of beams, drives, moving ground, forces
/// without potential.
class JointLagrangian {
 public:
  JointLagrangian(const DirectorSystem& system, const VectorX& q0);

  int size() const { return d_; } ///< number of coordinates
  bool isLength(int i) const { return tree_.isLength(i); }
  std::string nameOfCoordinate(int i) const { return tree_.nameOfCoordinate(i); }
  const DirectorSystem& system() const { return system_; }

  /// q(u).
  void configuration(const VectorX& u, VectorX& q);
  /// u with q(u) = q, angles within half a turn of those of `near`.
  VectorX coordinates(const VectorX& q, const VectorX& near);

  /// Places the tree at u: configuration() and jacobian(), and what curvature() needs.
  void place(const VectorX& u);
  const VectorX& q() const { return q_; }
  const MatrixX& jacobian() const { return J_; } ///< dq/du
  /// C_ij = d2q/du_i du_j . f.
  void curvature(const VectorX& f, MatrixX& C);

  /// Kinetic energy: part k of the jet of (u, v) gives derivatives[k]. K is 1, 2 or 4.
  template <std::size_t K>
  void kinetic(const std::array<VectorX, K>& u, const std::array<VectorX, K>& v, std::array<LagrangianDerivatives, K>& derivatives);
  /// dV/du and d2V/du2; where a direction is given also the derivative of the latter along it.
  void potential(const VectorX& u, double t, VectorX& gradient, MatrixX& hessian, const VectorX* direction = nullptr,
                 MatrixX* along = nullptr);

 private:
  /// Of every coordinate: the product of exponentials up to it, s_i, the sum V_i of s_j v_j on the way to it, V_i s_i - s_i V_i; and
  /// scratch of a body.
  template <std::size_t K> struct Motion {
    std::vector<MultiJet<Matrix4, K>> pose, screw, before, bracket, turned, inertial, turnedInertial, force, turnedForce;
    void resize(int d);
  };
  /// Redundant coordinates, forces on them, dq/du.
  template <std::size_t K> struct Places {
    std::array<VectorX, K> q, force;
    std::array<MatrixX, K> J;
  };
  struct Body {
    int q = 0;              ///< first of its numbers
    std::vector<int> chain; ///< coordinates from the root
    Matrix4 begin, inertia; ///< [1 0; x R] at u = 0; begin S begin^T with S the second moments of mass
  };
  template <std::size_t K> void move(const std::array<const VectorX*, K>& u, const std::array<VectorX, K>* v, Motion<K>& motion) const;
  template <std::size_t K>
  void addKinetic(const Body& body, const std::array<VectorX, K>& v, Motion<K>& motion, std::array<LagrangianDerivatives, K>& result) const;
  /// q and dq/du.
  template <std::size_t K> void read(const Motion<K>& motion, std::array<VectorX, K>& q, std::array<MatrixX, K>& J) const;
  /// C(part) += d2q/du_i du_j . f of the body.
  template <std::size_t K>
  void addCurvature(const Body& body, const Motion<K>& motion, const std::array<const VectorX*, K>& f, std::array<MatrixX, K>& C) const;
  template <std::size_t K>
  void findPotential(const std::array<const VectorX*, K>& u, double t, VectorX& gradient, std::array<MatrixX, K>& hessian);
  template <std::size_t K> Motion<K>& motion();
  template <std::size_t K> Places<K>& places();
  void layOut();
  void check() const;

  const DirectorSystem& system_;
  KinematicTree tree_;
  int d_ = 0;
  VectorX q0_;
  std::vector<Matrix4> screws_; ///< at u = 0
  std::vector<int> previous_;   ///< coordinate before it on the way to the root, or -1
  std::vector<int> block_;      ///< of the joint of a coordinate
  std::vector<Body> bodies_;
  Motion<1> motion1_;
  Motion<2> motion2_;
  Motion<4> motion4_;
  Places<1> places1_;
  Places<2> places2_;
  VectorX unit_, q_, work_;
  MatrixX J_, product_;
  SparseMatrix H_, dH_;
};

}
