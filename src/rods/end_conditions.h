#pragma once
#include "tendril/rods/rod_equilibrium.h"

namespace tendril {

/// y . log(E) as a function of rotations exp(a) exp(b) E: first derivative couple . a, second a . (curvature b). With c = log(E),
/// d log = T^-T(c) a; its change along a, and that of the trivialisation, make the second.
inline StrainRod::EndFunction logarithmOf(const Matrix3& E, const Vector3& c, const Vector3& y) {
  const Matrix3 inverse = so3::tangentInverse(c);
  return {.y = Vector3::Zero(),
          .couple = inverse * y,
          .curvature = -inverse * so3::tangentInverseDerivative(-c, y).transpose() * E.transpose()};
}

/// What holds the end of a rod, as equations  r_N - r* = 0,  c = log(R*^T R_N) = 0.
class EndConditions {
 public:
  explicit EndConditions(const RodEnds& ends) : ends_(ends) {}

  int rows() const { return positions() + (ends_.orientation ? 3 : 0); }
  int positions() const { return ends_.position ? 3 : 0; } ///< the first rows
  const Pose& begin() const { return ends_.begin; }

  Vector3 turn(const Pose& end) const { return so3::log(ends_.orientation->transpose() * end.R); }
  void evaluate(const Pose& end, Eigen::Ref<VectorX> rows) const {
    if (ends_.position) rows.head<3>() = end.x - *ends_.position;
    if (ends_.orientation) rows.segment<3>(positions()) = turn(end);
  }
  /// Sum of the rows, each times its multiplier.
  StrainRod::EndFunction weighted(const Pose& end, const Eigen::Ref<const VectorX>& multipliers) const {
    StrainRod::EndFunction f;
    if (ends_.orientation) {
      const Matrix3& R = *ends_.orientation;
      f = logarithmOf(R.transpose() * end.R, turn(end), multipliers.segment<3>(positions()));
      f.couple = R * f.couple;
      f.curvature = R * f.curvature * R.transpose();
    }
    if (ends_.position) f.y = multipliers.head<3>();
    return f;
  }
  std::string name(int row) const {
    const std::string axis(1, "123"[row % 3]);
    return row < positions() ? "position of the rod's end, component " + axis : "orientation of the rod's end, axis " + axis;
  }

 private:
  RodEnds ends_;
};

}
