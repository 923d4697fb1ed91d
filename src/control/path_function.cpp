#include "tendril/control/path_function.h"

namespace tendril {

PathFunction valueOf(PathRow row, int node, int other) {
  PathFunction function{.name = row.name, .values = {}, .combine = {}};
  function.values.push_back({std::move(row), node, other});
  function.combine = [](const VectorX& y, VectorX* gradient) {
    if (gradient) gradient->setOnes();
    return y[0];
  };
  return function;
}

PathFunction distanceOf(const std::string& name, const Marker& marker, const Vector3& target, int node) {
  PathFunction function{.name = name, .values = {}, .combine = {}};
  for (int i = 0; i < 3; ++i) function.values.push_back({markerCoordinate(name, marker, Vector3::Unit(i), target[i]), node});
  function.combine = [](const VectorX& y, VectorX* gradient) {
    const double distance = y.norm();
    if (gradient) *gradient = distance > 0 ? VectorX(y / distance) : VectorX::Zero(y.size());
    return distance;
  };
  return function;
}

PathFunction weightedSquares(const std::string& name, std::vector<PathRow> rows, std::vector<double> weights, int node) {
  PathFunction function{.name = name, .values = {}, .combine = {}};
  for (PathRow& row : rows) function.values.push_back({std::move(row), node});
  function.combine = [w = VectorX(Eigen::Map<const VectorX>(weights.data(), Eigen::Index(weights.size())))](const VectorX& y,
                                                                                                            VectorX* gradient) {
    if (gradient) *gradient = w.cwiseProduct(y);
    return 0.5 * w.dot(y.cwiseAbs2());
  };
  return function;
}

PathFunction effortOf(const std::string& name, const std::vector<double>& weights, int steps, double h) {
  PathRow squares{.name = name, .products = {}, .linear = {}};
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const PathPlace control{PathPart::Control, int(k)};
    squares.products.push_back({control, control, h * weights[k]});
  }
  PathFunction function{.name = name, .values = {}, .combine = {}};
  for (int n = 0; n < steps; ++n) function.values.push_back({squares, n});
  function.combine = [](const VectorX& y, VectorX* gradient) {
    if (gradient) gradient->setOnes();
    return y.sum();
  };
  return function;
}

}
