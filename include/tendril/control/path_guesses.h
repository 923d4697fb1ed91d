#pragma once
#include "tendril/control/first_path.h"

namespace tendril {

/// Key poses of a first guess with the motions of all joints and free bodies changed at random, evenly within +-spread: angles [rad], and
/// displacements by the same number of sizes of the model over pi. Poses at the end of the path stay if `keepEnd`, else they move too;
/// where there is none before the end, one is put halfway. The same seed gives the same numbers everywhere.
std::vector<KeyMotions> disturbed(const DirectorSystem& system, std::vector<KeyMotions> keys, bool keepEnd, double spread, unsigned seed);

/// A path with twice as many intervals: between two nodes the configuration of the constraint manifold next to their mean. The controls of
/// an interval become those of its halves, with the same mean and the slope of the neighbours.
std::vector<VectorX> halved(const DirectorSystem& system, const std::vector<VectorX>& nodes);
MatrixX halved(const MatrixX& controls);

}
