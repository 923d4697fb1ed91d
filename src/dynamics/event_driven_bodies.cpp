#include "dynamics/event_driven_bodies.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>

namespace tendril {

namespace {

Eigen::Quaterniond quaternion(const VectorX& y, Eigen::Index at) { return {y[at], y[at + 1], y[at + 2], y[at + 3]}; }

}

BodyMotion::BodyMotion(const Model& model) : model_(model), kkt_(model, {}), still_(model.initialState()) {
  still_.a.setZero(model.nv()), still_.lambda.setZero(model.nc());
  kkt_.evaluate(still_, {.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
  flight_ = std::make_unique<RigidFlight>(model, kkt_.assembly());
  if (model.nc() > 0) {
    throw InputError("event-driven dynamics knows free rigid bodies only, but there is " + model.constraintName(0) +
                     "; use Moreau's scheme, or put a contact or a force in its place");
  }
  if (flight_->ownsAll()) return;
  int b = 0;
  while (flight_->isBody()[std::size_t(b)]) ++b;
  throw InputError("event-driven dynamics knows free rigid bodies only, but there is " + model.nameOfBlock(b) + "; use Moreau's scheme");
}

void BodyMotion::toNumbers(const State& state, VectorX& y) const {
  y.resize(size * bodies());
  Eigen::Index at = 0;
  for (const RigidFlight::Body& body : flight_->bodies()) {
    const Pose pose = loadPose(state.q.data() + body.q);
    const Eigen::Quaterniond p(pose.R);
    const Vector3 w = state.v.segment<3>(body.v + 3);
    y.segment<3>(at) = pose * body.centre;
    y.segment<4>(at + 3) << p.w(), p.x(), p.y(), p.z();
    y.segment<3>(at + 7) = pose.R * (state.v.segment<3>(body.v) + w.cross(body.centre));
    y.segment<3>(at + 10) = w;
    at += size;
  }
}

void BodyMotion::toState(double t, const VectorX& y, State& state) const {
  state.t = t;
  Eigen::Index at = 0;
  for (const RigidFlight::Body& body : flight_->bodies()) {
    const Matrix3 R = quaternion(y, at + 3).normalized().toRotationMatrix();
    const Vector3 w = y.segment<3>(at + 10);
    storePose({R, y.segment<3>(at) - R * body.centre}, state.q.data() + body.q);
    state.v.segment<3>(body.v) = R.transpose() * y.segment<3>(at + 7) - w.cross(body.centre);
    state.v.segment<3>(body.v + 3) = w;
    at += size;
  }
}

void BodyMotion::freeAcceleration(const State& state, VectorX& a) {
  still_.t = state.t, still_.q = state.q, still_.v = state.v;
  kkt_.evaluate(still_, {.motion = true, .tangent = false});
  const VectorX& residual = kkt_.assembly().residual();
  a.resize(model_.nv());
  for (const RigidFlight::Body& body : flight_->bodies()) a.segment<6>(body.v) = -(body.inverse * residual.segment<6>(body.v));
}

void BodyMotion::slope(const State& state, const VectorX& y, const VectorX& a, VectorX& dy) const {
  dy.resize(y.size());
  Eigen::Index at = 0;
  for (const RigidFlight::Body& body : flight_->bodies()) {
    const Vector3 v = state.v.segment<3>(body.v), w = state.v.segment<3>(body.v + 3), spin = a.segment<3>(body.v + 3);
    const Eigen::Quaterniond p = quaternion(y, at + 3), rate = p * Eigen::Quaterniond(0, w[0], w[1], w[2]);
    dy.segment<3>(at) = y.segment<3>(at + 7);
    dy.segment<4>(at + 3) << 0.5 * rate.w(), 0.5 * rate.x(), 0.5 * rate.y(), 0.5 * rate.z();
    const Vector3 local = a.segment<3>(body.v) + spin.cross(body.centre) + w.cross(v + w.cross(body.centre));
    dy.segment<3>(at + 7) = loadPose(state.q.data() + body.q).R * local;
    dy.segment<3>(at + 10) = spin;
    at += size;
  }
}

}
