#pragma once

#include "numerics.h"

#include <Eigen/Geometry>

namespace tendril::oracles {

/// A rigid body in director coordinates: centre of mass and directors (columns), in the inertial frame.
struct DirectorBody {
  Vector3d phi = Vector3d::Zero();
  Eigen::Matrix3d d = Eigen::Matrix3d::Identity();
};

enum class PairFormula {
  Spherical,
  RelativeRevolute, ///< rate of the joint relative to body 1 (chapter 3)
  Revolute,         ///< from here on: absolute spin of body 2 about the axis (chapter 5)
  Cylindrical,
  Prismatic,
  Planar
};

/// Null space matrices and nodal updates of lower kinematic pairs after Leyendecker, "On optimal control simulations for mechanical
/// systems" (2011), sections 3.4 and 5.3 (3.48 to 3.51, 5.33 to 5.40), in the spatial convention: twists are (phi', omega) with the
/// angular velocity in the inertial frame, directors turn by d <- exp(theta) d.
///
/// The updates of the cylindrical and the planar pair violate their constraints as they are printed; here they stand corrected. What is
/// printed is kept beside them, for tests that show the difference.
struct LowerPairFormulas {
  PairFormula kind = PairFormula::Spherical;
  Vector3d rho1 = Vector3d::Zero(), rho2 = Vector3d::Zero(); ///< joint point on body 1 and 2, components along their directors
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();        ///< m1, m2, n as columns, components along the directors of body 1

  struct Geometry {
    Vector3d rho1, rho2, m1, m2, n, delta; ///< in the inertial frame; delta from joint point 1 to joint point 2
  };
  Geometry geometry(const DirectorBody& one, const DirectorBody& two) const {
    const Eigen::Matrix3d m = one.d * axes;
    const Vector3d r1 = one.d * rho1, r2 = two.d * rho2;
    return {r1, r2, m.col(0), m.col(1), m.col(2), two.phi + r2 - one.phi - r1};
  }

  int freedom() const {
    switch (kind) {
    case PairFormula::Spherical:
    case PairFormula::Planar:
      return 3;
    case PairFormula::Cylindrical:
      return 2;
    default:
      return 1;
    }
  }

  static Eigen::Matrix3d hat(const Vector3d& w) {
    Eigen::Matrix3d S;
    S << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
    return S;
  }
  static Eigen::Matrix3d exp(const Vector3d& w) {
    const double angle = w.norm();
    return angle == 0 ? Eigen::Matrix3d::Identity() : Eigen::AngleAxisd(angle, w / angle).toRotationMatrix();
  }

  /// P_ext of body 2, 6 x (6 + r): its twist from phi1', omega1 and the rates of the joint.
  MatrixXd secondTwist(const DirectorBody& one, const DirectorBody& two) const {
    const Geometry g = geometry(one, two);
    const Eigen::Matrix3d I = Eigen::Matrix3d::Identity(), In = I - g.n * g.n.transpose(), h1 = hat(g.rho1), h2 = hat(g.rho2);
    const Vector3d spin = g.rho2.cross(g.n);
    MatrixXd P = MatrixXd::Zero(6, 6 + freedom());
    auto positions = P.topRows<3>(), rotations = P.bottomRows<3>();
    switch (kind) {
    case PairFormula::Spherical:
      positions << I, -h1, h2;
      rotations.rightCols<3>() = I;
      break;
    case PairFormula::RelativeRevolute:
      positions << I, h2 - h1, spin;
      rotations.rightCols<4>() << I, g.n;
      break;
    case PairFormula::Revolute:
      positions << I, h2 * In - h1, spin;
      rotations.rightCols<4>() << In, g.n;
      break;
    case PairFormula::Cylindrical:
      positions << In, h2 * In - h1 - g.n.dot(g.delta) * hat(g.n), g.n, spin;
      rotations.middleCols<3>(3) = In, rotations.rightCols<1>() = g.n;
      break;
    case PairFormula::Prismatic:
      positions << In, h2 - h1 - g.n.dot(g.delta) * hat(g.n), g.n;
      rotations.middleCols<3>(3) = I;
      break;
    case PairFormula::Planar:
      positions << g.n * g.n.transpose(), h2 * In - h1 - g.m1.dot(g.delta) * hat(g.m1) - g.m2.dot(g.delta) * hat(g.m2), g.m1, g.m2, spin;
      rotations.middleCols<3>(3) = In, rotations.rightCols<1>() = g.n;
      break;
    }
    return P;
  }

