#include "tendril/shells/sheet_motion.h"

#include "shells/runge_kutta.h"
#include "tendril/equations/step_count.h"
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
    : model_(model), options_(std::move(options)), steps_(stepsIn(options_.duration, options_.step)), state_(model.initialState()),
      assembly_(model), increment_(model.nv()), rate_(model.nv()), whole_(model.nv()), gain_(model.nv()) {
  if (model.nc() > 0) throw InputError("shell: the explicit method knows no constraints; take generalized-alpha");
  options_.step = options_.duration / double(steps_);
  state_.lambda = VectorX::Zero(0), state_.a = VectorX::Zero(model.nv());
  for (const int b : options_.held) state_.v.segment<6>(model.blocks()[std::size_t(b)].v).setZero();
  stage_ = state_;
  findParts();
  checkStep();
}

/// Each shell is one, unless something joins it to others.
void SheetMotion::findParts() {
  enum : int { unseen = -1, held = -2 };
  placeInPart_.assign(std::size_t(model_.nv()), unseen);
  for (const int b : options_.held) std::fill_n(placeInPart_.begin() + model_.blocks()[std::size_t(b)].v, 6, held);
  for (int first = 0; first < model_.nv(); ++first) {
    if (placeInPart_[std::size_t(first)] != unseen) continue;
    Part part;
    const auto take = [&](int row) {
      if (placeInPart_[std::size_t(row)] != unseen) return;
      placeInPart_[std::size_t(row)] = int(part.rows.size());
      part.rows.push_back(row);
    };
    take(first);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      for (SparseMatrix::InnerIterator entry(assembly_.matrix(), part.rows[i]); entry; ++entry) take(int(entry.row()));
    const Eigen::Index n = Eigen::Index(part.rows.size());
    part.mass.resize(n, n), part.force.resize(n), part.factor.compute(MatrixX::Identity(n, n));
    parts_.push_back(std::move(part));
  }
}

/// The fastest motion of each part at the start: eigenvalues of its stiffness and of its damping against its mass.
void SheetMotion::checkStep() {
  const auto assembled = [this](const Request& request) {
    assembly_.begin(request);
    model_.evaluate(state_, assembly_);
    return assembly_.matrix();
  };
  const SparseMatrix K = assembled({.motion = false}), D = assembled({.stiffness = false, .damping = 1}),
                     M = assembled({.stiffness = false, .inertia = 1});
  for (const Part& part : parts_) {
    const auto of = [&](const SparseMatrix& A) {
      MatrixX dense = MatrixX::Zero(part.mass.rows(), part.mass.cols());
      for (std::size_t c = 0; c < part.rows.size(); ++c)
        for (SparseMatrix::InnerIterator entry(A, part.rows[c]); entry; ++entry)
          if (const int r = placeInPart_[std::size_t(entry.row())]; r >= 0) dense(r, Eigen::Index(c)) = entry.value();
      return MatrixX((dense + dense.transpose()) / 2);
    };
    const MatrixX mass = of(M);
    const auto fastest = [&](const SparseMatrix& A) {
      return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>(of(A), mass, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
    };
    checkStableStep(nameOf(part.rows.front()), options_.step, std::max(std::sqrt(std::max(fastest(K), 0.0)), fastest(D)));
  }
}

/// Name of the shell to which a velocity belongs.
std::string SheetMotion::nameOf(int velocity) const {
  for (std::size_t b = 0; b < model_.blocks().size(); ++b) {
    const Block& block = model_.blocks()[b];
    if (velocity >= block.v && velocity < block.v + block.nv) return model_.nameOfBlock(int(b));
  }
  return "shell";
}

/// a of M a = -f; what is held has none.
void SheetMotion::accelerate(State& state) {
  state.a.setZero();
  assembly_.begin({.stiffness = false, .inertia = 1});
  model_.evaluate(state, assembly_);
  if (assembly_.refusedBlock() >= 0)
    throw NumericalFailure(
        fmt::format("{}: in step {}, at t = {:g} s, the sheet comes to where its coordinates are singular, flat, with rulings that meet, "
                    "or rolled up beyond what can be integrated; take smaller steps, or another shape",
                    model_.nameOfBlock(assembly_.refusedBlock()), step_.step + 1, state.t));
  for (Part& part : parts_) {
    part.mass.setZero();
    for (std::size_t c = 0; c < part.rows.size(); ++c) {
      part.force[Eigen::Index(c)] = -assembly_.residual()[part.rows[c]];
      for (SparseMatrix::InnerIterator entry(assembly_.matrix(), part.rows[c]); entry; ++entry)
        if (const int r = placeInPart_[std::size_t(entry.row())]; r >= 0) part.mass(r, Eigen::Index(c)) = entry.value();
    }
    part.factor.compute(part.mass);
    part.factor.solveInPlace(part.force);
    for (std::size_t i = 0; i < part.rows.size(); ++i) state.a[part.rows[i]] = part.force[Eigen::Index(i)];
  }
  if (!state.a.allFinite())
    throw NumericalFailure(
        fmt::format("shell: the accelerations are not finite in step {}, at t = {:g} s; take smaller steps", step_.step + 1, state.t));
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
  whole_.setZero(), gain_.setZero(), rate_.setZero(), stage_.a.setZero();
  for (int i = 0; i < 4; ++i) {
    stage_.t = state_.t + nodes[i] * h;
    increment_ = nodes[i] * h * rate_;
    model_.retract(state_.q, increment_, stage_.q);
    stage_.v = state_.v + nodes[i] * h * stage_.a;
    accelerate(stage_);
    rateOf(increment_, stage_.v, rate_);
    whole_ += weights[i] * h * rate_, gain_ += weights[i] * h * stage_.a;
  }
  model_.retract(state_.q, whole_, state_.q);
  state_.v += gain_;
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
