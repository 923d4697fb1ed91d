#pragma once
#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/attached_frames.h"
#include "tendril/model/error.h"

#include <utility>
#include <vector>

namespace tendril::test {

/// F = B exp(s_1 theta_1) ... exp(s_n theta_n) O, an arm of hinges and slides whose coordinates are one vector block: a frame field with
/// closed forms. B is a pose block or, without one, the inertial frame.
class HingeChain final : public FrameField {
 public:
  HingeChain(const ModelBuilder& builder, int base, int angles, std::vector<Vector6> screws, const Pose& offset)
      : FrameField(builder, base < 0 ? std::vector{angles} : std::vector{base, angles}), hasBase_(base >= 0), screws_(std::move(screws)),
        offset_(offset) {}

  void kinematics(const State& state, FieldKinematics& k) const override {
    const int first = hasBase_ ? 6 : 0, n = int(screws_.size());
    const int angles = hasBase_ ? 1 : 0;
    k.J.resize(6, size());
    Pose tail = offset_; // what lies beyond a hinge
    Vector6 relative = Vector6::Zero();
    k.accelerationBias.setZero();
    const auto add = [&](const Vector6& twist) { // of a link against the one before: D_v(J_i) v_i = -ad(twist of what is beyond) J_i v_i
      k.accelerationBias -= se3::adProduct(relative, twist);
      relative += twist;
    };
    for (int i = n - 1; i >= 0; --i) {
      k.J.col(first + i) = se3::AdInverse(tail) * screws_[std::size_t(i)];
      add(k.J.col(first + i) * state.v[v(angles) + i]);
      tail = se3::exp(screws_[std::size_t(i)] * state.q[q(angles) + i]) * tail;
    }
    if (hasBase_) {
      k.J.leftCols<6>() = se3::AdInverse(tail);
      add(k.J.leftCols<6>() * state.v.segment<6>(v(0)));
      tail = loadPose(state.q.data() + q(0)) * tail;
    }
    k.frame = tail, k.twist = relative;
  }
  void addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const override {
    FieldKinematics k;
    kinematics(state, k);
    const int first = hasBase_ ? 6 : 0;
    for (int column = first; column < size(); ++column)
      for (int row = 0; row < column; ++row) H(row, column) -= k.J.col(row).dot(se3::coad(wrench) * k.J.col(column));
  }

 private:
  bool hasBase_;
  std::vector<Vector6> screws_;
  Pose offset_;
};

/// Inertia and springs of the coordinates of vector blocks: m a + k q.
class CoordinateSprings final : public Term {
 public:
  void add(int block, double mass, double stiffness) { members_.push_back({block, mass, stiffness}); }
  void declare(Layout& layout) override {
    for (Member& m : members_) m.place = layout.block(m.block), m.coupling = layout.couple(m.block, m.block);
  }
  void evaluate(const State& state, Assembly& assembly) const override {
    const Request& request = assembly.request();
    for (const Member& m : members_) {
      const int n = m.place.nv;
      Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1> f = m.stiffness * state.q.segment(m.place.q, n);
      if (request.motion) f += m.mass * state.a.segment(m.place.v, n);
      assembly.addForce(m.block, f);
      if (!request.tangent) continue;
      using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
      assembly.addStiffness(m.coupling, Small(m.stiffness * Small::Identity(n, n)));
      if (request.motion) assembly.addRate(m.coupling, m.block, Small(request.inertia * m.mass * Small::Identity(n, n)));
    }
  }
  void addEnergy(const State& state, Energy& energy) const override {
    for (const Member& m : members_) {
      energy.kinetic += 0.5 * m.mass * state.v.segment(m.place.v, m.place.nv).squaredNorm();
      energy.elastic += 0.5 * m.stiffness * state.q.segment(m.place.q, m.place.nq).squaredNorm();
    }
  }
  void embed(DirectorSystem&) const override { throw InputError("coordinates of a test have no directors"); }

 private:
  struct Member {
    int block;
    double mass, stiffness;
    Block place{};
    int coupling = -1;
  };
  std::vector<Member> members_;
};

inline Vector6 screw(double x, double y, double z, double a, double b, double c) {
  Vector6 s;
  s << x, y, z, a, b, c;
  return s;
}

}
