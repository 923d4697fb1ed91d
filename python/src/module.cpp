#include "module.h"

#include "tendril/documents/expression.h"
#include "tendril/model/error.h"
#include "tendril/model/marker.h"

#include <exception>
#include <functional>
#include <stdexcept>
#include <typeinfo>
#include <unordered_set>

namespace tendril::python {

namespace {

/// An exception class of the module, with several bases.
nb::object exceptionClass(nb::module_& m, const char* name, std::initializer_list<nb::handle> bases, const char* doc) {
  nb::list list;
  for (const nb::handle& base : bases) list.append(base);
  const nb::tuple tuple(list);
  const std::string path = std::string("tendril.") + name;
  nb::object made = nb::steal(PyErr_NewExceptionWithDoc(path.c_str(), doc, tuple.ptr(), nullptr));
  m.attr(name) = made;
  return made;
}

struct Exceptions {
  nb::object error, input, numerical, machine, interrupted, expression;
};
Exceptions* exceptions = nullptr; // lives as long as the process: exceptions are translated until the end

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& e) {
    PyErr_SetString(exceptions->input.ptr(), e.what());
  } catch (const NumericalFailure& e) {
    PyErr_SetString(exceptions->numerical.ptr(), e.what());
  } catch (const MachineFailure& e) {
    PyErr_SetString(exceptions->machine.ptr(), e.what());
  } catch (const Interrupted& e) {
    PyErr_SetString(exceptions->interrupted.ptr(), e.what());
  } catch (const ExpressionError& e) {
    PyErr_SetString(exceptions->expression.ptr(), (std::string(e.what()) + "; " + e.remedy).c_str());
  } catch (const Error& e) {
    PyErr_SetString(exceptions->error.ptr(), e.what());
  } catch (const std::bad_cast&) { // of nanobind, too
    PyErr_SetString(PyExc_TypeError, "an object of another class was expected");
  } catch (const std::bad_function_call&) {
    PyErr_SetString(PyExc_ValueError, "a function that the object calls was not set");
  } catch (const std::out_of_range& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const std::logic_error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

void declareExceptions(nb::module_& m) {
  exceptions = new Exceptions;
  Exceptions& e = *exceptions;
  e.error = exceptionClass(m, "Error", {PyExc_Exception}, "Base of what Tendril raises; the kinds differ in who must act.");
  e.input = exceptionClass(m, "InputError", {e.error, PyExc_ValueError}, "The input is wrong. The message names the place and the remedy.");
  e.expression = exceptionClass(m, "ExpressionError", {e.error, PyExc_ValueError}, "An expression that cannot be read.");
  e.numerical = exceptionClass(m, "NumericalFailure", {e.error, PyExc_ArithmeticError},
                               "The numerics failed: the message names the body or constraint, the step and the residual.");
  e.machine = exceptionClass(m, "MachineFailure", {e.error, PyExc_OSError}, "The machine failed: disk full, folder not writable.");
  e.interrupted = exceptionClass(m, "Interrupted", {PyExc_KeyboardInterrupt}, "The run was asked to stop; the state reached is kept.");
  nb::register_exception_translator(translate);
}

}

void requireSize(const char* name, Eigen::Index found, Eigen::Index expected) {
  if (found == expected) return;
  throw nb::value_error(
      (std::string(name) + ": expected an array of " + std::to_string(expected) + " numbers, not " + std::to_string(found)).c_str());
}

void requireIndex(const char* name, long index, long bound) {
  if (index >= 0 && index < bound) return;
  throw nb::index_error((std::string(name) + " = " + std::to_string(index) + " is not in 0 ... " + std::to_string(bound - 1)).c_str());
}

void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

void requireReach(const Marker& marker, const State& state) {
  const DirectorFrame frame = marker.directors();
  for (int i = 0; i < frame.count; ++i) {
    const Eigen::Index end = frame.q[std::size_t(i)] + 12; // as many velocities as that are half of it at least
    if (end <= state.q.size() && end <= 2 * state.v.size()) continue;
    throw nb::value_error(("the state has " + std::to_string(state.q.size()) + " coordinates, and " + marker.label() +
                           " stands behind them: it is the state of another model")
                              .c_str());
  }
}

nb::module_ submodule(nb::module_& m, const char* name) {
  if (!nb::hasattr(m, name)) return m.def_submodule(name);
  return nb::borrow<nb::module_>(m.attr(name));
}

void Interruption::noteCtrlC(bool& pressed, const std::function<void()>& call) {
  try {
    call();
  } catch (nb::python_error& error) {
    const nb::gil_scoped_acquire held;
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    pressed = true;
  }
}

std::function<bool()> Interruption::question(std::function<bool()> stop) const {
  return [stop = std::move(stop), pressed = pressed_] {
    bool isAsked = false;
    noteCtrlC(*pressed, [&] {
      isAsked = stop && stop();
      const nb::gil_scoped_acquire held;
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    });
    return isAsked || *pressed;
  };
}

}

namespace nanobind::detail {

namespace {

/// Never destroyed: what C++ keeps may go after all static objects.
std::unordered_set<KeptCallable*>& allKept() {
  static auto* all = new std::unordered_set<KeptCallable*>;
  return *all;
}

}

KeptCallable::KeptCallable(PyObject* callable) : callable_(callable) {
  Py_INCREF(callable);
  allKept().insert(this);
}

KeptCallable::~KeptCallable() {
  const cleanup_guard lock;
  if (!lock) return; // the interpreter has ended
  allKept().erase(this);
  Py_XDECREF(callable_);
}

void KeptCallable::releaseAll() {
  while (!allKept().empty()) {
    KeptCallable* kept = *allKept().begin();
    allKept().erase(kept);
    Py_CLEAR(kept->callable_); // other callables may go with it
  }
}

object toRealArray(handle source, const char* scalar, bool isRowMajor) noexcept {
  try {
    static PyObject* numpy = module_::import_("numpy").release().ptr();
    const object array = handle(numpy).attr("asarray")(source);
    const std::string kind = cast<std::string>(array.attr("dtype").attr("kind"));
    const bool isInteger = scalar[0] == 'i';
    if (kind != "i" && kind != "u" && (isInteger || (kind != "f" && kind != "b")))
      return cast<size_t>(array.attr("size")) == 0 ? handle(numpy).attr("asarray")(array, scalar, isRowMajor ? "C" : "F") : object();
    return handle(numpy).attr("asarray")(array, scalar, isRowMajor ? "C" : "F");
  } catch (python_error&) {
    return {};
  } catch (...) {
    return {};
  }
}

}

NB_MODULE(_core, m) {
  using namespace tendril::python;
  m.doc() = "Slender structures and multibody systems that touch: the classes and functions of the C++ library.";
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&nb::detail::KeptCallable::releaseAll));
  declareExceptions(m);
  declareState(m);
  declareAll(m);
  defineAll(m);
  defineLie(m);
  defineModel(m);
  defineContact(m);
  defineElements(m);
  defineEquations(m);
  defineSolvers(m);
  defineShells(m);
  defineIo(m);
  defineStudies(m);
}
