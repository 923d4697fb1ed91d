#pragma once
#include "binding.h"

#include "tendril/solvers/nonlinear_program.h"

#include <nanobind/trampoline.h>

#include <optional>

namespace tendril::python {

/// A nonlinear program written in Python.
struct PythonProgram : VectorProgram {
  NB_TRAMPOLINE(VectorProgram);

  const ProgramStructure& structure() const override {
    // A solver asks often, and the structure is constant while it works.
    if (!structure_) {
      structure_ = ask<ProgramStructure>("structure");
      requireSize("x", x.size(), structure_->variables());
    }
    return *structure_;
  }
  bool evaluate(ProgramValues& values) override {
    const bool exists = ask<bool>("evaluate", &values);
    requireSize("values.equality", values.equality.size(), structure().equalities());
    requireSize("values.inequality", values.inequality.size(), structure().inequalities());
    return exists;
  }
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override {
    const bool exists = ask<bool>("differentiate", const_cast<ProgramMultipliers*>(multipliers), &derivatives);
    requireSize("derivatives.gradient", derivatives.gradient.size(), structure().variables());
    requireSize("derivatives.equality_jacobian", derivatives.equalityJacobian.size(), Eigen::Index(structure().equalityJacobian.size()));
    requireSize("derivatives.inequality_jacobian", derivatives.inequalityJacobian.size(),
                Eigen::Index(structure().inequalityJacobian.size()));
    if (multipliers) requireSize("derivatives.hessian", derivatives.hessian.size(), Eigen::Index(structure().hessian.size()));
    return exists;
  }

 private:
  /// Calls the method of the Python class; arguments are references.
  template <class Result, class... Arguments> Result ask(const char* method, Arguments... arguments) const {
    const nb::detail::ticket ticket(nb_trampoline, method, nb::detail::str_hash(method), true);
    return nb::cast<Result>(nb_trampoline.base().attr(ticket.key)(arguments...));
  }
  mutable std::optional<ProgramStructure> structure_;
};

}
