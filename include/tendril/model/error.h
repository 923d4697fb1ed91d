#pragma once
#include <stdexcept>
#include <string>

namespace tendril {

/// Base of everything that Tendril throws. The kinds differ in who must act: the author of the input, the numerics, or the machine.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A place in an input file; lines and columns count from 1, 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// The input is wrong (exit 2). The message names the place, the key, what was expected and the remedy.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(message) {}
  InputError(const Location& where, const std::string& key, const std::string& message, const std::string& remedy = "");
  /// Whether the message says where in a file the mistake is.
  bool isLocated() const { return isLocated_; }

 private:
  bool isLocated_ = false;
};

/// The numerics failed (exit 3): the message names the body or constraint, the step and the residual. What was computed is kept.
class NumericalFailure : public Error {
 public:
  using Error::Error;
};

/// The machine failed (exit 4): disk full, folder not writable, memory exhausted.
class MachineFailure : public Error {
 public:
  using Error::Error;
};

/// The user asked to stop; the state reached is kept and the run can be resumed.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}
