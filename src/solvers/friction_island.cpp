#include "friction_island.h"

#include "friction_cone.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tendril {

double FrictionGoal::ratio(const FrictionSystem::Squares& squares) const {
  double square = measure == FrictionOptions::Measure::Published ? squares.published : squares.scaled;
  if (measure == FrictionOptions::Measure::Both) square = std::max(square, squares.published);
  return std::sqrt(square) / threshold;
}

FrictionEffort& FrictionEffort::operator+=(const FrictionEffort& other) {
  sweeps += other.sweeps;
  newtonSteps += other.newtonSteps;
  factorisations += other.factorisations;
  admmSteps += other.admmSteps;
  interiorSteps += other.interiorSteps;
  pathSteps += other.pathSteps;
  parts += other.parts;
  return *this;
}

std::string FrictionEffort::text() const {
  std::string text;
  const auto tell = [&](long count, const char* one, const char* many) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  tell(sweeps, "sweep of Gauss-Seidel", "sweeps of Gauss-Seidel");
  tell(newtonSteps, "Newton step", "Newton steps");
  tell(admmSteps, "step of ADMM", "steps of ADMM");
  tell(interiorSteps, "interior-point step", "interior-point steps");
  tell(pathSteps, "step along the central path", "steps along the central path");
  tell(parts, "part solved on its own", "parts solved on their own");
  return text.empty() ? "the start is a solution" : text;
}

void FrictionIsland::load(const FrictionProblem& problem, const std::vector<int>& contacts) {
  system_.pack(problem, contacts);
  if (system_.hasBodies() && !part_) part_ = std::make_unique<FrictionIsland>();
  prepare();
}

void FrictionIsland::prepare() {
  locals_.set(system_.laws, system_.D, system_.diagonalOffset);
  sweeper_.set(system_, locals_);
  equations_.set(system_);
}

void FrictionIsland::findAmbiguous(std::vector<int>& contacts) const {
  for (int i = 0; i < system_.contacts(); ++i)
    if (isAmbiguous(system_.laws[i], system_.D.data() + system_.diagonalOffset[i])) contacts.push_back(system_.globalContact[i]);
}

void FrictionIsland::evaluate(FrictionIterate& iterate) {
  system_.velocities(iterate.r, iterate.w, iterate.u);
  const FrictionSystem::Squares squares = system_.residual(iterate.r, iterate.u);
  iterate.ratio = goal_.ratio(squares);
  iterate.relative = std::sqrt(squares.scaled) / size_;
}

void FrictionIsland::moveIntoCones(FrictionIterate& iterate) const {
  for (int i = 0; i < system_.contacts(); ++i) projectOnCone(system_.laws[i], &iterate.r[system_.first[i]]);
}

void FrictionIsland::keepBest() {
  if (now_.ratio < best_.ratio) best_ = now_;
}

/// From the impulses of now_.
void FrictionIsland::begin(const FrictionGoal& goal) {
  goal_ = goal;
  effort_ = {};
  size_ = system_.q.cwiseQuotient(system_.scale).norm();
  if (!(size_ > 0)) size_ = 1;
  evaluate(now_);
  best_ = now_;
}

void FrictionIsland::solve(const FrictionOptions& options, double threshold, Eigen::VectorXd& r) {
  system_.scatter(r, now_.r);
  begin({options.measure, threshold});
  if (converged()) return;
  run(options);
  if (converged() && options.polish) polish();
  system_.gather(best_.r, r);
}

void FrictionIsland::run(const FrictionOptions& options) {
  const auto limit = [&](long standard) { return options.maxIterations > 0 ? options.maxIterations : standard; };
  switch (options.method) {
  case FrictionMethod::Automatic:
    return cascade(limit(std::clamp(40000L / std::max(1, system_.contacts()), 60L, 400L)),
                   limit(std::clamp(600000L / std::max(1, system_.contacts()), 200L, 3000L)));
  case FrictionMethod::GaussSeidel:
    return sweep(limit(100000));
  case FrictionMethod::SemismoothNewton:
    return semismoothNewton(limit(200));
  case FrictionMethod::ProximalNewton:
    return proximalNewton(limit(200));
  case FrictionMethod::Admm:
    return admm(limit(20000));
  case FrictionMethod::InteriorPoint:
    interior(limit(200), 1);
    return proximalNewton(limit(200));
  }
}

