#pragma once
#include "tendril/rods/rod_equilibrium.h"

namespace tendril {

/// InputError for ends farther apart than the rod is long, and for orientations that are no rotations.
void checkRodEnds(double length, const RodEnds& ends);

}
