#pragma once
#include "tendril/solvers/nonlinear_program.h"
#include "tendril/solvers/staged_ldlt.h"

namespace tendril {

/// The linear equations of a primal-dual step, solved stage by stage:
///
///     [ H    Jc^T  Jd^T      ] [ dx  ]       [ rx ]
///     [ Jc   -e              ] [ dyc ]  =  - [ rc ]         slacks s with d(x) - s = 0, Sigma >= 0 diagonal
///     [ Jd               -I  ] [ dyd ]       [ rd ]
///     [            -I  Sigma ] [ ds  ]       [ rs ]
///
/// ds and dyd are eliminated: ds = Jd dx + rd, dyd = Sigma ds + rs, which adds Jd^T Sigma Jd to H. Where a row of d reaches three stages or
/// more that would couple stages that are no neighbours; such a row stays, with -1/Sigma on its diagonal.
class ProgramKkt {
 public:
  explicit ProgramKkt(const ProgramStructure& structure);

  struct Residual {
    Eigen::VectorXd x, c, d, s;
  };
  struct Step {
    Eigen::VectorXd x, yc, yd, s;
  };
  Residual makeResidual() const;
  Step makeStep() const;

  /// Sets the matrix. `hessian` null: the unit matrix in place of H.
  void assemble(const ProgramDerivatives& derivatives, const Eigen::VectorXd* hessian, const Eigen::VectorXd& sigma);
  /// Factorises with `primal` added to the diagonal of H and e = `dual`.
  bool factorise(double primal, double dual);
  /// Of the last factorisation: as many positive eigenvalues as variables, the others negative, none zero.
  bool convexOnConstraints() const;
  bool singular() const { return ldlt_.inertia().zero > 0; }
  bool finite() const { return ldlt_.finite(); }
  /// Returns the relative residual that is left.
  double solve(const Residual& residual, Step& step);

  /// sum += Jc^T yc + Jd^T yd, magnitude += |Jc|^T |yc| + |Jd|^T |yd|.
  void addTransposed(const ProgramDerivatives& derivatives, const ProgramMultipliers& y, Eigen::VectorXd& sum,
                     Eigen::VectorXd& magnitude) const;

  int factorisations = 0;
  double factorisationTime = 0, solutionTime = 0;

 private:
  struct Product { ///< of two values in a row of Jd: its place in the matrix
    int row, first, second;
    std::size_t position;
  };
  struct KeptRow { ///< of d, that stays
    int inequality;
    std::size_t diagonal;
  };
  void orderRows();
  void findPlaces();
  void takeInequalities(const ProgramDerivatives& derivatives);

  const ProgramStructure& structure_;
  std::vector<int> variableRow_, equalityRow_, inequalityRow_; ///< in the matrix; -1 for an inequality that is eliminated
  std::vector<std::size_t> hessianPlace_, equalityPlace_, keptPlace_;
  std::vector<std::size_t> variableDiagonal_, equalityDiagonal_;
  std::vector<int> keptEntry_;   ///< entries of Jd in rows that stay
  std::vector<int> mergedEntry_; ///< for every entry of Jd the place in `inequality_`
  std::vector<MatrixEntry> merged_;
  std::vector<Product> products_;
  Eigen::VectorXd inequality_; ///< Jd, one value per place
  Eigen::VectorXd sigma_;
  std::vector<KeptRow> keptRows_;
  StagedMatrix matrix_;
  std::vector<double> bare_; ///< values without regularisation: on the diagonals that it changes
  StagedLdlt ldlt_;
  Eigen::VectorXd right_, solution_;
};

}
