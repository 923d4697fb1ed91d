#pragma once
#include "tendril/control/path_function.h"
#include "tendril/discrete/discrete_lagrangian.h"
#include "tendril/model/actuator.h"

#include <memory>
#include <vector>

namespace tendril {

/// A forward run: N steps of size h = duration / N from the initial state of the model.
struct ForwardOptions {
  int steps = 1;
  double duration = 1; ///< [s]
  Quadrature quadrature = Quadrature::Midpoint;
};

/// A path of the variational integrator under controls tau_n, constant in each step, and its exact derivatives. With B(q)^T tau as in
/// Actuation, and p_n the momentum that arrives at node n without forces of constraints, it satisfies
///
///     p_n + D1 L_d(q_n, q_{n+1}) + f- + (h/2) B(q_n)^T tau_n - G(q_n)^T mu_n = 0,      g(q_{n+1}) = 0,                          (1)
///     p_{n+1} = D2 L_d(q_n, q_{n+1}) + f+ + (h/2) B(q_{n+1})^T tau_n,                   p_0 = M q'_0,                            (2)
///
/// (control.6), those of DMOCC without elimination of the multipliers mu. Forces from outside that change from step to step,
/// as wind, are controls: an Actuator that is fixed in space.
///
/// Differentiated, (1) is a saddle point problem with the matrix of the step, S = [D2 D1 L_d, -G_n^T; G_{n+1}, 0]. The tangent mode solves
/// it from the first node to the last for one direction of change; the adjoint mode (control.7) solves with its transpose from the last to
/// the first and yields the gradient of one function with respect to everything: with the sensitivities qbar, pbar of what comes after,
///
///     [-(D2 D1 L_d)^T, G_{n+1}^T; G_n, 0] [alpha_n; beta_n] = [qbar_{n+1} + (D2 D2 L_d + ...)^T pbar_{n+1}; 0],
///     pbar_n = alpha_n,     qbar_n = (D1 D2 L_d)^T pbar_{n+1} + (D1 D1 L_d + ... - mu_n g'')^T alpha_n + d(phi)/dq_n,
///     taubar_n = (h/2) (B(q_n) alpha_n + B(q_{n+1}) pbar_{n+1}) + d(phi)/dtau_n.
///
/// Both cost O(N) with one sparse factorisation a step, and are exact for the equations (1), (2) to the tolerance of the run (1e-13 of the
/// momenta that meet in a node). Velocities that a function reads are those of a node's momentum, M q'_n + G^T mu' = p_n, G q'_n = 0.
///
/// Whatever else changes the equations, masses, lengths, gravity, stiffness, the initial state, is a parameter c of another model of
/// the same shape. At fixed path and fixed adjoint variables, d(phi)/dc is the partial derivative of the augmented function (control.8)
///
///     A(c) = phi(c) + sum_n alpha_n . (1)_n(c) - beta_n . g(q_{n+1}; c) + pbar_{n+1} . (2)_n(c) + qbar_0 . q_0(c) + pbar_0 . p_0(c),
///
/// which is explicit: no equation is solved for the other model. ForwardFunction differentiates it.
///
/// Source of the equations: Leyendecker 2011, (3.13), (5.9), (6.10); of the method: discrete adjoints, e.g. Griewank & Walther 2008.
/// Nothing allocates within a sweep but what the functions ask for. Results do not depend on what the object did before. Not thread-safe.
///
/// InputError for muscles (their forces depend on rates), for a function whose numbers the path does not have, for velocities where ground
/// or drives move; NumericalFailure where the integrator fails.
class ForwardPath {
 public:
  /// The model must outlive the path.
  ForwardPath(const Model& model, std::vector<Actuator> actuators, const ForwardOptions& options);
  ~ForwardPath();
  ForwardPath(ForwardPath&&) noexcept;

  /// Runs with these controls (actuators x steps).
  void run(const Eigen::Ref<const MatrixX>& controls);

  const DirectorSystem& system() const;
  const ForwardOptions& options() const;
  int actuators() const;
  double step() const { return options().duration / options().steps; }
  const MatrixX& controls() const;
  /// q_n, and p_n as in (2), n = 0 .. N.
  const VectorX& node(int n) const;
  const VectorX& momentum(int n) const;
  /// q'_n.
  VectorX velocity(int n);
  double value(const PathFunction& function);

  /// Derivatives of a function: by controls (actuators x steps); by the initial configuration, moved by twists of the blocks in their local
  /// frames that the joints allow, twists of velocity kept; and by these.
  struct Gradient {
    double value = 0;
    MatrixX controls;
    VectorX placement, velocity;
  };
  /// Adjoint mode.
  const Gradient& differentiate(const PathFunction& function);

  /// The augmented function of the last differentiate(), with the equations and the initial state of `other`, which need not have run, and
  /// with `function` made for its model.
  double augmented(ForwardPath& other, const PathFunction& function);

  /// A direction in which all that determines a path changes.
  struct Change {
    MatrixX controls;                                ///< empty: none
    VectorX begin, momentum;                         ///< of q_0 and p_0; empty: none
    std::vector<VectorX> leaving, arriving, closing; ///< of (1), (2) and g(q_{n+1}) at fixed path; empty: none
    double function = 0;                             ///< of phi at fixed path
  };
  /// Change of the start by twists of the blocks, as in Gradient.
  Change startChange(const VectorX& placement, const VectorX& velocity) const;
  /// What two models make of the equations at this path, for a function made for each: (plus - minus) / width.
  Change modelChange(ForwardPath& plus, const PathFunction& ofPlus, ForwardPath& minus, const PathFunction& ofMinus, double width);
  /// Tangent mode: the derivative of a function in a direction. nodeChange() is that of q_n.
  double differentiate(const PathFunction& function, const Change& change);
  const VectorX& nodeChange(int n) const;
  const VectorX& momentumChange(int n) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
