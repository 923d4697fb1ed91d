#pragma once
#include "tendril/control/path_row.h"

#include <functional>
#include <string>
#include <vector>

namespace tendril {

/// A smooth function phi(y_1, ..., y_k) of numbers of a path: what a run is judged by. Each y is a PathRow at a node (and perhaps another
/// one): places and velocities of markers, heights, controls.
struct PathFunction {
  struct Value {
    PathRow row;
    int node = 0;
    int other = -1; ///< the second node of the row; -1: the next one
  };
  std::string name; ///< for messages
  std::vector<Value> values;
  /// phi at y; fills d(phi)/dy, of the size of y on entry, where it is wanted.
  std::function<double(const VectorX& y, VectorX* gradient)> combine;
};

/// One number: phi = y.
PathFunction valueOf(PathRow row, int node, int other = -1);
/// |x - target|, the distance of a marker from a fixed point at a node [m]. At distance zero, where it has a kink, the gradient given is
/// zero.
PathFunction distanceOf(const std::string& name, const Marker& marker, const Vector3& target, int node);
/// sum_i w_i y_i^2 / 2 of rows at one node, as of the components of a velocity with w_i a mass.
PathFunction weightedSquares(const std::string& name, std::vector<PathRow> rows, std::vector<double> weights, int node);
/// h sum_n sum_k w_k tau_kn^2, the effort of controls in the steps 0 .. steps - 1.
PathFunction effortOf(const std::string& name, const std::vector<double>& weights, int steps, double h);

}
