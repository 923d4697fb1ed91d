#pragma once
#include "contact/shape_data.h"

#include <array>
#include <vector>

namespace tendril {

/// Smooth piece of a convex shape's support function h(n) = max n . x: of a point, a circle or an ellipsoid. Shapes are convex hulls of
/// these: a cylinder of two circles, a cone of a circle and its apex, a polyhedron of its vertices.
struct Generator {
  enum class Kind { Point, Circle, Ellipsoid };
  Kind kind = Kind::Point;
  Vector3 centre = Vector3::Zero();
  Vector3 axis = Vector3::Zero(); ///< of a circle
  double radius = 0;
  Matrix3 S = Matrix3::Zero(); ///< of an ellipsoid: h = n . centre + sqrt(n . S n)

  /// Gradient of h, the farthest point; degree 0 in n.
  Vector3 point(const Vector3& n) const;
  /// Second derivative of h.
  Matrix3 curvature(const Vector3& n) const;
};

/// One generator, or two between which straight lines of the surface run.
struct GeneratorFeature {
  int first = -1, second = -1;
  std::uint32_t id = 0;
};

struct GeneratorSet {
  std::vector<Generator> generators;
  std::vector<GeneratorFeature> features;
  std::vector<double> heights;

  void fill(const PlacedShape& shape);
  /// Keeps the features all of whose generators come within `tolerance` of the largest height in direction n.
  void keepActive(const Vector3& n, double tolerance, std::vector<GeneratorFeature>& active);
};

/// Where two features touch: p_a(-n) - p_b(n) = gap n, n from b to a.
struct FeatureContact {
  Vector3 normal = Vector3::UnitZ();
  double gap = 0;
  Vector3 onA = Vector3::Zero(), onB = Vector3::Zero();
  bool isFound = false; ///< converged, between the generators of either feature
};

/// Newton's method on the conditions of a stationary separation
///
///     sum_i alpha_i a_i(-n) - sum_k beta_k b_k(n) = gap n,  n . n = 1,  n . (a_1 - a_2) = 0,  n . (b_1 - b_2) = 0,
///
/// alpha and beta adding up to one over the generators of the feature. Its matrix is symmetric, as the support functions are homogeneous.
FeatureContact touch(const GeneratorSet& a, const GeneratorFeature& featureA, const GeneratorSet& b, const GeneratorFeature& featureB,
                     const Vector3& normal, double size);

}