  /// Bodies after the increments mu = (u_phi1, theta1, increments of the joint).
  void move(const VectorXd& mu, DirectorBody& one, DirectorBody& two) const {
    const Geometry g = geometry(one, two);
    const Vector3d u = mu.head<3>(), theta = mu.segment<3>(3);
    const Eigen::Matrix3d Rt = exp(theta), R12 = Rt * exp(-g.n.dot(theta) * g.n);
    const VectorXd joint = mu.tail(freedom());
    Eigen::Matrix3d turn = R12;       // of body 2
    Vector3d point = Rt * g.rho1 + u; // joint point of body 2 minus phi1 before the step
    switch (kind) {
    case PairFormula::Spherical:
      turn = exp(joint);
      break;
    case PairFormula::RelativeRevolute:
      turn = Rt * exp(joint[0] * g.n);
      break;
    case PairFormula::Revolute:
      turn = R12 * exp(joint[0] * g.n);
      break;
    case PairFormula::Cylindrical:
      turn = R12 * exp(joint[1] * g.n);
      point += (g.n.dot(g.delta) + joint[0] - g.n.dot(u)) * (Rt * g.n);
      break;
    case PairFormula::Prismatic:
      turn = Rt;
      point += (g.n.dot(g.delta) + joint[0] - g.n.dot(u)) * (Rt * g.n);
      break;
    case PairFormula::Planar:
      turn = R12 * exp(joint[2] * g.n);
      point += (g.m1.dot(g.delta) + joint[0] - g.m1.dot(u)) * (Rt * g.m1) + (g.m2.dot(g.delta) + joint[1] - g.m2.dot(u)) * (Rt * g.m2);
      break;
    }
    two.phi = one.phi + point - turn * g.rho2;
    two.d = turn * two.d;
    one.phi += u;
    one.d = Rt * one.d;
  }

  /// As printed: the cylindrical pair loses the displacement of body 1 along the axis (5.35), the planar pair that in the plane, and turns
  /// the bracket by R12 (5.39).
  void moveAsPrinted(const VectorXd& mu, DirectorBody& one, DirectorBody& two) const {
    const Geometry g = geometry(one, two);
    const Vector3d u = mu.head<3>(), theta = mu.segment<3>(3);
    const Eigen::Matrix3d Rt = exp(theta), R12 = Rt * exp(-g.n.dot(theta) * g.n), along = g.n * g.n.transpose();
    const VectorXd joint = mu.tail(freedom());
    const Eigen::Matrix3d turn = R12 * exp(joint.tail<1>()[0] * g.n);
    if (kind == PairFormula::Cylindrical)
      two.phi = one.phi + u - along * u + Rt * (g.rho1 + (g.n.dot(g.delta) + joint[0]) * g.n) - turn * g.rho2;
    if (kind == PairFormula::Planar)
      two.phi = one.phi + along * u + R12 * (g.rho1 + (g.m1.dot(g.delta) + joint[0]) * g.m1 + (g.m2.dot(g.delta) + joint[1]) * g.m2) -
                turn * g.rho2;
    two.d = turn * two.d;
    one.phi += u;
    one.d = Rt * one.d;
  }

  /// As printed, the null space matrices of the revolute and the prismatic pair "follow by elimination" of a column of the cylindrical
  /// pair, without giving back what that column had taken out (5.36, 5.37).
  MatrixXd secondTwistByElimination(const DirectorBody& one, const DirectorBody& two) const {
    LowerPairFormulas cylinder = *this;
    cylinder.kind = PairFormula::Cylindrical;
    MatrixXd P = cylinder.secondTwist(one, two);
    if (kind == PairFormula::Revolute) P.col(6) = P.col(7);
    return P.leftCols(7);
  }

  /// Constraints that the pair adds, with the products of directors relative to their values at `reference`.
  VectorXd constraints(const DirectorBody& one, const DirectorBody& two, const DirectorBody& reference1,
                       const DirectorBody& reference2) const {
    const Geometry g = geometry(one, two);
    const Eigen::Matrix3d products = one.d.transpose() * two.d - reference1.d.transpose() * reference2.d;
    const VectorXd align = (axes.col(2).transpose() * products).transpose(); // n . d_I of body 2
    VectorXd rows;
    switch (kind) {
    case PairFormula::Spherical:
      return g.delta;
    case PairFormula::Cylindrical:
      rows.resize(5);
      rows << g.m1.dot(g.delta), g.m2.dot(g.delta), align;
      return rows;
    case PairFormula::Prismatic:
      rows.resize(11);
      rows << g.m1.dot(g.delta), g.m2.dot(g.delta), products.reshaped();
      return rows;
    case PairFormula::Planar:
      rows.resize(4);
      rows << g.n.dot(g.delta), align;
      return rows;
    default:
      rows.resize(6);
      rows << g.delta, align;
      return rows;
    }
  }
};

}
