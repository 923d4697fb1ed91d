#pragma once
#include "tendril/elements/loads.h"
#include "tendril/model/director_system.h"

#include <vector>

namespace tendril {

/// Forces F and moments m at frames, times a factor of time. Where they follow their frame, F = sum_I F_I d_I and m = sum_I M_I d_I.
class DirectorLoads final : public DirectorForce {
 public:
  void add(const DirectorFrame& frame, LoadDirection direction, const Vector6& components, const TimeFunction& factor) {
    members_.push_back({{frame, {}}, direction, components, factor});
  }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  void evaluate(int member, const DirectorFrames& Y, const DirectorFrames& rate, double t, Vector24& force, Matrix24* stiffness,
                Matrix24* damping) const override;

 private:
  struct Member {
    std::array<DirectorFrame, 2> frames;
    LoadDirection direction;
    Vector6 components;
    TimeFunction factor;
  };
  std::vector<Member> members_;
};

}
