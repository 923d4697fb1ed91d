#include "contact/closest_point.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

SurfacePoint ofBox(const Vector3& h, const Vector3& c) {
  const Vector3 nearest = c.cwiseMax(-h).cwiseMin(h);
  SurfacePoint result;
  result.normal = c - nearest;
  if (!result.normal.isZero(0)) {
    for (int k = 0; k < 3; ++k) result.feature = 3 * result.feature + (c[k] > h[k] ? 2 : c[k] < -h[k] ? 1 : 0);
    result.distance = normalise(result.normal, Vector3::UnitZ());
    return result;
  }
  int axis = 0;
  result.distance = -(h - c.cwiseAbs()).minCoeff(&axis);
  result.normal = (c[axis] < 0 ? -1 : 1) * Vector3::Unit(axis);
  for (int k = 0; k < 3; ++k) result.feature = 3 * result.feature + (k != axis ? 0 : c[axis] < 0 ? 1 : 2);
  return result;
}

/// A half-plane profile in cylindrical coordinates (rho, z), and its result turned back.
struct Profile {
  Vector3 radial; ///< unit
  double rho = 0;

  explicit Profile(const Vector3& c) : radial(c[0], c[1], 0) { rho = normalise(radial, Vector3::UnitX()); }
  SurfacePoint turned(double distance, double nRho, double nZ, std::uint32_t feature) const {
    return {distance, nRho * radial + nZ * Vector3::UnitZ(), feature};
  }
};

SurfacePoint ofCylinder(double radius, double half, const Vector3& c) {
  const Profile profile(c);
  const double side = profile.rho - radius, end = std::abs(c[2]) - half, sign = c[2] < 0 ? -1 : 1;
  if (side > 0 && end > 0) {
    const double distance = std::hypot(side, end);
    return profile.turned(distance, side / distance, sign * end / distance, sign > 0 ? 5 : 4);
  }
  if (side > end) return profile.turned(side, 1, 0, 1);
  return profile.turned(end, 0, sign, sign > 0 ? 3 : 2);
}

SurfacePoint ofCone(double radius, double low, double high, const Vector3& c) {
  const Profile profile(c);
  const double length = high - low, slant = std::hypot(radius, length);
  const double nRho = length / slant, nZ = radius / slant;      // normal of the side
  const double side = profile.rho * nRho + (c[2] - high) * nZ;  // distance from its line
  const double along = profile.rho * nZ - (c[2] - high) * nRho; // from the apex down the side
  const double base = low - c[2];
  if (side <= 0 && base <= 0) {
    return side > base ? profile.turned(side, nRho, nZ, 1) : profile.turned(base, 0, -1, 2);
  }
  if (side > 0 && along >= 0 && along <= slant) return profile.turned(side, nRho, nZ, 1);
  if (base > 0 && profile.rho <= radius) return profile.turned(base, 0, -1, 2);
  const bool isApex = along < 0;
  const double dRho = profile.rho - (isApex ? 0 : radius), dZ = c[2] - (isApex ? high : low), distance = std::hypot(dRho, dZ);
  return profile.turned(distance, dRho / distance, dZ / distance, isApex ? 3 : 4);
}

/// The root tau >= 0 of F(tau) = sum_i z_i^2 - 1, z_i = w_i / (tau + above_i), above_i >= 0 with least value zero, and the unit vector z.
/// F falls and is convex: Newton's method from the left climbs to the root without passing it. Without a root (w vanishes where `above`
/// does, and the rest is short) tau = 0 and the component that is then free makes z a unit vector.
double secularRoot(Vector3 w, const Vector3& above, Vector3& z) {
  double tau = 0;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(w[i]) < 1e-290) w[i] = 0;
    tau = std::max(tau, std::abs(w[i]) - above[i]);
  }
  const auto fill = [&] {
    for (int i = 0; i < 3; ++i) z[i] = w[i] == 0 ? 0 : w[i] / (tau + above[i]);
  };
  for (int k = 0; k < 500; ++k) {
    fill();
    double slope = 0;
    for (int i = 0; i < 3; ++i) slope += z[i] == 0 ? 0 : 2 * z[i] * z[i] / (tau + above[i]);
    const double excess = z.squaredNorm() - 1;
    if (k == 0 && excess < 0 && tau == 0) {
      int least = 0;
      above.minCoeff(&least);
      z[least] = std::sqrt(-excess);
      return 0;
    }
    const double step = excess / slope;
    tau += step;
    if (!(step > 2e-16 * tau)) break;
  }
  fill();
  z.normalize();
  return tau;
}

/// x + t u = y with u_i = x_i / a_i^2 and sum (x_i / a_i)^2 = 1, the root t > -min a_i^2; seen from there no digits are lost near it.
SurfacePoint ofEllipsoid(const Vector3& a, const Vector3& y) {
  const double least = a.minCoeff();
  const Vector3 above = (a.array() - least) * (a.array() + least);
  Vector3 z;
  const double tau = secularRoot(a.cwiseProduct(y), above, z);
  const Vector3 u = z.cwiseQuotient(a);
  const double norm = u.norm();
  return {(tau - least * least) * norm, u / norm, 0};
}

