#include "tendril/rods/contact_equilibrium.h"

#include "rods/contact_program.h"
#include "rods/least_curvature.h"
#include "rods/rod_ends.h"
#include "tendril/model/error.h"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace tendril {

namespace {

constexpr double rounding = 1e-13;
constexpr double flat = 1e-7; ///< of the elastic part: zero, for motions that cost nothing

std::string describe(const RodTouch& touch, const StrainRod& rod, const RodSurroundings& around) {
  const double s = (touch.first.segment + touch.first.share) * rod.step();
  if (!touch.isOfRodItself())
    return fmt::format("element {} (at {:.4g} m) and obstacle '{}'", touch.first.segment, s,
                       around.obstacles[std::size_t(touch.obstacle)].name);
  return fmt::format("elements {} (at {:.4g} m) and {} (at {:.4g} m)", touch.first.segment, s, touch.second.segment,
                     (touch.second.segment + touch.second.share) * rod.step());
}

/// Wherever the rod begins is a place that it cannot leave.
void refuseOverlap(const StrainRod& rod, const RodSurroundings& around) {
  constexpr double allowed = 1e-6; // of the radius
  RodContacts contacts(around);
  const RodTouch* worst = nullptr;
  for (const RodTouch& touch : contacts.find(rod, 0))
    if (touch.gap < -allowed * around.radius && (!worst || touch.gap < worst->gap)) worst = &touch;
  if (!worst) return;
  const char* remedy = worst->isOfRodItself() ? "start from strains that part them, or take a thinner rod"
                                              : "start from strains that keep clear of it, move it, or take a thinner rod";
  throw InputError(fmt::format("rod: at the start {} overlap by {:.4g} m; {}", describe(*worst, rod, around), -worst->gap, remedy));
}

void check(const StrainRod& rod, const RodEnds& ends, const RodSurroundings& around) {
  constexpr int most = 2000;
  if (rod.properties().stretchStiffness) throw InputError("rod: one that stretches touches nothing; leave out `shearing`");
  if (rod.elements() > most)
    throw InputError(fmt::format("rod: {} elements are more than the {} that touch; take fewer", rod.elements(), most));
  const bool touches = around.touchesItself || !around.obstacles.empty();
  if (touches && !(around.radius > 0)) throw InputError("rod: it needs a radius to touch anything");
  for (const RodObstacle& o : around.obstacles)
    if (o.isHollow && o.radius <= around.radius)
      throw InputError(
          fmt::format("rod: obstacle '{}' of radius {:.4g} m holds no rod of radius {:.4g} m; take a larger one, or a thinner rod", o.name,
                      o.radius, around.radius));
  checkRodEnds(rod.properties().length, ends);
}

/// The end on its way between two places, at a share of the way.
RodEnds between(const RodEnds& ends, const Pose& from, double share) {
  RodEnds now = ends;
  if (ends.position) now.position = (1 - share) * from.x + share * *ends.position;
  if (ends.orientation) now.orientation = from.R * so3::exp(share * so3::log(from.R.transpose() * *ends.orientation));
  return now;
}

/// The descent in units of the rod.
class Descent {
 public:
  Descent(ContactProgram& program, const RodContactEquilibriumOptions& options) : p_(program), o_(options) {}

  /// Leads the end to where it is to be, in shares of the way as long as the contacts allow.
  bool lead(const RodEnds& ends);
  /// Down the energy to where the residual is small.
  bool descend();
  LeastCurvature leastCurvature();
  /// Along a direction in which the energy falls to second order. False where it does not fall.
  bool escape(const LeastCurvature& along);

  double residual = 0;
  int iterations = 0, cuts = 0;
  std::vector<double> energies;
  VectorX lambda, mu; ///< of the last iteration
  std::string message;

