#include "module.h"

#include "tendril/elements/measures.h"
#include "tendril/elements/mechanism.h"

namespace tendril::python {

void defineElements(nb::module_&) {
  classOf<Measure>().def(
      "__call__",
      [](const Measure& self, const State& state) {
        if (!self.evaluate) throw nb::value_error("the measure is empty");
        VectorX values(self.columns);
        self.evaluate(state, values.data());
        return values;
      },
      nb::arg("state"), "The values at a state of the model from which the measure was made, (columns,).");
  classOf<Mechanism>().def_prop_ro(
      "model", [](Mechanism& self) { return const_cast<Model*>(self.model.get()); }, nb::rv_policy::reference_internal,
      "The equations: blocks, terms and markers.");
  // Markers were made by the builder and live in the model: who holds one of them holds the mechanism.
  classOf<MechanismBuilder>().def(
      "build", [](MechanismBuilder& self) { return self.build(); }, nb::keep_alive<1, 0>(),
      "Freezes everything. The builder is empty afterwards.");
}

}
