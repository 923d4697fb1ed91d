#pragma once
#include "tendril/lie/types.h"

namespace tendril {

/// The numbers that move. What they belong to, and how a configuration is moved, is known by the Model alone.
struct State {
  double t = 0;   ///< time [s]; in statics the load parameter
  VectorX q;      ///< configuration, nq numbers: 12 per pose block (position, then the three directors), n per vector block
  VectorX v;      ///< velocity, nv numbers: per pose block the twist in the local frame (translation, rotation)
  VectorX a;      ///< time derivative of v
  VectorX lambda; ///< multipliers of the bilateral constraints, nc numbers: forces [N] and moments [N m] of the joints
};

/// A pose block as it is stored in q: position, then directors d1, d2, d3.
inline Pose loadPose(const double* q) { return {Eigen::Map<const Matrix3>(q + 3), Eigen::Map<const Vector3>(q)}; }
inline void storePose(const Pose& pose, double* q) {
  Eigen::Map<Vector3>{q} = pose.x;
  Eigen::Map<Matrix3>{q + 3} = pose.R;
}

}
