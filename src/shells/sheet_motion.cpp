#include "tendril/shells/sheet_motion.h"

#include "shells/runge_kutta.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace tendril {

SheetMotion::SheetMotion(const Model& model, SheetMotionOptions options)
    : model_(model), options_(std::move(options)), steps_(std::max(1L, std::lround(options_.duration / options_.step))),
      state_(model.initialState()), assembly_(model), mass_(model.nv(), model.nv()), force_(model.nv()) {
  if (model.nc() > 0) throw InputError("shell: the explicit method knows no constraints; take generalized-alpha");
  options_.step = options_.duration / double(steps_);
  state_.lambda = VectorX::Zero(0);
  stage_ = state_;
  for (const int b : options_.held) state_.v.segment<6>(model.blocks()[std::size_t(b)].v).setZero();
  state_.a.setZero();
  checkStep();
}

/// The fastest motion of each shell at the start: eigenvalues of its stiffness and of its damping against its mass.
void SheetMotion::checkStep() {
  const auto assembled = [this](const Request& request) {
    assembly_.begin(request);
    model_.evaluate(state_, assembly_);
    return MatrixX(assembly_.matrix());
  };
  const MatrixX K = assembled({.motion = false}), D = assembled({.stiffness = false, .damping = 1}),
                M = assembled({.stiffness = false, .inertia = 1});
  for (const ShellPart& shell : options_.shells) {
    std::vector<int> rows;
    const auto take = [&rows](const Block& b) {
      for (int i = 0; i < b.nv; ++i) rows.push_back(b.v + i);
    };
    const std::vector<Block>& blocks = model_.blocks();
    if (std::find(options_.held.begin(), options_.held.end(), shell.frame) == options_.held.end()) take(blocks[std::size_t(shell.frame)]);
    take(blocks[std::size_t(shell.coordinates)]);
    const auto fastest = [&](const MatrixX& A) {
      const MatrixX part = A(rows, rows);
      return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>((part + part.transpose()) / 2, M(rows, rows), Eigen::EigenvaluesOnly)
          .eigenvalues()
          .maxCoeff();
    };
    checkStableStep("shell '" + shell.name + "'", options_.step, std::max(std::sqrt(std::max(fastest(K), 0.0)), fastest(D)));
  }
}

/// a of M a = -f, blocks that are held apart.
const VectorX& SheetMotion::accelerate(State& state) {
  state.a.setZero();
  Request request;
  request.stiffness = false, request.inertia = 1;
  assembly_.begin(request);
  model_.evaluate(state, assembly_);
  if (assembly_.refusedBlock() >= 0)
    throw NumericalFailure(
        fmt::format("{}: in step {}, at t = {:g} s, the sheet comes to where its coordinates are singular, flat, with rulings that meet, "
                    "or rolled up beyond what can be integrated; take smaller steps, or another shape",
                    model_.nameOfBlock(assembly_.refusedBlock()), step_.step + 1, state.t));
  mass_ = assembly_.matrix();
  force_ = -assembly_.residual();
  for (const int b : options_.held) {
    const int v = model_.blocks()[std::size_t(b)].v;
    mass_.middleRows<6>(v).setZero(), mass_.middleCols<6>(v).setZero();
    mass_.block<6, 6>(v, v).setIdentity(), force_.segment<6>(v).setZero();
  }
  state.a = mass_.ldlt().solve(force_);
  if (!state.a.allFinite())
    throw NumericalFailure(
        fmt::format("shell: the accelerations are not finite in step {}, at t = {:g} s; take smaller steps", step_.step + 1, state.t));
  return state.a;
}

/// Rate of an increment in which the configuration moves with velocities v.
void SheetMotion::rateOf(const VectorX& increment, const VectorX& v, VectorX& rate) const {
  rate = v;
  for (const Block& b : model_.blocks())
    if (b.kind == Block::Kind::Pose) rate.segment<6>(b.v) = se3::tangentInverse(increment.segment<6>(b.v)) * v.segment<6>(b.v);
}

void SheetMotion::start() {
  accelerate(state_);
  const Energy e = model_.energy(state_);
  first_ = e.total(), power_ = e.power, work_ = drift_ = 0, meeting_ = std::max(e.kinetic, std::abs(e.elastic));
}

