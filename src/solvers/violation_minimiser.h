#pragma once
#include <functional>

#include "solvers/program_kkt.h"
#include "solvers/scaled_program.h"

namespace tendril {

/// Minimises the violation alone,
///
///     V(x) = 1/2 |c(x)|^2 + 1/2 |d(x) - nearest point between lower + margin and upper - margin|^2,
///
/// by Newton's method with exact second derivatives, damped as Levenberg and Marquardt do: the equations of a step are those of ProgramKkt
/// with the residuals as multipliers, unit weights on violated rows of d and e = 1 on those of c.
class ViolationMinimiser {
 public:
  enum class End {
    Reached, ///< `accept` took the point
    Minimum, ///< V has a minimum here
    Failed,  ///< no step reduces V
    Stopped
  };
  enum class Verdict { Continue, Accept, Stop };
  /// Asked at every iterate, with the violation of its rows in the 1-norm.
  using Judge = std::function<Verdict(const ProgramValues&, double infeasibility)>;

  ViolationMinimiser(ScaledProgram& program, ProgramKkt& kkt);

  /// Moves the program's point; `values` are those at the point on entry and on return.
  End minimise(ProgramValues& values, ProgramDerivatives& derivatives, const Eigen::VectorXd& margin, const Judge& judge);

 private:
  double residuals(const ProgramValues& values, const Eigen::VectorXd& margin, ProgramMultipliers& r) const;
  bool factorise(const ProgramDerivatives& derivatives);
  bool descend(ProgramValues& values, const Eigen::VectorXd& margin);
  bool leaveSaddle(ProgramValues& values, const ProgramDerivatives& derivatives, const Eigen::VectorXd& margin);
  bool tryIncrement(const Eigen::VectorXd& margin, double& V);

  ScaledProgram& program_;
  ProgramKkt& kkt_;
  ProgramValues trial_;
  ProgramMultipliers residual_, trialResidual_;
  ProgramKkt::Residual right_;
  ProgramKkt::Step step_;
  Eigen::VectorXd point_, increment_, gradient_, magnitude_, violated_;
  double damping_ = 0, V_ = 0;
};

}
