#include "tendril/rods/writhe.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

/// The solid angle, by the normals of the four planes through one end of each side and the other side.
double crossing(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c, const Eigen::Vector3d& d) {
  const Eigen::Vector3d ac = c - a, ad = d - a, bc = c - b, bd = d - b;
  const Eigen::Vector3d n1 = ac.cross(ad), n2 = ad.cross(bd), n3 = bd.cross(bc), n4 = bc.cross(ac);
  const auto angle = [](const Eigen::Vector3d& n, const Eigen::Vector3d& m) {
    const double sizes = n.norm() * m.norm();
    return sizes > 0 ? std::asin(std::clamp(n.dot(m) / sizes, -1.0, 1.0)) : 0;
  };
  const double sum = angle(n1, n2) + angle(n2, n3) + angle(n3, n4) + angle(n4, n1);
  return (d - c).cross(b - a).dot(ac) > 0 ? sum : -sum;
}

}

/// Neighbouring sides lie in a plane and do not count.
double writhe(const Eigen::Matrix3Xd& points) {
  constexpr double far = 1e4; // sizes of the curve
  const Eigen::Index n = points.cols();
  if (n < 3) return 0;
  const double size = (points.colwise() - points.col(0)).colwise().norm().maxCoeff();
  Eigen::Matrix3Xd all(3, n + 2);
  all << points.col(0) + far * size * (points.col(0) - points.col(1)).normalized(), points,
      points.col(n - 1) + far * size * (points.col(n - 1) - points.col(n - 2)).normalized();
  double sum = 0;
  for (Eigen::Index i = 0; i + 1 < all.cols(); ++i)
    for (Eigen::Index j = i + 2; j + 1 < all.cols(); ++j) sum += crossing(all.col(i), all.col(i + 1), all.col(j), all.col(j + 1));
  return sum / (2 * std::numbers::pi);
}

}
