#include "tendril/shells/shell_analyses.h"

#include "shells/runge_kutta.h"
#include "tendril/equations/step_count.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"
#include "tendril/shells/sheet_motion.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

namespace {

/// Does something with a shell; what is thrown says which.
template <class Act> void named(const ShownPatch& shell, const Act& act) {
  const auto told = [&](const Error& error) {
    const std::string_view message = error.what(), shells = "shell: ";
    return fmt::format("shell '{}': {}", shell.part.name, message.starts_with(shells) ? message.substr(shells.size()) : message);
  };
  try {
    act();
  } catch (const InputError& error) {
    throw InputError(told(error));
  } catch (const NumericalFailure& error) {
    throw NumericalFailure(told(error));
  }
}

}

// ---- what they share -------------------------------------------------------------------------------------------------------------------

ShellAnalysis::ShellAnalysis(const Model& model, std::vector<ShownPatch> patches, const Vector3& gravity)
    : gravity_(gravity), state_(model.initialState()), model_(&model), shown_(std::move(patches)) {
  if (shown_.empty()) throw InputError("shell: there is no patch; give one at least");
  for (const ShownPatch& s : shown_) {
    patches_.emplace_back(s.properties);
    for (const Vector3& q : {s.curvatures, s.properties.natural})
      if (!patches_.back().canIntegrate(q))
        throw InputError(
            fmt::format("shell '{}': with curvatures of ({:g}, {:g}, {:g}) 1/m it is rolled up more than can be integrated; give "
                        "smaller ones",
                        s.part.name, q[0], q[1], q[2]));
    const auto isBlock = [&](int block, Block::Kind kind) {
      return block >= 0 && block < int(model.blocks().size()) && model.blocks()[std::size_t(block)].kind == kind;
    };
    if (!isBlock(s.part.frame, Block::Kind::Pose) || !isBlock(s.part.coordinates, Block::Kind::Vector) ||
        model.blocks()[std::size_t(s.part.coordinates)].nq != 3)
      throw InputError(fmt::format("shell '{}': its blocks are none of this model: a pose, and three curvatures", s.part.name));
    places_.push_back(model.blocks()[std::size_t(s.part.coordinates)]);
    show(places_.size() - 1, s.curvatures, s.rates);
  }
}

Matrix3 ShellAnalysis::base(std::size_t i) const {
  return loadPose(state_.q.data() + model_->blocks()[std::size_t(shown_[i].part.frame)].q).R;
}

void ShellAnalysis::show(std::size_t i, const Vector3& q, const Vector3& v) {
  state_.q.segment<3>(places_[i].q) = q, state_.v.segment<3>(places_[i].v) = v;
}

double ShellAnalysis::heldWeight(std::size_t i) const {
  const PatchProperties& p = patches_[i].properties();
  const double* frame = state_.q.data() + model_->blocks()[std::size_t(shown_[i].part.frame)].q;
  return -p.areaDensity * p.domain.area() * gravity_.dot(loadPose(frame).x);
}

bool ShellAnalysis::monitor(std::string_view name, const Marker*, double* values) {
  const Vector3 q = curvatures(0);
  const PatchProperties& p = patches_[0].properties();
  if (name == "curvatures") {
    Eigen::Map<Vector3>{values} = q;
  } else if (name == "kappa") {
    *values = ConePoint::of(q).kappa;
  } else if (name == "phi") {
    *values = ConePoint::of(q).phi;
  } else if (name == "mass matrix") {
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>{values} = patches_[0].mass(q) / p.areaDensity;
  } else if (name == "height integral") {
    const Pose frame = loadPose(state_.q.data() + model_->blocks()[std::size_t(shown_[0].part.frame)].q);
    *values = (p.domain.area() * frame.x + frame.R * patches_[0].moment(q))[2];
  } else if (name == "constraint") {
    *values = gaussianCurvature(q);
  } else if (name == "frequencies") {
    // At the flat state, where a naturally flat sheet starts, phi has none.
    const bool isFlat = q.isZero(0);
    Eigen::Map<Vector2>{values} = isFlat ? Vector2::Constant(std::nan("")).eval() : patchFrequencies(patches_[0], q, localGravity(0));
  } else {
    return energyQuantity(energy(*model_), name, values) || shellQuantity(shown_[0].part, *model_, state_, name, values);
  }
  return true;
}

// ---- at rest ----------------------------------------------------------------------------------------------------------------------------

void StillShells::restore(const Snapshot& snapshot) {
  if (snapshot.at("step")[0] > 0) advance();
}

Energy StillShells::energy(const Model&) const {
  Energy sum;
  for (std::size_t i = 0; i < size(); ++i) {
    sum.elastic += patch(i).elasticEnergy(curvatures(i));
    sum.gravitational += patch(i).gravitationalEnergy(curvatures(i), localGravity(i)) + heldWeight(i);
  }
  return sum;
}

// ---- shape -----------------------------------------------------------------------------------------------------------------------------

const StepReport& ShellShape::advance() {
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1;
  return step_;
}

