#pragma once
#include "tendril/contact/contact_constraints.h"
#include "tendril/contact/contact_model.h"
#include "tendril/contact/section_contact.h"

#include <memory>

namespace tendril {

class Model;

struct LineContactOptions {
  /// Collocation: inequalities at points of the first curve. Mortar: weighted means around the nodes of the first curve, weights its linear
  /// shape functions, which satisfies the inf-sup condition with the linear beam.
  enum class Method { Collocation, Mortar } method = Method::Mortar;
  int points = 1;      ///< Collocation: per segment of the first curve, at equal distances
  int gaussPoints = 2; ///< Mortar: on each part of a segment that faces one segment of the other curve
  Projection projection = Projection::ClosestPoint;
  /// Full: the matrix holds every derivative of the contact forces. Simplified: none (the source's choice).
  bool consistentTangent = true;
};

/// Contact of curves with curves, with themselves, and with rigid parts; found without lists made by hand.
///
/// Of two curves the first, which carries the inequalities, is the one with the shorter mean segment, at a tie the one with the lower
/// number. A curve touches itself if there is a law for the pair of it with itself; places less than pi R apart in arclength do not face
/// each other (a curve of curvature up to 1/R cannot touch itself nearer), and each pair of places counts once, seen from the one with the
/// smaller arclength. Segments that share a block do not touch, and nothing faces a curve beyond its ends (balls, on rigid parts).
///
/// *Facing places.* Of places of a curve that face the same section only the nearest counts, unless they lie more than pi times their
/// distance apart, as in loops and knots: then each is a contact. On the outside of a kink the node faces a whole wedge; so no length is
/// lost or counted twice. On a rigid part contacts whose normals differ by less than 30 degrees are one.
///
/// *Mortar.* A segment is integrated over piece by piece between the places that face nodes of the other curve, over all that faces,
/// however far, within segments of which one that meets the node comes near. *Collocation.* The gap at points, each for its length.
///
/// *Crossings.* Where curves cross, or lie across an edge or a ball, or stand on a rigid part, means do not see how near they come. If the
/// distance rises from a place that is nearest on both curves by more than 1 % of the sum of the radii within half a segment, that place is
/// an inequality of its own, of weight 0; up to 3 % it may come nearer than its gap says by an allowance that fades from 2 % to nothing, so
/// that no force jumps while curves turn. A crossing keeps the allowance with which it is first seen in a step. On a rigid part one that is
/// below 3 % then keeps its place on the curve, too, and others keep theirs once they are no longer nearest: where the curve lies flat on
/// the part, that place would jump from one iterate to the next. Coarser meshes thus have crossings at smaller angles (above 6 degrees
/// where segments are 10 radii long), finer ones resolve them by their means.
///
/// The normal points to the side on which the first curve lay at the begin of the step, so that a step must not carry curves around one
/// another by more than a right angle. Slips are exact on SE(3) (slipSince).
class LineContacts final : public ContactConstraints {
 public:
  /// Both must outlive this. Contacts of rigid parts among themselves are left to ContactDetection.
  LineContacts(const Model& model, const ContactModel& contacts, const LineContactOptions& options);
  ~LineContacts() override;

  void begin(const State& accepted, double reach) override;
  void evaluate(const State& state) override;
  std::span<const ContactConstraint> constraints() const override;
  std::span<const GradientEntry> gradient(const ContactConstraint& constraint) const override;
  Vector3 drift(const ContactConstraint& constraint) const override;
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override;
  double size() const override;
  std::string describe(const ContactConstraint& constraint) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
