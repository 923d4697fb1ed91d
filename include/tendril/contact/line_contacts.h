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
