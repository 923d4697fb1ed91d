#pragma once
#include <Eigen/Core>

/// Fixed-size vectors and matrices of rigid-body kinematics, and the pose that every body, node and marker carries.
namespace tendril {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Matrix36 = Eigen::Matrix<double, 3, 6>;
using VectorX = Eigen::VectorXd;
using MatrixX = Eigen::MatrixXd;

/// Element H = [R x; 0 1] of SE(3): the columns of R are the directors of a frame, x is its origin, both in the inertial frame.
/// A twist or increment is (translation, rotation), resolved in the local frame: dH = H S(pi).
struct Pose {
  Matrix3 R = Matrix3::Identity();
  Vector3 x = Vector3::Zero();

  Pose operator*(const Pose& other) const { return {R * other.R, x + R * other.x}; }
  Vector3 operator*(const Vector3& point) const { return x + R * point; }
  Pose inverse() const { return {R.transpose(), -(R.transpose() * x)}; }
  /// H1^-1 H2, the pose of `other` seen from this frame; invariant under a superimposed rigid motion.
  Pose relative(const Pose& other) const { return {R.transpose() * other.R, R.transpose() * (other.x - x)}; }
};

}