const StepReport& SheetMotion::advance() {
  const double h = options_.step;
  static constexpr double nodes[4]{0, 0.5, 0.5, 1}, weights[4]{1. / 6, 1. / 3, 1. / 3, 1. / 6};
  VectorX increment = VectorX::Zero(model_.nv()), rate(model_.nv()), acceleration = VectorX::Zero(model_.nv());
  VectorX whole = VectorX::Zero(model_.nv()), gain = VectorX::Zero(model_.nv());
  for (int i = 0; i < 4; ++i) {
    stage_.t = state_.t + nodes[i] * h;
    if (i > 0) increment = nodes[i] * h * rate;
    model_.retract(state_.q, increment, stage_.q);
    stage_.v = state_.v + nodes[i] * h * acceleration;
    acceleration = accelerate(stage_);
    rateOf(increment, stage_.v, rate);
    whole += weights[i] * h * rate, gain += weights[i] * h * acceleration;
  }
  model_.retract(state_.q, whole, state_.q);
  state_.v += gain;
  ++step_.step;
  step_.t = state_.t = double(step_.step) * h, step_.h = h;
  accelerate(state_);
  watch();
  return step_;
}

void SheetMotion::watch() {
  const Energy e = model_.energy(state_);
  work_ += options_.step * (power_ + e.power) / 2, power_ = e.power;
  meeting_ = std::max({meeting_, e.kinetic, std::abs(e.elastic)});
  const double relative = meeting_ > 0 ? std::abs(e.total() - first_ - work_) / meeting_ : 0;
  drift_ = std::max(drift_, relative);
  if (power_ == 0 && relative > options_.alarm)
    throw NumericalFailure(
        fmt::format("shell: in step {}, at t = {:g} s, the energy has changed by {:.2g} of what takes part in the motion; take "
                    "steps of at most {:.2g} s",
                    step_.step, step_.t, relative, options_.step * std::pow(options_.alarm / 10 / relative, 0.25)));
}

bool shellQuantity(const ShellPart& shell, const Model& model, const State& state, std::string_view name, double* values) {
  const double* q = state.q.data() + model.blocks()[std::size_t(shell.coordinates)].q;
  const Vector2 corner(shell.domain.end1, shell.domain.end2);
  if (name == "coordinates") {
    const bool isClothoid = dynamic_cast<const ClothoidSheet*>(shell.shape.get()) != nullptr;
    if (isClothoid)
      Eigen::Map<Vector3>{values} = ClothoidSheet::toSource(Vector3(q[0], q[1], q[2]));
    else
      std::copy_n(q, shell.shape->size(), values);
  } else if (name == "curvatures") {
    const std::array<double, 3> k = shell.shape->at(q, Vector2::Zero()).k;
    std::copy_n(k.data(), 3, values);
  } else if (name == "kappa") {
    const std::array<double, 3> k = shell.shape->at(q, Vector2::Zero()).k;
    *values = k[0] + k[1];
  } else if (name == "phi") {
    *values = ConePoint::of(Vector3(shell.shape->at(q, Vector2::Zero()).k.data())).phi;
  } else if (name == "corner") {
    Eigen::Map<Vector3>{values} = shell.at(model, state, corner).x;
  } else if (name.starts_with("point ")) {
    Vector2 s;
    if (std::sscanf(std::string(name).c_str(), "point %lf %lf", &s[0], &s[1]) != 2) return false;
    Eigen::Map<Vector3>{values} = shell.at(model, state, s).x;
  } else {
    return false;
  }
  return true;
}

bool energyQuantity(const Energy& energy, std::string_view name, double* values) {
  if (name == "energy")
    *values = energy.total();
  else if (name == "kinetic energy")
    *values = energy.kinetic;
  else if (name == "elastic energy")
    *values = energy.elastic;
  else if (name == "gravitational energy")
    *values = energy.gravitational;
  else
    return false;
  return true;
}

bool SheetMotion::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "energy drift") {
    *values = drift_;
    return true;
  }
  if (name.ends_with("energy") && energyQuantity(model_.energy(state_), name, values)) return true;
  return !options_.shells.empty() && shellQuantity(options_.shells[0], model_, state_, name, values);
}

bool SheetView::monitor(std::string_view name, const Marker*, double* values) {
  if (name.ends_with("energy") && energyQuantity(model_.energy(state_), name, values)) return true;
  return !shells_.empty() && shellQuantity(shells_[0], model_, state_, name, values);
}

Snapshot SheetMotion::save() {
  Snapshot s;
  store(state_, s);
  s["step"] = {double(step_.step), first_, work_, power_, meeting_, drift_};
  return s;
}

void SheetMotion::restore(const Snapshot& snapshot) {
  load(snapshot, state_);
  const std::vector<double>& n = snapshot.at("step");
  step_.step = long(n[0]), step_.t = state_.t, step_.h = options_.step;
  first_ = n[1], work_ = n[2], power_ = n[3], meeting_ = n[4], drift_ = n[5];
}

}
