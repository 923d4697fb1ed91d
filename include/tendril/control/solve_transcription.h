#pragma once
#include "tendril/control/transcription.h"
#include "tendril/solvers/interior_point.h"

namespace tendril {

enum class ProgramSolver {
  InteriorPoint, ///< stage by stage
  Ipopt          ///< sparse, for programs in R^n; optional
};

/// InputError where the solver is not there, or the method has no program in R^n for it.
void requireSolver(Transcription& transcription, ProgramSolver solver);

/// Solves a transcribed problem from the point where it stands, in units made of its masses, lengths and duration, and leaves it at the
/// result. The report is in these units, but for its objective.
InteriorPointReport solve(Transcription& transcription, ProgramSolver solver, const InteriorPointOptions& options,
                          const InteriorPoint::Watch& watch = {});

}
