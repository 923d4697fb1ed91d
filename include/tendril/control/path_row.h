#pragma once
#include "tendril/model/director_system.h"

#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// What of a path a row reads, at one of its two nodes.
enum class PathPart {
  Node,     ///< redundant coordinates q
  Velocity, ///< q', of nodes that have it among the variables
  Control,  ///< of the interval that begins at the node; of the other node, of the one that ends there
  Impulse   ///< of contacts at the node, one after the other
};

/// A number of a path: `index` within the part, at the node of the row or at the other one.
struct PathPlace {
  PathPart part = PathPart::Node;
  int index = 0;
  bool atOther = false;
};

/// A scalar function, at most quadratic, of what a path has at one node or at two:
///
///     phi(y) = sum value y_i y_j + b^T y + c.
///
/// Positions of markers, distances, heights over planes, angles between directors, turns within an interval, velocities of markers and
/// friction cones have this form; so do conditions that bind the end of a path to its beginning.
struct PathRow {
  struct Term {
    PathPlace i, j;
    double value = 0; ///< phi += value y_i y_j
  };
  std::string name; ///< for messages
  std::vector<Term> products;
  std::vector<std::pair<PathPlace, double>> linear;
  double constant = 0;
  double unit = 1; ///< size of its values: a length where it is one

  /// Whether the second node takes part.
  bool readsOther() const;
  /// linear += factor y_place.
  void add(PathPlace place, double factor) { linear.emplace_back(place, factor); }
  /// phi, with number(place) = y_place.
  template <class Number> double value(const Number& number) const {
    double phi = constant;
    for (const auto& [place, factor] : linear) phi += factor * number(place);
    for (const Term& term : products) phi += term.value * number(term.i) * number(term.j);
    return phi;
  }
  /// Calls addTo(place, share) for all shares of d(phi)/dy_place.
  template <class Number, class AddTo> void differentiate(const Number& number, const AddTo& addTo) const {
    for (const auto& [place, factor] : linear) addTo(place, factor);
    for (const Term& term : products) {
      addTo(term.i, term.value * number(term.j));
      addTo(term.j, term.value * number(term.i));
    }
  }
};

/// Rows that hold a node at a configuration q* of the system, one for each freedom: P(q*)^T D^-2 (q - q*), with D the units of the
/// coordinates and P the tangent basis in scaled coordinates. They vanish at q* and, near it, there alone.
std::vector<PathRow> holdConfiguration(const std::string& name, const VectorX& target, const MatrixX& basis, const VectorX& unit);
/// The coordinate of a marker along a fixed direction [m], less an offset.
PathRow markerCoordinate(const std::string& name, const Marker& marker, const Vector3& direction, double offset = 0);
/// The square of the distance of a marker from a fixed point [m^2].
PathRow squaredDistance(const std::string& name, const Marker& marker, const Vector3& centre);
/// The velocity of a marker along a fixed direction [m/s], of a node that has velocities.
PathRow markerVelocity(const std::string& name, const Marker& marker, const Vector3& direction);
/// Three rows that hold the directors of a marker at an orientation: the axial part of R*^T R, which vanishes at R* and at half turns from
/// it, of which the first guess must keep clear.
std::vector<PathRow> holdOrientation(const std::string& name, const Marker& marker, const Matrix3& target);
/// cos(phi - phi0) of the angle about the common third axis of two frames: at least cos(w / 2) where phi keeps within w / 2 of phi0.
PathRow cosineOfAngle(const std::string& name, const std::array<DirectorFrame, 2>& frames, double phi0);
/// 1/2 (tr(R_n^T R_{n+1}) - 1) of a body, the cosine of the angle by which it turns in an interval.
PathRow cosineOfTurn(const std::string& name, int firstCoordinate);

}
