#pragma once
#include "tendril/analysis/friction_bound.h"
#include "tendril/analysis/model_contacts.h"
#include "tendril/analysis/solvability.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// All that can be said of accelerations and contact forces of a model at one state.
struct Examination {
  Solvability solvability;
  /// Missing where constraints contradict each other or motions have no inertia: then contact forces do not follow.
  std::optional<SlidingProblem> sliding{};
  FrictionBound bound;                     ///< for equal coefficients at all contacts that rub
  FrictionMargin margin;                   ///< of the coefficients given
  std::optional<ContactSolution> motion{}; ///< for the first solution found
  std::vector<std::string> jointNames{};   ///< of the rows of joints and smooth guides
  std::vector<std::string> notes;          ///< what had to be assumed

  /// 1 exactly one solution, 0 none or several; NaN if that is undecided.
  double unique() const;
  /// The normal force of a contact or a smooth guide by its name; zero if it is not closed, NaN if no solution was found.
  double force(const std::string& contact) const;
  /// The whole in words, one sentence each.
  std::vector<std::string> sentences() const;
};

/// Throws InputError if the state violates its constraints.
Examination examine(ModelContacts& contacts, const State& state);

}
