#pragma once
#include "tendril/model/director_system.h"

#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// A scalar function of the redundant coordinates at one node of a path, or at a node and the next, that is at most quadratic:
///
///     phi(y) = y^T A y / 2 + b^T y + c,      y = q_n  or  y = (q_n, q_{n+1}).
///
/// Positions of markers, distances, heights over planes, angles between directors and turns within an interval have this form.
struct PathRow {
  struct Term {
    int i = 0, j = 0; ///< places in y
    double value = 0; ///< phi += value y_i y_j
  };
  std::string name; ///< for messages
  std::vector<Term> products;
  std::vector<std::pair<int, double>> linear;
  double constant = 0;
  double unit = 1; ///< size of its values: a length where it is one

  double value(const VectorX& y) const;
  /// gradient += scale d(phi)/dy.
  void addGradient(const VectorX& y, double scale, VectorX& gradient) const;
  /// H += scale d2(phi)/dy2 applied to the columns of Y.
  void addHessian(double scale, const MatrixX& Y, MatrixX& H) const;
};

/// Rows that hold a node at a configuration q* of the system, one for each freedom: P(q*)^T D^-2 (q - q*), with D the units of the
/// coordinates and P the tangent basis in scaled coordinates. They vanish at q* and, near it, there alone.
std::vector<PathRow> holdConfiguration(const std::string& name, const VectorX& target, const MatrixX& basis, const VectorX& unit);
/// The coordinate of a marker along a fixed direction [m], less an offset.
PathRow markerCoordinate(const std::string& name, const Marker& marker, const Vector3& direction, double offset = 0);
/// Three rows that hold the directors of a marker at an orientation: the axial part of R*^T R, which vanishes at R* and at half turns from
/// it, of which the first guess must keep clear.
std::vector<PathRow> holdOrientation(const std::string& name, const Marker& marker, const Matrix3& target);
/// 1/2 (tr(R_n^T R_{n+1}) - 1) of a body, the cosine of the angle by which it turns in an interval; n numbers per configuration.
PathRow cosineOfTurn(const std::string& name, int firstCoordinate, int n);

}
