#pragma once
#include <Eigen/Core>

#include <vector>

namespace tendril {

/// The point of a polyhedron that is nearest to another, solved again and again for polyhedra that change little:
///
///     min |w - w0|^2 / 2    s.t.    A w = a,    B w >= b;      w - w0 = A^T lambda + B^T mu,    mu >= 0,    mu . (B w - b) = 0.
///
/// Seen from the multipliers this is a least-squares problem with mu >= 0, whose active set is found by the method of Lawson & Hanson
/// (1974, chapter 23): the most violated inequality joins, those that would pull leave. It begins with the active set of a guess, and all
/// its matrices are those of active rows. Rows may be nearly or wholly dependent on one another, as those of contacts of neighbouring
/// pieces are: a shift of 1e-12 of the diagonal chooses among their multipliers, and refinement frees w from it. Equations that depend on
/// one another hold in the mean square. `solveProximal` is for other metrics, and tells which rows contradict one another.
class NearestPoint {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::MatrixXd;

  /// False where the inequalities contradict one another or the equations.
  bool solve(const Vector& w0, const Matrix& A, const Vector& a, const Matrix& B, const Vector& b, const std::vector<int>& guess = {});

  const Vector& point() const { return w_; }
  const Vector& equality() const { return lambda_; }
  const Vector& inequality() const { return mu_; }
  const std::vector<int>& active() const { return active_; } ///< inequalities with a multiplier, a guess for the next time

 private:
  int mostViolated() const;
  bool settle();
  void move();

  Vector w_, nearest_; ///< the latter without inequalities
  Vector lambda_, mu_;
  std::vector<int> active_;
  Matrix rows_;           ///< B on the kernel of A
  Vector demand_, sizes_; ///< b - B w without multipliers; lengths of the rows, zero where A alone decides
};

}
