#include "dynamics/rigid_flight.h"

#include "tendril/lie/so3.h"
#include "tendril/model/attached_frames.h"

#include <Eigen/LU>

namespace tendril {

namespace {

/// Whether the column and row of a block hold anything outside of the block itself.
std::vector<char> findUncoupled(const Model& model, const SparseMatrix& M) {
  std::vector<int> blockOf(std::size_t(model.nv()), 0);
  for (int b = 0; b < int(model.blocks().size()); ++b) {
    const Block& block = model.blocks()[b];
    std::fill_n(blockOf.begin() + block.v, block.nv, b);
  }
  std::vector<char> uncoupled(model.blocks().size(), 1);
  for (int c = 0; c < model.nv(); ++c) {
    for (SparseMatrix::InnerIterator entry(M, c); entry && entry.row() < model.nv(); ++entry) {
      const int row = blockOf[std::size_t(entry.row())], column = blockOf[std::size_t(c)];
      if (row != column && entry.value() != 0) uncoupled[row] = uncoupled[column] = 0;
    }
  }
  return uncoupled;
}

/// Solves Euler's equation in the midpoint rule by Newton's method; the start is good, as bodies turn little in a step.
Vector3 spun(const Matrix3& J, const Vector3& w, double h) {
  Vector3 next = w;
  const double size = J.cwiseAbs().maxCoeff() * w.norm();
  for (int iteration = 0; iteration < 20; ++iteration) {
    const Vector3 mean = 0.5 * (w + next), momentum = J * mean;
    const Vector3 residual = J * (next - w) - h * momentum.cross(mean);
    if (residual.norm() <= 1e-15 * size) break;
    const Matrix3 tangent = J - 0.5 * h * (so3::hat(momentum) - so3::hat(mean) * J);
    next -= tangent.partialPivLu().solve(residual);
  }
  return next;
}

}

RigidFlight::RigidFlight(const Model& model, const Assembly& mass)
    : model_(model), others_(model.nv()), isBody_(findUncoupled(model, mass.matrix())) {
  const AttachedFrames* frames = model.term<AttachedFrames>();
  for (int b = 0; b < int(model.blocks().size()); ++b) {
    const Block& block = model.blocks()[b];
    if (block.kind != Block::Kind::Pose || (frames && frames->isAttached(b))) isBody_[b] = 0;
    if (!isBody_[b]) {
      ownsAll_ = false;
      continue;
    }
    Matrix6 M;
    for (int j = 0; j < 6; ++j) {
      for (int i = 0; i < 6; ++i) M(i, j) = mass.matrix().coeff(block.v + i, block.v + j);
    }
    Body body{b, block.q, block.v};
    body.mass = M(0, 0);
    const Matrix3 S = M.bottomLeftCorner<3, 3>() / body.mass;
    body.centre = Vector3(S(2, 1), S(0, 2), S(1, 0));
    body.inertia = M.bottomRightCorner<3, 3>() + body.mass * so3::hat(body.centre) * so3::hat(body.centre);
    const double mean = body.inertia.trace() / 3;
    body.isSpherical = (body.inertia - mean * Matrix3::Identity()).cwiseAbs().maxCoeff() <= 1e-14 * mean;
    body.inverse = M.inverse();
    body.inverse = (0.5 * (body.inverse + body.inverse.transpose())).eval();
    bodies_.push_back(body);
  }
}

void RigidFlight::move(const Body& body, const Vector6& twist, double dt, VectorX& q, VectorX& v) {
  const Pose pose = loadPose(q.data() + body.q);
  const Vector3 w = twist.tail<3>(), velocity = twist.head<3>() + w.cross(body.centre);
  const Vector3 centre = pose * body.centre + dt * (pose.R * velocity);
  const Matrix3 turn = so3::exp(dt * w);
  Matrix3 R = pose.R * turn;
  R = 1.5 * R - 0.5 * R * (R.transpose() * R); // back to orthonormal directors, to round-off
  storePose({R, centre - R * body.centre}, q.data() + body.q);
  auto own = v.segment<6>(body.v);
  const Vector3 ownSpin = own.tail<3>(), ownVelocity = own.head<3>() + ownSpin.cross(body.centre);
  own.head<3>() = turn.transpose() * ownVelocity - ownSpin.cross(body.centre);
}

void RigidFlight::retractOthers(VectorX& q, const VectorX& increment, double factor) {
  if (ownsAll_) return;
  others_ = factor * increment;
  for (const Body& body : bodies_) others_.segment<6>(body.v).setZero();
  model_.retract(q, others_, q);
}

void RigidFlight::move(VectorX& q, VectorX& v, double dt) {
  retractOthers(q, v, dt);
  for (const Body& body : bodies_) move(body, v.segment<6>(body.v), dt, q, v);
}

void RigidFlight::displace(VectorX& q, VectorX& v, const VectorX& displacement) {
  retractOthers(q, displacement, 1);
  for (const Body& body : bodies_) {
    const Vector6 twist = displacement.segment<6>(body.v);
    if (!twist.isZero(0)) move(body, twist, 1, q, v);
  }
}

void RigidFlight::spin(VectorX& v, double h) const {
  for (const Body& body : bodies_) {
    if (body.isSpherical) continue;
    auto own = v.segment<6>(body.v);
    const Vector3 before = own.tail<3>();
    if (before.isZero(0)) continue;
    const Vector3 after = spun(body.inertia, before, h);
    own.tail<3>() = after;
    own.head<3>() -= (after - before).cross(body.centre); // the velocity of the centre stays
  }
}

}
