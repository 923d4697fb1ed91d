#pragma once
#include "tendril/model/pattern.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tendril {

class Model;

/// What an analysis asks of one evaluation of the model.
struct Request {
  bool motion = true;    ///< inertia and gyroscopic forces are included; false in statics, where a is not read
  bool tangent = true;   ///< the KKT matrix is wanted
  bool stiffness = true; ///< dr/dq takes part in the tangent
  bool timeRate = false; ///< dr/dt and dg/dt at fixed q, v, a, lambda are wanted
  double damping = 0;    ///< weight of dr/dv in the tangent (gamma' of generalized-alpha)
  double inertia = 0;    ///< weight of dr/da in the tangent (beta' of generalized-alpha)
};

/// Sizes of the forces that meet in the residual, kept apart by their dimension, so that a convergence test needs no unit.
struct ForceScale {
  double force = 0;         ///< sum of the norms of the forces that single elements contribute [N]
  double moment = 0;        ///< the same for moments [N m]
  double general = 0;       ///< the same for the forces on vector blocks
  long count = 0;           ///< number of contributions
  double forceRoundoff = 0; ///< largest force that round-off of the configuration alone can produce in one element [N]
  double momentRoundoff = 0;
};

/// Workspace in which the terms of a model gather
///
///     r = M(q) a + f(q,v,t) - G(q,t)^T lambda,     g(q,t),
///
/// and, with increments delta resolved in the local frames (q <- q exp(delta)) and scaled multipliers mu = lambda / s, the matrix
///
///     [  S    -s G^T ]      S = dr/dq + ( damping dr/dv + inertia dr/da ) B,
///     [ -s G     0   ]
///
/// where B is block diagonal, T^-1 of the pose increments since the begin of a step (the identity where none is set): it turns an
/// increment of the configuration into the increment of the velocities that a Lie group integrator ties to it.
class Assembly {
 public:
  explicit Assembly(const Model& model);

  void begin(const Request& request);

  // ---- what terms read -------------------------------------------------------------------------------------------------------------
  const Request& request() const { return request_; }

  // ---- what terms add --------------------------------------------------------------------------------------------------------------
  /// r of block b. Pose blocks: (force, moment) in the local frame.
  template <class Derived> void addForce(int block, const Eigen::MatrixBase<Derived>& f) {
    const UnknownBlock& u = pattern_.unknowns(block);
    if constexpr (Derived::RowsAtCompileTime == 6) {
      scale_.force += f.template head<3>().norm();
      scale_.moment += f.template tail<3>().norm();
    } else if (Derived::RowsAtCompileTime == Eigen::Dynamic && isPose_[block]) {
      scale_.force += f.topRows(3).norm();
      scale_.moment += f.bottomRows(3).norm();
    } else {
      scale_.general += f.norm();
    }
    ++scale_.count;
    residual_.segment<Derived::RowsAtCompileTime>(u.offset, u.size) += f;
  }
  /// Values of the constraint block c.
  template <class Derived> void addConstraint(int c, const Eigen::MatrixBase<Derived>& g) {
    const UnknownBlock& u = pattern_.unknowns(c);
    constraint_.segment<Derived::RowsAtCompileTime>(u.offset - nv_, u.size) += g;
  }
  /// dr/dq, increments in the local frame of the column block.
  template <class Derived> void addStiffness(int coupling, const Eigen::MatrixBase<Derived>& K) {
    if (request_.stiffness) view(coupling, K.rows(), K.cols()) += K;
  }
  /// (damping dr/dv + inertia dr/da) of a coupling whose column is the given velocity block.
  template <class Derived> void addRate(int coupling, int columnBlock, const Eigen::MatrixBase<Derived>& D) {
    if (velocityMaps_.empty() || !isPose_[columnBlock]) {
      view(coupling, D.rows(), D.cols()) += D;
    } else {
      view(coupling, D.rows(), D.cols()) += D.lazyProduct(velocityMaps_[columnBlock]);
    }
  }
  /// G of (constraint block, velocity block), given both couplings: (c,b) and (b,c).
  template <class Derived> void addGradient(int cb, int bc, const Eigen::MatrixBase<Derived>& G) {
    view(cb, G.rows(), G.cols()) -= multiplierScale * G;
    view(bc, G.cols(), G.rows()) -= multiplierScale * G.transpose();
  }
  template <class Derived> void addForceRate(int block, const Eigen::MatrixBase<Derived>& f) {
    const UnknownBlock& u = pattern_.unknowns(block);
    forceRate_.segment<Derived::RowsAtCompileTime>(u.offset, u.size) += f;
  }
  template <class Derived> void addConstraintRate(int c, const Eigen::MatrixBase<Derived>& g) {
    const UnknownBlock& u = pattern_.unknowns(c);
    constraintRate_.segment<Derived::RowsAtCompileTime>(u.offset - nv_, u.size) += g;
  }
  /// The configuration lies outside of what an element can represent (named by its first block): a solver shortens its step.
  void refuse(int block) { refusedBlock_ = block; }
  /// The same for an inertia (scale M) at twist v and acceleration a: an integrator computes both from increments of the configuration,
  /// which are known to round-off only.
  template <class V, class A>
  void noteInertiaRoundoff(const Matrix6& M, double scale, const Eigen::MatrixBase<V>& v, const Eigen::MatrixBase<A>& a) {
    const double noise = std::numeric_limits<double>::epsilon() * scale;
    const double linear = a.template head<3>().cwiseAbs().maxCoeff() + request_.damping * v.template head<3>().cwiseAbs().maxCoeff();
    const double angular = a.template tail<3>().cwiseAbs().maxCoeff() + request_.damping * v.template tail<3>().cwiseAbs().maxCoeff();
    const double coupling = M.topRightCorner<3, 3>().cwiseAbs().maxCoeff();
    noteRoundoff(noise * (M(0, 0) * linear + coupling * angular),
                 noise * (coupling * linear + M.bottomRightCorner<3, 3>().diagonal().maxCoeff() * angular));
  }
  /// A part of a force that cancels within one element, for the scale of forces: a free body's inertia against its gyroscopic force.
  void noteForce(const Vector6& part) {
    scale_.force += part.head<3>().norm();
    scale_.moment += part.tail<3>().norm();
  }
  /// The largest force and moment that round-off in the stored configuration can cause in an element.
  void noteRoundoff(double force, double moment) {
    scale_.forceRoundoff = std::max(scale_.forceRoundoff, force);
    scale_.momentRoundoff = std::max(scale_.momentRoundoff, moment);
  }