 private:
  struct Step {
    VectorX w;
    double promised = 0;         ///< fall of the energy by the model
    ContactProgram::Keys held{}; ///< contacts along which it goes
  };
  Step newtonStep(const VectorX& gradient);
  Step conjugateGradients(const VectorX& gradient, const std::vector<int>& rows);
  bool take(const Step& step, double least);
  bool newtonIteration(const VectorX& gradient);
  bool flowIteration();
  void accept();
  /// What is near, in words.
  std::string closest() const;

  ContactProgram& p_;
  const RodContactEquilibriumOptions& o_;
  std::vector<int> active_;
  double region_ = 1, time_ = 0.1;
  double lastResidual_ = 0; ///< of the flow, and whether the last fall of the energy was lost in rounding
  bool isQuiet_ = false;
  VectorX x_; ///< strains of the last point that was taken
  StrainRod::NodeForces nodes_;
  double energy_ = 0;
};

void Descent::accept() {
  x_ = p_.rod().strains(), nodes_ = p_.nodes(), energy_ = p_.energy();
  energies.push_back(energy_);
}

std::string Descent::closest() const {
  const double gap = p_.leastGap() / p_.radius();
  return gap < 0.5 ? fmt::format("with a closest gap of {:.3g} of the radius", gap) : "though nothing is near";
}

bool Descent::lead(const RodEnds& ends) {
  constexpr double shortest = 1.0 / (1 << 14);
  const Pose from = p_.rod().frame(p_.rod().elements());
  accept();
  energies.clear();
  double share = 0, step = 1;
  while (share < 1) {
    if (o_.stops && o_.stops()) throw Interrupted("rod: stopped on its way to an equilibrium");
    const double next = std::min(1.0, share + step);
    p_.setEnds(between(ends, from, next));
    if (p_.restore(x_, nodes_)) {
      share = next, step *= 2;
      accept();
      energies.clear();
      continue;
    }
    step /= 2, ++cuts;
    if (step < shortest) {
      p_.place(x_);
      message = fmt::format("the end cannot be led to its place: it gets stuck when {:.3g} of the way are left, {}; give a start nearer to "
                            "the ends, more room, or a smaller step of the parameter",
                            1 - share, closest());
      return false;
    }
  }
  energies.push_back(energy_);
  return true;
}

/// Steihaug's method in the kernel of the rows, from the point on them that is nearest.
Descent::Step Descent::conjugateGradients(const VectorX& gradient, const std::vector<int>& rows) {
  constexpr int most = 200;
  MatrixX C(p_.J().rows() + Eigen::Index(rows.size()), gradient.size());
  VectorX c(C.rows());
  C << p_.J(), MatrixX(p_.G()(rows, Eigen::all));
  c << -p_.closure(), -VectorX(p_.gaps()(rows));
  Step step{.w = VectorX::Zero(gradient.size())};
  MatrixX Q(gradient.size(), 0);
  if (C.rows() > 0) {
    const Eigen::CompleteOrthogonalDecomposition<MatrixX> held(C.transpose());
    Q = held.householderQ() * MatrixX::Identity(gradient.size(), held.rank());
    step.w = held.transpose().solve(c);
  }
  const auto project = [&](VectorX& v) { v -= Q * (Q.transpose() * v); };
  if (const double share = 0.8 * region_; step.w.norm() > share) step.w *= share / step.w.norm();
  VectorX Hw, Hd;
  p_.product(step.w, Hw);
  VectorX r = -gradient - Hw;
  project(r);
  VectorX d = r;
  double rr = r.squaredNorm();
  const double enough = std::min(1e-2, std::sqrt(residual)) * std::sqrt(rr);
  for (int k = 0; k < most && rr > enough * enough && rr > 0; ++k) {
    p_.product(d, Hd);
    const double curvature = d.dot(Hd), ww = step.w.squaredNorm(), wd = step.w.dot(d), dd = d.squaredNorm();
    const double edge = (-wd + std::sqrt(std::max(0.0, wd * wd + dd * (region_ * region_ - ww)))) / dd;
    const double full = rr / curvature;
    const bool leaves = !(curvature > 0) || full > edge;
    const double way = leaves ? edge : full;
    step.w += way * d, Hw += way * Hd, r -= way * Hd;
    if (leaves) break;
    project(r);
    const double next = r.squaredNorm();
    d = r + next / rr * d;
    rr = next;
  }
  step.promised = -(gradient.dot(step.w) + 0.5 * step.w.dot(Hw));
  return step;
}

/// On the active rows of the projected gradient; those that the step violates join.
Descent::Step Descent::newtonStep(const VectorX& gradient) {
  constexpr int passes = 6;
  std::vector<int> rows = active_;
  Step step;
  for (int pass = 0; pass < passes; ++pass) {
    step = conjugateGradients(gradient, rows);
    const VectorX slack = p_.gaps() + p_.G() * step.w;
    const std::size_t before = rows.size();
    for (int k = 0; k < int(slack.size()); ++k)
      if (slack[k] < -1e-9 * p_.radius() && std::find(rows.begin(), rows.end(), k) == rows.end()) rows.push_back(k);
    if (rows.size() == before) break;
  }
  step.held = p_.keysOf(rows);
  return step;
}

/// The point at the end of a step, brought back to the constraints, if its energy is at most `least`; else the last point.
bool Descent::take(const Step& step, double least) {
  if (p_.restore(x_ + p_.unit().cwiseProduct(step.w), nodes_, step.held) && p_.energy() <= least + rounding * (1 + std::abs(energy_))) {
    accept();
    return true;
  }
  p_.place(x_);
  p_.differentiate();
  ++cuts;
  return false;
}

bool Descent::newtonIteration(const VectorX& gradient) {
  constexpr int attempts = 4;
  p_.vary(lambda, mu);
  const VectorX projected = p_.nearest().point();
  region_ = std::max(region_, projected.norm());
  for (int k = 0; k < attempts; ++k) {
    const Step step = newtonStep(gradient);
    const double size = step.w.norm();
    if (const double factor = p_.longestFactor(step.w); factor < 1) {
      region_ = 0.9 * factor * size;
      continue;
    }
    const double before = energy_, noise = 10 * rounding * (1 + std::abs(before)); // beyond which the fall tells nothing
    if (step.promised > -noise && take(step, before - 1e-4 * std::max(0.0, step.promised))) {
      const double fallen = before - energy_;
      if (fallen > 0.75 * step.promised - noise) region_ = std::max(region_, 2 * size);
      if (fallen < 0.25 * step.promised - noise) region_ = size / 2;
      return true;
    }
    region_ = size / 4;
  }
  // Along the projected gradient, which obeys all rows and descends.
  double factor = 1;
  for (int k = 0; k < 30; ++k, factor /= 4) {
    const Step step{factor * projected};
    if (take(step, energy_ + 1e-4 * factor * gradient.dot(projected))) return true;
  }
  return false;
}

/// (6.28) with the drift taken out by restore(), in the metric of the elastic energy, which is that of the strains but for the torsion. Too
/// long steps show by the energy; where its fall is lost in rounding, by a residual that grows.
bool Descent::flowIteration() {
  const VectorX v = p_.nearest().point();
  if (isQuiet_ && residual > lastResidual_) time_ /= 2;
  lastResidual_ = residual;
  for (int k = 0; k < 30; ++k, time_ /= 2) {
    const double before = energy_;
    if (!take({time_ * v}, before)) continue;
    isQuiet_ = before - energy_ < 10 * rounding * (1 + std::abs(before));
    if (!isQuiet_) time_ = std::min(1.0, 1.1 * time_);
    return true;
  }
  return false;
}

bool Descent::descend() {
  for (; iterations < o_.maxIterations; ++iterations) {
    if (o_.stops && o_.stops()) throw Interrupted("rod: stopped on its way to an equilibrium");
    p_.differentiate();
    const VectorX gradient = p_.gradient();
    if (!p_.project(-gradient)) {
      message = "supports and contacts contradict one another to first order: the rod is stuck";
      return false;
    }
    active_ = p_.nearest().active();
    lambda = -p_.nearest().equality(), mu = p_.nearest().inequality();
    residual = p_.nearest().point().norm() / (1 + gradient.norm());
    if (residual < o_.tolerance) return true;
    const bool moved = o_.method == ContactDescent::Newton ? newtonIteration(gradient) : flowIteration();
    if (!moved) {
      message = fmt::format("the energy falls no further, with a residual of {:.3g} after {} iterations", residual, iterations);
      return false;
    }
  }
  message = fmt::format("no equilibrium after {} iterations, with a residual of {:.3g}", iterations, residual);
  return false;
}

LeastCurvature Descent::leastCurvature() {
  p_.vary(lambda, mu);
  MatrixX C(p_.J().cols(), p_.J().rows() + Eigen::Index(active_.size()));
  C << p_.J().transpose(), MatrixX(p_.G()(active_, Eigen::all)).transpose();
  return tendril::leastCurvature(
      VectorX::Ones(C.rows()), C, [&](const VectorX& w, VectorX& Hw) { p_.product(w, Hw); }, flat);
}

bool Descent::escape(const LeastCurvature& along) {
  const ContactProgram::Keys held = p_.keysOf(active_);
  const VectorX direction = along.direction.normalized();
  for (double size = 1; size > 1e-4; size /= 2)
    for (const double way : {size, -size})
      if (take({way * direction, 0, held}, energy_ + 0.05 * along.least * size * size)) return true;
  return false;
}

/// In units of lengths L and energies.
void report(ContactProgram& program, const Descent& descent, double L, double energyUnit, RodContactEquilibrium& found) {
  found.residual = descent.residual, found.iterations = descent.iterations, found.cuts = descent.cuts;
  found.message = descent.message;
  found.leastGap = L * program.leastGap();
  for (const double e : descent.energies) found.energies.push_back(energyUnit * e);
  if (!found.isSolved) return;
  const StrainRod& rod = program.rod();
  const StrainRod::EndFunction end = program.ends().weighted(rod.frame(rod.elements()), descent.lambda);
  found.end = {-energyUnit / L * end.y, -energyUnit * end.couple};
  for (std::size_t k = 0; k < program.touches().size(); ++k) {
    const double mu = descent.mu[Eigen::Index(k)];
    if (!(mu > 0)) continue;
    RodTouch touch = program.touches()[k];
    touch.gap *= L, touch.curvature /= L;
    found.contacts.push_back({touch, energyUnit / L * mu});
  }
}

}

