#pragma once
#include "tendril/equations/analysis.h"

#include <vector>

namespace tendril {

/// An analysis of a rod that has coordinates of its own and shows its frames on pose blocks of a model which is used for nothing else, with
/// the tangent as the first director.
class ShownRod : public Analysis {
 public:
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }

 protected:
  /// InputError unless there are so many blocks.
  ShownRod(const Model& model, const std::vector<int>& blocks, std::size_t nodes);

  std::size_t nodes() const { return places_.size(); }
  void show(std::size_t node, const Vector3& x, const Vector3& tangent, const Vector3& second, const Vector3& third) {
    state_.q.segment<12>(places_[node]) << x, tangent, second, third;
  }
  /// A frame of a rod, whose third director is the tangent.
  void show(std::size_t node, const Pose& H) { show(node, H.x, H.R.col(2), H.R.col(0), H.R.col(1)); }

  State state_;
  StepReport step_;

 private:
  std::vector<int> places_; ///< of the nodes in the state
};

}
