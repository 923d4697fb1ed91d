#pragma once
#include "rods/element_twist.h"
#include "rods/end_conditions.h"
#include "tendril/solvers/nonlinear_program.h"

namespace tendril {

/// The equilibrium of a strain rod as a nonlinear program in the units of the rod: its length, EI / L for energies. The conditions at the
/// end are its last equations.
class RodProgram : public NonlinearProgram {
 public:
  const ProgramStructure& structure() const final { return structure_; }
  /// The scaled rod at the current strains, its frames reconstructed.
  virtual StrainRod& rod() = 0;
  /// Takes other strains, with frames that follow.
  virtual void start(const VectorX& strains) = 0;

  const EndConditions& ends() const { return ends_; }
  double energyUnit() const { return energyUnit_; } ///< largest stiffness over the length [J]
  /// What holds the end, by the multipliers of its conditions.
  RodSupport support(const VectorX& endMultipliers);
  /// Of all equations, those of the end.
  VectorX endMultipliers(const VectorX& equality) const { return equality.tail(ends_.rows()); }
  std::string nameOfVariable(int i) const override;

 protected:
  RodProgram(const StrainRod& rod, const RodEnds& ends);
  /// "curvature 1 of element 7".
  std::string nameOfStrain(int i) const;

  StrainRod rod_;
  EndConditions ends_;
  double length_, energyUnit_;
  ProgramStructure structure_;
};

/// Single shooting: strains are the variables, the end the only equations. Small and dense.
class StrainProgram final : public RodProgram {
 public:
  StrainProgram(const StrainRod& rod, const RodEnds& ends);

  StrainRod& rod() override;
  void start(const VectorX& strains) override { x = strains; }

  int pointSize() const override { return int(x.size()); }
  void getPoint(Eigen::Ref<VectorX> numbers) const override { numbers = x; }
  void setPoint(const Eigen::Ref<const VectorX>& numbers) override { x = numbers; }
  void retract(const Eigen::Ref<const VectorX>& increment) override { x += increment; }
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfEquality(int i) const override { return ends_.name(i); }

  /// Gradients of the equations, and the Hessian of the Lagrangian, dense.
  const MatrixX& jacobian();
  const MatrixX& hessian(double weight, const VectorX& multipliers);

  VectorX x; ///< strains of the scaled rod

 private:
  VectorX gradient_;
  MatrixX H_, J_;
};

/// Multiple shooting: frames of the nodes and strains are variables, elements are equations between neighbours,
///
///     r_{i+1} - r_i - R_i t_i = 0,     log(Q_i^T R_i^T R_{i+1}) = 0,     (Q_i, t_i) = tau(x_i),
///
/// whose multipliers are the internal force in the inertial frame and a moment. Nodes move by r <- r + rho, R <- R exp(omega). Stages are
/// nodes: six variables each and the strains of the element that begins there, so that effort is linear in the number of elements
/// (Blumentals 2017, 6.2.5, in minimal coordinates of the nodes).
class MixedProgram final : public RodProgram {
 public:
  MixedProgram(const StrainRod& rod, const RodEnds& ends);

  StrainRod& rod() override;
  void start(const VectorX& strains) override;

  int pointSize() const override { return 12 * rod_.elements() + rod_.size(); }
  void getPoint(Eigen::Ref<VectorX> numbers) const override;
  void setPoint(const Eigen::Ref<const VectorX>& numbers) override;
  void retract(const Eigen::Ref<const VectorX>& increment) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfEquality(int i) const override;
  std::string nameOfVariable(int i) const override;

 private:
  /// What derivatives of an element need.
  struct Element {
    Pose tau; ///< (Q, t)
    Matrix6 T;
    Matrix3 E;                   ///< Q^T R_i^T R_{i+1}
    Vector3 c;                   ///< log(E)
    ElementTwist::Jacobian X, S; ///< dx/dw, T dx/dw
  };
  static constexpr int mostLocal = 12; ///< (omega_i, w, omega_{i+1})
  using LocalHessian = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, mostLocal, mostLocal>;

  int nodeAt(int node) const { return twist_.stride() + (node - 1) * (6 + twist_.stride()); } ///< rho, omega; of nodes beyond the first
  int strainAt(int strain) const;
  std::vector<int> localVariables(int element) const;
  const double* strainsOf(int element) const { return strains_.data() + twist_.stride() * element; }
  const Pose& node(int i) const { return nodes_[std::size_t(i)]; }
  void declareElement(int i);
  void find(int i, Element& e) const;
  void localHessian(int i, const Element& e, const Vector3& force, const Vector3& moment, LocalHessian& H) const;

  ElementTwist twist_;
  VectorX strains_;
  std::vector<Pose> nodes_;
};

}