RodContactEquilibrium solveContactEquilibrium(StrainRod& rod, const RodEnds& ends, const RodSurroundings& surroundings,
                                              const RodContactEquilibriumOptions& options) {
  check(rod, ends, surroundings);
  refuseOverlap(rod, surroundings);
  const double L = rod.properties().length;
  RodEnds scaledEnds = ends;
  scaledEnds.begin.x /= L;
  if (ends.position) *scaledEnds.position /= L;
  ContactProgram program(rod.scaled(), scaledEnds, surroundings.scaled(L));
  Descent descent(program, options);
  RodContactEquilibrium found;
  found.isSolved = descent.lead(scaledEnds);
  while (found.isSolved) {
    found.isSolved = descent.descend();
    if (!found.isSolved) break;
    const LeastCurvature curvature = descent.leastCurvature();
    found.stability = curvature.least;
    found.isMinimum = curvature.least > -flat;
    if (found.isMinimum || found.escapes >= options.escapes || !descent.escape(curvature)) break;
    ++found.escapes;
  }
  rod.place(ends.begin, program.rod().strains() / L);
  found.energy = rod.energy();
  report(program, descent, L, rod.properties().stiffness.maxCoeff() / L, found);
  if (found.isSolved && !found.isMinimum)
    found.message = fmt::format("the equilibrium is no minimum (its second variation is {:.3g} of its elastic part)", found.stability);
  return found;
}

}
