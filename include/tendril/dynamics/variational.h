#pragma once
#include "tendril/discrete/discrete_lagrangian.h"
#include "tendril/discrete/legendre.h"
#include "tendril/discrete/null_space.h"
#include "tendril/equations/analysis.h"
#include "tendril/solvers/friction_solver.h"

#include <functional>
#include <memory>
#include <vector>

namespace tendril {

/// How the constraints of a director system are met in a step; the discrete paths are the same.
enum class Elimination {
  Multipliers, ///< unknowns q_{n+1} and lambda_n (n + m), condition growing like h^-3
  NullSpace,   ///< unknown q_{n+1} (n): P^T [...] = 0 and g = 0
  Reduced      ///< unknown increments u (n - m independent constraints): the minimum, and well conditioned
};

/// Which one-step method advances a director system.
enum class DirectorScheme {
  Variational,   ///< discrete Euler-Lagrange equations
  EnergyMomentum ///< discrete derivatives (Gonzalez 1996): energy and momentum exact, not symplectic; the comparison
};

struct VariationalOptions {
  double duration = 1; ///< [s]
  double step = 1e-3;  ///< [s]
  /// Prescribed sizes of the steps [s], one after the other, the last repeated; empty: `step`.
  std::vector<double> steps{};
  /// Exponent with which steps follow the time scale (|q'| / |q'''|)^(1/2) of the motion, by the reversible control of Hairer & Soderlind
  /// (2005): 0, the step stays; 1, it is a fixed share of the time scale. `step` is the first one.
  double adaptation = 0;
  DirectorScheme scheme = DirectorScheme::Variational;
  Elimination elimination = Elimination::Reduced;
  Quadrature quadrature = Quadrature::Midpoint; ///< of the variational scheme
  double tolerance = 1e-13;                     ///< of momenta, relative to those that meet in a node; never below round-off
  int maxIterations = 30;
  FrictionOptions friction{.measure = FrictionOptions::Measure::Scaled}; ///< where bodies touch
  /// Forces that depend on time and place alone, covectors on the redundant coordinates: f += scale F(q, t). Each interval applies them, as
  /// they are halfway, at its two ends, h/2 F(q_n, t_n + h/2), so that they change momentum maps by what they are. Variational scheme only.
  std::function<void(const VectorX& q, double t, double scale, VectorX& f)> applied{};
  /// Called with the first friction problem of every node where something touches: number of the step that ends there, and the impulses.
  std::function<void(long step, const FrictionProblem& problem, const VectorX& impulses)> onProblem{};
};

/// Numbers that only a discrete path has, at the node of the present state.
struct DiscreteNode {
  double intervalEnergy = 0;      ///< E_d of the interval that begins at the node [J]
  double hamiltonian = 0;         ///< H_d(q_n, Q p_n)
  double momentumHamiltonian = 0; ///< H_d(q_n, p_n), with the part that the constraints hold
  double speed = 0;               ///< |(q_{n+1} - q_n)/h|, Euclidean, directors times the size of the model [m/s]
  Momentum momentum;              ///< of Q p_n: the momentum maps
  VectorX multipliers;            ///< lambda_n, internal constraints first
  double hiddenConstraint = 0;    ///< largest |G M^-1 p_n|, lengths relative to the size of the model [1/s]
  double closure = 0;             ///< largest |g(q_n)|, likewise [1]
  double largestTurn = 0;         ///< of a block in the interval [rad]; the fold is at 90 degrees
  int unknowns = 0;               ///< of the equations of a step
};

/// Variational integrators of constrained systems in director coordinates (Leyendecker 2011, chapter 3; Leyendecker, Marsden & Ortiz
/// 2008):
///
///     (D1 L_d + f-)(q_n, q_{n+1}) + (D2 L_d + f+)(q_{n-1}, q_n) - h G(q_n)^T lambda_n = 0,      g(q_{n+1}) = 0      (discrete.2)
///
/// by multipliers, by the discrete null space method, or with nodal reparametrisation; the first node from the initial velocity by the
/// discrete Legendre transform. Order 2; symplectic; momentum maps of the symmetries exact to the tolerance of the solution; energy error
/// bounded. The reduced equations are solved by Newton's method on the manifold, q_{n+1} <- F(delta, q_{n+1}), with exact derivatives;
/// trees are solved sparsely, in time linear in the number of bodies, closed loops through the QR null space.
///
/// Momentum and multipliers of a node belong to both intervals that meet there; so the integrator is one interval ahead of the state that
/// it shows. The velocities of state() are those of the projected momenta, Q p = M q'; its multipliers are those of the model's
/// constraints.
///
/// A step in which a body turns by 90 degrees or more lies beyond the fold of the discrete momentum, J sin(theta)/h, and is refused:
/// NumericalFailure names the body and asks for a smaller step.
///
/// Bodies may touch, with restitution and friction: contacts act at the nodes, by impulses r in the balance of momenta there,
///
///     ... + D^T H(q_n)^T r - h G(q_n)^T lambda_n = 0,     law between r and the mean velocities of both intervals, (discrete.5)
///
/// see docs/variational.md. At such a node momenta jump; momenta and velocities shown are those of the interval that begins there.
class VariationalIntegrator final : public Analysis {
 public:
  VariationalIntegrator(const Model& model, const VariationalOptions& options);
  /// Model and contacts must outlive the analysis.
  VariationalIntegrator(const Model& model, const VariationalOptions& options, const ContactModel& contacts);
  ~VariationalIntegrator() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  const ContactReport* contacts() const override;
  /// Of the node, in the sense of director coordinates.
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  const DirectorSystem& system() const;
  /// At the node of state().
  const DiscreteNode& node() const;
  /// Configuration of the next node, which is known already. NumericalFailure if the first interval has none.
  const VectorX& ahead() const;
  /// Condition number (2-norm) of the matrix of the last step, as it stands, and with rows and unknowns scaled to the sizes of momenta,
  /// lengths and h (multipliers: lambda' = h^2 lambda, rows times h). Dense; for reports.
  struct Condition {
    double raw = 0, scaled = 0;
  };
  Condition condition();
  /// The next node is set out from the present one backwards: the path returns the way it came.
  void reverse();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
