#pragma once
#include "rods/rod_program.h"
#include "tendril/solvers/staged_ldlt.h"

namespace tendril::testing {

/// Directions in which the energy of a strain rod with six supports falls to second order, by the inertia of [H J^T; J 0], J regular.
inline int negativeDirections(StrainProgram& program, const VectorX& multipliers) {
  const MatrixX H = program.hessian(1, multipliers), J = program.jacobian();
  const int n = int(H.rows()), m = int(J.rows());
  StagedMatrix A({n + m}, 0);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) A.values()[A.position(i, j)] = H(i, j);
    for (int i = 0; i < m; ++i) A.values()[A.position(n + i, j)] = J(i, j);
  }
  StagedLdlt ldlt;
  ldlt.factorise(A);
  return ldlt.inertia().negative - m;
}

}
