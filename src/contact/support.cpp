#include "contact/support.h"

#include <array>

namespace tendril {

namespace {

Vector3 localSupport(const ShapeData& d, const Vector3& n) {
  using Kind = Shape::Kind;
  const auto rim = [&](double height) {
    const double across = std::sqrt(n[0] * n[0] + n[1] * n[1]);
    const double scale = across > 0 ? d.radius / across : 0;
    return Vector3(scale * n[0], scale * n[1], height);
  };
  switch (d.shape.kind) {
  case Kind::Capsule:
    return {0, 0, n[2] < 0 ? -d.half : d.half};
  case Kind::Box:
    return {std::copysign(d.halfEdges[0], n[0]), std::copysign(d.halfEdges[1], n[1]), std::copysign(d.halfEdges[2], n[2])};
  case Kind::ConvexMesh:
    return d.polyhedron.vertices[std::size_t(d.polyhedron.support(n))];
  case Kind::Cylinder:
  case Kind::Tube:
    return rim(n[2] < 0 ? d.low : d.high);
  case Kind::Cone: {
    const Vector3 base = rim(d.low);
    return base.dot(n) > d.high * n[2] ? base : Vector3(0, 0, d.high);
  }
  case Kind::Ellipsoid: {
    const Vector3 scaled = d.halfEdges.cwiseProduct(n);
    const double norm = scaled.norm();
    return norm > 0 ? Vector3(d.halfEdges.cwiseProduct(scaled) / norm) : Vector3(d.halfEdges[0], 0, 0);
  }
  default:
    return Vector3::Zero();
  }
}

}

Vector3 coreSupport(const PlacedShape& shape, const Vector3& direction) {
  return shape.pose * localSupport(shape.data, shape.pose.R.transpose() * direction);
}

void keepSpread(ContactSink& sink, const Vector3& normal, const Matrix3& R) {
  constexpr std::size_t most = 8;
  std::vector<ContactPoint>& points = sink.points();
  const std::size_t first = sink.first(), count = points.size() - first;
  if (count <= most) return;
  const Vector3 n = R.transpose() * (normal.isZero(0) ? points[first].normal : normal);
  const Vector3 t = anyOrthogonal(n), s = n.cross(t);
  std::array<std::size_t, most> kept{};
  std::size_t size = 0;
  const auto keepMost = [&](const auto& value) {
    std::size_t best = first;
    for (std::size_t i = first + 1; i < points.size(); ++i) {
      if (value(points[i]) > value(points[best])) best = i;
    }
    std::size_t place = 0; // ascending
    while (place < size && kept[place] < best) ++place;
    if (size == most || (place < size && kept[place] == best)) return;
    for (std::size_t i = size++; i > place; --i) kept[i] = kept[i - 1];
    kept[place] = best;
  };
  keepMost([](const ContactPoint& p) { return -p.gap; });
  for (std::size_t k = 0; k < most; ++k) {
    // Turned a little, so that no two corners of a shape aligned with its frame are equally far.
    const double angle = 0.1 + 2 * std::numbers::pi * double(k) / most;
    const Vector3 direction = R * (std::cos(angle) * t + std::sin(angle) * s);
    keepMost([&](const ContactPoint& p) { return direction.dot(p.position); });
  }
  for (std::size_t i = 0; i < size; ++i) points[first + i] = points[kept[i]];
  points.resize(first + size);
}

}
