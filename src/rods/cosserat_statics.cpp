#include "tendril/rods/cosserat_statics.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tendril {

namespace {

std::vector<double> pointOf(const CosseratRod& rod) {
  std::vector<double> numbers(std::size_t(rod.pointSize()));
  rod.getPoint(Eigen::Map<VectorX>(numbers.data(), rod.pointSize()));
  return numbers;
}

void place(CosseratRod& rod, const std::vector<double>& numbers) {
  rod.setPoint(Eigen::Map<const VectorX>(numbers.data(), Eigen::Index(numbers.size())));
}

}

CosseratStatics::CosseratStatics(const Model& model, CosseratStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.rod.vertices())), options_(std::move(options)), rod_(options_.rod),
      equations_(rod_, options_.equilibrium.tolerance), follower_(options_.path.value_or(PathOptions{})) {}

void CosseratStatics::showFrames() {
  for (std::size_t k = 0; k < nodes(); ++k) show(k, {rod_.frameAt(int(k)), rod_.position(int(k))});
  step_.t = state_.t = rod_.loadFactor;
}

void CosseratStatics::start() {
  rod_.loadFactor = 0;
  if (options_.path) {
    const CosseratEquilibrium found = solveEquilibrium(rod_, options_.equilibrium);
    if (!found.isSolved || !found.isMinimum) throw NumericalFailure("without load, " + found.message);
    signs_ = found.signs;
    if (!follower_.start(equations_)) throw NumericalFailure("rod: " + follower_.failure());
  }
  showFrames();
}

bool CosseratStatics::finished() const {
  return step_.step >= options_.steps || rod_.loadFactor < options_.lowest || rod_.loadFactor > options_.highest;
}

const StepReport& CosseratStatics::advance() {
  const double before = rod_.loadFactor;
  if (options_.path)
    stepAlongPath();
  else
    stepLoad();
  ++step_.step;
  step_.tangent = signs_;
  showFrames();
  step_.h = step_.t - before;
  return step_;
}

void CosseratStatics::stepLoad() {
  CosseratRod next = rod_;
  next.loadFactor = double(step_.step + 1) / options_.steps;
  const CosseratEquilibrium found = solveEquilibrium(next, options_.equilibrium);
  if (!found.isSolved || !found.isMinimum) throw NumericalFailure(fmt::format("at load factor {:.6g}, {}", next.loadFactor, found.message));
  place(rod_, pointOf(next));
  rod_.loadFactor = next.loadFactor;
  signs_ = found.signs;
  step_.iterations = found.iterations;
  step_.residual = found.residual;
}

void CosseratStatics::stepAlongPath() {
  step_.note.clear();
  step_.critical.reset();
  if (!follower_.advance(equations_)) {
    equations_.returnToKept();
    throw NumericalFailure(fmt::format("rod: the path ends at load factor {:.6g}: {}", rod_.loadFactor, follower_.failure()));
  }
  const PathFollower::Step& taken = follower_.step();
  step_.iterations = taken.iterations, step_.factorisations = taken.factorisations, step_.cuts = taken.cuts;
  step_.residual = taken.residual;
  const Inertia before = std::exchange(signs_, equations_.signs());
  if (signs_.negative != before.negative) {
    const std::vector<double> reached = pointOf(rod_);
    const double load = rod_.loadFactor;
    step_.critical = follower_.locateChange(equations_, before.negative, [&] { return equations_.signs(); });
    place(rod_, reached);
    rod_.loadFactor = load;
    step_.note = "bifurcation";
  }
  if (taken.turned) step_.note = "limit point";
  follower_.accept(equations_);
}

Energy CosseratStatics::energy(const Model&) const {
  Energy energy;
  energy.elastic = rod_.elasticEnergy(), energy.gravitational = rod_.loadEnergy();
  return energy;
}

double CosseratStatics::mapDefect() const {
  double force = rod_.force(0).norm(), moment = rod_.angularMap(0).norm(), forceJump = 0, momentJump = 0;
  for (int i = 1; i < rod_.edges(); ++i) {
    const Vector3 load = rod_.loadFactor * rod_.load(i);
    force = std::max(force, rod_.force(i).norm());
    moment = std::max(moment, rod_.angularMap(i).norm());
    forceJump = std::max(forceJump, (rod_.force(i) - rod_.force(i - 1) + load).norm());
    momentJump = std::max(momentJump, (rod_.angularMap(i) - rod_.angularMap(i - 1) + rod_.position(i).cross(load)).norm());
  }
  return std::max(force > 0 ? forceJump / force : 0, moment > 0 ? momentJump / moment : 0);
}

bool CosseratStatics::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "energy")
    *values = rod_.energy();
  else if (name == "elastic energy")
    *values = rod_.elasticEnergy();
  else if (name == "unstable directions")
    *values = signs_.negative;
  else if (name == "force map")
    Eigen::Map<Vector3>{values} = rod_.force(0);
  else if (name == "moment map")
    Eigen::Map<Vector3>{values} = rod_.angularMap(0);
  else if (name == "isotropy map")
    *values = rod_.isotropyMap(0);
  else if (name == "map defect")
    *values = mapDefect();
  else
    return false;
  return true;
}

Snapshot CosseratStatics::save() {
  Snapshot snapshot{{"point", pointOf(rod_)},
                    {"step", {double(step_.step), rod_.loadFactor}},
                    {"signs", {double(signs_.positive), double(signs_.negative), double(signs_.zero)}}};
  if (options_.path) {
    const PathFollower::Tangent& tangent = follower_.tangent();
    snapshot["path"] = {tangent.t, follower_.arclengthStep(), follower_.firstArclengthStep()};
    snapshot["tangent"].assign(tangent.x.data(), tangent.x.data() + tangent.x.size());
  }
  return snapshot;
}

void CosseratStatics::restore(const Snapshot& snapshot) {
  place(rod_, snapshot.at("point"));
  step_.step = long(snapshot.at("step")[0]), rod_.loadFactor = snapshot.at("step")[1];
  const std::vector<double>& signs = snapshot.at("signs");
  signs_ = {int(signs[0]), int(signs[1]), int(signs[2])};
  if (options_.path) {
    const std::vector<double>& path = snapshot.at("path");
    const VectorX tangent = Eigen::Map<const VectorX>(snapshot.at("tangent").data(), equations_.size());
    follower_.restore(equations_, {tangent, path[0]}, path[1], path[2]);
  }
  showFrames();
}

}
