#include "tendril/model/director_frame.h"

#include "tendril/lie/so3.h"
#include "tendril/model/marker.h"

namespace tendril {

namespace {

Matrix4 homogeneous(const Pose& pose) {
  Matrix4 B = Matrix4::Zero();
  B(0, 0) = 1;
  B.col(0).tail<3>() = pose.x;
  B.bottomRightCorner<3, 3>() = pose.R;
  return B;
}

Matrix34 columns(const Pose& pose) {
  Matrix34 Y;
  Y << pose.x, pose.R;
  return Y;
}

}

Matrix34 DirectorFrame::at(const VectorX& configuration, double t) const {
  Matrix34 Y = Matrix34::Zero();
  if (count == 0) {
    State at;
    at.t = t;
    Y = ground ? columns(ground->frame(at)) : columns(Pose{});
  }
  for (int k = 0; k < count; ++k) Y += weights[k] * Eigen::Map<const Matrix34>(configuration.data() + q[k]);
  return Y * offset;
}

Matrix34 DirectorFrame::rate(const VectorX& qdot, double t) const {
  Matrix34 Y = Matrix34::Zero();
  if (count == 0 && ground) {
    State at;
    at.t = t;
    MarkerKinematics k;
    ground->kinematics(at, k);
    Y << k.frame.R * k.twist.head<3>(), k.frame.R * so3::hat(k.twist.tail<3>());
  }
  for (int k = 0; k < count; ++k) Y += weights[k] * Eigen::Map<const Matrix34>(qdot.data() + q[k]);
  return Y * offset;
}

DirectorFrame DirectorFrame::moved(const Pose& by) const {
  DirectorFrame frame = *this;
  frame.offset = offset * homogeneous(by);
  return frame;
}

}
