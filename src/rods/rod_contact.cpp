#include "tendril/rods/rod_contact.h"

#include "tendril/contact/segments.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tendril {

namespace {

/// Distance from the surface of an obstacle, its gradient and second derivative.
struct SurfaceDistance {
  double value;
  Vector3 normal;
  Matrix3 curvature;
};

/// x from the centre or the axis of a sphere or cylinder.
Vector3 fromCentre(const RodObstacle& o, const Vector3& x) {
  const Vector3 r = x - o.frame.x;
  if (o.kind == RodObstacle::Kind::Sphere) return r;
  const Vector3 axis = o.frame.R.col(2);
  return r - r.dot(axis) * axis;
}

SurfaceDistance distanceFrom(const RodObstacle& o, const Vector3& x) {
  const Vector3 axis = o.frame.R.col(2);
  if (o.kind == RodObstacle::Kind::HalfSpace) return {axis.dot(x - o.frame.x), axis, Matrix3::Zero()};
  const Vector3 r = fromCentre(o, x);
  const double size = r.norm(), sign = o.isHollow ? -1 : 1;
  if (!(size > 0)) return {-sign * o.radius, o.frame.R.col(0), Matrix3::Zero()};
  const Vector3 n = r / size;
  Matrix3 across = Matrix3::Identity() - n * n.transpose();
  if (o.kind == RodObstacle::Kind::Cylinder) across -= axis * axis.transpose();
  return {sign * (size - o.radius), sign * n, sign / size * across};
}

/// Share of a segment that is nearest to the centre or axis of what it is outside of.
double nearestShare(const RodObstacle& o, const Vector3& begin, const Vector3& end) {
  const Vector3 from = fromCentre(o, begin), along = fromCentre(o, end) - from;
  return along.isZero(0) ? 0 : std::clamp(-from.dot(along) / along.squaredNorm(), 0.0, 1.0);
}

RodTouch::Place placeAt(int segment, double share) { return {segment, share, share > 0 && share < 1}; }

Vector3 motionOf(const RodTouch::Place& p, const StrainRod::NodeForces& motions) {
  return (1 - p.share) * motions.col(p.segment) + p.share * motions.col(p.segment + 1);
}

void addForce(const RodTouch::Place& p, const Vector3& f, StrainRod::NodeForces& forces) {
  forces.col(p.segment) += (1 - p.share) * f;
  forces.col(p.segment + 1) += p.share * f;
}

/// The share changes by `slide`.
void addShift(const RodTouch::Place& p, double slide, const Vector3& f, StrainRod::NodeForces& forces) {
  forces.col(p.segment) -= slide * f;
  forces.col(p.segment + 1) += slide * f;
}

}

RodSurroundings RodSurroundings::scaled(double length) const {
  RodSurroundings all = *this;
  all.radius /= length;
  for (RodObstacle& o : all.obstacles) o.radius /= length, o.frame.x /= length;
  return all;
}

void RodTouch::addGradient(double scale, StrainRod::NodeForces& forces) const {
  addForce(first, scale * normal, forces);
  if (isOfRodItself()) addForce(second, -scale * normal, forces);
}

/// With the shares s as further variables, F(r, s): d2g = F_rr - F_rs F_ss^-1 F_sr. F_ss is singular where segments are parallel; there one
/// place stays where it is.
void RodTouch::addCurvature(const StrainRod& rod, double scale, const StrainRod::NodeForces& motions, StrainRod::NodeForces& forces) const {
  const auto along = [&](const Place& p) -> Vector3 { return rod.frame(p.segment + 1).x - rod.frame(p.segment).x; };
  const auto turn = [&](const Place& p) -> Vector3 { return motions.col(p.segment + 1) - motions.col(p.segment); };
  Vector3 dw = motionOf(first, motions);
  Eigen::Matrix<double, 3, 2> T = Eigen::Matrix<double, 3, 2>::Zero(); // dw/ds
  Eigen::Vector2d mixed = Eigen::Vector2d::Zero(), slide = mixed;      // F_sr motions; how the shares follow
  if (first.slides) T.col(0) = along(first), mixed[0] = normal.dot(turn(first));
  if (isOfRodItself()) {
    dw -= motionOf(second, motions);
    if (second.slides) T.col(1) = -along(second), mixed[1] = -normal.dot(turn(second));
  }
  mixed += T.transpose() * (curvature * dw);
  Eigen::Matrix2d S = T.transpose() * curvature * T;
  constexpr double parallel = 1e-6;
  if (first.slides && second.slides && S.determinant() < parallel * S(0, 0) * S(1, 1))
    S(0, 1) = S(1, 0) = 0, S(1, 1) = 0, T.col(1).setZero();
  for (int k = 0; k < 2; ++k)
    if (S(k, k) <= 0) S(k, k) = 1, mixed[k] = 0;
  slide = -S.inverse() * mixed;
  const Vector3 turned = scale * (curvature * (dw + T * slide));
  addForce(first, turned, forces);
  addShift(first, slide[0], scale * normal, forces);
  if (!isOfRodItself()) return;
  addForce(second, -turned, forces);
  addShift(second, slide[1], -scale * normal, forces);
}

int RodContacts::nearestPartner(const StrainRod& rod) const {
  return std::max(2, 1 + int(std::ceil(std::numbers::pi * surroundings_.radius / rod.step())));
}

const std::vector<RodTouch>& RodContacts::find(const StrainRod& rod, double margin) {
  touches_.clear();
  partner_ = nearestPartner(rod);
  if (surroundings_.touchesItself && surroundings_.radius > 0) findOwn(rod, margin);
  for (int o = 0; o < int(surroundings_.obstacles.size()); ++o) addObstacle(rod, o, margin);
  return touches_;
}

