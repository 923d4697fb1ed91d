#pragma once
#include "tendril/model/state.h"

#include <string>
#include <string_view>

namespace tendril {

class Assembly;
class DirectorSystem;
class Layout;

/// Energies of a state, and the rate at which energy enters through what has no potential.
struct Energy {
  double kinetic = 0;
  double elastic = 0;
  double gravitational = 0;
  /// Power of loads, drives and dampers [W]: total' = power for the exact motion.
  double power = 0;

  double total() const { return kinetic + elastic + gravitational; }
  Energy& operator+=(const Energy& other) {
    kinetic += other.kinetic, elastic += other.elastic, gravitational += other.gravitational, power += other.power;
    return *this;
  }
};

/// Linear momentum and angular momentum about the origin, both in the inertial frame.
struct Momentum {
  Vector3 linear = Vector3::Zero();
  Vector3 angular = Vector3::Zero();
};

/// One kind of physics: all rigid bodies of a model, all beams, all joints of a type. Its members are stored contiguously and visited
/// in one call, so that an evaluation dispatches once per kind. A term sees coordinates through blocks and markers only, and adds its
/// share of r, g and their derivatives to an Assembly. Evaluation is const and allocates nothing.
class Term {
 public:
  virtual ~Term() = default;

  /// Called once, when the model is frozen: claims constraint rows and declares which unknowns couple.
  virtual void declare(Layout& layout) = 0;
  virtual void evaluate(const State& state, Assembly& assembly) const = 0;

  /// Moves the internal forces kept in the memory of the assembly by `factor` of the way to those that the step state -> state exp(delta)
  /// predicts to first order; the next tangent builds its geometric stiffness from them (see Assembly::predicted).
  virtual void predict(const State&, const VectorX& /*delta*/, double /*factor*/, Assembly&) const {}

  virtual void addEnergy(const State&, Energy&) const {}
  virtual void addMomentum(const State&, Momentum&) const {}
  /// Adds b to the rows of the constraints of this term, where g'' = G a + b(q,v,t).
  virtual void addConstraintBias(const State&, VectorX&) const {}

  /// Adds masses, constraints, potentials and forces of this term in director coordinates. InputError that names the element and the
  /// remedy where it has no such form.
  virtual void embed(DirectorSystem& system) const = 0;
};

}
