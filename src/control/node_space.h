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
  NodeSpace(const DirectorSystem& system, std::vector<int> rows, const VectorX& q, double t);

  int dimension() const { return int(P_.cols()); }
  const VectorX& q() const { return q_; }
  /// P (n x r) in scaled coordinates, with orthonormal columns.
  const MatrixX& basis() const { return P_; }
  /// Units of the coordinates: q = unit * scaled q.
  const VectorX& unit() const { return unit_; }

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
  void layOut();
  void constrain(const VectorX& q);
  void decompose();
  void keep(const SparseMatrix& G, SparseMatrix& A) const;
  /// x <- (A A^T)^-1 x
  template <class Matrix> void solve(Matrix& x);

  const DirectorSystem& system_;
  std::vector<int> rows_;
  double t_;
  VectorX unit_; ///< of coordinates
  VectorX q_;
  MatrixX P_;
  double closure_ = 0;
  SparseMatrix G_;
  VectorX g_, kept_, trial_, correction_, normal_;
  /// A = D_g G D_q, the rows kept, measured by the size of the model, in the order in which A A^T is factorised; and its part at q = 0.
  SparseMatrix A_, A0_, change_;
  struct Entry {
    int value;    ///< of G
    double scale; ///< D_g D_q
  };
  std::vector<Entry> entries_; ///< of A, in the order of its storage
  std::vector<int> order_;     ///< rows of A as constraints of the system
  VectorX orderUnit_;          ///< D_g of these
  SparseMatrix AAt_;           ///< upper triangle
  std::vector<int> products_;  ///< places in AAt of the products of entries of a column, column after column
  using Factor = Eigen::SimplicialLDLT<SparseMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>>;
  std::unique_ptr<Factor> factor_ = std::make_unique<Factor>(); // which cannot be moved
  MatrixX across_, second_, gram_, turned_;
};

}
