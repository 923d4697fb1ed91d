#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/equations/analysis.h"
#include "tendril/equations/compliant_contacts.h"
#include "tendril/equations/kkt_system.h"
#include "tendril/solvers/friction_solver.h"

#include <functional>
#include <memory>

namespace tendril {

struct MoreauOptions {
  double duration = 1; ///< [s]
  double step = 1e-3;  ///< [s]
  /// Weight of the end of the step, in [1/2, 1]: 1/2 is Moreau's midpoint scheme; more damps the vibrations of elastic parts.
  double theta = 0.5;
  FrictionOptions friction{.measure = FrictionOptions::Measure::Scaled};
  /// Move overlapping bodies apart after each step, velocities untouched. Without it an overlap made by an impact (up to step x speed)
  /// stays.
  bool project = true;
  /// Overlap left at the start is an error; with this, it is taken out by moving the bodies apart.
  bool projectInitial = false;
  /// Bodies at rest for a while are left out until something touches or drives them.
  bool sleeping = false;
  KktTolerances tolerances{}; ///< of the joints
  /// Called with every friction problem after it was solved: its step and the impulses.
  std::function<void(long step, const FrictionProblem& problem, const VectorX& impulses)> onProblem{};
};

/// Nonsmooth dynamics by Moreau's time-stepping (Moreau 1988, Jean 1999): contacts are looked for at the middle of the step, impacts and
/// lasting contact are one and the same problem in velocities and impulses, and no event is located:
///
///     q_m = q_i (+) (1 - theta) h v_i,     A (v_f - v_i) = h F + G^T Lambda + H^T P,     q_f = q_m (+) theta h v_f,
///     G v_f + g_t = 0,                     law(V, P) for every contact with gap(q_m) <= 0      (dynamics.3).
///
/// A is the mass matrix, with elastic and damping parts A = M + h theta C + (h theta)^2 K. Rigid bodies move their centres of mass on
/// straight lines and turn by the energy-preserving midpoint rule, so that free flight neither gains nor loses energy.
/// Where contacts are compliant, the strain e of their springs goes by Euler's rule backwards, so that the law holds between P_t and
///
///     w = u_t + C (P_t / h - g) / (h + tau),     g = -e / C at the begin of the step      (analysis.8):
///
/// a diagonal on the tangential rows of the Delassus operator. C = 0 is the rigid contact. To be seen, a spring needs steps below
/// sqrt(C / W_tt); where they are longer the step takes the impulse that the rigid contact would take, and says so.
/// A step whose contacts could not be solved is taken again in parts, down to an eighth; then NumericalFailure names the worst contact.
class Moreau final : public Analysis, public CompliantContacts {
 public:
  /// Model and contacts must outlive the analysis.
  Moreau(const Model& model, const ContactModel& contacts, const MoreauOptions& options);
  ~Moreau() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  const ContactReport* contacts() const override;
  /// With what compliant contacts have stored.
  Energy energy(const Model& model) const override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;
  void soften(int first, int second, const TangentialCompliance& compliance) override;
  bool isSoft(int first, int second) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
