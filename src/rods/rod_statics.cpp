#include "tendril/rods/rod_statics.h"

#include "tendril/model/error.h"

#include <Eigen/QR>

#include <algorithm>
#include <fmt/format.h>
#include <numbers>
#include <utility>

namespace tendril {

RodStatics::RodStatics(const Model& model, RodStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.elements) + 1), options_(std::move(options)),
      rod_(options_.rod, options_.elements, options_.map, options_.weight, options_.strains) {
  if (options_.steps < 1) throw InputError("rod: at least one step is needed");
  if (options_.start.size() > 0 && options_.start.size() != rod_.size())
    throw InputError(fmt::format("rod: the first guess needs {} strains", rod_.size()));
  rod_.place(options_.ends.begin, options_.start.size() > 0 ? options_.start : rod_.natural());
}

StrainRod RodStatics::rodAt(double t) const {
  RodProperties properties = options_.rod;
  if (options_.growsWeight) properties.weight *= t;
  if (options_.growsNaturalStrain && properties.natural)
    properties.natural = [of = options_.rod.natural, t](double s) -> Vector3 { return t * of(s); };
  return {std::move(properties), options_.elements, options_.map, options_.weight, options_.strains};
}

void RodStatics::showFrames() {
  for (std::size_t i = 0; i < nodes(); ++i) show(i, rod_.frame(int(i)));
}

void RodStatics::start() {
  found_.energy = rod_.energy();
  showFrames();
}

bool RodStatics::finished() const { return step_.step >= options_.steps; }

const StepReport& RodStatics::advance() {
  const double t = double(step_.step + 1) / options_.steps;
  StrainRod next = rodAt(t);
  next.place(options_.ends.begin, rod_.strains());
  const RodEquilibrium found = solveEquilibrium(next, options_.ends, options_.equilibrium);
  if (!found.isSolved || !found.isMinimum) throw NumericalFailure("rod: " + found.message);
  rod_ = std::move(next), found_ = found;
  ++step_.step;
  step_.t = state_.t = t, step_.h = 1.0 / options_.steps, step_.iterations = found.iterations;
  step_.note = found.escapes > 0 ? "an equilibrium that is no minimum was left along the direction in which the energy falls" : "";
  if (largestTurn() > std::numbers::pi)
    step_.note = fmt::format("an element turns by {:.0f} degrees from end to end: its helix may go round between nodes; take more elements",
                             largestTurn() * 180 / std::numbers::pi);
  showFrames();
  return step_;
}

double RodStatics::largestTurn() const {
  double largest = 0;
  for (int i = 0; i < options_.elements; ++i) largest = std::max(largest, rod_.step() * rod_.curvature(i).norm());
  return largest;
}

double RodStatics::progress() const { return double(step_.step) / options_.steps; }

Energy RodStatics::energy(const Model&) const {
  Energy energy;
  energy.elastic = rod_.elasticEnergy(), energy.gravitational = rod_.weightEnergy();
  return energy;
}

bool RodStatics::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "energy") {
    *values = rod_.energy();
  } else if (name == "elastic energy") {
    *values = rod_.elasticEnergy();
  } else if (name == "gravitational energy") {
    *values = rod_.weightEnergy();
  } else if (name == "turns") {
    *values = rod_.turns();
  } else if (name == "torsion spread") {
    double least = rod_.curvature(0)[2], most = least;
    for (int i = 1; i < options_.elements; ++i) least = std::min(least, rod_.curvature(i)[2]), most = std::max(most, rod_.curvature(i)[2]);
    *values = most - least;
  } else if (name == "stability") {
    *values = found_.stability;
  } else if (name == "end force") {
    Eigen::Map<Vector3>{values} = found_.end.force;
  } else if (name == "end moment") {
    Eigen::Map<Vector3>{values} = found_.end.moment;
  } else if (name == "force slope") {
    *values = forceSlope();
  } else {
    return false;
  }
  return true;
}

/// The internal force n(s) = a + b s by least squares: of the forces that elements pass on, or of what their elastic moments tell of them,
/// m' = n x d3, at all nodes.
double RodStatics::forceSlope() const {
  const int n = options_.elements;
  const double h = rod_.step();
  const Vector3 weight = rod_.properties().weight;
  if (n < 4 || weight.isZero()) return 0;
  const bool knowsForces = !found_.internalForces.empty();
  const auto momentOf = [&](int i) -> Vector3 { // in the inertial frame, at the middle of the element
    return rod_.frame(i).R * so3::exp(h / 2 * rod_.curvature(i)) * rod_.stress(i).head<3>();
  };
  Eigen::Matrix<double, Eigen::Dynamic, 6> A(3 * (n - 1), 6);
  VectorX b(3 * (n - 1));
  for (int i = 1; i < n; ++i) {
    const Matrix3 known = knowsForces ? Matrix3::Identity() : Matrix3(-so3::hat(rod_.frame(i).R.col(2)));
    A.block<3, 3>(3 * (i - 1), 0) = known;
    A.block<3, 3>(3 * (i - 1), 3) = i * h * known;
    b.segment<3>(3 * (i - 1)) = knowsForces ? found_.internalForces[std::size_t(i)] : Vector3((momentOf(i) - momentOf(i - 1)) / h);
  }
  const VectorX force = A.colPivHouseholderQr().solve(b);
  return -force.tail<3>().dot(weight) / weight.norm();
}

Snapshot RodStatics::save() {
  const VectorX& u = rod_.strains();
  return {{"strains", std::vector<double>(u.data(), u.data() + u.size())}, {"step", {double(step_.step)}}};
}

/// The step that led to the snapshot is solved again from where it ended: forces of supports belong to the run that shows them.
void RodStatics::restore(const Snapshot& snapshot) {
  const std::vector<double>& u = snapshot.at("strains");
  rod_.place(options_.ends.begin, Eigen::Map<const VectorX>(u.data(), Eigen::Index(u.size())));
  const long step = long(snapshot.at("step")[0]);
  if (step == 0) return start();
  step_.step = step - 1;
  advance();
}

}
