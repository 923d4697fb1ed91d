#pragma once
#include "tendril/analysis/sliding_problem.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// Up to which friction the forces of a sliding problem exist and are unique whatever the load: for mu = t direction, 0 <= t < bound, there
/// is exactly one solution, hence no paradox of Painleve. All are factors t; infinite where friction cannot do harm, 0 where the contacts
/// depend on each other (then nothing is claimed). Blumentals 2017, 3.1-3.3; Pang & Trinkle 1996.
struct FrictionBound {
  /// (analysis.3), (analysis.4). All bilateral or all unilateral: sigma_min(A) / sigma_max(T [direction]). Mixed: the first t at which
  /// |M(t) - M(0)|_2 = 1 / beta_2(M(0)) for the matrix M of StandardForm.
  double norm = 0;
  /// The best of what costs no more: of all unilateral contacts 1 / lambda_max(sym(L^-1 T [direction] L^-T)), A = L L^T, the exact limit of
  /// positive definiteness; of all bilateral ones 1 / rho(|A^-1 T [direction]|), the norm with the best scaling of the contacts.
  double sharp = 0;
  /// The bound that cannot be raised: at it a piece of the piecewise linear problem becomes singular. Up to maxExactContacts contacts.
  std::optional<double> exact{};
  /// Mixed contacts: beta_2 of M(0), and whether it is known to be the global maximum. An uncertified one was not used: the bound rests on
  /// what it is at most.
  std::optional<PMatrixRadius> beta2{};

  double best() const;
};
inline constexpr int maxExactContacts = 10;

/// Direction: ratios of the coefficients, not negative; empty: all equal to 1, so that the bound is one for the largest coefficient.
/// beta_2 does not depend on friction: one that is known from another bound of these contacts is not looked for again.
FrictionBound frictionBound(const SlidingProblem& problem, const VectorX& direction = {}, const std::optional<PMatrixRadius>& beta2 = {});

/// For every contact the coefficient below which its own friction does no harm while all others are frictionless or, of contacts that
/// depend on each other, while it is the only one.
VectorX boundsOfSingleContacts(const SlidingProblem& problem, const std::optional<PMatrixRadius>& beta2 = {});

/// How far given friction is from where uniqueness is no longer certain.
struct FrictionMargin {
  Verdict verdict = Verdict::Undecided;
  double factor = 0; ///< by which all coefficients may grow; infinite without friction
  VectorX bounds;    ///< of the single contacts
  std::vector<int>
      endangered; ///< contacts whose coefficient reaches their own bound or, if none does and nothing is certified, the nearest
  SlidingSolutions solutions;

  /// Whether the coefficients lie below the bound: at the bound itself uniqueness for every load ends.
  bool isCertified() const { return factor > 1 + dependentColumns; }
};
FrictionMargin frictionMargin(const SlidingProblem& problem, const std::optional<PMatrixRadius>& beta2 = {});

}
