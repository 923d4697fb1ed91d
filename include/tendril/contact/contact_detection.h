#pragma once
#include "tendril/contact/broad_phase.h"
#include "tendril/contact/contact_model.h"
#include "tendril/model/marker.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tendril {

/// A place where two parts touch, as it was found.
struct Contact {
  int first = 0, second = 0; ///< parts
  const ContactLaw* law = nullptr;
  ContactPoint point;
  Matrix3 frame =
      Matrix3::Identity(); ///< columns: normal (towards the first part), tangent t, tangent s; in the plane s is the plane's normal
  std::uint64_t key = 0;   ///< of parts, shapes and features: the same contact has the same key from step to step
  bool isPlane() const { return !point.planeNormal.isZero(0); }
};

/// Rows by which one contact sees the velocities: relative velocity (n, t, s) and angular velocity (n, t, s) of the first part against the
/// second, in the contact frame, = sum_k H_k v_k + drift.
struct ContactRows {
  static constexpr int maxBlocks = 4;
  int count = 0;
  std::array<int, maxBlocks> block{};
  std::array<Matrix6, maxBlocks> H;
  Vector6 drift = Vector6::Zero(); ///< from parts in prescribed motion
};

/// Finds the contacts of a model's rigid parts (those of curves: LineContacts); keeps its memory from step to step.
///
/// Use per step: findPairs() once, with bounds that cover what the parts can reach in the step; then findContacts() at any configuration of
/// that step. Contacts come in a fixed order (by parts, shapes, then as the geometry gives them).
class ContactDetection {
 public:
  /// The model must outlive the detection.
  /// Throws InputError where a law names shapes between which no contact can be found.
  explicit ContactDetection(const ContactModel& model);

  const ContactModel& model() const { return model_; }
  /// Throws InputError unless plane shapes lie in one plane (up to a shift along its normal), and the half-spaces that they may touch stand
  /// upright on it.
  void refuseTiltedPlanes(const State& state);
  /// Pairs of shapes that can meet while each part p moves by up to reach[p].
  void findPairs(const State& state, std::span<const double> reach);
  /// All contacts of those pairs with a gap up to margin + reach of both parts; reach may be empty.
  const std::vector<Contact>& findContacts(const State& state, double margin, std::span<const double> reach = {});

  /// Kinematics of a contact at the state in which it was found.
  void rows(const Contact& contact, const State& state, ContactRows& rows);
  /// Smallest extent of a shape [m], by which small lengths are measured.
  double smallestSize() const { return smallestSize_; }
  /// Largest distance of a shape's point from the frame of its part, per part.
  double radius(int part) const { return radius_[part]; }
  bool moves(int part) const { return moves_[part] != 0; }
  /// "'ball' and 'floor'".
  std::string names(const Contact& contact) const;

 private:
  struct ShapeOf {
    int part, shape;
  };
  void classifyParts();
  void takePoses(const State& state);
  void refuseImpossiblePairs();
  const ContactLaw* law(int first, int second);

  const ContactModel& model_;
  std::vector<ShapeOf> shapes_;
  std::vector<double> radius_;
  std::vector<char> moves_;
  std::vector<Bounds> bounds_;
  std::vector<Pose> poses_;
  struct Candidate {
    int first, second; ///< shapes
    const ContactLaw* law;
  };
  std::vector<Candidate> candidates_;
  std::vector<Contact> contacts_;
  std::vector<ContactPoint> points_;
  /// Parts that every law treats alike are of one class; laws are looked up once per pair of classes.
  std::vector<int> classOf_;
  int classes_ = 0;
  struct Lookup {
    bool isKnown = false;
    const ContactLaw* law = nullptr;
  };
  std::vector<Lookup> laws_;
  BroadPhase broadPhase_;
  MarkerKinematics kinematics_;
  double smallestSize_ = 1;
};

/// Normal as first column; for plane contacts t = n x plane normal.
Matrix3 contactFrame(const Vector3& normal, const Vector3& planeNormal);

}