/// Sweeps for what is easy; on bodies accelerated sweeps with Newton steps between, as long as they cost about half of what the central
/// path is likely to; then Newton's method, and where that stalls the central path, which goes on through folds to its end. Some paths are
/// much longer than others: so several, the last ones at length. Laws with several discs have the interior-point method instead; ADMM comes
/// last.
void FrictionIsland::cascade(long limit, long pathSteps) {
  constexpr long halfPath = 20; // steps
  sweep(20);
  if (system_.hasBodies() && !converged()) acceleratedSweeps(std::clamp(halfPath * sweepsPerNewtonStep(), 500L, 20000L));
  proximalNewton(std::min(system_.hasBodies() ? 5L : 25L, limit));
  bool followed = true;
  for (const double kappa : {0.3, 1.0, 0.1, 0.03}) {
    if (converged()) return;
    followed = followed && followPath(kappa == 0.3 ? std::min(200L, pathSteps) : pathSteps, kappa);
    if (followed && !converged()) proximalNewton(25);
  }
  for (const double weight : {1.0, 0.5, 0.9, 0.0}) {
    if (converged() || followed) break;
    interior(limit, weight);
    if (!converged()) proximalNewton(limit / 2);
  }
  if (converged()) return;
  admm(10 * limit);
  if (!converged()) proximalNewton(limit);
}

/// A sweep tells by how much it changed the impulses; the true residual is found when that promises success, and now and then.
void FrictionIsland::sweep(long limit, bool backward) {
  double promised = std::numeric_limits<double>::infinity();
  long next = 10;
  for (long k = 1; k <= limit && !converged(); ++k) {
    const double change = std::sqrt(sweeper_.sweep(now_.r, now_.w, backward));
    ++effort_.sweeps;
    if (k < next && k < limit && !(change <= promised)) continue;
    evaluate(now_);
    if (!std::isfinite(now_.ratio)) return;
    keepBest();
    promised = change / std::max(now_.ratio, 1e-300);
    next = k + 10 + k / 10;
  }
}

/// Sweeps with momentum; Newton steps from the best point of late where that has come nearer and the sweeps have cost about as much as a
/// step. They do not disturb the sweeps unless they gain a lot. Far from the goal they seldom succeed: where they are dear they wait.
void FrictionIsland::acceleratedSweeps(long limit) {
  constexpr long stride = 10;
  constexpr double nearer = 0.2, muchNearer = 0.1, close = 10, infinity = std::numeric_limits<double>::infinity();
  const bool isCheap = sweepsPerNewtonStep() <= 2 * stride;
  if (isCheap) regularisedNewton();
  accelerated_.start(system_, sweeper_, now_.r, now_.w);
  SweepProgress progress;
  const bool isLarge = part_ && system_.contacts() >= 2 * progress.partSize; // others have cheap Newton steps
  FrictionIterate& candidate = now_;
  double tried = isCheap ? infinity : close / nearer; // the ratio from which Newton's method was tried last
  long sinceNewton = 0;
  candidate.ratio = infinity;
  for (long k = stride; k <= limit && !converged(); k += stride) {
    for (int i = 0; i < stride; ++i) accelerated_.step(progress.momentum);
    effort_.sweeps += stride;
    sinceNewton += stride;
    smooth_.r = accelerated_.impulses();
    evaluate(smooth_);
    if (isLarge && progress.standsStill(smooth_.ratio, stride)) breakStandstill(progress);
    if (smooth_.ratio < candidate.ratio) std::swap(smooth_, candidate);
    keepBest();
    const long price = std::max(2 * stride, sweepsPerNewtonStep());
    if (converged() || sinceNewton < price || (candidate.ratio > nearer * tried && sinceNewton < 5 * price)) continue;
    sinceNewton = 0;
    tried = candidate.ratio;
    regularisedNewton();
    if (now_.ratio < muchNearer * tried) {
      accelerated_.start(system_, sweeper_, now_.r, now_.w);
      tried = now_.ratio;
    }
    candidate.ratio = infinity;
  }
  now_ = best_;
}

bool SweepProgress::standsStill(double ratio, long sweeps) {
  constexpr long patience = 250;
  stale += sweeps;
  if (ratio < 0.5 * mark) {
    mark = ratio;
    stale = 0;
  }
  return stale >= patience;
}

