#include "contact/face_clipping.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

std::uint32_t crossing(std::uint32_t patchEdge, std::uint32_t faceEdge) { return featurePair(patchEdge, 0x40000000u + faceEdge); }

namespace {

/// Sutherland & Hodgman's step for one side of the face.
void clipToSide(const Patch& in, Patch& out, const Vector3& point, const Vector3& outward, std::uint32_t side, double tolerance) {
  out.count = 0;
  std::array<double, Patch::most> height;
  for (int i = 0; i < in.count; ++i) height[std::size_t(i)] = outward.dot(in.corners[std::size_t(i)].x - point);
  const int edges = in.count == 2 ? 1 : in.count; // a line does not close
  for (int i = 0; i < in.count; ++i) {
    const int next = (i + 1) % in.count;
    const PatchCorner &from = in.corners[std::size_t(i)], &to = in.corners[std::size_t(next)];
    const double h = height[std::size_t(i)], hNext = height[std::size_t(next)];
    const bool isIn = h <= tolerance, isNextIn = hNext <= tolerance;
    const bool crosses = i < edges && in.count > 1 && isIn != isNextIn;
    const bool endsOnSide = crosses && (isIn ? h : hNext) > -tolerance; // the corner itself is where the edge meets the side
    if (isIn) out.add(from.x, from.id, crosses && endsOnSide ? 0x40000000u + side : from.edge);
    if (crosses && !endsOnSide) {
      const Vector3 x = from.x + h / (h - hNext) * (to.x - from.x);
      out.add(x, crossing(from.edge, side), isIn ? 0x40000000u + side : from.edge);
    }
  }
}

}

void clipToFace(const Patch& face, Patch& patch, double tolerance) {
  static thread_local Patch scratch;
  for (int k = 0; k < face.count && patch.count > 0; ++k) {
    const PatchCorner& corner = face.corners[std::size_t(k)];
    const Vector3 along = face.corners[std::size_t((k + 1) % face.count)].x - corner.x;
    const Vector3 outward = along.cross(face.normal).normalized();
    scratch.normal = patch.normal;
    clipToSide(patch, scratch, corner.x, outward, corner.edge, tolerance);
    patch.count = scratch.count;
    for (int i = 0; i < scratch.count; ++i) patch.corners[std::size_t(i)] = scratch.corners[std::size_t(i)];
  }
}

namespace {

std::uint32_t featureOver(const Patch& face, bool isFaceOfB, const PatchCorner& corner) {
  return featurePair(2 * face.id + (isFaceOfB ? 1 : 0), corner.id);
}

}

double addOverFace(const Patch& face, const Patch& clipped, bool isFaceOfB, ContactSink& sink) {
  double least = std::numeric_limits<double>::infinity();
  const Vector3 normal = isFaceOfB ? face.normal : Vector3(-face.normal);
  for (int i = 0; i < clipped.count; ++i) {
    const PatchCorner& corner = clipped.corners[std::size_t(i)];
    const double height = face.normal.dot(corner.x - face.corners[0].x), gap = height - clipped.radius - face.radius;
    least = std::min(least, gap);
    sink.add(corner.x - 0.5 * (height + clipped.radius - face.radius) * face.normal, normal, gap, featureOver(face, isFaceOfB, corner));
  }
  return least;
}

void addBeside(const KnownContact& known, const Patch& face, const Patch& clipped, bool isFaceOfB, ContactSink& sink) {
  for (int i = 0; i < clipped.count; ++i) {
    const PatchCorner& corner = clipped.corners[std::size_t(i)];
    // The carrier lies below its face and below the plane of the known contact: the higher one bounds it.
    const double overFace = face.normal.dot(corner.x - face.corners[0].x) / std::abs(face.normal.dot(known.normal));
    const double height = std::max(overFace, known.normal.dot(isFaceOfB ? corner.x - known.onB : known.onA - corner.x));
    const Vector3 outward = isFaceOfB ? known.normal : Vector3(-known.normal);
    const Vector3 position = corner.x - 0.5 * (height + clipped.radius - face.radius) * outward;
    if (corner.id == known.same || (position - known.position).squaredNorm() < known.apart * known.apart) continue;
    sink.add(position, known.normal, height - clipped.radius - face.radius, featureOver(face, isFaceOfB, corner));
  }
}

}
