#pragma once
#include "tendril/lie/types.h"

#include <array>

namespace tendril {

class Marker;

/// Position and directors side by side, [x d1 d2 d3]: twelve numbers in the order in which a State stores them.
using Matrix34 = Eigen::Matrix<double, 3, 4>;
using Matrix4 = Eigen::Matrix<double, 4, 4>;
using Vector12 = Eigen::Matrix<double, 12, 1>;
using Matrix12 = Eigen::Matrix<double, 12, 12>;

/// The frame of a marker as a linear function of the redundant coordinates. With Q_k = [x d1 d2 d3] of the blocks that it sits on,
///
///     Y = sum_k w_k Q_k B,      B = [1 0; o R],
///
/// o and R the offset from block to marker. Directors between two nodes are interpolated, not rotations (Romero & Armero 2002): the frame
/// is orthonormal at nodes only, and strains made of it are invariant under rigid motions. A marker on the ground has no block, and its
/// Y is a function of time.
struct DirectorFrame {
  int count = 0; ///< of blocks: 0 on the ground, 1 on a body or node, 2 between nodes
  std::array<int, 2> blocks{-1, -1};
  std::array<int, 2> q{-1, -1};         ///< first numbers of the blocks within the configuration
  std::array<double, 2> weights{0, 0};  ///< w_k
  Matrix4 offset = Matrix4::Identity(); ///< B
  const Marker* ground = nullptr;       ///< where Y comes from if there is no block

  /// Y at a configuration and a time.
  Matrix34 at(const VectorX& q, double t) const;
  /// Y', with q' the rates of the redundant coordinates.
  Matrix34 rate(const VectorX& qdot, double t) const;
  /// The same frame seen from the marker: Y -> Y [1 0; x R].
  DirectorFrame moved(const Pose& offset) const;
};

}
