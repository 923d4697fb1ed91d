#pragma once
#include "tendril/control/transcription.h"

namespace tendril {

/// Optimal control of a tree of rigid bodies in the coordinates u of its joints, L(u, u') = u'^T M(u) u' / 2 - V(u), with the controls
/// constant on intervals, to compare with ControlledPath. B are the constant directions of motors. With U = (u_n + u_{n+1})/2 and
/// V = (u_{n+1} - u_n)/h of an interval, the equations of the methods are
///
///     Dmoc            D2 L_d(u_{n-1}, u_n) + D1 L_d(u_n, u_{n+1}) + (h/2) B (tau_{n-1} + tau_n) = 0,     L_d = h L(U, V),
///                     momenta given at the ends as in ControlledPath (Leyendecker, Ober-Bloebaum, Marsden & Ortiz 2010);
///     CollocationQp   (p_n + p_{n+1})/2 = L_v(U, V),     p_{n+1} - p_n = h (L_u(U, V) + B tau_n),
///                     the midpoint rule for Hamilton's equations, by the Legendre transform; eliminating p gives Dmoc;
///     CollocationQv   u_{n+1} - u_n = h W,   W = (v_n + v_{n+1})/2,
///                     M(U) (v_{n+1} - v_n) + h (L_vu(U, W) W - L_u(U, W) - B tau_n) = 0,
///                     the midpoint rule for the explicit equations of motion; it loses the balance of momenta by O(h^2).
///
/// Points are vectors: u_n, p_n or v_n, tau_n node by node. Angles count whole turns. All derivatives are exact and sparse in stages.
/// InputError for what JointLagrangian refuses, for a free duration, for the trapezoidal rule and for controls whose generalized forces
/// depend on the configuration.
class JointPath final : public VectorProgram, public Transcription {
 public:
  /// `guess`: N + 1 configurations of the tree, no joint turning by more than half a turn between them.
  JointPath(TranscriptionMethod method, const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess,
            const MatrixX& controls = {});
  ~JointPath() override;

  int freedom() const; ///< number of coordinates of joints
  /// Coordinates of the joints at a node; and their momenta, with which an interval leaves its first node and arrives at its second.
  Eigen::Ref<const VectorX> coordinates(int n) const;
  void jointMomenta(int interval, VectorX& left, VectorX& right) const;
  /// First of the rows of the balance of momenta at a node (Dmoc), or of an interval (collocation); -1 if there is none.
  int firstRow(int n) const;

  const ProgramStructure& structure() const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  std::string nameOfVariable(int i) const override;
  std::string nameOfEquality(int i) const override;
  std::string nameOfInequality(int i) const override;

  NonlinearProgram& program() override { return *this; }
  VectorProgram* vectorProgram() override { return this; }
  Units units() const override;
  const ControlProblem& problem() const override;
  double duration() const override;
  const VectorX& node(int n) const override;
  const MatrixX& controls() const override;
  Eigen::Ref<const VectorX> control(int interval) const override;
  void momenta(int interval, VectorX& left, VectorX& right) const override;
  VectorX unbalanced(int n) const override;
  VectorX velocity(int n) const override;
  double largestTurn() const override;
  double closure() const override { return 0; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