  // ---- what analyses read ------------------------------------------------------------------------------------------------------------
  const VectorX& residual() const { return residual_; }
  const VectorX& constraint() const { return constraint_; }
  const VectorX& forceRate() const { return forceRate_; }
  const VectorX& constraintRate() const { return constraintRate_; }
  const ForceScale& scale() const { return scale_; }
  /// First block of an element that cannot represent this configuration, or -1.
  int refusedBlock() const { return refusedBlock_; }
  SparseMatrix& matrix() { return matrix_; }
  const SparseMatrix& matrix() const { return matrix_; }
  /// G as a matrix of its own (nc x nv), taken out of the KKT matrix last assembled.
  SparseMatrix gradient() const;
  /// Takes g and, with `rows`, the rows of G from an assembly of the same model at another configuration; the columns -G^T stay. For
  /// schemes that apply the forces of constraints at one end of an interval and hold the constraints at the other.
  void takeConstraints(const Assembly& other, bool rows);

  double multiplierScale = 1; ///< s: multipliers are solved for in units of s, which keeps the matrix balanced as the step shrinks
  /// Internal forces were predicted for the configuration that is evaluated next. In a slender structure the forces that belong to an
  /// iterate of Newton's method are far off (bending turns into stretch, stretch into huge axial forces) and would spoil the geometric
  /// stiffness; those predicted to first order by the last step are of the right size, and equal the true ones at convergence (Magisano,
  /// Leonetti & Garcea 2017, in the form without stress unknowns).
  bool predicted = false;
  /// Where a term keeps its predictions; the place is the one it got from Layout::reserve.
  double* memory(int place) { return memory_.data() + place; }
  /// Velocity blocks whose inertia the integrator moves by itself: there, bodies and masses leave out the forces quadratic in the velocity,
  /// and beams whose nodes are all moved so their inertia altogether. Empty: none.
  std::vector<char>& carriedBlocks() { return carriedBlocks_; }
  bool isCarried(int block) const { return !carriedBlocks_.empty() && carriedBlocks_[block]; }
  /// T^-1 per velocity block, or empty; kept by the integrator.
  std::vector<Matrix6>& velocityMaps() { return velocityMaps_; }

 private:
  using Strided = Eigen::Map<MatrixX, 0, Eigen::OuterStride<>>;
  Strided view(int coupling, Eigen::Index rows, Eigen::Index columns) {
    const Pattern::Slot& slot = pattern_.slot(coupling);
    return {matrix_.valuePtr() + slot.offset, rows, columns, Eigen::OuterStride<>(slot.stride)};
  }

  const Pattern& pattern_;
  int nv_;
  std::vector<char> isPose_;
  Request request_;
  VectorX residual_, constraint_, forceRate_, constraintRate_, memory_;
  SparseMatrix matrix_;
  ForceScale scale_;
  int refusedBlock_ = -1;
  std::vector<Matrix6> velocityMaps_;
  std::vector<char> carriedBlocks_;
};

}
