#pragma once
#include <Eigen/Core>

namespace tendril {

/// Writhe of an open polygon (points in columns) that is continued straight beyond both ends, along its first and its last side, without
/// end: the Gauss integral
///
///     Wr = (1/2 pi) sum_{i<j} Omega_ij,      (rods.7)
///
/// Omega_ij the signed solid angle of the directions from which sides i and j are seen to cross (Klenin & Langowski 2000, method 1a). For a
/// rod between clamps whose tangents lie on one line, the turns by which one clamp is turned against the other are Tw + Wr (Calugareanu,
/// White), as long as nothing passes through the rod.
double writhe(const Eigen::Matrix3Xd& points);

}
