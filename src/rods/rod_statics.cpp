#include "tendril/rods/rod_statics.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <utility>

namespace tendril {

struct RodStatics::Impl {
  Impl(const Model& model_, RodStaticsOptions options_);

  StrainRod rodAt(double t) const;
  void show();

  RodStaticsOptions options;
  std::vector<int> places; ///< of the nodes in the state
  StrainRod rod;
  RodEquilibrium found;
  State state;
  StepReport step;
};

RodStatics::Impl::Impl(const Model& model, RodStaticsOptions options_)
    : options(std::move(options_)), rod(options.rod, options.elements, options.map, options.weight), state(model.initialState()) {
  if (options.steps < 1) throw InputError("rod: at least one step is needed");
  if (int(options.blocks.size()) != options.elements + 1)
    throw InputError("rod: the model that shows it needs one node more than it has elements");
  if (options.start.size() > 0 && options.start.size() != rod.size())
    throw InputError("rod: the first guess needs three strains an element");
  for (const int block : options.blocks) places.push_back(model.blocks()[std::size_t(block)].q);
  rod.place(options.ends.begin, options.start.size() > 0 ? options.start : rod.natural());
}

StrainRod RodStatics::Impl::rodAt(double t) const {
  RodProperties properties = options.rod;
  if (options.growsWeight) properties.weight *= t;
  if (options.growsNaturalStrain && properties.natural)
    properties.natural = [of = options.rod.natural, t](double s) -> Vector3 { return t * of(s); };
  return {std::move(properties), options.elements, options.map, options.weight};
}

void RodStatics::Impl::show() {
  for (std::size_t i = 0; i < options.blocks.size(); ++i) {
    const Pose& H = rod.frame(int(i));
    state.q.segment<12>(places[i]) << H.x, H.R.col(2), H.R.col(0), H.R.col(1);
  }
}

RodStatics::RodStatics(const Model& model, RodStaticsOptions options) : impl_(std::make_unique<Impl>(model, std::move(options))) {}
RodStatics::~RodStatics() = default;

void RodStatics::start() {
  impl_->found.energy = impl_->rod.energy();
  impl_->show();
}

bool RodStatics::finished() const { return impl_->step.step >= impl_->options.steps; }

const StepReport& RodStatics::advance() {
  Impl& m = *impl_;
  const double t = double(m.step.step + 1) / m.options.steps;
  StrainRod next = m.rodAt(t);
  next.place(m.options.ends.begin, m.rod.strains());
  const RodEquilibrium found = solveEquilibrium(next, m.options.ends, m.options.equilibrium);
  if (!found.isSolved || !found.isMinimum) throw NumericalFailure("rod: " + found.message);
  m.rod = std::move(next), m.found = found;
  ++m.step.step;
  m.step.t = m.state.t = t, m.step.h = 1.0 / m.options.steps, m.step.iterations = found.iterations;
  m.step.note = found.escapes > 0 ? "an equilibrium that is no minimum was left along the direction in which the energy falls" : "";
  m.show();
  return m.step;
}

const State& RodStatics::state() const { return impl_->state; }
VectorX RodStatics::reactions() { return impl_->state.lambda; }
double RodStatics::progress() const { return double(impl_->step.step) / impl_->options.steps; }

Energy RodStatics::energy(const Model&) const {
  Energy energy;
  energy.elastic = impl_->rod.elasticEnergy(), energy.gravitational = impl_->rod.weightEnergy();
  return energy;
}

bool RodStatics::monitor(std::string_view name, const Marker*, double* values) {
  const Impl& m = *impl_;
  if (name == "energy") {
    *values = m.rod.energy();
  } else if (name == "elastic energy") {
    *values = m.rod.elasticEnergy();
  } else if (name == "gravitational energy") {
    *values = m.rod.weightEnergy();
  } else if (name == "turns") {
    *values = m.rod.turns();
  } else if (name == "torsion spread") {
    double least = m.rod.strains()[2], most = least;
    for (int i = 1; i < m.options.elements; ++i)
      least = std::min(least, m.rod.strains()[3 * i + 2]), most = std::max(most, m.rod.strains()[3 * i + 2]);
    *values = most - least;
  } else if (name == "stability") {
    *values = m.found.stability;
  } else if (name == "end force") {
    Eigen::Map<Vector3>{values} = m.found.end.force;
  } else if (name == "end moment") {
    Eigen::Map<Vector3>{values} = m.found.end.moment;
  } else {
    return false;
  }
  return true;
}

Snapshot RodStatics::save() {
  const Impl& m = *impl_;
  const VectorX& u = m.rod.strains();
  return {{"strains", std::vector<double>(u.data(), u.data() + u.size())}, {"step", {double(m.step.step)}}};
}

/// The step that led to the snapshot is solved again from where it ended: forces of supports belong to the run that shows them.
void RodStatics::restore(const Snapshot& snapshot) {
  Impl& m = *impl_;
  const std::vector<double>& u = snapshot.at("strains");
  m.rod.place(m.options.ends.begin, Eigen::Map<const VectorX>(u.data(), Eigen::Index(u.size())));
  const long step = long(snapshot.at("step")[0]);
  if (step == 0) return start();
  m.step.step = step - 1;
  advance();
}

}
