#include "tendril/rods/rod_equilibrium.h"

#include "rods/rod_ends.h"
#include "rods/rod_program.h"
#include "tendril/model/error.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <random>

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

void check(const StrainRod& rod, const RodEnds& ends, RodForm form) {
  constexpr int most = 2000; // a matrix of all strains
  if (form == RodForm::Strains && rod.elements() > most)
    throw InputError(fmt::format("rod: {} elements are more than the {} whose strains are solved together; take fewer, or the mixed form",
                                 rod.elements(), most));
  checkRodEnds(rod.properties().stretchStiffness ? std::numeric_limits<double>::infinity() : rod.properties().length, ends);
}

struct Curvature {
  double least;
  VectorX direction; ///< strains
};

/// Least of (H d . d) / (D d . d) for directions d that the conditions of the end allow, D the elastic energy: by the method of Lanczos,
/// since H D^-1 is the identity plus what is compact. J D^-1/2 are the conditions' gradients in coordinates in which D is the identity.
Curvature leastCurvature(StrainRod& rod, const EndConditions& ends, const VectorX& multipliers) {
  constexpr int most = 300;
  constexpr double accuracy = 1e-10;
  const VectorX unit = rod.elasticity().cwiseSqrt().cwiseInverse();
  const Pose& end = rod.frame(rod.elements());
  MatrixX J(rod.size(), ends.rows());
  VectorX column;
  for (int k = 0; k < ends.rows(); ++k) {
    column.setZero(rod.size());
    rod.addEndGradient(ends.weighted(end, VectorX::Unit(ends.rows(), k)), 1, column);
    J.col(k) = unit.cwiseProduct(column);
  }
  MatrixX held(rod.size(), 0); // an orthonormal basis of J
  if (ends.rows() > 0) {
    const Eigen::ColPivHouseholderQR<MatrixX> qr(J);
    held = qr.householderQ() * MatrixX::Identity(rod.size(), qr.rank());
  }
  const StrainRod::EndFunction function = ends.weighted(end, multipliers);
  const auto project = [&](VectorX& v) { v -= held * (held.transpose() * v); };

  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int size = int(std::min<Eigen::Index>(most, rod.size() - held.cols()));
  VectorX v = VectorX::NullaryExpr(rod.size(), [&](Eigen::Index) { return uniform(random); }), w;
  project(v);
  v.normalize();
  MatrixX basis(rod.size(), size);
  VectorX diagonal(size), below(size);
  Eigen::SelfAdjointEigenSolver<MatrixX> eigen;
  int k = 0;
  while (true) {
    basis.col(k) = v;
    rod.hessianProduct(1, function, {}, unit.cwiseProduct(v), w);
    w = unit.cwiseProduct(w);
    project(w);
    diagonal[k] = v.dot(w);
    for (int pass = 0; pass < 2; ++pass) w -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * w);
    below[k] = w.norm();
    const bool isLast = ++k == size || below[k - 1] < accuracy;
    if (isLast || k % 5 == 0) {
      eigen.computeFromTridiagonal(diagonal.head(k), below.head(k - 1));
      if (isLast || below[k - 1] * std::abs(eigen.eigenvectors()(k - 1, 0)) < accuracy) break;
    }
    v = w / below[k - 1];
  }
  return {eigen.eigenvalues()[0], unit.cwiseProduct(basis.leftCols(k) * eigen.eigenvectors().col(0))};
}

/// The multipliers of the first rows of every element, of the way of its end from its begin.
std::vector<Vector3> internalForces(const StrainRod& rod, const VectorX& equality, double unit) {
  std::vector<Vector3> forces;
  for (int i = 0; i < rod.elements(); ++i) forces.push_back(unit * equality.segment<3>(6 * i));
  return forces;
}

std::unique_ptr<RodProgram> programOf(const StrainRod& rod, const RodEnds& ends, RodForm form) {
  if (form == RodForm::Mixed) return std::make_unique<MixedProgram>(rod, ends);
  return std::make_unique<StrainProgram>(rod, ends);
}

VectorX strainsIn(const StrainRod& scaled, const StrainRod& rod) {
  return VectorX::NullaryExpr(rod.size(), [&](Eigen::Index i) { return scaled.strains()[i] * rod.strainUnit(int(i)); });
}

}

RodEquilibrium solveEquilibrium(StrainRod& rod, const RodEnds& ends, const RodEquilibriumOptions& options) {
  check(rod, ends, options.form);
  const std::unique_ptr<RodProgram> program = programOf(rod, ends, options.form);
  InteriorPoint solver({.tolerance = options.tolerance, .maxIterations = options.maxIterations});
  RodEquilibrium found;
  // Along the direction of negative curvature by small strains; further where the same point comes back.
  double away = 0.1;
  constexpr double flat = 1e-8; // of the elastic part: zero, for rotations about the line between the ends
  while (true) {
    const InteriorPointReport& report = solver.solve(*program);
    found.iterations += report.iterations;
    found.isSolved = report.converged() || report.status == InteriorPointReport::Status::Acceptable;
    found.message = report.message;
    rod.place(ends.begin, strainsIn(program->rod(), rod));
    found.energy = rod.energy();
    if (!found.isSolved) return found;
    const VectorX multipliers = program->endMultipliers(report.multipliers.equality);
    found.end = program->support(multipliers);
    if (options.form == RodForm::Mixed)
      found.internalForces = internalForces(rod, report.multipliers.equality, program->energyUnit() / rod.properties().length);
    found.isMinimum = report.strictMinimum;
    if (found.isMinimum && !options.measuresStability) return found;
    const Curvature curvature = leastCurvature(program->rod(), program->ends(), multipliers);
    found.stability = curvature.least;
    found.isMinimum = curvature.least > -flat;
    if (found.isMinimum || found.escapes >= options.escapes) break;
    ++found.escapes;
    const double rms = curvature.direction.norm() / std::sqrt(double(rod.size()));
    program->start(program->rod().strains() + away / rms * curvature.direction);
    away *= 2;
  }
  if (!found.isMinimum)
    found.message = fmt::format("rod: the equilibrium is no minimum (its second variation is {:.3g} of its elastic part); the energy falls "
                                "along a direction that the supports allow",
                                found.stability);
  return found;
}

}
