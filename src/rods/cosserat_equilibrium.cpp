#include "tendril/rods/cosserat_equilibrium.h"

#include "rods/cosserat_program.h"
#include "tendril/solvers/interior_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tendril {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<int> stageSizes(const CosseratRod& rod) {
  std::vector<int> sizes(std::size_t(rod.frames()), 0);
  for (const CosseratRod::Unknown& unknown : rod.unknowns()) sizes[std::size_t(unknown.stage)] += unknown.size;
  return sizes;
}

/// The balances at the load factor of the rod, for Newton's method alone.
class CosseratBalance final : public NewtonProblem {
 public:
  explicit CosseratBalance(CosseratEquations& equations) : equations_(equations), step_(equations.size()) {}

  int groupCount() const override { return equations_.groupCount(); }
  bool evaluate(std::span<ResidualGroup> groups) override { return equations_.evaluate(groups); }
  bool factorise() override { return equations_.factorise(); }
  bool solve() override { return equations_.solve(step_); }
  double longestFactor() override { return equations_.longestFactor(step_); }
  void applyStep(double factor) override { equations_.move(step_, 0, factor); }
  void undoStep() override { equations_.undo(); }
  std::string describeWorst() const override { return equations_.describeWorst(); }
  std::string describeSingular() const override { return equations_.describeSingular(); }

 private:
  CosseratEquations& equations_;
  VectorX step_;
};

}

// ---- equations -------------------------------------------------------------------------------------------------------------------------

CosseratEquations::CosseratEquations(CosseratRod& rod, double tolerance)
    : rod_(rod), tolerance_(tolerance), unit_(unitsOf(rod)), gradient_(rod.size()), moved_(rod.size()), point_(rod.pointSize()),
      kept_(rod.pointSize()), values_(Eigen::Index(rod.hessianPattern().size())), matrix_(stageSizes(rod), 0) {
  for (const MatrixEntry& entry : rod.hessianPattern()) places_.push_back(matrix_.position(entry.row, entry.column));
}

/// What rounding of positions makes of the force in a segment.
double CosseratEquations::roundOff() const {
  double largest = 0;
  for (int k = 0; k < rod_.vertices(); ++k) largest = std::max(largest, rod_.position(k).cwiseAbs().maxCoeff());
  return eps * rod_.properties().shearing.maxCoeff() * (1 + largest / rod_.step());
}

bool CosseratEquations::evaluate(std::span<ResidualGroup> groups) {
  rod_.gradient(gradient_);
  const double length = rod_.properties().length, h = rod_.step();
  double force = 0, moment = 0, worstForce = 0, worstMoment = 0;
  for (int i = 0; i < rod_.edges(); ++i) force += rod_.force(i).norm() / rod_.edges();
  for (int k = 0; k < rod_.bends(); ++k) moment += rod_.materialMoment(k).norm() / rod_.bends();
  for (const CosseratRod::Unknown& u : rod_.unknowns()) {
    const double size = gradient_.segment(u.offset, u.size).norm();
    double& worst = u.isPosition ? worstForce : worstMoment;
    if (!(size <= worst)) worst = size; // keeps a NaN
  }
  const double scale = std::max(force, moment / length), forceNoise = 4 * roundOff();
  const double momentNoise = h * forceNoise + 8 * eps * rod_.properties().bending.maxCoeff() / h;
  groups[0] = {"force", worstForce, scale, tolerance_, forceNoise, 4 * forceNoise};
  groups[1] = {"moment", worstMoment, scale * length, tolerance_, momentNoise, 4 * momentNoise};
  return std::isfinite(force) && std::isfinite(moment);
}

void CosseratEquations::assemble() {
  rod_.hessian(values_);
  std::fill(matrix_.values().begin(), matrix_.values().end(), 0.0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const MatrixEntry& entry = rod_.hessianPattern()[i];
    matrix_.values()[places_[i]] = unit_[entry.row] * unit_[entry.column] * values_[Eigen::Index(i)];
  }
}

bool CosseratEquations::factorise() {
  assemble();
  return ldlt_.factorise(matrix_);
}

bool CosseratEquations::solve(VectorX& step) {
  step = -gradient_.cwiseProduct(unit_);
  ldlt_.solve(step);
  return step.allFinite();
}

bool CosseratEquations::solveRate(VectorX& along) {
  rod_.loadGradient(along);
  along.array() *= -unit_.array();
  ldlt_.solve(along);
  return along.allFinite();
}

double CosseratEquations::longestFactor(const VectorX& step) { return longestTurn(rod_, step); }

void CosseratEquations::move(const VectorX& step, double dt, double factor) {
  rod_.getPoint(point_);
  heldLoad_ = rod_.loadFactor;
  moved_ = factor * step.cwiseProduct(unit_);
  rod_.move(moved_);
  rod_.loadFactor += factor * dt;
}

void CosseratEquations::undo() {
  rod_.setPoint(point_);
  rod_.loadFactor = heldLoad_;
}

void CosseratEquations::keep() {
  rod_.getPoint(kept_);
  keptLoad_ = rod_.loadFactor;
}

void CosseratEquations::returnToKept() {
  rod_.setPoint(kept_);
  rod_.loadFactor = keptLoad_;
}

std::string CosseratEquations::describeWorst() const {
  Eigen::Index worst = 0;
  if (gradient_.size() == 0) return "nowhere";
  (gradient_.array() * unit_.array()).abs().maxCoeff(&worst);
  return (unit_[worst] == 1 ? "moment at " : "force at ") + nameOfUnknown(rod_, int(worst));
}

std::string CosseratEquations::describeSingular() const { return "the rod is free to move, or stands at a limit point or bifurcation"; }

Inertia CosseratEquations::signs() {
  factorise();
  return ldlt_.inertia();
}

// ---- equilibrium -----------------------------------------------------------------------------------------------------------------------

CosseratEquilibrium solveEquilibrium(CosseratRod& rod, const CosseratEquilibriumOptions& options) {
  CosseratEquilibrium found;
  if (options.descends) {
    CosseratProgram program(rod);
    InteriorPoint solver({.tolerance = 1e-8, .maxIterations = options.maxIterations});
    const InteriorPointReport& report = solver.solve(program);
    found.iterations = report.iterations;
    if (!report.converged() && report.status != InteriorPointReport::Status::Acceptable) {
      found.energy = rod.energy();
      found.message = "rod: the energy has no minimum here; " + report.message;
      return found;
    }
  }
  CosseratEquations equations(rod, options.tolerance);
  CosseratBalance balance(equations);
  Newton newton({.maxIterations = options.maxIterations, .minIterations = 1, .lineSearch = !options.descends, .window = 5});
  const NewtonReport& report = newton.solve(balance);
  found.iterations += report.iterations;
  found.residual = report.residual();
  found.isSolved = report.converged();
  found.energy = rod.energy();
  found.message = report.message;
  if (!found.isSolved) return found;
  found.signs = equations.signs();
  found.isMinimum = found.signs.negative == 0 && found.signs.zero == 0;
  if (!found.isMinimum)
    found.message =
        fmt::format("rod: the equilibrium is no stable minimum: the second variation has {} negative and {} vanishing directions",
                    found.signs.negative, found.signs.zero);
  return found;
}

}
