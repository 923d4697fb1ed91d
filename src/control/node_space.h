#pragma once
#include "tendril/model/director_system.h"

#include <Eigen/SparseCholesky>

#include <memory>
#include <vector>

namespace tendril {

/// The tangent space of the constraint manifold at one node of a path, and the motion on it, in coordinates measured by the size of the
/// model (positions over L):
///
///     q(delta) = q + P delta + G^T kappa,   g(q(delta)) = 0,         P(delta) = Pi P (P^T Pi P)^(-1/2),   Pi = I - G^+ G,
///
/// that is, one goes along the tangent space, returns to the manifold along its normals, and projects the basis. Hence the second
/// derivatives of q and P at delta = 0 are normal or known: q'' = -G^+ g''(P delta, P delta), which is what makes exact second
/// derivatives of functions on paths short (ControlledPath). Only rows of g that are independent take part.
class NodeSpace {
 public:
  /// Rows to keep, as constraints of the system, at q; the basis there.
  NodeSpace(const DirectorSystem& system, const std::vector<int>& rows, const VectorX& q, double t);
  /// Another node with the same rows.
  NodeSpace(const NodeSpace& like, const VectorX& q, double t);

  int dimension() const { return int(P_.cols()); }
  const VectorX& q() const { return q_; }
  /// P (n x r) in scaled coordinates, with orthonormal columns.
  const MatrixX& basis() const { return P_; }
  /// Units of the coordinates: q = unit * scaled q.
  const VectorX& unit() const;

  void set(const VectorX& q, const Eigen::Ref<const MatrixX>& basis);
  /// Moves by delta. False, and nothing changed, if the manifold was not reached.
  bool retract(const Eigen::Ref<const VectorX>& delta);
  /// Distance from the manifold: largest constraint, lengths over the size of the model.
  double closure() const { return closure_; }

  /// lambda with G^T lambda nearest to the covector w (scaled coordinates); zero for rows left out.
  void multipliers(const VectorX& w, VectorX& lambda);
  /// E = G^+ g''(a) P (n x r), a a vector in scaled coordinates.
  void bend(const VectorX& a, MatrixX& E);

 private:
  struct Layout;
  NodeSpace(const DirectorSystem& system, std::shared_ptr<const Layout> layout, const VectorX& q, double t);
  void constrain(const VectorX& q);
  void decompose();
  void makeTangent();
  void keep(const SparseMatrix& G, SparseMatrix& A) const;
  /// x <- (A A^T)^-1 x
  template <class Matrix> void solve(Matrix& x);

  const DirectorSystem& system_;
  std::shared_ptr<const Layout> layout_;
  double t_;
  VectorX q_;
  MatrixX P_;
  double closure_ = 0;
  SparseMatrix G_;
  VectorX g_, kept_, trial_, correction_, normal_;
  SparseMatrix A_, A0_, change_; ///< at q_, at q = 0, along a direction
  SparseMatrix AAt_;             ///< upper triangle
  using Factor = Eigen::SimplicialLDLT<SparseMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>>;
  std::unique_ptr<Factor> factor_; // which cannot be moved
  MatrixX across_, second_, gram_, turned_;
};

}
