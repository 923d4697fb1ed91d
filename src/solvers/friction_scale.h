#pragma once
#include "tendril/solvers/friction_problem.h"

namespace tendril {

/// The diagonal of W_ii.
void diagonalOf(const FrictionProblem& problem, int contact, double* diagonal);

/// Variables without units: r = s r', u' = s u row by row, so that W' = s W s has diagonal blocks of trace `rows`. The rows of all discs
/// but the first hold moments and angular velocities; their coefficient, a length, makes them forces and velocities first. Returns the
/// effective mass rho of the contact; s = sqrt(rho), times that length where there is one.
double scalesOf(const FrictionLaw& law, const double* diagonal, double* scale);

/// The law of r' and u'.
FrictionLaw scaledLaw(const FrictionLaw& law, const double* scale);

}
