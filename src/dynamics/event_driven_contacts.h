#pragma once
#include "dynamics/impulse_response.h"
#include "tendril/solvers/friction_solver.h"

#include <string>
#include <vector>

namespace tendril {

/// A contact that is closed, followed along the motion by the features that touch.
struct ClosedContact {
  enum class Mode { Stick, Slip };

  ContactBlock block; ///< at the state last evaluated; the law has no rows for what is frictionless
  int firstShape = 0, secondShape = 0;
  Mode mode = Mode::Stick;
  Vector3 direction = Vector3::Zero(); ///< of slip at the begin of the step, inertial frame
  bool isYoung = false;                ///< slip that has begun from rest and is small: its acceleration gives the direction
  Vector3 force = Vector3::Zero();     ///< on the first part, inertial frame
  Vector3 velocity = Vector3::Zero();  ///< relative, in the contact frame
  Vector3 bias = Vector3::Zero();      ///< acceleration of the contact = H a + bias, in the contact frame
  Vector3 acceleration = Vector3::Zero();

  double friction() const { return block.contact.law->friction; }
  int tangents() const { return block.law.size - 1; }
  /// Tangential components that friction sees: none, one in the plane, two in space.
  Eigen::Vector2d tangential(const Vector3& components) const;
  /// Direction of slip in the tangents; turned by the motion, but not back when the slip passes through zero.
  Eigen::Vector2d slip(double noise) const;
  /// mu P_n - |P_t|.
  double coneMargin() const;
  double normalForce() const { return block.contact.point.normal.dot(force); }
};

/// Closed contacts and the forces in them, on the level of accelerations.
class ClosedContacts {
 public:
  enum class Outcome { Solved, NoSolution };

  ClosedContacts(const Model& model, ContactDetection& detection, ImpulseResponse& response);

  std::vector<ClosedContact>& list() { return list_; }
  const std::vector<ClosedContact>& list() const { return list_; }
  const ClosedContact* find(std::uint64_t key) const;
  /// By its key, or by place and features where these have changed since it closed.
  const ClosedContact* find(const Contact& contact) const;
  /// Takes in a contact found by the detection at this state.
  void add(const Contact& contact, const State& state);
  /// Kinematics of all contacts at a state, with the acceleration that the motion along the surfaces brings. False if the features of some
  /// contact no longer meet: it is lost().
  bool update(const State& state);
  int lost() const { return lost_; }

  /// Decides which contacts open, stick and slide: those in mode Slip keep the direction of their friction, those in mode Stick may do
  /// anything. `a` are the accelerations without contact forces. Contacts that open are erased.
  Outcome chooseModes(const VectorX& a);
  /// Forces and accelerations for the present modes; a holds those without contact forces on entry. False if they contradict each other.
  /// Friction of young slip is against the acceleration of the slip, a_t || u: that of the smooth law, u_t/|u_t|, for |u_t| -> 0, where the
  /// equations turn infinitely stiff.
  bool solve(VectorX& a);
  /// Whether forces can be moved among the contacts without changing the motion.
  bool isHyperstatic() const { return isHyperstatic_; }
  /// Takes the closed gaps to zero.
  void closeGaps(State& state, RigidFlight& flight);
  /// Takes the normal velocities of all, and the slip of those that stick, to zero.
  void holdVelocities(State& state);

  double noise = 0;             ///< slip below this has no direction
  double accelerationScale = 0; ///< of the contacts without their forces, when modes were last chosen
  double forceScale = 0;        ///< forces by which contacts are held, at the state last solved
  std::string note;             ///< what chooseModes() found worth telling
  double frictionResidual = 0;  ///< of the friction problem last solved
  std::vector<int> withoutRest; ///< sliding contacts for which no acceleration was found

 private:
  bool locate(const ClosedContact& c, const Pose& first, const Pose& second, ContactPoint& point);
  bool isTaken(const ClosedContact& c, std::uint32_t feature) const;
  bool updateOne(ClosedContact& c, const State& state);
  void gather();
  void setModeColumns();
  int unknowns() const;
  bool decideSliding(const std::vector<int>& sliding, VectorX& r);
  bool decideResting(const std::vector<int>& resting, VectorX& r);
  bool solveModes(VectorX& a);
  bool solveYoung(const std::vector<int>& young, VectorX& a);
  bool isUnique(const MatrixX& M) const;
  void takeModes(const VectorX& r);
  void takeLeastForces(VectorX a);

  const Model& model_;
  ContactDetection& detection_;
  ImpulseResponse& response_;
  std::vector<ClosedContact> list_;
  std::vector<ContactBlock> blocks_;
  FrictionProblem problem_, resting_;
  FrictionSolver solver_;
  MatrixX W_, F_, E_;
  VectorX free_, lambda_;
  std::vector<ContactPoint> points_;
  MarkerKinematics kinematics_;
  int lost_ = -1;
  bool isHyperstatic_ = false;
};

}