void RodContacts::findOwn(const StrainRod& rod, double margin) {
  const double reach = surroundings_.radius + margin / 2;
  bounds_.clear();
  for (int i = 0; i < rod.elements(); ++i) {
    const Vector3 &a = rod.frame(i).x, &b = rod.frame(i + 1).x;
    bounds_.push_back({a.cwiseMin(b).array() - reach, a.cwiseMax(b).array() + reach});
  }
  for (const auto& [i, j] : phase_.find(bounds_))
    if (j - i >= partner_) addPair(rod, i, j, margin);
  // A node belongs to two segments.
  std::stable_sort(touches_.begin(), touches_.end(), [&](const RodTouch& a, const RodTouch& b) { return a.key() < b.key(); });
  touches_.erase(std::unique(touches_.begin(), touches_.end(), [&](const RodTouch& a, const RodTouch& b) { return a.key() == b.key(); }),
                 touches_.end());
}

void RodContacts::addPair(const StrainRod& rod, int i, int j, double margin) {
  constexpr double sideBySide = 0.1; // sine of the angle
  const Vector3 p = rod.frame(i).x, u = rod.frame(i + 1).x - p, q = rod.frame(j).x, v = rod.frame(j + 1).x - q;
  const SegmentPair nearest = closestOnSegments(p, u, q, v);
  const double reach = 2 * surroundings_.radius + margin;
  if (nearest.squared > reach * reach) return;
  addOwn(rod, placeAt(i, nearest.s), placeAt(j, nearest.t), margin);
  if (u.cross(v).norm() > sideBySide * u.norm() * v.norm()) return;
  for (const double end : {0.0, 1.0}) {
    if (const double t = closestOnSegment(p + end * u, q, v); t > 0 && t < 1) addOwn(rod, placeAt(i, end), placeAt(j, t), margin);
    if (const double s = closestOnSegment(q + end * v, p, u); s > 0 && s < 1) addOwn(rod, placeAt(i, s), placeAt(j, end), margin);
  }
}

void RodContacts::addOwn(const StrainRod& rod, RodTouch::Place first, RodTouch::Place second, double margin) {
  const Vector3 w = RodTouch::at(rod, first) - RodTouch::at(rod, second);
  const double distance = w.norm(), gap = distance - 2 * surroundings_.radius;
  if (gap > margin || !(distance > 0)) return;
  const Vector3 n = w / distance;
  touches_.push_back({first, second, -1, gap, n, (Matrix3::Identity() - n * n.transpose()) / distance});
}

/// Planes and containers are touched by nodes; what the rod is outside of, by the nearest place of a segment.
void RodContacts::addObstacle(const StrainRod& rod, int number, double margin) {
  const RodObstacle& o = surroundings_.obstacles[std::size_t(number)];
  const bool isOutside = o.kind != RodObstacle::Kind::HalfSpace && !o.isHollow;
  const int last = rod.elements() - 1;
  const auto add = [&](const RodTouch::Place& place) {
    const SurfaceDistance d = distanceFrom(o, RodTouch::at(rod, place));
    const double gap = d.value - surroundings_.radius;
    if (gap <= margin) touches_.push_back({place, {}, number, gap, d.normal, d.curvature});
  };
  for (int i = 0; i <= last; ++i) {
    const double share = isOutside ? nearestShare(o, rod.frame(i).x, rod.frame(i + 1).x) : 0;
    if (share < 1 || i == last) add(placeAt(i, share)); // the end of a segment is the begin of the next
  }
  if (!isOutside) add(placeAt(last, 1));
}

/// Two segments approach one another by no more than the largest difference of the motions of their ends.
double RodContacts::longestFactor(const StrainRod::NodeForces& from, const StrainRod::NodeForces& to) {
  constexpr double share = 0.9;
  const StrainRod::NodeForces motion = to - from;
  double factor = 1;
  const auto limit = [&](double distance, double way) {
    if (way > share * distance) factor = std::min(factor, share * distance / way);
  };
  for (const RodObstacle& o : surroundings_.obstacles) {
    if (o.kind == RodObstacle::Kind::HalfSpace || o.isHollow) continue;
    for (Eigen::Index i = 0; i + 1 < from.cols(); ++i) {
      const double at = nearestShare(o, from.col(i), from.col(i + 1));
      limit(fromCentre(o, (1 - at) * from.col(i) + at * from.col(i + 1)).norm(), std::max(motion.col(i).norm(), motion.col(i + 1).norm()));
    }
  }
  if (!surroundings_.touchesItself || !(surroundings_.radius > 0)) return factor;
  bounds_.clear();
  for (Eigen::Index i = 0; i + 1 < from.cols(); ++i) {
    const double way = std::max(motion.col(i).norm(), motion.col(i + 1).norm()) / share;
    const Vector3 a = from.col(i), b = from.col(i + 1);
    bounds_.push_back({a.cwiseMin(b).array() - way, a.cwiseMax(b).array() + way});
  }
  for (const auto& [i, j] : phase_.find(bounds_)) {
    if (j - i < partner_) continue;
    const double distance =
        std::sqrt(closestOnSegments(from.col(i), from.col(i + 1) - from.col(i), from.col(j), from.col(j + 1) - from.col(j)).squared);
    for (const int a : {i, i + 1})
      for (const int b : {j, j + 1}) limit(distance, (motion.col(a) - motion.col(b)).norm());
  }
  return factor;
}

}
