#pragma once
#include "tendril/solvers/interior_point.h"

namespace tendril {

/// Whether this build can call Ipopt (TENDRIL_WITH_IPOPT).
bool ipoptAvailable();

/// Solves a program in R^n by Ipopt (Waechter & Biegler 2006), to compare with InteriorPoint: the same functions and exact derivatives,
/// sparse linear algebra in place of stages. The program is left at the solution. Of the report, status, iterations, objective,
/// multipliers, totalTime and message are set; statuses that InteriorPoint does not know become Stalled, with Ipopt's number in the
/// message. Ipopt's own output is off. Throws std::logic_error if this build has no Ipopt.
InteriorPointReport solveByIpopt(VectorProgram& program, const InteriorPointOptions& options = {});

}
