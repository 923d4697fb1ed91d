#pragma once
#include "tendril/control/actuation.h"
#include "tendril/control/path_row.h"
#include "tendril/discrete/discrete_lagrangian.h"
#include "tendril/solvers/nonlinear_program.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// What a path must keep to: a row at every node, or pair of nodes, from `first` to `last`. An equation where lower == upper.
struct PathCondition {
  PathRow row;
  int first = 0, last = 0;
  double lower = 0, upper = 0;
  int other = -1; ///< the second node of the row; -1: the next one
};

/// A part of the objective that belongs to one node: weight * phi.
struct NodeObjective {
  PathRow row;
  int node = 0;
  double weight = 1;
};

/// A point of a body that stands still from node `first` to node `last`, by impulses r_n [N s] of what it touches at the nodes,
///
///     D (q_{n+1} - q_n) = 0,      ... + D^T r_n = 0,      D the position of the marker,
///
/// at `last` by the one that takes its velocity, D q'_last = 0. Where it lands, first > 0, the impact is plastic: momentum M q' comes in
/// and leaves with r_first. Friction keeps r in its cone.
struct PathContact {
  std::string name;
  const Marker* marker = nullptr;
  Vector3 normal = Vector3::UnitZ();
  std::vector<Vector3> directions{}; ///< in which it is held, orthonormal; empty: all three
  int first = 0, last = 0;
  std::optional<double> height{};   ///< normal . x at `first` [m]
  bool pushes = true;               ///< r along the normal is not negative
  std::optional<double> friction{}; ///< |r_t| <= mu r_n
  bool standsAtBegin = true;        ///< D q'_0 = 0 where it begins at the begin of a path with free momentum
};

/// An optimal control problem of a director system on [0, T], discretised (Leyendecker 2011, chapters 5 and 8): controls constant on each
/// of N intervals of size h = T/N,
///
///     min  (T w_T + h sum_n l(tau_n)) / s + node objectives,      l = sum_k w_k tau_k^2 or (sum_k w_k tau_k^2 + eps^2)^(1/2)
///     s.t. P(q_n)^T [D2 L_d(q_{n-1}, q_n) + D1 L_d(q_n, q_{n+1}) + (h/2) B(q_n)^T (tau_{n-1} + tau_n) + D^T r_n] = 0,  n = 1 .. N-1
///     (control.2)
///          P(q_0)^T [p_0 + D1 L_d(q_0, q_1) + (h/2) B(q_0)^T tau_0 + D^T r_0] = 0,      likewise at N, where momenta are given
///          conditions, bounds on controls and on T, contacts.
///
/// At nodes with velocities q', which satisfy G q' = 0, the balance is one of what arrives and M q', and one of M q' and what leaves.
struct ControlProblem {
  int intervals = 10;
  double duration = 1; ///< T [s]; where T is free, the first guess
  std::optional<std::array<double, 2>> durationBounds{};
  Quadrature quadrature = Quadrature::Midpoint;
  std::vector<Actuator> actuators;
  std::vector<double> lower, upper;                  ///< of the controls; empty: none
  std::vector<double> effort;                        ///< w_k
  std::optional<double> effortNorm{};                ///< eps, where l is the norm
  double durationWeight = 0;                         ///< w_T
  std::optional<PathCondition> perUnit{};            ///< s = phi at `first` (and `other`): cost of transport; empty: 1
  std::optional<VectorX> beginMomentum, endMomentum; ///< covectors on q (n); rest: zero; empty: free
  std::vector<int> velocityNodes;                    ///< where conditions read velocities; those where contacts change are added
  std::vector<PathContact> contacts;
  std::vector<PathCondition> conditions;
  std::vector<NodeObjective> objectives;
};

/// The reduced transcription (DMOCC) as a nonlinear program: nodes are points of the constraint manifold, moved by r = n - m coordinates
/// of their tangent spaces, so that constraints and their multipliers are no part of the program. Variables: r per node, the controls of
/// every interval, velocities and impulses where there are some, T if it is free. All derivatives are exact, and sparse in stages.
///
/// With w the bracket above, lambda and nu the multipliers that take from w and from the gradient of the Lagrangian what points
/// across the manifold, a = P mu, g'' the constant second derivatives of the constraints, E = G^+ g''(a) P:
///
///     dR_n = P_n^T (W_nk - lambda_n g'') P_k delta_k + ...,
///     H_nn = P^T (L'' - nu_n g'') P - E^T (W_nn - lambda g'') P - P^T (W_nn - lambda g'')^T E - (E^T E_R + E_R^T E)/2,
///
/// that is, Newton's method for the program with multipliers after elimination of all that the constraints determine.
class ControlledPath final : public NonlinearProgram {
 public:
  /// `guess`: N + 1 configurations on the constraint manifold, and controls (controls x N, or empty). InputError for what does not fit.
  ControlledPath(const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess, const MatrixX& controls = {});
  ~ControlledPath() override;

  const ControlProblem& problem() const;
  int intervals() const;
  int freedom() const; ///< r
  double duration() const;
  double step() const { return duration() / intervals(); }
  const VectorX& node(int n) const;
  /// Controls of an interval.
  Eigen::Ref<const VectorX> control(int interval) const;
  const MatrixX& controls() const;
  /// The momenta with which interval n leaves node n, p_n^- = -(D1 L_d + f-), and arrives at node n + 1, p_{n+1}^+ = D2 L_d + f+, controls
  /// included.
  void momenta(int interval, VectorX& left, VectorX& right) const;
  /// Velocities q' with which the path leaves a node: of the momentum there what constraints and standing contacts let through; and those
  /// with which it arrives, where contacts land others.
  VectorX velocity(int n) const;
  VectorX velocityBefore(int n) const;
  /// s, by which the cost is divided.
  double costUnit() const;
  /// What is left of the balance of all momenta that meet at a node, forces of constraints not counted.
  VectorX unbalanced(int n) const;
  /// Covector of the impulses of contacts at a node.
  VectorX contactMomentum(int n) const;
  /// Impulse of a contact at a node, inertial components [N s]; zero where it does not touch.
  Vector3 impulse(int contact, int n) const;
  /// Largest angle that a body turns by in one interval [rad]; momenta of directors fold back at a right angle.
  double largestTurn() const;
  /// Largest distance of a node from the constraint manifold.
  double closure() const;
  /// Sizes of variables, equations, inequalities and objective, from the mass and the size of the model and the duration: by these a solver
  /// should measure, so that units do not matter.
  struct Units {
    double objective = 1;
    VectorX variable, equality, inequality;
  };
  Units units() const;
  /// Tangent basis of a node, q' = basis * delta'.
  MatrixX basis(int n) const;

  const ProgramStructure& structure() const override;
  int pointSize() const override;
  void getPoint(Eigen::Ref<VectorX> numbers) const override;
  void setPoint(const Eigen::Ref<const VectorX>& numbers) override;
  void retract(const Eigen::Ref<const VectorX>& increment) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfVariable(int i) const override;
  std::string nameOfEquality(int i) const override;
  std::string nameOfInequality(int i) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
