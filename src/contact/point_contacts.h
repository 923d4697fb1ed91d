#pragma once
#include "tendril/contact/contact_detection.h"
#include "tendril/contact/section_contact.h"

#include <unordered_map>

namespace tendril {

/// Points where rigid parts touch, as inequalities. Their gradients are exact for the gap between surfaces that are plane at the point; how
/// the points move over curved surfaces is left out of the matrix.
class PointContacts final : public ContactConstraints {
 public:
  explicit PointContacts(const ContactModel& parts);

  void begin(const State& accepted, double reach) override;
  void evaluate(const State& state) override;
  std::span<const ContactConstraint> constraints() const override { return constraints_; }
  std::span<const GradientEntry> gradient(const ContactConstraint& constraint) const override;
  Vector3 drift(const ContactConstraint& constraint) const override;
  void stiffness(const Eigen::Matrix3Xd&, std::vector<StiffnessBlock>&) const override {}
  double size() const override { return detection_.smallestSize(); }
  std::string describe(const ContactConstraint& constraint) const override;

 private:
  void update(ContactConstraint& constraint, const Contact& contact, const State& state);
  Eigen::Vector2d slip(const Contact& contact, const State& state) const;

  const ContactModel& parts_;
  ContactDetection detection_;
  State begin_;
  double reach_ = 0;
  std::vector<double> reaches_;
  std::vector<ContactConstraint> constraints_;
  std::vector<GradientEntry> entries_;
  std::vector<Vector3> drifts_; ///< of the constraints
  std::unordered_map<std::uint64_t, int> number_;
};

}
