#include "tendril/contact/section_contact.h"

#include "tendril/contact/contact_detection.h"
#include "tendril/lie/se3.h"

#include <algorithm>
#include <cmath>

namespace tendril {

// ---- the facing place ------------------------------------------------------------------------------------------------------------------

namespace {

/// The equation of a projection along one segment, seen from the frame at its begin so that round-off is that of the segment's size.
struct ProjectionEquation {
  Vector6 d;
  Vector3 centre, normal; ///< of the section that is faced
  Projection projection;

  struct Value {
    double value, slope;
  };
  Value operator()(double xi) const {
    const Pose F = se3::exp(xi * d);
    const Vector3 tangent = F.R * d.head<3>(), apart = F.x - centre;
    if (projection == Projection::SectionPlane) return {apart.dot(normal), tangent.dot(normal)};
    const Vector3 bend = F.R * d.tail<3>().cross(d.head<3>());
    return {apart.dot(tangent), tangent.squaredNorm() + apart.dot(bend)};
  }
};

}

std::optional<double> project(const Pose& C, const CurveConfiguration& other, int segment, double guess, Projection projection,
                              double slack) {
  constexpr double close = 1e-10, narrow = 0.02; // the error after a last step of Newton's method is about close^2
  constexpr int most = 60;
  const Pose seen = other.node(segment).relative(C);
  const ProjectionEquation equation{other.relative(segment), seen.x, seen.R.col(0), projection};
  struct Bound {
    double xi;
    bool isSure = false; ///< the solution lies on this side of it
  };
  const double begin = -slack, end = 1 + slack;
  Bound low{begin}, high{end};
  double xi = std::clamp(guess, begin, end);
  const double way = projection == Projection::SectionPlane && equation(xi).slope < 0 ? -1 : 1; // curves may run against one another
  for (int i = 0; i < most && low.xi < high.xi; ++i) {
    const auto [value, slope] = equation(xi);
    const bool isConvex = way * slope > 0;
    const double next = xi - value / slope;
    if (isConvex && std::abs(next - xi) < close) return std::clamp(next, begin, end);
    Bound &passed = way * value > 0 ? high : low, &ahead = way * value > 0 ? low : high;
    passed = {xi, true};
    if (isConvex && low.xi < next && next < high.xi) {
      xi = next;
    } else if (ahead.isSure || (!isConvex && high.xi - low.xi > narrow)) {
      xi = 0.5 * (low.xi + high.xi);
    } else {
      xi = ahead.xi; // the end of the segment decides whether there is a solution
    }
  }
  return std::nullopt;
}

// ---- points, frame, gradient -----------------------------------------------------------------------------------------------------------

namespace {

/// Centrelines nearer to one another than this fraction of the radii have no direction of their own.
constexpr double coincident = 1e-6;

Vector3 contactPoint(const SectionContact& contact) { return 0.5 * (contact.firstPoint + contact.secondPoint); }

/// Columns n, t, s. Where the first curve points along the normal (its tip), any t.
Matrix3 frameOf(const Vector3& n, const Vector3& tangent) {
  const Vector3 along = tangent - tangent.dot(n) * n;
  if (along.squaredNorm() < coincident * coincident) return contactFrame(n, Vector3::Zero());
  Matrix3 R;
  R << n, along.normalized(), n.cross(along.normalized());
  return R;
}

/// sign R^T R_S [I, -S(arm)] J: velocity, in the contact frame, of the point of a section that is now at p.
Matrix36 gradient(double sign, const Matrix3& R, const Vector3& p, const Pose& section, const Matrix6& J) {
  const Vector3 arm = section.R.transpose() * (p - section.x);
  Matrix36 lever;
  lever << Matrix3::Identity(), -so3::hat(arm);
  return sign * R.transpose() * section.R * lever * J;
}

void fillFrame(SectionContact& contact, const Vector3& n) {
  contact.R = frameOf(n, contact.first.frame.R.col(0));
  const Vector3 p = contactPoint(contact);
  const Carrier &first = contact.first, &second = contact.second;
  for (int k = 0; k < first.count; ++k) contact.B[k] = gradient(+1, contact.R, p, first.frame, first.J[k]);
  for (int k = 0; k < second.count; ++k) contact.B[first.count + k] = gradient(-1, contact.R, p, second.frame, second.J[k]);
}

}

void SectionContact::fillCurves(const Vector3& previousNormal) {
  const Vector3 apart = first.frame.x - second.frame.x;
  const double distance = apart.norm();
  Vector3 n = apart / distance;
  if (distance <= coincident * (firstRadius + secondRadius)) {
    n = (previousNormal.isZero(0) ? sideOf(first.frame, second.frame, firstRadius + secondRadius) : previousNormal).normalized();
  } else if (previousNormal.dot(n) < 0) {
    n = -n;
  }
  gap = n.dot(apart) - firstRadius - secondRadius;
  firstPoint = first.frame.x - firstRadius * n;
  secondPoint = second.frame.x + secondRadius * n;
  fillFrame(*this, n);
}

Vector3 sideOf(const Pose& first, const Pose& second, double radii) {
  constexpr double together = 0.1; // sine of the angle
  const Vector3 apart = first.x - second.x;
  if (apart.norm() > coincident * radii) return apart;
  const Vector3 across = first.R.col(0).cross(second.R.col(0));
  return across.norm() > together ? across : Vector3(first.R.col(1));
}

void SectionContact::fillRigid(const ContactPoint& nearest) {
  gap = nearest.gap;
  firstPoint = nearest.position + 0.5 * gap * nearest.normal;
  secondPoint = nearest.position - 0.5 * gap * nearest.normal;
  fillFrame(*this, nearest.normal);
}

Eigen::Vector2d slipSince(const SectionContact& contact, const Pose& oldFirst, const Pose& oldSecond) {
  const Pose M{contact.R, contactPoint(contact)};
  const Pose oldL = oldFirst * contact.first.frame.relative(M), oldK = oldSecond * contact.second.frame.relative(M);
  return se3::log(oldL.relative(oldK)).segment<2>(1);
}

// ---- stiffness -------------------------------------------------------------------------------------------------------------------------

namespace {

using Matrix12 = Eigen::Matrix<double, 12, 12>;
using Matrix24 = Eigen::Matrix<double, 24, 24>;
using Matrix12x24 = Eigen::Matrix<double, 12, 24>;
using Row24 = Eigen::Matrix<double, 1, 24>;
using Rate = Eigen::Matrix<double, 3, 12>; ///< of a vector in the inertial frame, over the twists of the two sections

/// Velocity and angular velocity of a frame.
struct FrameRate {
  Rate x, w;
};

/// Of one of the two sections itself.
FrameRate sectionRate(const Pose& section, int which) {
  FrameRate rate{Rate::Zero(), Rate::Zero()};
  rate.x.middleCols<3>(6 * which) = section.R;
  rate.w.middleCols<3>(6 * which + 3) = section.R;
  return rate;
}

/// Angular velocity of [n t s]: n x n' and, about n, the turning s . t' of t = (I - n n^T) d1 / |(I - n n^T) d1|.
Rate frameRotation(const SectionContact& contact, const FrameRate& C, const Rate& normalRate) {
  const Vector3 n = contact.R.col(0), s = contact.R.col(2), d1 = contact.first.frame.R.col(0);
  const double along = (d1 - d1.dot(n) * n).norm();
  Rate w = so3::hat(n) * normalRate;
  if (along > coincident) w += n * (-s.transpose() * so3::hat(d1) * C.w - d1.dot(n) * s.transpose() * normalRate) / along;
  return w;
}

/// Of the contact frame of two curves, n = (x_C - x_F) / r.
FrameRate contactRateOfCurves(const SectionContact& contact, const FrameRate& C, const FrameRate& F) {
  const Vector3 n = contact.R.col(0);
  const double radii = contact.firstRadius + contact.secondRadius, r = contact.gap + radii;
  Rate normalRate = Rate::Zero();
  if (std::abs(r) > coincident * radii) normalRate = (Matrix3::Identity() - n * n.transpose()) * (C.x - F.x) / r;
  return {0.5 * (C.x + F.x + (contact.secondRadius - contact.firstRadius) * normalRate), frameRotation(contact, C, normalRate)};
}

/// Of the contact frame on a rigid part: n turns with it, and by N where x_C moves along it; the contact point is x_C - (R_1 + gap / 2) n.
FrameRate contactRateOfRigid(const SectionContact& contact, const FrameRate& C, const FrameRate& F) {
  const Vector3 n = contact.R.col(0), arm = contactPoint(contact) - contact.second.frame.x;
  const Rate apart = C.x - F.x + so3::hat(contact.first.frame.x - contact.second.frame.x) * F.w;
  const Rate normalRate = contact.normalRate * apart - so3::hat(n) * F.w;
  const Rate approach = C.x - F.x + so3::hat(arm) * F.w; // its part along n is the rate of the gap
  return {C.x - (contact.firstRadius + 0.5 * contact.gap) * normalRate - 0.5 * n * n.transpose() * approach,
          frameRotation(contact, C, normalRate)};
}

/// The wrench R_S^T (f, arm x f) in a section of a force f on it at the contact point, and its rate where f and the point move along
/// with the contact frame.
struct SectionWrench {
  Vector6 wrench;
  Eigen::Matrix<double, 6, 12> rate;
};

SectionWrench sectionWrench(const Vector3& f, const Vector3& p, const FrameRate& M, const Pose& section, const FrameRate& S) {
  const Matrix3 toSection = section.R.transpose();
  const Vector3 arm = p - section.x, moment = arm.cross(f);
  SectionWrench result;
  result.wrench << toSection * f, toSection * moment;
  result.rate.topRows<3>() = toSection * so3::hat(f) * (S.w - M.w);
  result.rate.bottomRows<3>() = toSection * (so3::hat(moment) * S.w - so3::hat(f) * (M.x - S.x) - so3::hat(arm) * so3::hat(f) * M.w);
  return result;
}

/// d(xi)/dq of the facing place, from the equation of its projection; `material` are the twists of the sections at fixed places.
Row24 placeRate(const SectionContact& contact, const CurveConfiguration& other, const CurvePlace& place, Projection projection,
                const Matrix12x24& material) {
  const Pose &C = contact.first.frame, &F = contact.second.frame;
  const Vector6& d = other.relative(place.segment);
  const Vector3 tangent = F.R * d.head<3>(), apart = F.x - C.x;
  const Eigen::Matrix<double, 3, 24> approach = F.R * material.middleRows<3>(6) - C.R * material.topRows<3>();
  if (projection == Projection::SectionPlane) {
    const Vector3 normal = C.R.col(0);
    const Row24 turning = normal.cross(apart).transpose() * C.R * material.middleRows<3>(3);
    return -(normal.transpose() * approach + turning) / normal.dot(tangent);
  }
  const Vector3 bend = d.tail<3>().cross(d.head<3>());
  Eigen::Matrix<double, 3, 24> tangentRate = so3::hat(d.tail<3>()) * material.middleRows<3>(6); // in F: d/dxi of the velocity of x_F
  const Matrix6 J1 = other.jacobianRate(place);
  tangentRate.middleCols<6>(12) -= J1.topRows<3>();
  tangentRate.rightCols<6>() += J1.topRows<3>();
  return -(tangent.transpose() * approach + apart.transpose() * F.R * tangentRate) / (tangent.squaredNorm() + apart.dot(F.R * bend));
}

}

Eigen::Matrix<double, 24, 24> contactStiffness(const SectionContact& contact, const Vector3& force, const CurveConfiguration* first,
                                               const CurvePlace& firstPlace, const CurveConfiguration* second,
                                               const CurvePlace& secondPlace, Projection projection) {
  const FrameRate C = sectionRate(contact.first.frame, 0), F = sectionRate(contact.second.frame, 1);
  const FrameRate M = second ? contactRateOfCurves(contact, C, F) : contactRateOfRigid(contact, C, F);
  const Vector3 f = contact.R * force, p = contactPoint(contact);
  const SectionWrench onFirst = sectionWrench(f, p, M, contact.first.frame, C);
  const SectionWrench onSecond = sectionWrench(-f, p, M, contact.second.frame, F);
  Matrix12 wrenchRate;
  wrenchRate << onFirst.rate, onSecond.rate;

  Matrix12x24 J = Matrix12x24::Zero();
  for (int k = 0; k < contact.first.count; ++k) J.block<6, 6>(0, 6 * k) = contact.first.J[k];
  for (int k = 0; k < contact.second.count; ++k) J.block<6, 6>(6, 6 * (contact.first.count + k)) = contact.second.J[k];

  // B^T F = J^T w: changes of w with the sections' motion, of J with q, and of both with the facing place.
  Matrix12x24 motion = J;
  Matrix24 K = Matrix24::Zero();
  if (first) K.topLeftCorner<12, 12>() -= first->hessian(firstPlace, onFirst.wrench);
  if (second) {
    const Row24 xi = placeRate(contact, *second, secondPlace, projection, J);
    motion.bottomRows<6>() += second->relative(secondPlace.segment) * xi;
    const Vector6 along = second->jacobianRate(secondPlace).transpose() * onSecond.wrench;
    K.middleRows<6>(12) += along * xi;
    K.bottomRows<6>() -= along * xi;
    K.bottomRightCorner<12, 12>() -= second->hessian(secondPlace, onSecond.wrench);
  }
  const Matrix12x24 change = wrenchRate * motion;
  K.topRows<12>() -= J.topLeftCorner<6, 12>().transpose() * change.topRows<6>();
  K.bottomRows<12>() -= J.bottomRightCorner<6, 12>().transpose() * change.bottomRows<6>();
  return K;
}

}
