#pragma once
#include "tendril/equations/contact_memory.h"
#include "tendril/equations/contact_newton.h"

#include <optional>

namespace tendril {

/// What the problems (2) and (3) of the nonsmooth generalized-alpha method (see NonsmoothAlpha) have in common: contact corrects the
/// smooth motion q~, v~, a~, lambda~ of a step.
///
/// Both are solved in an increment x of configuration [m, rad] and in forces [N]. Where that moves the configuration, q = q~ exp(x).
class ContactCorrection : public ContactProblem {
 public:
  /// Equations and contacts must outlive this.
  ContactCorrection(KktSystem& kkt, ContactConstraints& contacts, const ContactNewtonOptions& options, double gapTolerance);

  /// Solves for the step of size h that led to the smooth state.
  const ContactNewtonReport& solve(const State& smooth, double h);
  /// Contact forces on the constraints, one column for each.
  const Eigen::Matrix3Xd& forces() const { return F_; }
  /// The forces found are those from which the next step starts.
  void accept() { memory_.store(contacts_.constraints(), F_); }
  /// Forgets everything but those forces.
  std::vector<double> save();
  void restore(std::span<const double> forces);
  /// Nothing was touched in this step.
  void release() { memory_.store({}, F_); }
  /// Forces of the last step on the present constraints.
  void recall(Eigen::Matrix3Xd& F) const { memory_.recall(contacts_.constraints(), F); }

  KktSystem& kkt() override { return kkt_; }
  const State& state() const override { return state_; }
  double gapTolerance() const override { return gapTolerance_; }
  void restart() override;
  void applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) override;

 protected:
  /// v, a and, where the problem moves it, q from x.
  virtual void move() = 0;
  const Model& model() const { return kkt_.model(); }
  /// Rates are taken with respect to x: sets T^-1(x), or the identity.
  void setVelocityMaps(bool moves);

  KktSystem& kkt_;
  ContactConstraints& contacts_;
  double gapTolerance_;
  const State* smooth_ = nullptr;
  State state_;
  VectorX x_;
  double h_ = 0;

 private:
  ContactNewtonOptions options_;
  std::optional<ContactNewton> newton_;
  ContactMemory memory_;
  Eigen::Matrix3Xd F_;
};

/// Problem (2): x = U.
class PositionCorrection final : public ContactCorrection {
 public:
  using ContactCorrection::ContactCorrection;

  /// 2/h^2: a force that lasts over the step moves what has mass by h^2/2 of its acceleration, and what is stiff by its compliance.
  static double inertiaWeight(double h) { return 2 / (h * h); }

  bool evaluate() override;
  std::span<const ContactConstraint> constraints() const override { return contacts_.constraints(); }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return contacts_.gradient(c); }
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    contacts_.stiffness(forces, blocks);
  }
  double longestFactor(const VectorX& delta) const override;
  std::string describe(const ContactConstraint& c) const override { return contacts_.describe(c); }

 private:
  void move() override;
};

/// Problem (3): x = tau W with a time tau, which makes lengths of relative velocities, gaps of the law, and of the rates of joints. Where q
/// is given tau is as good as any; where it moves with the velocity, q = q~ exp(h W/2), tau = h/2. Contacts stay as they were last
/// evaluated.
///
/// Contacts that last have two directions in a step, as those of joints in RATTLE (Andersen 1983): what of their force corrected positions
/// acts as the gradient at the begin of the step says, the rest as that at its end.
class VelocityCorrection final : public ContactCorrection {
 public:
  using ContactCorrection::ContactCorrection;

  /// Keeps the gradients of contacts that pushed in the last step; call with the contacts evaluated at the begin of the step.
  void beginStep();
  /// Adds (B_n - B)^T F_p for the forces of (2).
  void turn(const Eigen::Matrix3Xd& positionForces);
  /// For the next solution: the configuration (null: moves with the velocity), the velocities at the begin of the step, and which
  /// constraints take part.
  void prepare(const VectorX* q, const VectorX& before, double h, const std::vector<char>& takesPart);
  /// (n, t, s) of velocities v in the contacts.
  Vector3 relativeVelocity(const ContactConstraint& original, const VectorX& v) const;

  bool evaluate() override;
  std::span<const ContactConstraint> constraints() const override { return constraints_; }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return contacts_.gradient(original(c)); }
  void stiffness(const Eigen::Matrix3Xd&, std::vector<StiffnessBlock>&) const override {}
  double longestFactor(const VectorX&) const override { return 1; }
  std::string describe(const ContactConstraint& c) const override { return contacts_.describe(original(c)); }

 private:
  void move() override;
  const ContactConstraint& original(const ContactConstraint& c) const {
    return contacts_.constraints()[std::size_t(&c - constraints_.data())];
  }
  void holdRatesOfJoints();

  bool moves_ = false;
  double tau_ = 0;
  const VectorX* q_ = nullptr;
  std::vector<ContactConstraint> constraints_; ///< gap and slip are velocities times tau
  std::vector<Vector3> rebound_;               ///< of each: (e V_n^-, tau V_t^-)
  /// B_n of one block of a contact that lasts.
  struct Lasting {
    std::size_t constraint;
    GradientEntry entry;
  };
  std::vector<Lasting> lasting_;
  Eigen::Matrix3Xd last_;
  std::vector<std::pair<int, Vector6>> turned_; ///< forces (B_n - B)^T F_p on blocks
  VectorX rate_;
};

}
