#pragma once
#include "tendril/contact/contact_law.h"
#include "tendril/lie/types.h"
#include "tendril/model/state.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// One inequality of discretised contact: a point where two rigid parts touch, a collocation point of a curve, or a node of a curve that
/// stands for its surroundings (mortar). Gap, slip and gradient are *means*, so that every constraint looks like a point to a solver:
///
///     gap_j = int phi_j g ds / w_j,  slip_j = int phi_j g_T ds / w_j,  B_j = int phi_j G ds / w_j,  w_j = int phi_j ds     (contact.5)
///
/// and its force F_j [N] acts with B_j^T F_j on the blocks; F_j / w_j is the line load [N/m]. Components are (normal, t, s), the normal
/// pointing towards the first part, motion that of the first part relative to the second, force the one on the first part:
///
///     0 <= gap  _|_  F_n >= 0,      |F_t| <= mu F_n,  F_t opposite to the slip where that does not vanish.
struct ContactConstraint {
  int first = 0, second = 0; ///< parts of the contact model
  const ContactLaw* law = nullptr;
  std::uint64_t key = 0;                    ///< the same from step to step
  bool isPresent = true;                    ///< false: nothing is near any more; its gradient is empty and its force zero
  double weight = 0;                        ///< w_j [m]; 0 for a point that stands for no length
  double gap = 0;                           ///< [m]
  Eigen::Vector2d slip{0, 0};               ///< since the begin of the step [m]
  Vector3 position = Vector3::Zero();       ///< for messages and pictures: where it is, on the average
  Matrix3 frame = Matrix3::Identity();      ///< columns: normal, tangents; their means, so that frame F_j acts on the first part
  double arclength = 0, otherArclength = 0; ///< reference arclengths on the first and second part [m]; 0 on rigid parts
  int firstEntry = 0, entries = 0;          ///< its gradient, see ContactConstraints::gradient()
};

/// Relative velocity (normal, t, s) = sum of B v over the entries (+ drift of parts in prescribed motion).
struct GradientEntry {
  int block = 0;
  Matrix36 B;
};

/// A share of the matrix: K += value at (row block, column block), increments in the local frames.
struct StiffnessBlock {
  int row = 0, column = 0;
  Matrix6 K;
};

/// Everything that may touch, as a list of inequalities. A solver needs no more of contact than this.
///
/// Per step: begin() at the last accepted state, then evaluate() at any iterate. Within a step a constraint keeps its index; evaluate() may
/// append new ones, and those that are no longer near are marked absent.
/// Functions that take a constraint take one of those of constraints(), not a copy.
class ContactConstraints {
 public:
  virtual ~ContactConstraints() = default;

  /// Slips count from this state; what can touch while every point moves by up to `reach` [m] is found.
  virtual void begin(const State& accepted, double reach) = 0;
  virtual void evaluate(const State& state) = 0;

  virtual std::span<const ContactConstraint> constraints() const = 0;
  virtual std::span<const GradientEntry> gradient(const ContactConstraint& constraint) const = 0;
  /// Relative velocity (normal, t, s) that parts in prescribed motion add, at the state last evaluated.
  virtual Vector3 drift(const ContactConstraint& constraint) const = 0;
  /// Appends - d(B^T F)/dq at the state last evaluated, for forces F_j (one column per constraint).
  virtual void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const = 0;
  /// A length by which gaps are measured: the smallest radius or size of what touches [m].
  virtual double size() const = 0;
  /// "beam 'a' at 0.31 m and beam 'b' at 0.29 m"; says so where centrelines coincide.
  virtual std::string describe(const ContactConstraint& constraint) const = 0;
};

/// The deepest overlap at the state last evaluated.
struct Overlap {
  double depth = 0;  ///< [m]; 0 if there is none
  std::string place; ///< in words, with the depth
};
Overlap deepestOverlap(const ContactConstraints& contacts);

/// Overlap over the size of what touches that a start takes for rounding of what was meant to touch.
inline constexpr double allowedOverlap = 1e-5;

}
