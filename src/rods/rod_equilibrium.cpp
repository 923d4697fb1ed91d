#include "tendril/rods/rod_equilibrium.h"

#include "rods/least_curvature.h"
#include "rods/rod_ends.h"
#include "rods/rod_program.h"
#include "tendril/model/error.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>

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

LeastCurvature leastCurvature(StrainRod& rod, const EndConditions& ends, const VectorX& multipliers) {
  const Pose& end = rod.frame(rod.elements());
  MatrixX J = MatrixX::Zero(rod.size(), ends.rows());
  VectorX column;
  for (int k = 0; k < ends.rows(); ++k) {
    column.setZero(rod.size());
    rod.addEndGradient(ends.weighted(end, VectorX::Unit(ends.rows(), k)), 1, column);
    J.col(k) = column;
  }
  const StrainRod::SecondVariation H = rod.secondVariation(1, ends.weighted(end, multipliers), {});
  return tendril::leastCurvature(rod.elasticity(), J, [&](const VectorX& direction, VectorX& product) { H.times(direction, product); });
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
    const LeastCurvature curvature = leastCurvature(program->rod(), program->ends(), multipliers);
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
