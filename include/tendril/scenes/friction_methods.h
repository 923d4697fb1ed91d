#pragma once
#include "tendril/solvers/friction_solver.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// Names of the solvers of friction problems, the same in scenes (`analysis: {solver: ...}`) and in `tendril contact --solver`.
struct FrictionMethodName {
  const char* name;
  const char* alias; ///< short form that is understood as well; may be empty
  FrictionMethod method;
};

inline constexpr std::array frictionMethodNames{FrictionMethodName{"automatic", "auto", FrictionMethod::Automatic},
                                                FrictionMethodName{"gauss-seidel", "", FrictionMethod::GaussSeidel},
                                                FrictionMethodName{"newton", "", FrictionMethod::SemismoothNewton},
                                                FrictionMethodName{"proximal-newton", "proximal", FrictionMethod::ProximalNewton},
                                                FrictionMethodName{"admm", "", FrictionMethod::Admm},
                                                FrictionMethodName{"interior-point", "", FrictionMethod::InteriorPoint}};

/// Null for a word that is neither a name nor an alias.
inline const FrictionMethodName* findFrictionMethod(std::string_view word) {
  for (const FrictionMethodName& known : frictionMethodNames) {
    if (!word.empty() && (word == known.name || word == known.alias)) return &known;
  }
  return nullptr;
}

/// All words that are understood: the names, then the aliases.
inline std::vector<std::string> frictionMethodWords() {
  std::vector<std::string> words;
  for (const FrictionMethodName& known : frictionMethodNames) words.emplace_back(known.name);
  for (const FrictionMethodName& known : frictionMethodNames) {
    if (*known.alias) words.emplace_back(known.alias);
  }
  return words;
}

}