// ---- equilibrium -----------------------------------------------------------------------------------------------------------------------

const StepReport& ShellStatics::advance() {
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1, step_.iterations = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    PatchEquilibrium e;
    named(shown(i), [&] { e = patchEquilibrium(patch(i), localGravity(i), shown(i).curvatures); });
    step_.iterations += e.iterations;
    show(i, e.at.curvatures(), Vector3::Zero());
  }
  return step_;
}

// ---- motion ----------------------------------------------------------------------------------------------------------------------------

ShellMotion::ShellMotion(const Model& model, std::vector<ShownPatch> patches, const ShellMotionOptions& options)
    : ShellAnalysis(model, std::move(patches), options.motion.gravity), options_(options),
      steps_(stepsIn(options.duration, options.motion.step)) {
  options_.motion.step = options_.duration / double(steps_);
  for (std::size_t i = 0; i < size(); ++i) {
    PatchMotionOptions of = options_.motion;
    of.frame = base(i), of.air = shown(i).air;
    named(shown(i), [&] { motions_.emplace_back(patch(i), of, shown(i).curvatures, shown(i).rates); });
  }
}

void ShellMotion::start() {
  first_.clear(), work_.assign(size(), 0), power_.clear(), meeting_.assign(size(), 0);
  drift_ = constraintDrift_ = 0;
  energies_.clear();
  for (const PatchMotion& m : motions_) {
    const Energy e = m.energy();
    energies_.push_back(e), first_.push_back(e.total()), power_.push_back(e.power);
  }
}

const StepReport& ShellMotion::advance() {
  step_.h = options_.motion.step, step_.iterations = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    named(shown(i), [&] { motions_[i].advance(); });
    show(i, motions_[i].curvatures(), motions_[i].rates());
  }
  ++step_.step;
  step_.t = state_.t = motions_[0].time();
  watch();
  return step_;
}

/// Energies in each patch, and the cone.
void ShellMotion::watch() {
  for (std::size_t i = 0; i < size(); ++i) {
    const Energy e = energies_[i] = motions_[i].energy();
    work_[i] += options_.motion.step * (power_[i] + e.power) / 2, power_[i] = e.power;
    meeting_[i] = std::max({meeting_[i], e.kinetic, std::abs(first_[i])});
    const double change = std::abs(e.total() - first_[i] - work_[i]), relative = meeting_[i] > 0 ? change / meeting_[i] : 0;
    drift_ = std::max(drift_, relative);
    constraintDrift_ = std::max(constraintDrift_, std::abs(motions_[i].constraint()));
    const bool isConserved = patch(i).properties().dampingTime == 0 && !(shown(i).air.density > 0);
    if (isConserved && relative > options_.alarm)
      throw NumericalFailure(fmt::format(
          "shell '{}': in step {}, at t = {:g} s, the energy has changed by {:.2g} of what takes part in the "
          "motion; take steps of at most {:.2g} s",
          shown(i).part.name, step_.step, step_.t, relative, options_.motion.step * std::pow(options_.alarm / 10 / relative, 0.25)));
  }
}

Energy ShellMotion::energy(const Model&) const {
  Energy sum;
  for (std::size_t i = 0; i < size(); ++i) {
    sum += energies_[i];
    sum.gravitational += heldWeight(i);
  }
  return sum;
}

bool ShellMotion::monitor(std::string_view name, const Marker* on, double* values) {
  if (name == "phi")
    *values = motions_[0].cone().phi;
  else if (name == "energy drift")
    *values = drift_;
  else if (name == "constraint drift")
    *values = constraintDrift_;
  else if (name == "flat passage")
    *values = double(motions_[0].passage());
  else
    return ShellAnalysis::monitor(name, on, values);
  return true;
}

Snapshot ShellMotion::save() {
  Snapshot s;
  std::vector<double> states;
  for (const PatchMotion& m : motions_) {
    const auto numbers = m.save();
    states.insert(states.end(), numbers.begin(), numbers.end());
  }
  s["states"] = std::move(states);
  s["step"] = {double(step_.step), drift_, constraintDrift_};
  s["first"] = first_, s["work"] = work_, s["power"] = power_, s["meeting"] = meeting_;
  return s;
}

void ShellMotion::restore(const Snapshot& snapshot) {
  energies_.resize(size());
  const std::vector<double>& states = snapshot.at("states");
  for (std::size_t i = 0; i < size(); ++i) {
    std::array<double, 14> numbers;
    std::copy_n(states.begin() + std::ptrdiff_t(14 * i), 14, numbers.begin());
    motions_[i].restore(numbers);
    energies_[i] = motions_[i].energy();
    show(i, motions_[i].curvatures(), motions_[i].rates());
  }
  const std::vector<double>& step = snapshot.at("step");
  step_.step = long(step[0]), drift_ = step[1], constraintDrift_ = step[2];
  step_.h = options_.motion.step, step_.t = state_.t = motions_[0].time();
  first_ = snapshot.at("first"), work_ = snapshot.at("work"), power_ = snapshot.at("power"), meeting_ = snapshot.at("meeting");
}

}
