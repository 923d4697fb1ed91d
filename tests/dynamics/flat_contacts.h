#pragma once
#include "tendril/contact/contact_constraints.h"
#include "tendril/lie/so3.h"
#include "tendril/model/marker.h"

#include <string>
#include <utility>
#include <vector>

namespace tendril::test {

/// Contacts of points: the origin of one marker stays at a distance from that of another one along a direction fixed in space,
///
///     gap = n . (x1 - x2) - d,      slip = t . change of (x1 - x2) in the step.
///
/// With the second marker on the ground, a half-space. Markers on bodies, nodes and the ground.
class FlatContacts final : public ContactConstraints {
 public:
  explicit FlatContacts(double size = 0.1) : size_(size) {}

  void add(const Marker& first, const Marker& second, const ContactLaw& law, const Vector3& normal = Vector3::UnitZ(),
           double distance = 0) {
    places_.push_back({&first, &second, law, distance, Vector3::Zero()});
    ContactConstraint c{.first = 0, .second = 1, .key = places_.size()};
    const Vector3 across = std::abs(normal.y()) < 0.9 ? Vector3::UnitY() : Vector3::UnitZ();
    c.frame.col(0) = normal.normalized();
    c.frame.col(1) = across.cross(normal).normalized();
    c.frame.col(2) = c.frame.col(0).cross(c.frame.col(1));
    constraints_.push_back(c);
  }

  void begin(const State& accepted, double) override {
    for (Place& p : places_) p.begin = p.first->frame(accepted).x - p.second->frame(accepted).x;
  }
  void evaluate(const State& state) override {
    entries_.clear();
    drifts_.assign(places_.size(), Vector3::Zero());
    for (std::size_t j = 0; j < places_.size(); ++j) {
      const Place& p = places_[j];
      ContactConstraint& c = constraints_[j];
      c.law = &p.law;
      c.firstEntry = int(entries_.size());
      const Vector3 apart = addSide(j, *p.first, 1, state) - addSide(j, *p.second, -1, state);
      c.entries = int(entries_.size()) - c.firstEntry;
      c.gap = c.frame.col(0).dot(apart) - p.distance;
      c.slip = c.frame.rightCols<2>().transpose() * (apart - p.begin);
    }
    state_ = state;
  }
  std::span<const ContactConstraint> constraints() const override { return constraints_; }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override {
    return std::span(entries_).subspan(std::size_t(c.firstEntry), std::size_t(c.entries));
  }
  Vector3 drift(const ContactConstraint& c) const override { return drifts_[std::size_t(&c - constraints_.data())]; }
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    for (std::size_t j = 0; j < places_.size(); ++j) {
      const Vector3 force = constraints_[j].frame * forces.col(Eigen::Index(j));
      addStiffness(*places_[j].first, force, blocks);
      addStiffness(*places_[j].second, -force, blocks);
    }
  }
  double size() const override { return size_; }
  std::string describe(const ContactConstraint& c) const override { return "point " + std::to_string(c.key); }

 private:
  struct Place {
    const Marker *first, *second;
    ContactLaw law;
    double distance;
    Vector3 begin;
  };

  Vector3 addSide(std::size_t j, const Marker& marker, double sign, const State& state) {
    MarkerKinematics k;
    marker.kinematics(state, k);
    const Matrix3 toFrame = sign * constraints_[j].frame.transpose() * k.frame.R;
    if (!marker.blocks().empty()) entries_.push_back({marker.blocks()[0], toFrame * k.J.topRows<3>()});
    drifts_[j] += toFrame * k.drift.head<3>();
    return k.frame.x;
  }
  /// B^T F = J^T (R^T f, 0) of a force f in space, whose direction in the frame turns against the frame.
  void addStiffness(const Marker& marker, const Vector3& force, std::vector<StiffnessBlock>& blocks) const {
    if (marker.blocks().empty()) return;
    MarkerKinematics k;
    marker.kinematics(state_, k);
    const int b = marker.blocks()[0];
    blocks.push_back({b, b, -k.J.topRows<3>().transpose() * so3::hat(k.frame.R.transpose() * force) * k.J.bottomRows<3>()});
  }

  double size_;
  State state_;
  std::vector<Place> places_;
  std::vector<ContactConstraint> constraints_;
  std::vector<GradientEntry> entries_;
  std::vector<Vector3> drifts_;
};

}
