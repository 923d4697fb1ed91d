#pragma once
#include "tendril/lie/types.h"

#include <functional>
#include <optional>
#include <vector>

namespace tendril {

/// A point of a parametric curve x(u), with its derivative; after a kink, the derivative of what follows.
struct CurvePoint {
  Vector3 x;
  Vector3 rate;
};

/// Reference shape of a beam: frames along an arclength s in [0, length], d1 the unit tangent, d2 and d3 the section's axes.
/// Straight lines, arcs and helices are screw motions, which a two-node helicoidal element represents exactly; the others carry
/// rotation-minimising frames.
class Curve {
 public:
  double length() const { return length_; }
  Pose frame(double s) const { return frame_(s); }
  /// Angle [rad] by which the frames turn between two arclengths, summed up along the way: unlike the rotation between the two frames it
  /// counts whole turns.
  double turn(double from, double to) const { return turned_(to) - turned_(from); }

  /// `up` fixes the section's turn about the tangent: d3 is its part normal to the tangent. Without it, d3 is as near to the vertical
  /// (0,0,1) as can be, or to (0,1,0) where the tangent is vertical.
  static Curve straight(const Vector3& from, const Vector3& to, const std::optional<Vector3>& up = {});
  /// Circular arc that leaves `start` along `tangent` and bends towards `towards` (the direction of the centre of curvature) with the
  /// given radius through the given angle [rad]; d2 points to the centre.
  static Curve arc(const Vector3& start, const Vector3& tangent, const Vector3& towards, double radius, double angle);
  /// Helix of given radius and pitch (advance along the axis in one turn) about an axis through `centre`, beginning at
  /// centre + radius * `radial`; positive pitch and turns give a right-handed helix. d2 points to the axis.
  static Curve helix(const Vector3& centre, const Vector3& axis, const Vector3& radial, double radius, double pitch, double turns);
  /// Straight legs through points. Frames turn by half of a corner's angle at its vertex, so that the corner is shared by the two
  /// elements beside it.
  static Curve polyline(const std::vector<Vector3>& points, const std::optional<Vector3>& up = {});
  /// Natural cubic spline through points.
  static Curve spline(const std::vector<Vector3>& points, const std::optional<Vector3>& up = {});
  /// Any smooth parametric curve x(u), re-parametrised by arclength.
  static Curve parametric(const std::function<CurvePoint(double)>& point, double from, double to, const std::optional<Vector3>& up = {});
  /// General screw motion: frame(s) = start exp(s f).
  static Curve screw(const Pose& start, const Vector6& f, double length);

  /// Arclengths at which a mesh should place nodes (ends, vertices of a polyline).
  const std::vector<double>& breaks() const { return breaks_; }

 private:
  Curve(double length, std::function<Pose(double)> frame, std::function<double(double)> turned);
  double length_;
  std::function<Pose(double)> frame_;
  std::function<double(double)> turned_; ///< turn from 0 to s
  std::vector<double> breaks_;
};

}
