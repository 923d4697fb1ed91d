#pragma once
#include "tendril/solvers/sparse_lu.h"

#include <vector>

namespace tendril {

/// The equations of a step with the forces of constraints kept,
///
///     [ -K     s H0^T ] [ x     ]   [  r   ]
///     [ s H1   -e s   ] [ y / s ] = [ -s g ],
///
/// H0 at the begin and H1 at the end of the interval, with one pattern. Rows and unknowns are measured in `unit`. The compliance e = 1e-12
/// (relative) acts on increments; with share() on the multipliers as a whole, so that redundant rows share what they carry.
class SaddleMatrix {
 public:
  using Sparse = SparseLu::Matrix;

  SaddleMatrix(const Sparse& K, const Sparse& H, Eigen::VectorXd unit);

  int size() const { return int(A_.rows()); }
  const Eigen::VectorXd& unit() const { return unit_; }
  bool factorise(const Sparse& K, const Sparse& H0, const Sparse& H1, double s);
  /// Adds to (r, -g) what makes the compliance act on y0 + y.
  void share(const Eigen::VectorXd& y0, Eigen::VectorXd& rhs) const;
  /// (r, -g) on entry, (x, y) on return.
  void solve(Eigen::VectorXd& rhs) const;
  void forget() { lu_.analyse(A_); }

 private:
  int place(int row, int column) const;

  Eigen::Index n_, m_;
  Eigen::VectorXd unit_;
  double s_ = 1;
  Sparse A_;
  SparseLu lu_;
  std::vector<int> stiffness_, rows_, columns_, diagonal_; ///< places among the values of A_, in the order of those of K and H
};

}
