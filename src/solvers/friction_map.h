#pragma once
#include "tendril/solvers/friction_problem.h"

namespace tendril {

using ContactVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, FrictionLaw::maxSize, 1>;
using ContactMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, FrictionLaw::maxSize, FrictionLaw::maxSize>;

/// The law of a contact as an equation, F(r, u) = 0 (Alart & Curnier 1991), for variables of like size:
///
///     F_n = r_n - max(0, r_n - u_n),    F_i = r_i - P(r_i - u_i) for every disc, P the projection on the disc of radius mu_i max(0, r_n -
///     u_n),
///
/// and its derivatives A = dF/dr, B = dF/du. A disc without radius has F = r.
struct AlartCurnier {
  ContactVector F;
  ContactMatrix A, B;

  void evaluate(const FrictionLaw& law, const double* r, const double* u);
};

/// |F|^2 alone.
double squaredAlartCurnier(const FrictionLaw& law, const double* r, const double* u);

}
