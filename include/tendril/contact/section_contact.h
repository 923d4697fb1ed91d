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
///
/// Newton's method between bounds. Of several solutions, the one to which |x_F - x_C| descends from the guess (ClosestPoint: a minimum,
/// never a maximum), or where the section's plane is crossed in the same direction as at the guess. It may be at the slack's limit to
/// 1e-10.
std::optional<double> project(const Pose& C, const CurveConfiguration& other, int segment, double guess, Projection projection,
                              double slack);

/// Two sections that face each other, or a section and the point of a rigid part nearest to it (the thesis named in
/// docs/beam-contact.md, 3.2). Normal n = (x_C - x_F) / |x_C - x_F| towards the first, t = R_C e1 without its part along n, of unit length,
/// s = n x t. The contact frame M = [n t s] lies half-way between the two surfaces. Two copies of it, L and K, are rigidly attached to the
/// two sections for the infinitesimal motion, and
///
///     u = R^T ( velocity of L on the first - velocity of K on the second ) = sum_k B_k v_k,      R = [n t s],
///     B_k = +/- R^T R_S [I, -S(arm)] J_k,   arm = R_S^T (x_M - x_S)   for the section S = C (+) or F (-)
///
/// The source sets L and K on the two surfaces. Where the gap is closed that is the same; in one place, the two forces +/- R F have no
/// moment together at any gap.
struct SectionContact {
  Carrier first, second;
  double firstRadius = 0, secondRadius = 0; ///< [m]; no secondRadius on a rigid part
  Vector3 firstPoint, secondPoint;          ///< on the two surfaces, inertial frame
  Matrix3 R = Matrix3::Identity();          ///< columns n, t, s
  double gap = 0;                           ///< [m]
  /// On a rigid part: by how much the normal turns with the centre of the first section, dn = N dx, the part at rest. Zero on a plane.
  Matrix3 normalRate = Matrix3::Zero();

  /// Gradient over the blocks of first, then of second (first.count + second.count of them).
  std::array<Matrix36, 4> B;

  /// Fills points, R, gap and B of two curves from the carriers and radii. The normal goes on from `previous` (zero: none): it does not
  /// turn over when the centrelines pass through one another, and stays where they coincide; without a previous one that is sideOf().
  void fillCurves(const Vector3& previousNormal);
  /// The same for a rigid part: `nearest` is where it is nearest to a sphere of firstRadius around the first section's centre.
  void fillRigid(const ContactPoint& nearest);
};

/// The way in which two sections are to part: from the centre of the second to that of the first. Centres that coincide have none of their
/// own; then it is perpendicular to both curves where they cross, and where they run together the first's second director.
Vector3 sideOf(const Pose& first, const Pose& second, double radii);

/// Displacement (t, s) of the first surface point relative to the second since an older configuration, for the material points that face
/// each other now. L and K were attached to the old sections as M is to the present ones, and the source's log(H_LK,old^-1 H_LK) (001,
/// 3.47-3.48; the motion of the second relative to the first) is -log(H_LK,old), since H_LK = I. Exactly zero where equal discs roll; to
/// first order in the motion delta, rows t and s of B delta. `oldFirst` and `oldSecond` are the frames of the same two sections in the old
/// configuration.
Eigen::Vector2d slipSince(const SectionContact& contact, const Pose& oldFirst, const Pose& oldSecond);

/// - d(B^T F)/dq for a force F (normal, t, s) fixed in the contact frame, over the up to 4 blocks (first's, then second's): turning of the
/// frame, motion of the lever arms, change of the shape functions, and motion of the facing place along the second curve. `second` is null
/// for a rigid part, whose surface turns the normal by `normalRate`.
///
/// For Projection::ClosestPoint without friction B^T F = F_n d(gap)/dq, and K is as symmetric as second derivatives in local frames are:
/// K - K^T = - sum_b coad((B^T F)_b), which vanishes where all forces on a block are in balance.
Eigen::Matrix<double, 24, 24> contactStiffness(const SectionContact& contact, const Vector3& force, const CurveConfiguration* first,
                                               const CurvePlace& firstPlace, const CurveConfiguration* second,
                                               const CurvePlace& secondPlace, Projection projection);

}