SurfacePoint ofPolyhedron(const Polyhedron& body, const Vector3& c) {
  SurfacePoint best;
  best.distance = -std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < body.faces.size(); ++f) {
    const double distance = body.faces[f].normal.dot(c) - body.faces[f].offset;
    if (distance > best.distance) best = {distance, body.faces[f].normal, std::uint32_t(f)};
  }
  if (best.distance <= 0) return best;
  best.distance = std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < body.faces.size(); ++f) {
    const Polyhedron::Face& face = body.faces[f];
    const double distance = face.normal.dot(c) - face.offset;
    if (!(distance > 0) || distance >= best.distance) continue;
    bool isInside = true;
    for (int k = 0; k < face.count && isInside; ++k) {
      const Vector3& p = body.vertices[std::size_t(body.loop[face.first + k])];
      const Vector3& q = body.vertices[std::size_t(body.loop[face.first + (k + 1) % face.count])];
      isInside = face.normal.dot((q - p).cross(c - p)) >= 0;
    }
    if (isInside) best = {distance, face.normal, std::uint32_t(f)};
  }
  for (std::size_t e = 0; e < body.edges.size(); ++e) {
    const Vector3 &p = body.vertices[std::size_t(body.edges[e].from)], &q = body.vertices[std::size_t(body.edges[e].to)];
    const double t = closestOnSegment(c, p, q - p);
    Vector3 d = t == 1 ? Vector3(c - q) : Vector3(c - p - t * (q - p));
    if (!(d.squaredNorm() < best.distance * best.distance)) continue;
    const auto vertex = std::uint32_t(t == 0 ? body.edges[e].from : body.edges[e].to);
    const double distance = normalise(d, best.normal);
    best = {distance, d, t == 0 || t == 1 ? 0x20000000u + vertex : 0x10000000u + std::uint32_t(e)};
  }
  return best;
}

SurfacePoint ofCapsule(double radius, double half, const Vector3& c) {
  const double z = std::clamp(c[2], -half, half);
  Vector3 d(c[0], c[1], c[2] - z);
  const double distance = normalise(d, Vector3::UnitX());
  return {distance - radius, d, z == half ? 2u : z == -half ? 1u : 0u};
}

}

double closestOnSegment(const Vector3& x, const Vector3& p, const Vector3& v) {
  return std::clamp((x - p).dot(v) / v.squaredNorm(), 0., 1.);
}

SegmentPair closestOnSegments(const Vector3& p, const Vector3& u, const Vector3& q, const Vector3& v) {
  const Vector3 r = q - p, across = u.cross(v);
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), sine2 = across.squaredNorm();
  if (sine2 > 1e-28 * uu * vv) {
    const double s = r.cross(v).dot(across) / sine2, t = r.cross(u).dot(across) / sine2;
    if (s > 0 && s < 1 && t > 0 && t < 1) return {s, t, true, std::pow(r.dot(across), 2) / sine2};
  }
  SegmentPair best;
  best.squared = std::numeric_limits<double>::infinity();
  const auto offer = [&](double s, double t) {
    const double squared = (r + t * v - s * u).squaredNorm();
    if (squared < best.squared) best = {s, t, false, squared};
  };
  offer(0, closestOnSegment(p, q, v));
  offer(1, closestOnSegment(p + u, q, v));
  offer(closestOnSegment(q, p, u), 0);
  offer(closestOnSegment(q + v, p, u), 1);
  return best;
}

Vector3 farthestOnEllipsoid(const Vector3& a, const Vector3& y) {
  const double most = a.maxCoeff();
  const Vector3 above = (most - a.array()) * (most + a.array());
  Vector3 z;
  secularRoot(-a.cwiseProduct(y), above, z);
  return a.cwiseProduct(z);
}

SurfacePoint closestSurfacePoint(const ShapeData& shape, const Vector3& point) {
  switch (shape.shape.kind) {
  case Shape::Kind::Box:
    return ofBox(shape.halfEdges, point);
  case Shape::Kind::Capsule:
    return ofCapsule(shape.radius, shape.half, point);
  case Shape::Kind::Cylinder:
  case Shape::Kind::Tube:
    return ofCylinder(shape.radius, shape.half, point);
  case Shape::Kind::Cone:
    return ofCone(shape.radius, shape.low, shape.high, point);
  case Shape::Kind::Ellipsoid:
    return ofEllipsoid(shape.halfEdges, point);
  case Shape::Kind::ConvexMesh:
    return ofPolyhedron(shape.polyhedron, point);
  default: {
    Vector3 normal = point;
    const double distance = normalise(normal, Vector3::UnitZ());
    return {distance - shape.radius, normal, 0};
  }
  }
}

}