/// From smooth_, where accelerated_ is. Sweeps may circle in one place, because Coulomb's law is not associated: such a place is solved on
/// its own, larger the next time. Where there is none, or it did not help, the sweeps go on without momentum, or with it again: momentum
/// may keep a place in motion that comes to rest without it, and helps where the whole island moves.
void FrictionIsland::breakStandstill(SweepProgress& progress) {
  constexpr int largestPart = 200;
  progress.stale = 0;
  progress.mark = smooth_.ratio;
  if (!progress.searched) {
    progress.searched = true;
    now_ = smooth_;
    const bool changed = solveParts(progress.partSize);
    progress.partSize = std::min(largestPart, progress.partSize + progress.partSize / 2);
    if (changed) {
      accelerated_.start(system_, sweeper_, now_.r, now_.w);
      progress.mark = now_.ratio;
      return;
    }
  }
  progress.momentum = !progress.momentum;
  progress.searched = false;
}

/// Solves the part where most of the residual of now_ sits while the others keep their impulses, smooths its edge, and again while a part
/// has a large share. Its solution may lie far away, so that the residual grows at its edge; it is taken all the same. False if nothing
/// was changed.
bool FrictionIsland::solveParts(int size) {
  constexpr double concentrated = 0.2;
  constexpr int rounds = 4, smoothing = 50;
  moveIntoCones(now_);
  evaluate(now_);
  bool changed = false;
  for (int round = 0; round < rounds && !converged(); ++round) {
    if (neighbourhood_.find(system_, now_.r, now_.u, size) < concentrated) break;
    part_->goal_ = goal_;
    ++effort_.parts;
    if (!part_->solvePart(now_, system_, neighbourhood_.contacts())) break;
    changed = true;
    evaluate(now_);
    for (int k = 0; k < smoothing; ++k) sweeper_.sweep(now_.r, now_.w);
    effort_.sweeps += smoothing;
    evaluate(now_);
    keepBest();
  }
  return changed;
}

/// Solves some contacts of another system to a tenth of their share of its goal; without success `whole` stays as it is.
bool FrictionIsland::solvePart(FrictionIterate& whole, const FrictionSystem& system, const std::vector<int>& contacts) {
  constexpr double better = 0.1;
  system_.packPart(system, contacts, whole.r, whole.u);
  prepare();
  now_.r.resize(system_.rows());
  for (int i = 0; i < system_.contacts(); ++i)
    now_.r.segment(system_.first[i], system_.laws[i].size) = whole.r.segment(system_.globalFirst[i], system_.laws[i].size);
  begin({goal_.measure, better * goal_.threshold * std::sqrt(double(system_.rows()) / system.rows())});
  sweep(20);
  acceleratedSweeps(500);
  proximalNewton(25);
  if (!converged() && followPath(200, 0.3)) proximalNewton(25);
  if (!converged()) return false;
  for (int i = 0; i < system_.contacts(); ++i)
    whole.r.segment(system_.globalFirst[i], system_.laws[i].size) = best_.r.segment(system_.first[i], system_.laws[i].size);
  return true;
}

/// Of about the same cost. A contact's sweep takes some hundred operations.
long FrictionIsland::sweepsPerNewtonStep() { return long(equations_.cost() / (350.0 * system_.contacts())); }

/// Newton's step from now_, held back by epsilon; false if there is none.
bool FrictionIsland::findStep(double epsilon) {
  ++effort_.newtonSteps;
  ++effort_.factorisations;
  for (int i = 0; i < system_.contacts(); ++i)
    equations_.contacts()[i].evaluate(system_.laws[i], &now_.r[system_.first[i]], &now_.u[system_.first[i]]);
  return equations_.factorise(epsilon) && equations_.solve(step_);
}

/// Newton steps from now_ as long as they pay. The pull towards the present impulses follows the residual, as is usual for the method of
/// Levenberg and Marquardt: W is nearly singular, and steps that are not held back leave the region where the contacts stick and slide as
/// they do now. True if now_ has become better by much.
bool FrictionIsland::regularisedNewton() {
  bool improved = false;
  while (!converged()) {
    const double before = now_.ratio;
    if (!findStep(std::clamp(10 * now_.relative, 1e-9, 0.1))) return improved;
    trial_.r = now_.r + step_;
    smoothTrial(5);
    if (trial_.ratio > 0.5 * before || !std::isfinite(trial_.ratio)) return improved;
    std::swap(now_, trial_);
    keepBest();
    improved = true;
    if (now_.ratio > 0.3 * before) return true;
  }
  return improved;
}

/// A Newton step from now_, halved until the residual falls. A few sweeps from its end take care of contacts that it judged wrongly; the
/// better of both ends counts. Returns the length of the step that was taken, or zero.
double FrictionIsland::newtonStep(double epsilon, int smoothing) {
  if (!findStep(epsilon)) return 0;
  for (double length = 1; length > 0.1; length *= 0.5) {
    trial_.r = now_.r + length * step_;
    smoothTrial(smoothing);
    if (!(trial_.ratio < now_.ratio)) continue;
    std::swap(now_, trial_);
    keepBest();
    return length;
  }
  return 0;
}

