#include "tendril/rods/rod_equilibrium.h"

#include "rods/rod_ends.h"
#include "rods/rod_program.h"
#include "tendril/model/error.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <fmt/format.h>

namespace tendril {

void checkRodEnds(double length, const RodEnds& ends) {
  if (ends.orientation) {
    const Matrix3& R = *ends.orientation;
    if (!((R.transpose() * R - Matrix3::Identity()).norm() < 1e-9) || R.determinant() < 0)
      throw InputError("rod: the orientation of the end is no rotation; give three orthonormal, right-handed directors");
  }
  if (!ends.position) return;
  const double distance = (*ends.position - ends.begin.x).norm();
  if (distance > length * (1 + 1e-12))
    throw InputError(fmt::format("rod: its ends are {:.6g} m apart, but it is {:.6g} m long and does not stretch", distance, length));
}

namespace {

void check(const StrainRod& rod, const RodEnds& ends) {
  constexpr int most = 2000; // a matrix of all strains
  if (rod.elements() > most)
    throw InputError(
        fmt::format("rod: {} elements are more than the {} whose strains are solved together; take fewer", rod.elements(), most));
  checkRodEnds(rod.properties().length, ends);
}

/// Least eigenvalue of H on the kernel of J, and its direction.
std::pair<double, VectorX> leastCurvature(const MatrixX& H, const MatrixX& J) {
  const Eigen::Index n = H.rows();
  MatrixX kernel = MatrixX::Identity(n, n);
  if (J.rows() > 0) {
    const Eigen::ColPivHouseholderQR<MatrixX> qr(MatrixX(J.transpose()));
    kernel = MatrixX(kernel.rightCols(n - qr.rank()));
    kernel.applyOnTheLeft(qr.householderQ());
  }
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(kernel.transpose() * H * kernel);
  return {eigen.eigenvalues()[0], kernel * eigen.eigenvectors().col(0)};
}

}

RodEquilibrium solveEquilibrium(StrainRod& rod, const RodEnds& ends, const RodEquilibriumOptions& options) {
  check(rod, ends);
  RodProgram program(rod, ends);
  InteriorPoint solver({.tolerance = options.tolerance, .maxIterations = options.maxIterations});
  RodEquilibrium found;
  // Along the direction of negative curvature by a small angle; further where the same point comes back.
  double away = 0.02;
  constexpr double flat = 1e-8; // of the largest curvature: zero, for rotations about the line between the ends
  while (true) {
    const InteriorPointReport& report = solver.solve(program);
    found.iterations += report.iterations;
    found.isSolved = report.converged() || report.status == InteriorPointReport::Status::Acceptable;
    found.message = report.message;
    found.energy = rod.energy();
    if (!found.isSolved) return found;
    const VectorX& multipliers = report.multipliers.equality;
    found.end = program.support(multipliers);
    if (report.strictMinimum && !options.measuresStability) {
      found.isMinimum = true;
      return found;
    }
    const MatrixX& H = program.hessian(multipliers);
    const auto [curvature, direction] = leastCurvature(H, program.jacobian());
    found.stability = curvature;
    found.isMinimum = curvature > -flat * H.cwiseAbs().maxCoeff();
    if (found.isMinimum || found.escapes >= options.escapes) break;
    ++found.escapes;
    program.x += away * rod.elements() * direction;
    away *= 2;
  }
  if (!found.isMinimum)
    found.message = fmt::format("rod: the equilibrium is no minimum (curvature {:.3g} EI/L); the energy falls along a direction that the "
                                "supports allow",
                                found.stability);
  return found;
}

}
