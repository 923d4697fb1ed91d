#include "tendril/equations/analysis.h"

#include "tendril/model/error.h"

namespace tendril {

namespace {

void storeVector(const char* name, const VectorX& v, Snapshot& snapshot) { snapshot[name].assign(v.data(), v.data() + v.size()); }

void loadVector(const char* name, const Snapshot& snapshot, VectorX& v) {
  const auto found = snapshot.find(name);
  if (found == snapshot.end() || Eigen::Index(found->second.size()) != v.size()) {
    throw InputError(std::string("the checkpoint does not fit this scene: '") + name +
                     "' is missing or has another size; start without --resume");
  }
  v = Eigen::Map<const VectorX>(found->second.data(), v.size());
}

}

void store(const State& state, Snapshot& snapshot) {
  snapshot["t"] = {state.t};
  storeVector("q", state.q, snapshot);
  storeVector("v", state.v, snapshot);
  storeVector("a", state.a, snapshot);
  storeVector("lambda", state.lambda, snapshot);
}

void load(const Snapshot& snapshot, State& state) {
  VectorX t(1);
  loadVector("t", snapshot, t);
  state.t = t[0];
  loadVector("q", snapshot, state.q);
  loadVector("v", snapshot, state.v);
  loadVector("a", snapshot, state.a);
  loadVector("lambda", snapshot, state.lambda);
}

}
