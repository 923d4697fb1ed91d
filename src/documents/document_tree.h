#pragma once
#include "documents/parameter_table.h"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tendril {

namespace detail {

/// All that a document knows.
struct Tree {
  std::string text;
  std::string file;
  std::vector<std::string> overrides;
  std::unique_ptr<Value> root;
  ParameterTable parameters;
  /// Values made from the defaults of a schema.
  std::deque<std::unique_ptr<Value>> defaults;
};

}

/// Makes the table of parameters, and returns where each override (`path=value`) went.
std::vector<std::string> applyOverrides(detail::Tree& tree, std::span<const std::string> overrides);
/// Turns every object of a top-level sequence with `repeat: {i: [first, last]}` into many, in whose texts `${i}` is the number, `${i+1}`
/// the next.
void expandRepetitions(Value& root, const ParameterTable& parameters);

}
