#include "module.h"

#include "tendril/shells/shell_analyses.h"

namespace tendril::python {

namespace {

template <class Shells> void analysisOf(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Shells, Analysis>(m, name, doc)
      .def(nb::init<const Model&, std::vector<ShownPatch>, const Vector3&>(), nb::arg("model"), nb::arg("patches"), nb::arg("gravity"),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}

void defineShells(nb::module_& m) {
  analysisOf<ShellShape>(m, "ShellShape", "Patches in a given shape, shown.");
  analysisOf<ShellStatics>(m, "ShellStatics", "Equilibria of patches of uniform curvature under gravity.");
  classOf<UniformPatch>()
      .def(
          "evaluate",
          [](const UniformPatch& self, const Vector3& q, const Vector3& v, const Vector3& gravity, const UniformPatch::Air& air) {
            UniformPatch::Dynamics d;
            self.evaluate(q, v, gravity, air, d);
            return d;
          },
          nb::arg("q"), nb::arg("v"), nb::arg("gravity"), nb::arg("air") = UniformPatch::Air{},
          "Mass matrix and force of the patch at curvatures q and their rates v, M a + force = elastic and other forces.")
      .def(
          "evaluate",
          [](const UniformPatch& self, const ConePoint& at, const Vector2& rates, const Vector3& gravity, const UniformPatch::Air& air) {
            UniformPatch::ConeDynamics d;
            self.evaluate(at, rates, gravity, air, d);
            return d;
          },
          nb::arg("at"), nb::arg("rates"), nb::arg("gravity"), nb::arg("air") = UniformPatch::Air{}, "The same on the cone.");
}

}
