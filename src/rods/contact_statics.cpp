#include "tendril/rods/contact_statics.h"

#include "tendril/model/error.h"
#include "tendril/rods/writhe.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace tendril {

RodContactStatics::RodContactStatics(const Model& model, const ContactModel& contacts, RodContactStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.elements) + 1), options_(std::move(options)), rod_(rodAt(options_.from)) {
  if (options_.steps < 1) throw InputError("rod: at least one step is needed");
  if (options_.start.size() > 0 && options_.start.size() != rod_.size())
    throw InputError(fmt::format("rod: the start needs {} strains", rod_.size()));
  report_.model = &contacts;
  rod_.place(options_.family.ends(options_.from).begin, options_.start.size() > 0 ? options_.start : rod_.natural());
}

StrainRod RodContactStatics::rodAt(double parameter) const { return {options_.family.rod(parameter), options_.elements}; }

void RodContactStatics::show() {
  for (std::size_t i = 0; i < nodes(); ++i) ShownRod::show(i, rod_.frame(int(i)));
  reportContacts();
}

/// A step takes the time 1, so that impulses are forces.
void RodContactStatics::reportContacts() {
  report_.contacts.clear();
  report_.step = 1, report_.residual = found_.residual, report_.penetration = std::max(0.0, -found_.leastGap);
  const double radius = options_.surroundings.radius;
  for (const RodContactForce& c : found_.contacts) {
    const RodTouch& touch = c.touch;
    ContactRecord record{.first = options_.part};
    record.second = touch.isOfRodItself() ? options_.part : options_.parts[std::size_t(touch.obstacle)];
    record.position = RodTouch::at(rod_, touch.first) - (radius + touch.gap / 2) * touch.normal;
    record.frame.col(0) = touch.normal;
    record.frame.col(1) = touch.normal.unitOrthogonal();
    record.frame.col(2) = touch.normal.cross(record.frame.col(1));
    record.gap = touch.gap;
    record.impulse[0] = c.force;
    record.status = ContactStatus::Slip;
    report_.contacts.push_back(record);
  }
}

void RodContactStatics::start() {
  options_.equilibrium.stops = [this] { return isStopAsked(); };
  state_.t = options_.from;
  solve(options_.from, 0);
  show();
}

const StepReport& RodContactStatics::advance() {
  const double before = rod_.turns(), next = parameterAt(step_.step + 1);
  step_.iterations = step_.cuts = 0;
  step_.note.clear();
  solve(next, 0);
  twistJump_ = rod_.turns() - before;
  ++step_.step;
  step_.h = next - state_.t, step_.t = state_.t = next;
  step_.residual = found_.residual / options_.equilibrium.tolerance;
  show();
  return step_;
}

/// A step that fails is made in two halves.
void RodContactStatics::solve(double parameter, int depth) {
  constexpr int deepest = 6;
  StrainRod next = rodAt(parameter);
  const RodEnds ends = options_.family.ends(parameter);
  next.place(ends.begin, rod_.strains());
  const RodContactEquilibrium found = solveContactEquilibrium(next, ends, options_.surroundings, options_.equilibrium);
  step_.iterations += found.iterations, step_.cuts += found.cuts;
  if (found.escapes > 0) step_.note = "an equilibrium that is no minimum was left along the direction in which the energy falls";
  if (!found.isSolved || !found.isMinimum) {
    if (depth >= deepest || parameter == state_.t)
      throw NumericalFailure(fmt::format("rod: at a parameter of {:.6g} {}", parameter, found.message));
    const double now = state_.t;
    solve(now + (parameter - now) / 2, depth + 1);
    state_.t = now + (parameter - now) / 2;
    solve(parameter, depth + 1);
    state_.t = now;
    return;
  }
  rod_ = std::move(next), found_ = found;
}

/// Contacts whose places are both within a diameter of those of another, along the rod, are one.
int RodContactStatics::contactPlaces() const {
  const auto at = [&](const RodTouch::Place& p) { return (p.segment + p.share) * rod_.step(); };
  const double near = std::max(2 * options_.surroundings.radius, 1.5 * rod_.step());
  const std::vector<RodContactForce>& all = found_.contacts;
  std::vector<std::size_t> group(all.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](std::size_t i) {
    while (group[i] != i) i = group[i];
    return i;
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const RodTouch &a = all[i].touch, &b = all[j].touch;
      if (a.obstacle != b.obstacle || std::abs(at(a.first) - at(b.first)) > near) continue;
      if (a.isOfRodItself() && std::abs(at(a.second) - at(b.second)) > near) continue;
      group[root(i)] = root(j);
    }
  int places = 0;
  for (std::size_t i = 0; i < all.size(); ++i) places += root(i) == i;
  return places;
}

Energy RodContactStatics::energy(const Model&) const {
  Energy energy;
  energy.elastic = rod_.elasticEnergy(), energy.gravitational = rod_.weightEnergy();
  return energy;
}

bool RodContactStatics::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "parameter") {
    *values = state_.t;
  } else if (name == "energy") {
    *values = rod_.energy();
  } else if (name == "elastic energy") {
    *values = rod_.elasticEnergy();
  } else if (name == "gravitational energy") {
    *values = rod_.weightEnergy();
  } else if (name == "turns") {
    *values = rod_.turns();
  } else if (name == "twist jump") {
    *values = twistJump_;
  } else if (name == "writhe") {
    Eigen::Matrix3Xd points(3, rod_.elements() + 1);
    for (int k = 0; k <= rod_.elements(); ++k) points.col(k) = rod_.frame(k).x;
    *values = writhe(points);
  } else if (name == "contact places") {
    *values = contactPlaces();
  } else if (name == "largest contact force") {
    *values = 0;
    for (const RodContactForce& c : found_.contacts) *values = std::max(*values, c.force);
  } else if (name == "least gap") {
    *values = found_.leastGap;
  } else if (name == "stability") {
    *values = found_.stability;
  } else if (name == "residual") {
    *values = found_.residual;
  } else if (name == "end force") {
    Eigen::Map<Vector3>{values} = found_.end.force;
  } else if (name == "end moment") {
    Eigen::Map<Vector3>{values} = found_.end.moment;
  } else {
    return false;
  }
  return true;
}

Snapshot RodContactStatics::save() {
  const VectorX& u = rod_.strains();
  return {{"strains", std::vector<double>(u.data(), u.data() + u.size())}, {"step", {double(step_.step)}}, {"jump", {twistJump_}}};
}

/// The equilibrium of the snapshot is solved again from where it is: forces belong to the run that shows them.
void RodContactStatics::restore(const Snapshot& snapshot) {
  const std::vector<double>& u = snapshot.at("strains");
  options_.equilibrium.stops = [this] { return isStopAsked(); };
  step_.step = long(snapshot.at("step")[0]), twistJump_ = snapshot.at("jump")[0];
  state_.t = parameterAt(step_.step);
  rod_.place(options_.family.ends(state_.t).begin, Eigen::Map<const VectorX>(u.data(), Eigen::Index(u.size())));
  solve(state_.t, 0);
  show();
}

}