/// Moves trial_ into the cones and sweeps it; the better of before and after the sweeps counts.
void FrictionIsland::smoothTrial(int sweeps) {
  moveIntoCones(trial_);
  evaluate(trial_);
  if (sweeps == 0 || trial_.ratio <= 1) return;
  smooth_.r = trial_.r;
  smooth_.w = trial_.w;
  for (int k = 0; k < sweeps; ++k) sweeper_.sweep(smooth_.r, smooth_.w);
  effort_.sweeps += sweeps;
  evaluate(smooth_);
  if (smooth_.ratio < trial_.ratio) std::swap(smooth_, trial_);
}

/// Newton steps while the residual falls, sweeps to another start where it does not. epsilon only makes W regular.
void FrictionIsland::semismoothNewton(long limit) {
  long pause = 20;
  for (long k = 0; k < limit && !converged(); ++k) {
    if (newtonStep(1e-9, 0) > 0) continue;
    sweep(pause);
    pause = std::min(1000L, pause + pause / 2);
  }
}

/// Newton steps while they pay, sweeps where they do not. epsilon, the pull towards the present impulses, is lowered by success and raised
/// by failure as in the method of Levenberg and Marquardt.
void FrictionIsland::proximalNewton(long limit) {
  constexpr double least = 1e-8, largest = 1e-1;
  double epsilon = 1e-6;
  int failures = 0;
  long pause = 100;
  bool backward = true;
  for (long k = 0; k < limit && !converged(); ++k) {
    const double length = newtonStep(epsilon, 5);
    if (length > 0) {
      failures = 0;
      epsilon = std::clamp(length == 1 ? 0.1 * epsilon : length < 0.3 ? 2 * epsilon : epsilon, least, largest);
      continue;
    }
    epsilon = std::min(largest, 10 * epsilon);
    if (++failures < 2 && k > 4) continue;
    sweep(pause, backward);
    backward = !backward;
    pause = std::min(1000L, pause + pause / 2);
    failures = 0;
  }
}

void FrictionIsland::admm(long limit) {
  admm_.start(system_, equations_, best_.r);
  for (long k = 0; k < limit && !converged() && admm_.step(); ++k) {
    ++effort_.admmSteps;
    now_.r = admm_.impulses();
    evaluate(now_);
    keepBest();
  }
  effort_.factorisations += admm_.factorisations();
  now_ = best_;
}

/// The interior-point method ends near the edges of the cones; the Newton steps after it end on them.
void FrictionIsland::interior(long limit, double weight) {
  interior_.start(system_, equations_, weight);
  FrictionIterate& least = smooth_;
  least.ratio = std::numeric_limits<double>::infinity();
  long since = 0;
  for (long k = 0; k < limit && !converged() && since < 15 && interior_.step(); ++k) {
    ++effort_.interiorSteps;
    ++effort_.factorisations;
    now_.r = interior_.impulses();
    moveIntoCones(now_);
    evaluate(now_);
    keepBest();
    ++since;
    if (!(now_.ratio < least.ratio)) continue;
    least = now_;
    since = 0;
  }
  now_ = std::isfinite(least.ratio) ? least : best_;
}

/// Comes from far away, whatever the start. False if the path is not for these laws.
bool FrictionIsland::followPath(long limit, double kappa) {
  if (!path_.start(system_, equations_, kappa)) return false;
  for (long k = 0; k < limit && !converged() && path_.step(); ++k) {
    ++effort_.pathSteps;
    ++effort_.factorisations;
    now_.r = path_.impulses();
    moveIntoCones(now_);
    evaluate(now_);
    keepBest();
  }
  now_ = best_;
  return true;
}

/// Newton steps without pull, on the sets found: quadratic, so that a step that gains little is the last.
void FrictionIsland::polish() {
  constexpr long expensive = 300; // contacts
  constexpr long dear = 50;       // sweeps: more than many solutions take
  if (sweepsPerNewtonStep() > dear) return;
  const int steps = system_.contacts() > expensive ? 1 : 3;
  for (int k = 0; k < steps; ++k) {
    now_ = best_;
    const double before = best_.ratio;
    if (newtonStep(1e-10, 0) == 0 || best_.ratio > 0.1 * before) break;
  }
}

}
