#include "module.h"

#include "tendril/equations/analysis.h"

namespace tendril::python {

void defineEquations(nb::module_& m) {
  classOf<Analysis>()
      .def(
          "start",
          [](Analysis& self, std::function<bool()> stop) {
            self.stopWhen(Interruption().question(std::move(stop)));
            const nb::gil_scoped_release released;
            self.start();
          },
          nb::arg("stop").none() = nb::none(),
          "Brings the initial state into agreement with the constraints. Called once, before the first advance(). Ctrl-C, or `stop` once "
          "it "
          "returns True, ends a long step by tendril.Interrupted.")
      .def(
          "advance",
          [](Analysis& self) -> const StepReport& {
            const nb::gil_scoped_release released;
            return self.advance();
          },
          nb::rv_policy::copy, "One step. Raises NumericalFailure, with the last accepted state still in place.")
      .def(
          "stop_when", [](Analysis& self, std::function<bool()> asked) { self.stopWhen(Interruption().question(std::move(asked))); },
          nb::arg("asked"),
          "Asked within steps that take long: once true, the step is given up by tendril.Interrupted. Call it after start().")
      .def(
          "monitor",
          [](Analysis& self, const std::string& name, const Marker* on, int columns) -> nb::object {
            constexpr int most = 1024;
            if (columns < 1 || columns > most) throw nb::value_error("columns: expected 1 to 1024");
            VectorX values(most);
            if (!self.monitor(name, on, values.data())) return nb::none();
            return nb::cast(VectorX(values.head(columns)));
          },
          nb::arg("name"), nb::arg("on").none() = nb::none(), nb::arg("columns") = 1,
          "A quantity that the analysis alone knows of the state it shows, by the name that scenes use, (columns,); None if it does not "
          "know it.");
  m.def(
      "store",
      [](const State& state) {
        Snapshot snapshot;
        store(state, snapshot);
        return snapshot;
      },
      nb::arg("state"), "A state as named lists, for snapshots.");
}

}
