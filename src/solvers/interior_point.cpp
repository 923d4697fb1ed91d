#include "tendril/solvers/interior_point.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "solvers/barrier_iterate.h"
#include "solvers/program_kkt.h"
#include "solvers/scaled_program.h"
#include "solvers/violation_minimiser.h"

namespace tendril {

namespace {

using Vector = Eigen::VectorXd;
using Report = InteriorPointReport;
using Status = Report::Status;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double shortStep = 0.05;
constexpr int mostShortSteps = 6;

double largestOf(const Vector& v) { return v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0; }

/// Residuals of the first-order conditions.
struct Residuals {
  double stationarity = 0, violation = 0;
  double stationarityScale = 1, complementarityScale = 1;
  double rounding = 0; ///< what rounding alone may leave of the stationarity
  double total(double complementarity) const {
    const double excess = stationarity > rounding ? stationarity / stationarityScale : 0;
    return std::max({excess, violation, complementarity / complementarityScale});
  }
};

/// One run of the method. Symbols as in Waechter & Biegler (2006): theta infeasibility, phi barrier function, mu barrier parameter.
class Run {
 public:
  Run(NonlinearProgram& program, const InteriorPointOptions& options, const InteriorPoint::Watch& watch, Report& report)
      : options_(options), watch_(watch), report_(report), scaled_(program, 0.1 * options.tolerance), kkt_(program.structure()),
        minimiser_(scaled_, kkt_), filter_(2 * options.maxIterations + 2), now_(makeIterate()), trial_(now_), kept_(now_), best_(now_),
        derivatives_(scaled_.makeDerivatives()), residual_(kkt_.makeResidual()), step_(kkt_.makeStep()), corrected_(kkt_.makeStep()),
        sigma_(program.structure().inequalities()), dzLower_(sigma_), dzUpper_(sigma_), margin_(sigma_),
        increment_(program.structure().variables()), dual_(increment_), magnitude_(increment_) {
    report_.history.reserve(std::size_t(options.maxIterations + options.polishingSteps) + 2);
  }

  void solve(const WarmStart* warmStart);
  void close();

 private:
  enum class Search { Accepted, NoStep };

  NonlinearProgram& program() { return scaled_.program(); }
  const ProgramStructure& structure() const { return scaled_.structure(); }
  bool hasBounds() const { return boundCount_ > 0; }

  BarrierIterate makeIterate();
  bool start(const WarmStart* warmStart);
  void placeSlacks(const Vector& distance);
  Vector startDistance() const;
  void startMultipliers();
  void takeMultipliers(const WarmStart& warmStart);
  Status iterate();

  Residuals measure(const BarrierIterate& at, const ProgramDerivatives& derivatives);
  double complementarity(const BarrierIterate& at, double mu) const;
  double error(double mu) { return residuals_.total(complementarity(now_, mu)); }
  void lowerBarrier();
  bool record(double factor, bool restoration);
  void dropSaddle();
  void keepBest();

  void weighBounds();
  bool strict();
  bool factorise();
  void findResidual();
  void leaveRidge();
  bool computeStep();
  bool solve(ProgramKkt::Step& step);
  double slope(const ProgramKkt::Step& step) const;
  double longestPrimal(const ProgramKkt::Step& step);
  double longestDual() const;
  bool moveTo(const ProgramKkt::Step& step, double factor);
  bool acceptable(double factor, double slope, bool& descends) const;
  Search search();
  bool correct(double longest, double slope);
  void accept(const ProgramKkt::Step& step, double factor);
  bool acceptByError();
  void polish();
  bool jams() const;
  Status restore();
  Status giveUp();

  void meetConstraints();
  void nameWorst();
  std::string worstRows() const;
  std::string fastestVariable();

