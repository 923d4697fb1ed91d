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
void defineContact(nb::module_& m);
void defineElements(nb::module_& m);
void defineEquations(nb::module_& m);
void defineSolvers(nb::module_& m);
void defineShells(nb::module_& m);
void defineIo(nb::module_& m);
void defineStudies(nb::module_& m);

/// Ctrl-C during a long call asks it to stop in good order, whether C++ or a callback has its turn then. What callbacks raise otherwise
/// comes out of the call. All may be called without the interpreter's lock.
class Interruption {
 public:
  /// A question to stop: the given one, and whether Ctrl-C was pressed.
  std::function<bool()> question(std::function<bool()> stop = {}) const;
  template <class... Arguments> std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> callback) const {
    if (!callback) return {};
    return [callback = std::move(callback), pressed = pressed_](Arguments... arguments) {
      noteCtrlC(*pressed, [&] { callback(arguments...); });
    };
  }

 private:
  static void noteCtrlC(bool& pressed, const std::function<void()>& call);
  std::shared_ptr<bool> pressed_ = std::make_shared<bool>(false);
};

/// Options whose questions to stop (members of them) ask for Ctrl-C, too.
template <class Options, auto... questions> Options asking(Options options) {
  ((options.*questions = Interruption().question(std::move(options.*questions))), ...);
  return options;
}

}
