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
};

/// A part of the objective that belongs to one node: weight * phi(q_node).
struct NodeObjective {
  PathRow row;
  int node = 0;
  double weight = 1;
};

/// An optimal control problem of a director system on [0, T], discretised (Leyendecker 2011, chapter 5): controls constant on each of N
/// intervals of size h = T/N,
///
///     min  T w_T + h sum_n sum_k w_k tau_{n,k}^2 + node objectives
///     s.t. P(q_n)^T [D2 L_d(q_{n-1}, q_n) + D1 L_d(q_n, q_{n+1}) + (h/2) B(q_n)^T (tau_{n-1} + tau_n)] = 0,    n = 1 .. N-1
///          P(q_0)^T [p_0 + D1 L_d(q_0, q_1) + (h/2) B(q_0)^T tau_0] = 0,      likewise at N, where momenta are given
///          conditions on configurations, bounds on controls and on T.
struct ControlProblem {
  int intervals = 10;
  double duration = 1; ///< T [s]; where T is free, the first guess
  std::optional<std::array<double, 2>> durationBounds{};
  Quadrature quadrature = Quadrature::Midpoint;
  std::vector<Actuator> actuators;
  std::vector<double> lower, upper;                  ///< of the controls; empty: none
  std::vector<double> effort;                        ///< w_k
  double durationWeight = 0;                         ///< w_T
  std::optional<VectorX> beginMomentum, endMomentum; ///< covectors on q (n); rest: zero; empty: free
  std::vector<PathCondition> conditions;
  std::vector<NodeObjective> objectives;
};

/// The reduced transcription (DMOCC) as a nonlinear program: nodes are points of the constraint manifold, moved by r = n - m coordinates
/// of their tangent spaces, so that constraints and their multipliers are no part of the program. Variables: r per node, the controls of
/// every interval, T if it is free. All derivatives are exact, and sparse in stages.
///
/// With w_n the bracket above, lambda_n and nu_n the multipliers that take from w_n and from the gradient of the Lagrangian what points
/// across the manifold, a_n = P mu_n, g'' the constant second derivatives of the constraints, E_n = G^+ g''(a_n) P:
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