  const InteriorPointOptions& options_;
  const InteriorPoint::Watch& watch_;
  Report& report_;
  ScaledProgram scaled_;
  ProgramKkt kkt_;
  ViolationMinimiser minimiser_;
  Filter filter_;
  BarrierIterate now_, trial_, kept_, best_;
  ProgramDerivatives derivatives_;
  ProgramKkt::Residual residual_;
  ProgramKkt::Step step_, corrected_;
  Vector sigma_, dzLower_, dzUpper_, margin_, increment_, dual_, magnitude_;
  Residuals residuals_;
  double mu_ = 0, theta_ = 0, phi_ = 0, smallTheta_ = 0;
  double shift_ = 0, lastShift_ = 0; ///< of the Hessian: of this step; the last one that was needed
  double taken_ = 1;                 ///< share of the step that the search left, of what bounds allow
  double factor_ = 0;
  double allowed_ = 1; ///< largest factor of the last step that the program allows
  double bestViolation_ = infinity, bestError_ = infinity;
  int boundCount_ = 0;
  int shifts_ = 0;        ///< steps in a row whose Hessian was shifted
  int shortSteps_ = 0;    ///< in a row
  int sinceProgress_ = 0; ///< iterations since the best iterate became better by a tenth
  bool derivativesCurrent_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

BarrierIterate Run::makeIterate() {
  const Eigen::Index p = structure().inequalities();
  return {Vector::Zero(program().pointSize()), scaled_.makeValues(), Vector::Zero(p), Vector::Zero(p), Vector::Zero(p),
          scaled_.makeMultipliers(),           Vector::Zero(p),      Vector::Zero(p)};
}

// ---- start

/// How far slacks keep from their bounds at a cold start (Waechter & Biegler, 3.6).
Vector Run::startDistance() const {
  constexpr double push = 1e-2;
  Vector distance(structure().inequalities());
  for (Eigen::Index i = 0; i < distance.size(); ++i) {
    const double l = scaled_.lower()[i], u = scaled_.upper()[i];
    const double bound = std::max(1.0, std::min(std::abs(l), std::abs(u)));
    distance[i] = std::min(push * bound, push * (u - l));
  }
  return distance;
}

/// Slacks nearest to d(x) that keep a distance from their bounds.
void Run::placeSlacks(const Vector& distance) {
  for (Eigen::Index i = 0; i < distance.size(); ++i) {
    const double l = scaled_.lower()[i], u = scaled_.upper()[i], least = std::min(distance[i], 0.5 * (u - l));
    if (std::isinf(l) && std::isinf(u)) {
      now_.s[i] = now_.values.inequality[i];
      now_.gapLower[i] = now_.gapUpper[i] = infinity;
      continue;
    }
    now_.gapLower[i] = std::max(now_.values.inequality[i] - l, least);
    now_.gapUpper[i] = std::max(u - now_.values.inequality[i], least);
    if (now_.gapLower[i] == least && !std::isinf(u)) now_.gapUpper[i] = std::max(u - l - least, least);
    if (now_.gapUpper[i] == least && !std::isinf(l)) now_.gapLower[i] = std::max(u - l - least, least);
    if (now_.gapLower[i] == least)
      now_.s[i] = l + least;
    else if (now_.gapUpper[i] == least)
      now_.s[i] = u - least;
    else
      now_.s[i] = now_.values.inequality[i];
  }
}

/// z = mu / gap, and the y that make the gradient of the Lagrangian smallest.
void Run::startMultipliers() {
  now_.zLower = mu_ * now_.gapLower.cwiseInverse();
  now_.zUpper = mu_ * now_.gapUpper.cwiseInverse();
  now_.y.equality.setZero();
  now_.y.inequality = now_.zUpper - now_.zLower;
  derivativesCurrent_ = false;
  if (!scaled_.differentiate(nullptr, derivatives_)) return;
  sigma_.setOnes();
  kkt_.assemble(derivatives_, nullptr, sigma_);
  if (!kkt_.factorise(0, 0) && !kkt_.factorise(0, 1e-8)) return;
  residual_.x = derivatives_.gradient;
  residual_.s = now_.zUpper - now_.zLower;
  residual_.c.setZero();
  residual_.d.setZero();
  kkt_.solve(residual_, step_);
  const double most = std::max(largestOf(step_.yc), largestOf(step_.yd));
  if (!(most <= 1e3)) return; // dependent rows: no multipliers are better than such
  now_.y.equality = step_.yc;
  now_.y.inequality = step_.yd;
}

void Run::takeMultipliers(const WarmStart& warmStart) {
  const ProgramMultipliers& given = warmStart.multipliers;
  if (given.equality.size() != structure().equalities() || given.inequality.size() != structure().inequalities())
    throw std::invalid_argument("interior point: a warm start has a multiplier for each equation and each inequality of the program");
  now_.y = scaled_.scaled(warmStart.multipliers);
  mu_ = std::max(warmStart.barrier, 0.1 * options_.tolerance);
  // A bound that holds the solution gets the gap that its multiplier asks for, others the one they have.
  for (Eigen::Index i = 0; i < margin_.size(); ++i) margin_[i] = mu_ / std::max(std::abs(now_.y.inequality[i]), std::sqrt(mu_));
  placeSlacks(margin_);
  for (Eigen::Index i = 0; i < margin_.size(); ++i) {
    now_.zLower[i] = std::isinf(now_.gapLower[i]) ? 0 : std::max(-now_.y.inequality[i], mu_ / now_.gapLower[i]);
    now_.zUpper[i] = std::isinf(now_.gapUpper[i]) ? 0 : std::max(now_.y.inequality[i], mu_ / now_.gapUpper[i]);
  }
}

bool Run::start(const WarmStart* warmStart) {
  if (!scaled_.chooseScales() || !scaled_.evaluate(now_.values)) return false;
  for (Eigen::Index i = 0; i < structure().inequalities(); ++i)
    boundCount_ += int(!std::isinf(scaled_.lower()[i])) + int(!std::isinf(scaled_.upper()[i]));
  mu_ = hasBounds() ? options_.initialBarrier : 0.1 * options_.tolerance;
  if (warmStart) {
    takeMultipliers(*warmStart);
  } else {
    placeSlacks(startDistance());
    startMultipliers();
  }
  program().getPoint(now_.point);
  theta_ = now_.infeasibility();
  smallTheta_ = 1e-4 * std::max(1.0, theta_);
  filter_.limit(1e4 * std::max(1.0, theta_));
  return true;
}

// ---- residuals

/// Residuals of the first-order conditions of the barrier problem but for complementarity.
Residuals Run::measure(const BarrierIterate& at, const ProgramDerivatives& derivatives) {
  Residuals r;
  dual_ = derivatives.gradient;
  magnitude_ = derivatives.gradient.cwiseAbs();
  kkt_.addTransposed(derivatives, at.y, dual_, magnitude_);
  r.stationarity = largestOf(dual_);
  if (at.s.size() > 0) r.stationarity = std::max(r.stationarity, (at.zUpper - at.zLower - at.y.inequality).lpNorm<Eigen::Infinity>());
  r.violation = at.largestInfeasibility();
  r.rounding = 8 * std::numeric_limits<double>::epsilon() * largestOf(magnitude_);
  constexpr double usual = 100;
  const double z = at.zLower.lpNorm<1>() + at.zUpper.lpNorm<1>(), y = at.y.equality.lpNorm<1>() + at.y.inequality.lpNorm<1>();
  const double rows = double(at.y.equality.size() + at.y.inequality.size() + boundCount_);
  if (rows > 0) r.stationarityScale = std::max(usual, (y + z) / rows) / usual;
  if (boundCount_ > 0) r.complementarityScale = std::max(usual, z / boundCount_) / usual;
  return r;
}

double Run::complementarity(const BarrierIterate& at, double mu) const {
  double most = 0;
  for (Eigen::Index i = 0; i < at.s.size(); ++i) {
    if (!std::isinf(at.gapLower[i])) most = std::max(most, std::abs(at.gapLower[i] * at.zLower[i] - mu));
    if (!std::isinf(at.gapUpper[i])) most = std::max(most, std::abs(at.gapUpper[i] * at.zUpper[i] - mu));
  }
  return most;
}

void Run::lowerBarrier() {
  const double least = 0.1 * options_.tolerance;
  bool lowered = false;
  while (hasBounds() && mu_ > least && error(mu_) <= 10 * mu_) {
    mu_ = std::max(least, std::min(0.2 * mu_, std::pow(mu_, 1.5)));
    lowered = true;
  }
  if (lowered) filter_.clear();
}

bool Run::record(double factor, bool restoration) {
  report_.history.push_back({now_.values.objective / scaled_.objectiveScale(), residuals_.stationarity, residuals_.violation,
                             complementarity(now_, 0), mu_, shift_, factor, restoration});
  if (restoration) ++report_.restorationIterations;
  return !watch_ || watch_(report_.history.back());
}

/// From a saddle, whose residuals are as small as those of a minimum, the Lagrangian falls by more than the tolerance: it is not the best.
void Run::dropSaddle() {
  if (bestViolation_ > 0) return;
  const double before = best_.lagrangian(mu_);
  if (now_.lagrangian(mu_) < before - options_.tolerance * std::max(1.0, std::abs(before))) bestViolation_ = bestError_ = infinity;
}

void Run::keepBest() {
  dropSaddle();
  const double violation = residuals_.violation <= options_.acceptableTolerance ? 0 : residuals_.violation;
  const double e = error(0);
  ++sinceProgress_;
  if (!(violation < bestViolation_ || (violation == bestViolation_ && e < bestError_))) return;
  if (violation < bestViolation_ || e < 0.9 * bestError_) sinceProgress_ = 0;
  bestViolation_ = violation;
  bestError_ = e;
  best_ = now_;
}

// ---- step

/// Shifts the Hessian until the step is one of descent along the constraints (Waechter & Biegler, algorithm IC).
bool Run::factorise() {
  constexpr double first = 1e-4, least = 1e-20, most = 1e20, tooShort = 0.05;
  kkt_.assemble(derivatives_, &derivatives_.hessian, sigma_);
  shift_ = 0;
  double dual = 0;
  // Where the search left little of the last step, the quadratic model is good for shorter ones, whatever its curvature.
  const bool isCautious = taken_ < tooShort && lastShift_ > 0;
  if (!isCautious) {
    kkt_.factorise(0, 0);
    if (kkt_.convexOnConstraints()) return true;
    if (!kkt_.finite()) return false;
    if (kkt_.singular()) {
      dual = 1e-8 * std::pow(mu_, 0.25);
      kkt_.factorise(0, dual);
      if (kkt_.convexOnConstraints()) return true;
    }
  }
  const bool fresh = lastShift_ == 0;
  const double from = fresh ? first : isCautious ? 8 * lastShift_ : std::max(least, lastShift_ / 3);
  for (shift_ = from; shift_ <= most; shift_ *= fresh ? 100 : 8) {
    kkt_.factorise(shift_, dual);
    if (kkt_.convexOnConstraints()) {
      lastShift_ = shift_;
      return true;
    }
    if (kkt_.singular()) dual = 1e-8 * std::pow(mu_, 0.25);
  }
  return false;
}

bool Run::solve(ProgramKkt::Step& step) {
  const double error = kkt_.solve(residual_, step);
  return error <= 1e-6 && step.x.allFinite() && step.yc.allFinite() && step.s.allFinite() && step.yd.allFinite();
}

/// Whether the matrix of the step has the inertia of a minimum as it is.
bool Run::strict() {
  weighBounds();
  kkt_.assemble(derivatives_, &derivatives_.hessian, sigma_);
  kkt_.factorise(0, 0);
  return kkt_.convexOnConstraints();
}

void Run::weighBounds() { sigma_ = now_.zLower.cwiseQuotient(now_.gapLower) + now_.zUpper.cwiseQuotient(now_.gapUpper); }

void Run::findResidual() {
  residual_.x = dual_;
  residual_.s = mu_ * now_.gapUpper.cwiseInverse() - mu_ * now_.gapLower.cwiseInverse() - now_.y.inequality;
  residual_.c = now_.values.equality;
  residual_.d = now_.values.inequality - now_.s;
}

/// On a ridge, where the step has no part along the direction in which the barrier function curves down, nothing leads away from it but
/// that direction itself: found by inverse iteration with the matrix at hand, it is added at the length of the step, on the side of
/// descent.
void Run::leaveRidge() {
  constexpr int inverseIterations = 4;
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  residual_.s.setZero(), residual_.c.setZero(), residual_.d.setZero();
  for (double& v : residual_.x) v = uniform(random);
  residual_.x.normalize();
  double curvature = 0;
  for (int i = 0; i < inverseIterations; ++i) {
    kkt_.solve(residual_, corrected_);
    const double size = corrected_.x.norm();
    if (!(std::isfinite(size) && size > 0)) return findResidual(); // no direction: the step stays as it is
    curvature = 1 / size - shift_; // of the shifted matrix, whose least eigenvalue the inverse magnifies most
    residual_.x = corrected_.x / -size;
  }
  if (curvature < 0) {
    const double length = step_.x.norm() / corrected_.x.norm();
    const double along = slope(corrected_) > 0 ? -length : length;
    step_.x += along * corrected_.x;
    step_.s += along * corrected_.s;
  }
  findResidual();
}

bool Run::computeStep() {
  constexpr int manyShifts = 20, everyShifts = 5;
  constexpr double near = 1e-3; // to a solution, where curvature that rounding makes counts for nothing
  weighBounds();
  findResidual();
  if (!factorise()) return false;
  shifts_ = shift_ > 0 ? shifts_ + 1 : 0;
  if (solve(step_)) {
    if (shifts_ >= manyShifts && shifts_ % everyShifts == 0 && error(mu_) > near) leaveRidge();
    return true;
  }
  // Singular to working precision, though no pivot told: both shifts make it regular.
  lastShift_ = shift_ = std::max(1e-8, 8 * shift_);
  kkt_.factorise(shift_, 1e-8);
  return kkt_.convexOnConstraints() && solve(step_);
}

/// Of the barrier function along a step.
double Run::slope(const ProgramKkt::Step& step) const {
  double sum = derivatives_.gradient.dot(step.x);
  for (Eigen::Index i = 0; i < step.s.size(); ++i) sum += mu_ * (1 / now_.gapUpper[i] - 1 / now_.gapLower[i]) * step.s[i];
  return sum;
}

/// Largest factor in (0, 1] that leaves every gap a fraction of itself and that the program allows.
double Run::longestPrimal(const ProgramKkt::Step& step) {
  const double kept = std::max(0.99, 1 - mu_);
  double factor = allowed_ = program().longestFactor(step.x);
  for (Eigen::Index i = 0; i < step.s.size(); ++i) {
    if (step.s[i] < 0) factor = std::min(factor, kept * now_.gapLower[i] / -step.s[i]);
    if (step.s[i] > 0) factor = std::min(factor, kept * now_.gapUpper[i] / step.s[i]);
  }
  return factor;
}

double Run::longestDual() const {
  const double kept = std::max(0.99, 1 - mu_);
  double factor = 1;
  for (Eigen::Index i = 0; i < dzLower_.size(); ++i) {
    if (dzLower_[i] < 0) factor = std::min(factor, kept * now_.zLower[i] / -dzLower_[i]);
    if (dzUpper_[i] < 0) factor = std::min(factor, kept * now_.zUpper[i] / -dzUpper_[i]);
  }
  return factor;
}

/// Puts the point at `factor` of the step into trial_. False where the functions do not exist.
bool Run::moveTo(const ProgramKkt::Step& step, double factor) {
  increment_ = factor * step.x;
  program().setPoint(now_.point);
  program().retract(increment_);
  trial_.s = now_.s + factor * step.s;
  trial_.gapLower = now_.gapLower + factor * step.s;
  trial_.gapUpper = now_.gapUpper - factor * step.s;
  return scaled_.evaluate(trial_.values);
}

/// Whether trial_ is good enough (Waechter & Biegler, steps ); `descends`: by descent of the barrier function alone, so that
/// the filter needs no entry.
bool Run::acceptable(double factor, double slope, bool& descends) const {
  const double theta = trial_.infeasibility(), phi = trial_.barrierFunction(mu_);
  descends = false;
  if (!std::isfinite(theta) || !std::isfinite(phi) || !filter_.accepts(theta, phi)) return false;
  const bool switches = slope < 0 && factor * std::pow(-slope, 2.3) > std::pow(theta_, 1.1);
  if (switches && theta_ <= smallTheta_) {
    descends = notAbove(phi, phi_ + 1e-8 * factor * slope, phi_);
    return descends;
  }
  return notAbove(theta, (1 - Filter::infeasibilityMargin) * theta_, theta_) ||
         notAbove(phi, phi_ - Filter::objectiveMargin * theta_, phi_);
}

/// Second-order correction: another step with the same matrix for the constraints as they are at the end of the full step.
bool Run::correct(double longest, double slope) {
  double before = theta_;
  residual_.c = now_.values.equality;
  residual_.d = now_.values.inequality - now_.s;
  double taken = longest;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const double theta = trial_.infeasibility();
    if (attempt > 0 && theta > 0.99 * before) return false;
    before = theta;
    residual_.c = taken * residual_.c + trial_.values.equality;
    residual_.d = taken * residual_.d + trial_.values.inequality - trial_.s;
    kkt_.solve(residual_, corrected_);
    if (!corrected_.x.allFinite() || !corrected_.s.allFinite()) return false;
    taken = longestPrimal(corrected_);
    bool descends = false;
    if (!moveTo(corrected_, taken)) return false;
    if (!acceptable(longest, slope, descends)) continue;
    if (!descends) filter_.add(theta_, phi_);
    accept(corrected_, taken);
    return true;
  }
  return false;
}

Run::Search Run::search() {
  theta_ = now_.infeasibility();
  phi_ = now_.barrierFunction(mu_);
  const double slope = this->slope(step_), longest = longestPrimal(step_);
  double least = Filter::infeasibilityMargin;
  if (slope < 0) {
    least = std::min(least, Filter::objectiveMargin * theta_ / -slope);
    if (theta_ <= smallTheta_) least = std::min(least, std::pow(theta_, 1.1) / std::pow(-slope, 2.3));
  }
  least = std::max(0.05 * least, 1e-14);
  for (double factor = longest; factor >= std::min(least, longest); factor *= 0.5) {
    if (!moveTo(step_, factor)) continue;
    bool descends = false;
    if (acceptable(factor, slope, descends)) {
      if (!descends) filter_.add(theta_, phi_);
      accept(step_, factor);
      taken_ = factor / longest;
      return Search::Accepted;
    }
    if (factor == longest && trial_.infeasibility() >= theta_ && correct(longest, slope)) {
      taken_ = 1;
      return Search::Accepted;
    }
  }
  return Search::NoStep;
}

/// Takes trial_ as the iterate, with the multipliers moved along.
void Run::accept(const ProgramKkt::Step& step, double factor) {
  dzLower_ = mu_ * now_.gapLower.cwiseInverse() - now_.zLower - now_.zLower.cwiseQuotient(now_.gapLower).cwiseProduct(step.s);
  dzUpper_ = mu_ * now_.gapUpper.cwiseInverse() - now_.zUpper + now_.zUpper.cwiseQuotient(now_.gapUpper).cwiseProduct(step.s);
  const double dual = longestDual();
  now_.y.equality += factor * step.yc;
  now_.y.inequality += factor * step.yd;
  now_.zLower += dual * dzLower_;
  now_.zUpper += dual * dzUpper_;
  std::swap(now_.values, trial_.values);
  now_.s.swap(trial_.s);
  now_.gapLower.swap(trial_.gapLower);
  now_.gapUpper.swap(trial_.gapUpper);
  program().getPoint(now_.point);
  // Keeps the matrix close to that of the barrier function.
  constexpr double apart = 1e10;
  for (Eigen::Index i = 0; i < now_.s.size(); ++i) {
    now_.zLower[i] = std::clamp(now_.zLower[i], mu_ / now_.gapLower[i] / apart, mu_ / now_.gapLower[i] * apart);
    now_.zUpper[i] = std::clamp(now_.zUpper[i], mu_ / now_.gapUpper[i] / apart, mu_ / now_.gapUpper[i] * apart);
  }
  factor_ = factor;
  shortSteps_ = factor < shortStep * allowed_ ? shortSteps_ + 1 : 0;
  derivativesCurrent_ = false;
}

/// Where rounding of the functions hides descent: takes the full step if it reduces the residuals of the first-order conditions.
bool Run::acceptByError() {
  const double before = error(mu_), longest = longestPrimal(step_);
  if (!moveTo(step_, longest)) return false;
  kept_ = now_;
  accept(step_, longest);
  if (scaled_.differentiate(&now_.y, derivatives_)) {
    residuals_ = measure(now_, derivatives_);
    if (error(mu_) <= 0.9 * before) {
      derivativesCurrent_ = true;
      filter_.clear();
      return true;
    }
  }
  now_ = kept_;
  program().setPoint(now_.point);
  derivativesCurrent_ = false;
  return false;
}

/// The last digits: full steps at the last barrier parameter, as long as they make the residuals smaller.
void Run::polish() {
  for (int step = 0; step < options_.polishingSteps && computeStep() && acceptByError(); ++step) {
    ++report_.iterations;
    record(factor_, false);
  }
}

// ---- when no step is acceptable

/// Steps that stay short far from the constraints lead to a point where their gradients depend on each other.
bool Run::jams() const { return shortSteps_ >= mostShortSteps && residuals_.violation > options_.acceptableTolerance; }

Status Run::giveUp() {
  if (bestViolation_ == 0 && bestError_ <= options_.acceptableTolerance) return Status::Acceptable;
  return Status::Stalled;
}

/// Minimises the violation until the filter takes the point. Converged stands for: go on.
Status Run::restore() {
  const double theta = now_.infeasibility();
  if (now_.largestInfeasibility() <= 0.1 * options_.tolerance) return giveUp();
  filter_.add(theta, now_.barrierFunction(mu_));
  // The slacks must keep a distance from their bounds, but not so much that this counts as violation.
  const double share = 0.1 * theta / std::max(1, structure().inequalities());
  margin_ = startDistance().cwiseMin(std::min(mu_, share));
  bool first = true, atBounds = false;
  Status stopped = Status::MaxIterations;
  const auto judge = [&](const ProgramValues& values, double infeasibility) {
    now_.values = values;
    placeSlacks(margin_);
    if (!first) {
      ++report_.iterations;
      residuals_.violation = now_.largestInfeasibility();
      shift_ = 0;
      if (!record(1, true)) stopped = Status::Interrupted;
    }
    first = false;
    if (stopped == Status::Interrupted || report_.iterations >= options_.maxIterations) return ViolationMinimiser::Verdict::Stop;
    if (infeasibility > 0.9 * theta || atBounds) return ViolationMinimiser::Verdict::Continue;
    return filter_.accepts(now_.infeasibility(), now_.barrierFunction(mu_)) ? ViolationMinimiser::Verdict::Accept
                                                                            : ViolationMinimiser::Verdict::Continue;
  };
  trial_.values = now_.values;
  ViolationMinimiser::End end = minimiser_.minimise(trial_.values, derivatives_, margin_, judge);
  if (end == ViolationMinimiser::End::Minimum) { // what is left without the distances?
    margin_.setZero();
    atBounds = first = true;
    end = minimiser_.minimise(trial_.values, derivatives_, margin_, judge);
  }
  now_.values = trial_.values;
  program().getPoint(now_.point);
  shortSteps_ = 0;
  if (end == ViolationMinimiser::End::Reached) {
    startMultipliers();
    lastShift_ = 0, taken_ = 1;
    return Status::Converged;
  }
  placeSlacks(margin_);
  residuals_.violation = now_.largestInfeasibility();
  if (end == ViolationMinimiser::End::Stopped) return stopped;
  if (residuals_.violation <= 10 * options_.tolerance) return giveUp();
  best_ = now_;
  return end == ViolationMinimiser::End::Minimum ? Status::LocallyInfeasible : Status::Stalled;
}

// ---- the iteration

Status Run::iterate() {
  while (true) {
    if (!derivativesCurrent_) {
      if (!scaled_.differentiate(&now_.y, derivatives_)) return report_.iterations == 0 ? Status::NotFinite : giveUp();
      derivativesCurrent_ = true;
    }
    residuals_ = measure(now_, derivatives_);
    keepBest();
    if ((report_.history.empty() || report_.iterations >= int(report_.history.size())) && !record(factor_, false))
      return Status::Interrupted;
    if (error(0) <= options_.tolerance) {
      report_.strictMinimum = strict();
      if (report_.strictMinimum) polish();
      return Status::Converged;
    }
    if (now_.values.objective < -options_.unboundedObjective &&
        residuals_.violation <= options_.acceptableTolerance * std::max(1.0, largestOf(now_.point)))
      return Status::Unbounded;
    if (report_.iterations >= options_.maxIterations) return Status::MaxIterations;
    if (sinceProgress_ >= 12 && giveUp() == Status::Acceptable) return Status::Acceptable;
    lowerBarrier();
    if (!jams() && computeStep() && (search() == Search::Accepted || acceptByError())) {
      ++report_.iterations;
      continue;
    }
    program().setPoint(now_.point);
    const Status restored = restore();
    if (restored != Status::Converged) return restored;
  }
}

void Run::solve(const WarmStart* warmStart) {
  if (!start(warmStart)) {
    report_.status = Status::NotFinite;
    report_.message = "objective, constraints or their derivatives do not exist or are not finite at the start; start elsewhere";
    return;
  }
  report_.status = iterate();
}

// ---- the report

void Run::nameWorst() {
  struct Row {
    double amount;
    int index;
  };
  std::vector<Row> rows;
  const int m = structure().equalities();
  for (int i = 0; i < m; ++i) rows.push_back({std::abs(scaled_.unscaledEquality(now_.values, i)), i});
  for (int i = 0; i < structure().inequalities(); ++i) rows.push_back({scaled_.unscaledViolation(now_.values, i), m + i});
  const std::size_t shown = std::min<std::size_t>(5, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + std::ptrdiff_t(shown), rows.end(),
                    [](const Row& a, const Row& b) { return a.amount > b.amount; });
  for (std::size_t k = 0; k < shown && rows[k].amount > options_.tolerance; ++k) {
    const int i = rows[k].index;
    report_.worst.push_back({i < m ? program().nameOfEquality(i) : program().nameOfInequality(i - m), rows[k].amount});
  }
}

std::string Run::worstRows() const {
  std::string text;
  for (const Report::Violation& v : report_.worst) text += fmt::format("{}'{}' by {:.3g}", text.empty() ? "" : ", ", v.row, v.amount);
  return text.empty() ? "none" : text;
}

std::string Run::fastestVariable() {
  Eigen::Index worst = 0;
  step_.x.cwiseAbs().maxCoeff(&worst);
  return program().nameOfVariable(int(worst));
}

/// Where rounding, or a minimum that is not strict, keeps the conditions of optimality from being met better, the constraints can be: a few
/// steps for these alone, which are as short as what they lack.
void Run::meetConstraints() {
  constexpr int mostSteps = 10;
  const double met = 1e-3 * options_.tolerance;
  if (now_.largestInfeasibility() <= met) return;
  kept_ = now_;
  margin_.setZero();
  int steps = 0;
  minimiser_.minimise(now_.values, derivatives_, margin_, [&](const ProgramValues&, double infeasibility) {
    if (infeasibility <= met) return ViolationMinimiser::Verdict::Accept;
    return ++steps > mostSteps ? ViolationMinimiser::Verdict::Stop : ViolationMinimiser::Verdict::Continue;
  });
  program().getPoint(now_.point);
  if (scaled_.differentiate(&now_.y, derivatives_)) residuals_ = measure(now_, derivatives_);
  if (now_.largestInfeasibility() < kept_.largestInfeasibility() && residuals_.stationarity <= options_.acceptableTolerance) return;
  now_ = kept_;
  program().setPoint(now_.point);
}

/// Leaves the program at the solution or the best iterate, and says what happened.
void Run::close() {
  const bool started = report_.status != Status::NotFinite || !report_.history.empty();
  if (started) {
    const bool last =
        report_.status == Status::Converged || report_.status == Status::Unbounded || report_.status == Status::LocallyInfeasible;
    if (!last) now_ = best_;
    program().setPoint(now_.point);
    if (report_.status == Status::Acceptable) meetConstraints();
    if (scaled_.differentiate(nullptr, derivatives_)) residuals_ = measure(now_, derivatives_);
    report_.objective = now_.values.objective / scaled_.objectiveScale();
    report_.stationarity = residuals_.stationarity;
    report_.violation = now_.largestInfeasibility();
    report_.complementarity = complementarity(now_, 0);
    report_.worstViolation = scaled_.unscaledViolation(now_.values);
    report_.barrier = mu_;
    report_.multipliers = scaled_.unscaled(now_.y);
    nameWorst();
  }
  switch (report_.status) {
  case Status::Converged:
    break;
  case Status::Acceptable:
    report_.message =
        fmt::format("rounding lets the residual fall no further than {:.2e}, {:.1e} was asked for", bestError_, options_.tolerance);
    break;
  case Status::LocallyInfeasible:
    report_.message =
        fmt::format("no point near the last one meets the constraints; violated most: {}. Relax them, or start elsewhere", worstRows());
    break;
  case Status::Unbounded:
    report_.message = fmt::format("the objective falls without end ({:.3g}), fastest along '{}'; bound the variables or the objective",
                                  report_.objective, fastestVariable());
    break;
  case Status::MaxIterations:
    report_.message = fmt::format("not solved after {} iterations; stationarity {:.2e}, violated most: {}", report_.iterations,
                                  report_.stationarity, worstRows());
    break;
  case Status::Stalled:
    report_.message =
        fmt::format("no step improves the iterate; stationarity {:.2e}, violated most: {}. Check the derivatives (checkDerivatives) "
                    "and whether the constraints have a regular point",
                    report_.stationarity, worstRows());
    break;
  case Status::Interrupted:
    report_.message = fmt::format("interrupted after {} iterations", report_.iterations);
    break;
  case Status::NotFinite:
    if (report_.message.empty()) report_.message = "the second derivatives do not exist or are not finite at the start; start elsewhere";
    break;
  }
  report_.evaluations = scaled_.evaluations;
  report_.differentiations = scaled_.differentiations;
  report_.factorisations = kkt_.factorisations;
  report_.evaluationTime = scaled_.evaluationTime;
  report_.differentiationTime = scaled_.differentiationTime;
  report_.factorisationTime = kkt_.factorisationTime;
  report_.solutionTime = kkt_.solutionTime;
  report_.totalTime = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}

const char* name(InteriorPointReport::Status status) {
  switch (status) {
  case Status::Converged:
    return "converged";
  case Status::Acceptable:
    return "acceptable";
  case Status::LocallyInfeasible:
    return "locally infeasible";
  case Status::Unbounded:
    return "unbounded";
  case Status::MaxIterations:
    return "too many iterations";
  case Status::Stalled:
    return "stalled";
  case Status::NotFinite:
    return "not finite";
  case Status::Interrupted:
    return "interrupted";
  }
  return "";
}

struct InteriorPoint::Impl {
  InteriorPointOptions options;
  Watch watch;
  InteriorPointReport report;
};

InteriorPoint::InteriorPoint(const InteriorPointOptions& options) : impl_(std::make_unique<Impl>()) { impl_->options = options; }
InteriorPoint::~InteriorPoint() = default;
InteriorPoint::InteriorPoint(InteriorPoint&&) noexcept = default;
InteriorPoint& InteriorPoint::operator=(InteriorPoint&&) noexcept = default;

void InteriorPoint::watch(Watch watch) { impl_->watch = std::move(watch); }
const InteriorPointReport& InteriorPoint::report() const { return impl_->report; }

const InteriorPointReport& InteriorPoint::solve(NonlinearProgram& program, const WarmStart* warmStart) {
  requireConsistent(program);
  impl_->report = {};
  Run run(program, impl_->options, impl_->watch, impl_->report);
  run.solve(warmStart);
  run.close();
  return impl_->report;
}

}
