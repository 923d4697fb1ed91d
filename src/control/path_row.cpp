#include "tendril/control/path_row.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

PathPlace coordinate(int index, bool atOther = false) { return {PathPart::Node, index, atOther}; }

/// Adds factor times the component of a column (0: position, 1 to 3: directors) of a marker along a direction.
void addColumn(PathRow& row, const Marker& marker, int of, const Vector3& direction, PathPart part = PathPart::Node) {
  const DirectorFrame frame = marker.directors();
  if (frame.count == 0 && part == PathPart::Node) row.constant += direction.dot(frame.at({}, 0).col(of));
  for (int k = 0; k < frame.count; ++k)
    for (int column = 0; column < 4; ++column)
      for (int i = 0; i < 3; ++i) {
        const double factor = frame.weights[k] * frame.offset(column, of) * direction[i];
        if (factor != 0) row.add({part, frame.q[k] + 3 * column + i}, factor);
      }
}

}

bool PathRow::readsOther() const {
  return std::any_of(linear.begin(), linear.end(), [](const auto& term) { return term.first.atOther; }) ||
         std::any_of(products.begin(), products.end(), [](const Term& term) { return term.i.atOther || term.j.atOther; });
}

std::vector<PathRow> holdConfiguration(const std::string& name, const VectorX& target, const MatrixX& basis, const VectorX& unit) {
  std::vector<PathRow> rows;
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {
    PathRow row{.name = name + ", freedom " + std::to_string(k + 1), .products = {}, .linear = {}};
    for (Eigen::Index i = 0; i < basis.rows(); ++i) {
      if (basis(i, k) == 0) continue;
      const double factor = basis(i, k) / unit[i];
      row.add(coordinate(int(i)), factor);
      row.constant -= factor * target[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

PathRow markerCoordinate(const std::string& name, const Marker& marker, const Vector3& direction, double offset) {
  PathRow row{.name = name, .products = {}, .linear = {}, .constant = -offset};
  addColumn(row, marker, 0, direction);
  return row;
}

PathRow squaredDistance(const std::string& name, const Marker& marker, const Vector3& centre) {
  PathRow row{.name = name, .products = {}, .linear = {}};
  for (int i = 0; i < 3; ++i) {
    const PathRow x = markerCoordinate(name, marker, Vector3::Unit(i), centre[i]);
    row.constant += x.constant * x.constant;
    for (const auto& [place, factor] : x.linear) {
      row.add(place, 2 * x.constant * factor);
      for (const auto& [other, by] : x.linear) row.products.push_back({place, other, factor * by});
    }
  }
  return row;
}

PathRow markerVelocity(const std::string& name, const Marker& marker, const Vector3& direction) {
  PathRow row{.name = name, .products = {}, .linear = {}};
  addColumn(row, marker, 0, direction, PathPart::Velocity);
  return row;
}

std::vector<PathRow> holdOrientation(const std::string& name, const Marker& marker, const Matrix3& target) {
  std::vector<PathRow> rows;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    PathRow row{.name = name + ", rotation " + std::to_string(i + 1), .products = {}, .linear = {}};
    addColumn(row, marker, 1 + j, 0.5 * target.col(l)); // (t_l . d_j - t_j . d_l)/2
    addColumn(row, marker, 1 + l, -0.5 * target.col(j));
    rows.push_back(std::move(row));
  }
  return rows;
}

PathRow cosineOfAngle(const std::string& name, const std::array<DirectorFrame, 2>& frames, double phi0) {
  PathRow row{.name = name, .products = {}, .linear = {}};
  /// A component of a director of a frame, in the coordinates that it is made of; `constant` on the ground.
  const auto parts = [](const DirectorFrame& frame, int director, int component, double& constant) {
    std::vector<std::pair<PathPlace, double>> sum;
    constant = frame.count == 0 ? frame.at({}, 0)(component, 1 + director) : 0;
    for (int k = 0; k < frame.count; ++k)
      for (int column = 1; column < 4; ++column) {
        const double factor = frame.weights[k] * frame.offset(column, 1 + director);
        if (factor != 0) sum.emplace_back(coordinate(frame.q[k] + 3 * column + component), factor);
      }
    return sum;
  };
  const auto addDot = [&](int a, int b, double factor) {
    for (int component = 0; component < 3; ++component) {
      double first = 0, second = 0;
      const auto left = parts(frames[0], a, component, first), right = parts(frames[1], b, component, second);
      row.constant += factor * first * second;
      for (const auto& [place, value] : left) row.add(place, factor * value * second);
      for (const auto& [place, value] : right) row.add(place, factor * value * first);
      for (const auto& [i, vi] : left)
        for (const auto& [j, vj] : right) row.products.push_back({i, j, factor * vi * vj});
    }
  };
  // cos phi = (R11 + R22)/2, sin phi = (R21 - R12)/2.
  addDot(0, 0, 0.5 * std::cos(phi0)), addDot(1, 1, 0.5 * std::cos(phi0));
  addDot(1, 0, 0.5 * std::sin(phi0)), addDot(0, 1, -0.5 * std::sin(phi0));
  return row;
}

PathRow cosineOfTurn(const std::string& name, int firstCoordinate) {
  PathRow row{.name = name, .products = {}, .linear = {}, .constant = -0.5};
  for (int i = 3; i < 12; ++i) row.products.push_back({coordinate(firstCoordinate + i), coordinate(firstCoordinate + i, true), 0.5});
  return row;
}

}
