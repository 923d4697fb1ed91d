#pragma once
#include "tendril/model/model.h"

#include <memory>
#include <type_traits>

namespace tendril::test {

/// Fourth-order central difference of f at 0.
template <class F> auto differentiate(const F& f, double h) {
  using Value = std::decay_t<decltype(f(0.0))>;
  return Value((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
}

/// A model with a configuration that can be disturbed.
struct PosedModel {
  std::shared_ptr<const Model> model;
  State state;

  State moved(const VectorX& delta) const {
    State s = state;
    model->retract(state.q, delta, s.q);
    return s;
  }
  State movedRigidly(const Pose& motion) const {
    State s = state;
    for (const Block& b : model->blocks()) storePose(motion * loadPose(state.q.data() + b.q), s.q.data() + b.q);
    return s;
  }
};

}
