#pragma once
#include "dynamics/rigid_flight.h"
#include "tendril/contact/contact_detection.h"
#include "tendril/equations/kkt_system.h"
#include "tendril/solvers/friction_problem.h"

#include <array>
#include <span>
#include <vector>

namespace tendril {

/// A contact as it takes part in a friction problem.
struct ContactBlock {
  Contact contact;
  ContactRows rows;
  FrictionLaw law;
  /// Which of the six components (velocity n, t, s; angular velocity n, t, s) the rows of the law are.
  std::array<int, FrictionLaw::maxSize> component{};

  /// The law of the contact, on as few rows as it needs.
  void chooseLaw();
  /// The normal alone.
  void chooseNormal();
  /// Relative velocity, all six components, at the velocities v of the model.
  Vector6 velocity(const Model& model, const VectorX& v, bool withDrift = true) const;
};

/// Fills W from the velocities of the model that a unit impulse in each row causes, one column per row of the problem.
void fillDelassus(const Model& model, std::span<const ContactBlock> contacts, const MatrixX& columns, FrictionProblem& problem);

/// How impulses at contacts change the velocities: v = A^-1 H^T r, with the joints held. Free bodies answer each on its own; where joints
/// or elasticity couple them, the factorised equations of the model answer, one column per row of contact.
class ImpulseResponse {
 public:
  ImpulseResponse(KktSystem& kkt, const RigidFlight& flight, bool isCoupled);

  /// Coupled models: what one unit of the matrix that was factorised stands for, A = unit x matrix.
  void setUnit(double unit) { unit_ = unit; }
  /// Fills laws, rows and W of the problem; q is left at zero.
  void gather(std::span<const ContactBlock> contacts, FrictionProblem& problem);
  /// v += A^-1 H^T r; with joints, lambda += their impulses.
  void apply(std::span<const ContactBlock> contacts, const FrictionProblem& problem, const VectorX& r, VectorX& v, VectorX& lambda) const;

 private:
  void gatherBodies(std::span<const ContactBlock> contacts, FrictionProblem& problem) const;
  void gatherColumns(std::span<const ContactBlock> contacts, FrictionProblem& problem);

  KktSystem& kkt_;
  const Model& model_;
  const RigidFlight& flight_;
  bool isCoupled_;
  double unit_ = 1;
  MatrixX columns_, jointColumns_; ///< A^-1 H^T and the impulses of joints that go with it
  VectorX upper_, lower_, x_, y_;
};

}
