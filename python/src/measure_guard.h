#pragma once
#include "binding.h"

#include "tendril/elements/measures.h"

namespace tendril::python {

/// Refuses a state of another model: by its sizes, or by what a marker reads of it.
inline void checkState(const Model& model, bool withMultipliers, const State& state) {
  requireSize("state.q", state.q.size(), model.nq());
  requireSize("state.v", state.v.size(), model.nv());
  if (withMultipliers) requireSize("state.lambda_", state.lambda.size(), model.nc());
}
inline void checkState(const Marker& marker, bool, const State& state) { requireReach(marker, state); }

/// A measure that looks at a state before it reads it; `source` is the model or the marker that it was made from.
template <class Source> Measure guarded(Measure measure, const Source& source) {
  measure.evaluate = [evaluate = std::move(measure.evaluate), withMultipliers = measure.readsMultipliers, &source](const State& state,
                                                                                                                   double* out) {
    checkState(source, withMultipliers, state);
    evaluate(state, out);
  };
  return measure;
}

}
