#pragma once
#include "binding.h"

#include <functional>

namespace tendril::python {

/// Generated (tools/generate.py): all types of the public headers, then their members.
void declareAll(nb::module_& m);
void defineAll(nb::module_& m);

/// By hand: what needs a Pythonic form, a check or a callback.
void declareState(nb::module_& m);
void defineLie(nb::module_& m);
void defineModel(nb::module_& m);
void defineElements(nb::module_& m);
void defineEquations(nb::module_& m);
void defineSolvers(nb::module_& m);
void defineShells(nb::module_& m);
void defineIo(nb::module_& m);

/// A question to stop that also says yes once Ctrl-C was pressed. May be asked without the interpreter's lock.
std::function<bool()> interruptible(std::function<bool()> stop = {});

}
