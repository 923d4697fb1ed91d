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
    if (!structure_) structure_ = ask<ProgramStructure>("structure");
    return *structure_;
  }
  bool evaluate(ProgramValues& values) override { return ask<bool>("evaluate", &values); }
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override {
    return ask<bool>("differentiate", const_cast<ProgramMultipliers*>(multipliers), &derivatives);
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
