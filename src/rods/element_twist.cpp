#include "rods/element_twist.h"

namespace tendril {

namespace {

using Strain = Eigen::Map<const Vector3>;

}

/// (nu, kappa) at the begin.
Vector6 ElementTwist::strains(const double* w) const {
  Vector6 K;
  if (stretches_)
    K << Strain(w + 3), Strain(w);
  else
    K << Vector3::UnitZ(), Strain(w);
  return K;
}

Vector6 ElementTwist::operator()(const double* w) const {
  const Vector6 K = strains(w);
  if (!isLinear_) return h_ * K;
  return h_ / 2 * (K + se3::cayleyTangentInverse(h_ * K) * strains(w + 3));
}

void ElementTwist::jacobian(const double* w, Jacobian& J) const {
  J.setZero(6, size());
  J.bottomLeftCorner<3, 3>().setIdentity();
  if (!isLinear_) {
    if (stretches_) J.topRightCorner<3, 3>().setIdentity();
    J *= h_;
    return;
  }
  // C z = (z_u + w x z_u / 2 + u x z_w / 2 + w x (u x z_w) / 4,  z_w + w x z_w / 2 + w (w . z_w) / 4) at (u, w) = h (e3, kappa_0)
  const Vector6 z = strains(w + 3);
  const Vector3 zu = z.head<3>(), zw = z.tail<3>(), u = h_ * Vector3::UnitZ(), a = h_ * Strain(w);
  J.topLeftCorner<3, 3>() = -h_ * so3::hat(0.5 * zu + 0.25 * u.cross(zw));
  J.bottomLeftCorner<3, 3>() += h_ * (-0.5 * so3::hat(zw) + 0.25 * (a.dot(zw) * Matrix3::Identity() + a * zw.transpose()));
  J.rightCols<3>() = se3::cayleyTangentInverse(h_ * strains(w)).rightCols<3>();
  J *= h_ / 2;
}

void ElementTwist::addHessian(const double* w, const Vector6& f, Block& H) const {
  if (!isLinear_) return;
  const Vector3 fu = f.head<3>(), fw = f.tail<3>(), zw = Strain(w + 3), u = h_ * Vector3::UnitZ(), a = h_ * Strain(w);
  const double h2 = h_ * h_;
  H.topLeftCorner<3, 3>() += h_ * h2 / 8 * (fw * zw.transpose() + zw * fw.transpose());
  const Matrix3 mixed = h2 / 8 * (fw * a.transpose() + fw.dot(a) * Matrix3::Identity() - so3::hat(fu) * so3::hat(u) - 2 * so3::hat(fw));
  H.topRightCorner<3, 3>() += mixed;
  H.bottomLeftCorner<3, 3>() += mixed.transpose();
}

}
