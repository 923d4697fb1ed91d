#pragma once
#include "tendril/elements/mechanism.h"
#include "tendril/equations/contact_newton.h"
#include "tendril/lie/so3.h"
#include "tendril/model/increment.h"
#include "tendril/statics/equilibrium.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tendril::test {

/// Equilibrium of a mechanism some of whose points must stay above fixed planes.
class PlaneContact final : public ContactProblem {
 public:
  struct Point {
    int block = 0;
    Vector3 offset = Vector3::Zero(); ///< in the frame of the block
    Vector3 plane = Vector3::Zero();  ///< a point of the plane
    Vector3 normal{0, 0, 1};
    ContactLaw law;
  };

  PlaneContact(const Mechanism& mechanism, std::vector<Point> points, double t = 1)
      : kkt_(*mechanism.model, {.force = 1e-12}), state_(mechanism.model->initialState()), points_(std::move(points)) {
    atRest(state_);
    kkt_.findRedundancy(state_);
    kkt_.balance();
    constraints_.resize(points_.size());
    gradients_.resize(points_.size());
    moveTo(t);
  }

  /// The present state becomes the accepted one, from which slips count; the load parameter is t.
  void moveTo(double t) {
    state_.t = t;
    accepted_ = state_;
    kkt_.forgetPrediction();
    steps.clear();
    measurePoints();
  }
  Vector3 point(const State& state, const Point& p) const { return loadPose(state.q.data() + kkt_.model().blocks()[p.block].q) * p.offset; }
  Vector3 point(int j) const { return point(state_, points_[j]); }

  KktSystem& kkt() override { return kkt_; }
  bool evaluate() override {
    measurePoints();
    return kkt_.evaluate(state_, {.motion = false, .tangent = true});
  }
  const State& state() const override { return state_; }
  std::span<const ContactConstraint> constraints() const override { return constraints_; }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return {&gradients_[c.firstEntry], 1}; }
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    for (std::size_t j = 0; j < points_.size(); ++j) {
      const Pose pose = loadPose(state_.q.data() + kkt_.model().blocks()[points_[j].block].q);
      const Vector3 f = pose.R.transpose() * (constraints_[j].frame * forces.col(Eigen::Index(j)));
      StiffnessBlock block{points_[j].block, points_[j].block, Matrix6::Zero()};
      block.K.topRightCorner<3, 3>() = -so3::hat(f);
      block.K.bottomRightCorner<3, 3>() = -so3::hat(points_[j].offset) * so3::hat(f);
      blocks.push_back(block);
    }
  }
  double gapTolerance() const override { return tolerance; }
  double longestFactor(const VectorX& delta) const override { return longestTurn(kkt_.model(), delta); }
  void applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) override {
    steps.push_back(factor * delta.norm());
    kkt_.predict(state_, delta, factor);
    const VectorX q = state_.q;
    kkt_.model().retract(q, factor * delta, state_.q);
    state_.lambda += factor * deltaLambda;
  }
  void restart() override {
    ++restarts;
    state_ = accepted_;
    kkt_.forgetPrediction();
  }
  std::string describe(const ContactConstraint& c) const override { return "point " + std::to_string(c.firstEntry); }

  double tolerance = 1e-13;
  std::vector<double> steps; ///< norms of the steps taken
  int restarts = 0;

 private:
  void measurePoints() {
    for (std::size_t j = 0; j < points_.size(); ++j) {
      const Point& p = points_[j];
      ContactConstraint& c = constraints_[j];
      c.law = &p.law;
      c.firstEntry = int(j), c.entries = 1;
      c.frame.col(0) = p.normal;
      c.frame.col(1) = p.normal.unitOrthogonal();
      c.frame.col(2) = p.normal.cross(c.frame.col(1));
      c.position = point(state_, p);
      c.gap = p.normal.dot(c.position - p.plane);
      c.slip = c.frame.rightCols<2>().transpose() * (c.position - point(accepted_, p));
      const Matrix3 R = loadPose(state_.q.data() + kkt_.model().blocks()[p.block].q).R;
      gradients_[j].block = p.block;
      gradients_[j].B << c.frame.transpose() * R, -c.frame.transpose() * R * so3::hat(p.offset);
    }
  }

  KktSystem kkt_;
  State state_, accepted_;
  std::vector<Point> points_;
  std::vector<ContactConstraint> constraints_;
  std::vector<GradientEntry> gradients_;
};

}
