#pragma once
#include "tendril/solvers/sparse_ldlt.h"

namespace tendril {

/// A factorisation behind SparseLdlt. It is given the lower triangle with every diagonal entry present, finite, of order 1 or more.
class LdltBackend {
 public:
  using Matrix = SparseLdlt::Matrix;
  virtual ~LdltBackend() = default;
  virtual const char* name() const = 0;
  virtual void analyse(const Matrix& lower) = 0;
  virtual void factorise(const Matrix& lower, double zeroTolerance) = 0;
  virtual bool singular() const = 0;
  virtual std::optional<Inertia> inertia() const = 0;
  virtual void solve(double* x) = 0;
  /// A basis, not yet orthonormal.
  virtual Eigen::MatrixXd nullVectors() = 0;
};

std::unique_ptr<LdltBackend> makeEigenLdlt();
/// Null if MUMPS was not compiled in.
std::unique_ptr<LdltBackend> makeMumps();

}
