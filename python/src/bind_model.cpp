#include "module.h"

#include "tendril/documents/expression.h"
#include "tendril/elements/beams.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/elements/springs.h"
#include "tendril/elements/super_helix.h"
#include "tendril/model/model.h"
#include "tendril/shells/shell_patches.h"

namespace tendril::python {

namespace {

/// A property that is a view of an array of the state. Its size belongs to the model: it cannot be changed, so that no view ever dangles.
template <VectorX State::*member> void array(nb::class_<State>& state, const char* name, const char* doc) {
  state.def_prop_rw(
      name, [](State& self) { return Eigen::Map<VectorX>((self.*member).data(), (self.*member).size()); },
      [name](State& self, const VectorX& value) {
        requireSize(name, value.size(), (self.*member).size());
        self.*member = value;
      },
      nb::for_getter(nb::rv_policy::reference_internal), doc);
}

const Block& poseBlock(const Model& model, const State& state, int block) {
  requireIndex("block", block, long(model.blocks().size()));
  requireSize("state.q", state.q.size(), model.nq());
  const Block& found = model.blocks()[std::size_t(block)];
  if (found.kind != Block::Kind::Pose) throw nb::value_error("the block is a vector block, it has no pose");
  return found;
}

/// The term of a type given as a class of Python.
template <class Owner> nb::object termOf(nb::handle self, nb::handle type) {
  nb::object found;
  const auto look = [&]<class T>() {
    if (!type.is(nb::type<T>())) return;
    if constexpr (std::is_same_v<Owner, ModelBuilder>)
      found = nb::cast(&nb::cast<Owner&>(self).template term<T>(), nb::rv_policy::reference);
    else
      found = nb::cast(const_cast<T*>(nb::cast<Owner&>(self).template term<T>()), nb::rv_policy::reference);
  };
  [&]<class... T>(std::tuple<T...>*) {
    (look.template operator()<T>(), ...);
  }(static_cast<
      std::tuple<RigidBodies, PointMasses, Beams, Joints, Loads, LinearSprings, TorsionSprings, Bushings, SuperHelices, ShellPatches>*>(
      nullptr));
  if (!found.is_valid())
    throw nb::type_error("expected a class of terms: RigidBodies, PointMasses, Beams, Joints, Loads, LinearSprings, TorsionSprings, "
                         "Bushings, SuperHelices or ShellPatches");
  if (!found.is_none()) nb::keep_alive_obj(found, self);
  return found;
}

}

void declareState(nb::module_& m) {
  nb::class_<State> state(
      m, "State",
      "The numbers that move: t, q, v, a, lambda_. Its arrays are views: they show and change the numbers of the state, and keep "
      "it alive. A state comes from a model or an analysis.");
  state.def_prop_rw(
      "t", [](const State& self) { return self.t; }, [](State& self, double t) { self.t = t; }, "Time [s]; in statics the load parameter.");
  array<&State::q>(state, "q", "Configuration, (nq,): 12 per pose block (position, then the three directors), n per vector block.");
  array<&State::v>(state, "v", "Velocity, (nv,): per pose block the twist in the local frame (translation, rotation).");
  array<&State::a>(state, "a", "Time derivative of v, (nv,).");
  array<&State::lambda>(state, "lambda_", "Multipliers of the bilateral constraints, (nc,): forces [N] and moments [N m] of the joints.");
  state.def(
      "copy", [](const State& self) { return self; }, "The same numbers in memory of their own.");
}

void defineModel(nb::module_&) {
  classOf<State>()
      .def(
          "pose",
          [](const State& self, const Model& model, int block) { return loadPose(self.q.data() + poseBlock(model, self, block).q); },
          nb::arg("model"), nb::arg("block"), "The pose of a pose block of the model.")
      .def(
          "set_pose",
          [](State& self, const Model& model, int block, const Pose& pose) {
            storePose(pose, self.q.data() + poseBlock(model, self, block).q);
          },
          nb::arg("model"), nb::arg("block"), nb::arg("pose"), "Moves a pose block of the model.");
  classOf<TimeFunction>()
      .def(
          "__init__", [](TimeFunction* self, double value) { new (self) TimeFunction(TimeFunction::constant(value)); }, nb::arg("value"))
      .def(
          "__call__",
          [](const TimeFunction& self, double t) {
            if (!self.function) throw nb::value_error("the time function is empty");
            return self(t);
          },
          nb::arg("t"), "The value with its first two derivatives at t.")
      .def_static(
          "expression",
          [](const std::string& text) {
            return TimeFunction{text, [e = Expression(text, SymbolTable{}, Expression::Time::Allowed)](double t) { return e.jet(t); }};
          },
          nb::arg("text"), "A function of t in the language of scenes: 'smoothstep(t/2)'.");
  nb::implicitly_convertible<double, TimeFunction>();
  nb::implicitly_convertible<int, TimeFunction>();
  classOf<Model>()
      .def(
          "retract",
          [](const Model& self, const VectorX& q, const VectorX& delta) {
            requireSize("q", q.size(), self.nq());
            requireSize("delta", delta.size(), self.nv());
            VectorX out(q.size());
            self.retract(q, delta, out);
            return out;
          },
          nb::arg("q"), nb::arg("delta"), "q exp(delta), block by block, (nq,); directors are kept orthonormal to round-off.")
      .def(
          "difference",
          [](const Model& self, const VectorX& a, const VectorX& b) {
            requireSize("a", a.size(), self.nq());
            requireSize("b", b.size(), self.nq());
            VectorX delta(self.nv());
            self.difference(a, b, delta);
            return delta;
          },
          nb::arg("a"), nb::arg("b"), "delta with b = a exp(delta), (nv,).")
      .def(
          "constraint_bias",
          [](const Model& self, const State& state) {
            requireSize("state.q", state.q.size(), self.nq());
            requireSize("state.v", state.v.size(), self.nv());
            VectorX bias(self.nc());
            self.constraintBias(state, bias);
            return bias;
          },
          nb::arg("state"), "b of g'' = G a + b, (nc,).")
      .def(
          "markers",
          [](nb::handle self) {
            std::vector<Marker*> markers;
            for (const auto& marker : nb::cast<const Model&>(self).markers()) markers.push_back(marker.get());
            return listOf(self, markers);
          },
          "All markers, named or not.")
      .def(
          "term", [](nb::handle self, nb::handle type) { return termOf<const Model>(self, type); }, nb::arg("type"),
          "The term of a class (tendril.Joints, tendril.Loads, ...), or None.");
  classOf<ModelBuilder>()
      .def(
          "term", [](nb::handle self, nb::handle type) { return termOf<ModelBuilder>(self, type); }, nb::arg("type"),
          "The one term of a class (tendril.LinearSprings, ...), made at the first call.")
      .def(
          "build", [](ModelBuilder& self) { return give(self.build()); }, nb::keep_alive<1, 0>(),
          "Freezes the model. The builder is empty afterwards.");
}

}
