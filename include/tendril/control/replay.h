#pragma once
#include "tendril/control/transcription.h"

namespace tendril {

/// Runs the variational integrator from the initial state of the model with the controls of a path, constant on its intervals, and
/// returns the largest distance of its nodes from those of the path, in lengths of the model (directors as they are). Nodes of `dmocc`
/// satisfy the equations of the integrator, so that they come back to the rounding that the motion magnifies; other methods come back
/// to their own order. Contacts of the path are no part of it. NumericalFailure where the integrator fails.
double replayDifference(const Model& model, const Transcription& path);

}
