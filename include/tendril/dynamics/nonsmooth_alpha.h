#pragma once
#include "tendril/contact/contact_constraints.h"
#include "tendril/contact/contact_model.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/equations/contact_newton.h"

#include <memory>

namespace tendril {

struct NonsmoothAlphaOptions {
  GeneralizedAlphaOptions smooth{}; ///< duration, step, spectral radius, tolerances
  ContactNewtonOptions contact{};
  /// Gaps and slips of this share of the size of what touches are zero.
  double gapTolerance = 1e-9;
  /// Contact holds at the level of positions and of velocities. False: of velocities alone, the scheme of Moreau and Jean.
  bool positionLevel = true;
  /// Overlap left at the start is an error; with this, it is taken out by moving what overlaps apart.
  bool projectInitial = false;
};

/// Nonsmooth generalized-alpha method on Lie groups (Bruls, Acary & Cardona 2014; Cosimo, Galvez, Cavalieri, Cardona & Bruls 2020):
/// mechanics with joints, elasticity, unilateral contact, impact and friction, contact at the level of positions and of velocities, without
/// locating events. A step solves three problems one after the other, each a problem of equilibrium for the same model,
/// r(q, v, a, lambda, t) = M(q) a + f(q,v,t) - G(q,t)^T lambda, with the joints in each of them, (1) as if nothing touched:
///
///     (1) smooth    q~, v~, a~       r(q~, v~, a~, lambda~) = 0,                       g(q~) = 0        by GeneralizedAlpha
///     (2) position  q = q~ exp(U)    r(q, v~, a~ + 2U/h^2, l) = B(q)^T nu,             g(q) = 0,        law(gap, slip since q_n; nu)
///     (3) velocity  v = v~ + W       r(q, v, a~ + W/h, lambda) = B(q)^T Lambda/h,      G v + g_t = 0,   law(V_n, V_t; Lambda)
///
///     law(g, s; p):   0 <= g  _|_  p_n >= 0,   |p_t| <= mu p_n,  p_t opposite to s where it does not vanish    (dynamics.4), (dynamics.5)
///
/// r is linear in a, and (1) is subtracted from (2) and (3), which gives 2 M U / h^2 - F_p* - B^T nu = 0 and M W - h F* - B^T Lambda = 0
/// with F* = F(q,v,t) - F(q~,v~,t) + (M(q~) - M(q)) a~, F = -f. (2) departs from the source, which has U/h^2 there: a force that lasts over
/// the step moves a mass by h^2/2 of its acceleration and a stiff structure by its compliance, so only with 2 is nu [N] the same force for
/// both, and the mean of Lambda/h; with 1 stiff parts would feel half of it. The change of M that the source drops is kept.
///
/// V = B v + drift + e V^- normal to the surfaces and tau V^- along them, V^- the velocity at the begin of the step, e and tau the
/// coefficients of restitution where the surfaces were approaching, else zero. In (3) take part the contacts that (2) left closed. Where
/// none is touched at q~, the step is that of GeneralizedAlpha to the last bit.
///
/// The force of a contact that lasts acts, as that of a joint in RATTLE (Andersen 1983), half along the gradient at the begin of the step:
/// on the right of (3) stands (B(q_n) - B(q))^T nu/2 too, for contacts that pushed in the step before. With the gradient at the end
/// alone, the source's choice, curved paths and turning bodies would be integrated to first order, and lose energy.
///
/// After a step gap and normal velocity of what stays in contact are both zero, so nothing drifts. Smooth motion, free or in lasting
/// contact, is of second order; an impact costs an error of first order, as its time is not located. The step goes on from q and v with a~,
/// the acceleration without contact; state() gives a~ + W/h, which with lambda and Lambda/h satisfies the equations of motion.
///
/// With contact at the level of velocities alone (Chen, Acary, Virlez & Bruls 2013), (2) is left out and q = q~ exp(h W/2), with the
/// contacts closed at q~: overlaps made by impacts stay.
///
/// A step whose contacts could not be solved is taken again with half its size, down to an eighth; then NumericalFailure names the worst
/// contact.
class NonsmoothAlpha final : public Analysis {
 public:
  /// Model and parts, those that the constraints speak of, must outlive the analysis.
  NonsmoothAlpha(const Model& model, const NonsmoothAlphaOptions& options, const ContactModel& parts,
                 std::unique_ptr<ContactConstraints> contacts);
  ~NonsmoothAlpha() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  /// Contacts within reach of the last step, impulses Lambda.
  const ContactReport* contacts() const override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
