#pragma once
#include <string>
#include <vector>

#include <Eigen/Core>

namespace tendril {

/// Where a value of a sparse matrix belongs. Values of entries that name the same place add up.
struct MatrixEntry {
  int row = 0;
  int column = 0;
};

/// What of a nonlinear program stays the same from point to point.
///
/// Every variable, equality and inequality carries the label of its stage, 0, 1, ..., N. What stages k and l share is zero unless
/// |k - l| <= 1: rows of stage k reach variables of stages k - 1, k and k + 1, the Hessian couples a stage with itself and its neighbours.
/// The label `global` marks what may couple with everything: a free final time, a periodicity condition, a bound on a sum. The effort grows
/// linearly with the number of stages, cubically with the size of one stage and quadratically with the number of global variables and rows.
/// A program without stages gives every label 0.
struct ProgramStructure {
  static constexpr int global = -1;

  std::vector<int> variableStage;              ///< one label per variable: their number is the dimension of an increment
  std::vector<int> equalityStage;              ///< one label per row of c
  std::vector<int> inequalityStage;            ///< one label per row of d
  Eigen::VectorXd lower, upper;                ///< lower <= d(x) <= upper; infinite where there is no bound, lower < upper
  std::vector<MatrixEntry> equalityJacobian;   ///< (row of c, variable)
  std::vector<MatrixEntry> inequalityJacobian; ///< (row of d, variable)
  std::vector<MatrixEntry> hessian;            ///< (variable, variable), row >= column: the lower triangle

  int variables() const { return int(variableStage.size()); }
  int equalities() const { return int(equalityStage.size()); }
  int inequalities() const { return int(inequalityStage.size()); }
  /// Largest label + 1, at least 1.
  int stages() const;

  int addVariable(int stage);
  int addEquality(int stage);
  int addInequality(int stage, double lowerBound, double upperBound);
};

/// Objective and constraints at a point.
struct ProgramValues {
  double objective = 0;
  Eigen::VectorXd equality;   ///< c
  Eigen::VectorXd inequality; ///< d
};

/// Derivatives at a point, with respect to the increment of retract() at zero. Values belong to the entries of ProgramStructure one by one.
struct ProgramDerivatives {
  Eigen::VectorXd gradient; ///< of f, dense
  Eigen::VectorXd equalityJacobian;
  Eigen::VectorXd inequalityJacobian;
  Eigen::VectorXd hessian;
};

/// The weights of f, c and d in the Lagrangian  weight f + equality^T c + inequality^T d.
///
/// At a solution the multiplier of an inequality is >= 0 at its upper bound, <= 0 at its lower, 0 between.
struct ProgramMultipliers {
  double weight = 1;
  Eigen::VectorXd equality;
  Eigen::VectorXd inequality;
};

/// A nonlinear program on a manifold X:
///
///     min f(x)    subject to    c(x) = 0,    lower <= d(x) <= upper,    x in X.
///
/// The program holds its current point x; a solver moves it by increments xi in R^n, x <- R_x(xi), and sees X through them alone. All
/// derivatives are those of xi -> f(R_x(xi)), c(R_x(xi)), d(R_x(xi)) at xi = 0. The Hessian is therefore that of the function pulled back
/// by the retraction: it contains the second derivative of R_x. (At a solution it does not depend on the choice of R_x; on the way there
/// it does, and only the Hessian of the retraction in use gives quadratic convergence everywhere.) For a vector space R_x(xi) = x + xi.
///
/// Nothing that a solver calls in an iteration may allocate, except the names. The vectors handed over have the right sizes already.
class NonlinearProgram {
 public:
  virtual ~NonlinearProgram() = default;

  /// Constant while a solver works.
  virtual const ProgramStructure& structure() const = 0;

  /// How many numbers hold a point, e.g. 12 for a pose that moves by 6.
  virtual int pointSize() const = 0;
  virtual void getPoint(Eigen::Ref<Eigen::VectorXd> numbers) const = 0;
  /// Takes numbers that getPoint() has given.
  virtual void setPoint(const Eigen::Ref<const Eigen::VectorXd>& numbers) = 0;
  /// Moves the current point: x <- R_x(increment).
  virtual void retract(const Eigen::Ref<const Eigen::VectorXd>& increment) = 0;
  /// Largest factor in (0, 1] of the increment that the program allows, e.g. so that no body turns by more than a given angle per interval.
  virtual double longestFactor(const Eigen::Ref<const Eigen::VectorXd>& /*increment*/) const { return 1; }

  /// f, c and d at the current point. False where they do not exist: a step there is shortened.
  virtual bool evaluate(ProgramValues& values) = 0;
  /// Gradient and Jacobians at the current point, and if multipliers are given the Hessian of the Lagrangian that they weigh; without them
  /// `hessian` is left alone. False where they do not exist.
  virtual bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) = 0;

  /// For messages.
  virtual std::string nameOfVariable(int i) const;
  virtual std::string nameOfEquality(int i) const;
  virtual std::string nameOfInequality(int i) const;
};

/// A program whose points are vectors, moved by x <- x + increment.
class VectorProgram : public NonlinearProgram {
 public:
  int pointSize() const final { return int(x.size()); }
  void getPoint(Eigen::Ref<Eigen::VectorXd> numbers) const final { numbers = x; }
  void setPoint(const Eigen::Ref<const Eigen::VectorXd>& numbers) final { x = numbers; }
  void retract(const Eigen::Ref<const Eigen::VectorXd>& increment) final { x += increment; }

  Eigen::VectorXd x; ///< the current point, one number per variable
};

/// The largest error of each kind of derivative, relative to max(1, the largest derivative in the same row), and the place where it is.
struct DerivativeCheck {
  struct Error {
    double value = 0;
    std::string place; ///< names of row and variable
  };
  Error gradient, equalityJacobian, inequalityJacobian, hessian;
  double worst() const;
  /// All four, for a message.
  std::string describe() const;
};

/// Compares derivatives at the current point with differences of fourth order of f, c and d along the retraction: every entry of gradient
/// and Jacobians, the Hessian applied to two random directions; where that product is worst, the entry is searched. An entry that the
/// pattern lacks but the differences show counts as an error. Rounding and truncation leave about 1e-11 of first and 1e-8 of second
/// derivatives where everything is of order 1. Without multipliers, all are taken as different numbers between 1/2 and 1. The point is left
/// unchanged. Effort: 20 evaluations per variable, a dense matrix of all rows and variables.
DerivativeCheck checkDerivatives(NonlinearProgram& program, const ProgramMultipliers* multipliers = nullptr, double step = 1e-3);

/// Throws std::invalid_argument, with the names of what is at fault, if labels, bounds or patterns contradict each other.
void requireConsistent(const NonlinearProgram& program);

}
