#pragma once
#include "tendril/contact/collision_shape.h"
#include "tendril/contact/contact_constraints.h"
#include "tendril/contact/contact_curve.h"

#include <optional>

namespace tendril {

/// Where the point on the second curve lies that faces a section of the first.
///
/// SectionPlane: in the plane of the first curve's section, (x_F - x_C) . R_C e1 = 0. The choice of the source; it breaks the symmetry of
/// the two curves, and its gradient is not that of its gap where they are inclined to one another.
/// ClosestPoint: (x_F - x_C) . x_F' = 0. The gap is then a distance and the gradient exactly its derivative: contact without friction
/// has a potential. The same as the other where curves are parallel, and regular where they cross at right angles.
enum class Projection { SectionPlane, ClosestPoint };

/// The fraction xi of a segment of `other` that faces the frame C, by Newton's method from `guess`; empty if there is none within
/// [-slack, 1 + slack] (the segment is continued along its helix).
std::optional<double> project(const Pose& C, const CurveConfiguration& other, int segment, double guess, Projection projection,
                              double slack);

/// Two sections that face each other, or a section and the point of a rigid part nearest to it (Tasora et al.; source 001, 3.2).
/// Normal n = (x_C - x_F) / |x_C - x_F| towards the first, t = R_C e1 without its part along n, s = n x t; contact frames L and K at the
/// two surfaces, rigidly attached to their sections for the infinitesimal motion:
///
///     u = R^T ( velocity of L on the first - velocity of K on the second ) = sum_k B_k v_k,      R = [n t s]
struct SectionContact {
  Carrier first, second;
  double firstRadius = 0, secondRadius = 0; ///< [m]; no secondRadius on a rigid part
  Vector3 firstPoint, secondPoint;          ///< on the two surfaces, inertial frame
  Matrix3 R = Matrix3::Identity();          ///< columns n, t, s
  double gap = 0;                           ///< [m]

  /// Gradient over the blocks of first, then of second.
  std::array<Matrix36, 4> B;

  /// Fills points, R, gap and B of two curves from the carriers and radii. The normal goes on from `previous` (zero: none): it does not
  /// turn over when the centrelines pass through one another.
  void fillCurves(const Vector3& previousNormal);
  /// The same for a rigid part: `nearest` is where it is nearest to a sphere of firstRadius around the first section's centre.
  void fillRigid(const ContactPoint& nearest);
};

/// Displacement (t, s) of the first surface point relative to the second since an older configuration, for the material points that face
/// each other now: components of log(H_LK,old^-1 H_LK) in the frame K (source 001, 3.47-3.48). Exactly zero where equal discs roll.
/// `oldFirst` and `oldSecond` are the frames of the same two sections in the old configuration.
Eigen::Vector2d slipSince(const SectionContact& contact, const Pose& oldFirst, const Pose& oldSecond);

/// - d(B^T F)/dq for a force F (normal, t, s) fixed in the contact frame, over the up to 4 blocks (first's, then second's): turning of the
/// frame, motion of the lever arms, change of the shape functions, and motion of the facing place along the second curve. Symmetric for
/// Projection::ClosestPoint without friction. `second` is null for a rigid part, whose surface is taken as plane.
Eigen::Matrix<double, 24, 24> contactStiffness(const SectionContact& contact, const Vector3& force, const CurveConfiguration* first,
                                               const CurvePlace& firstPlace, const CurveConfiguration* second,
                                               const CurvePlace& secondPlace, Projection projection);

}
