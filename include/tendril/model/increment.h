#pragma once
#include "tendril/lie/types.h"

namespace tendril {

class Model;

/// Share of an increment of Newton's method that may be taken so that no pose block turns by more than half a radian in one iteration: the
/// helicoidal elements stay within their chart.
double longestTurn(const Model& model, const VectorX& delta);

}
