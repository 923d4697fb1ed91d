#include "tendril/control/forward_path.h"

#include "tendril/control/actuation.h"
#include "tendril/discrete/momentum_units.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/dynamics/variational.h"
#include "tendril/model/error.h"
#include "tendril/solvers/saddle_matrix.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace tendril {

namespace {

std::vector<Actuator> withoutMuscles(std::vector<Actuator> actuators) {
  for (const Actuator& actuator : actuators)
    if (!actuator.muscles.empty())
      throw InputError("forward run: actuator '" + actuator.name +
                       "' is a muscle, whose force depends on rates; only motors, forces and "
                       "cables can be differentiated along a run");
  return actuators;
}

const ForwardOptions& checked(const ForwardOptions& options) {
  if (options.steps < 1) throw InputError("forward run: it needs at least one step");
  if (!(options.duration > 0 && std::isfinite(options.duration))) throw InputError("forward run: the duration must be positive");
  return options;
}

State consistentStart(const Model& model) {
  KktSystem kkt(model, KktTolerances{}, Redundancy::Share);
  State state = model.initialState();
  makeConsistent(kkt, state);
  return state;
}

}

struct ForwardPath::Impl {
  using Vectors = std::vector<VectorX>;
  using Controls = Eigen::Ref<const VectorX>;

  Impl(const Model& model, std::vector<Actuator> actuators, const ForwardOptions& options_);

  // ---- the equations of this model, at any path
  void leave(const VectorX& q0, const VectorX& q1, const Controls& tau, int k, VectorX& r);  ///< (1) without p_n and mu
  void arrive(const VectorX& q0, const VectorX& q1, const Controls& tau, int k, VectorX& r); ///< (2)
  void addReaction(const VectorX& q0, int k, const VectorX& multipliers, VectorX& r);        ///< r -= G^T mu
  void findVelocity(const VectorX& at, const VectorX& momentum, int k);                      ///< into nodeVelocity and reaction
  /// A path, of this model or of another one.
  struct Trajectory {
    Vectors q, p; ///< empty before a run
    MatrixX controls;
  };
  /// phi; and its derivatives by y, where they are wanted.
  double evaluate(const PathFunction& function, const Trajectory& path, bool withGradient);
  double number(const PathFunction::Value& value, const PathPlace& place, const Trajectory& path);
  void check(const PathFunction& function) const;
  void checkPlace(const PathFunction& function, const PathFunction::Value& value, const PathPlace& place) const;

  // ---- the path
  double seed(const PathFunction& function); ///< phi, and its derivatives by q_n, p_n and controls
  void pullBackVelocity(int k);
  void run(const Eigen::Ref<const MatrixX>& tau);
  void requireRun() const;
  const VectorX& at(const Vectors& vectors, int k) const; ///< of the nodes; InputError where there is none
  void requireShapeOf(const Impl& other) const;
  void beginSweep();
  void linearise(int k);
  using Solve = void (SaddleMatrix::*)(VectorX& rhs) const;
  void solve(const SaddleMatrix& matrix, Solve by);
  void sweepBack();
  void sweepOn(const Change& change);
  void pullBackStart();
  void check(const Change& change) const;
  double augmented(Impl& other, const PathFunction& function);
  void equationsOf(Impl& other, int k);

  double time(int k) const { return t0 + k * options.duration / options.steps; }
  double middle(int k) const { return 0.5 * (time(k) + time(k + 1)); }
  int N() const { return options.steps; }
  static int nodeOf(const PathFunction::Value& value, bool other) {
    if (!other) return value.node;
    return value.other >= 0 ? value.other : value.node + 1;
  }

  const Model& model;
  ForwardOptions options;
  double h, t0;
  DirectorSystem system;
  Actuation actuation;
  DiscreteLagrangian lagrangian;
  MomentumUnits units;
  State start;
  VectorX p0;
  int n, m, nu;

  Trajectory trajectory;

  // Of the step, or node, at hand:
  std::optional<SaddleMatrix> saddle, ofVelocity;
  SparseMatrix leftByBegin, leftByEnd, rightByBegin, rightByEnd, negativeMass, bend, G0, G1;
  VectorX rhs, correction, opposite, work, leaving, arriving, closing, nodeVelocity, reaction;
  MatrixX Bt0, Bt1;

  // Of the function differentiated last:
  VectorX y, byY;
  MatrixX seedQ, seedP, seedV, seedTau;
  Vectors velocities;
  std::vector<char> hasVelocity;

  // Of the last sweep back and the last sweep on:
  bool isDifferentiated = false;
  Vectors mus, alpha, beta, bar; ///< bar: of p_{n+1}
  VectorX qbar, pbar;            ///< of the start, in the end
  Gradient gradient;
  Vectors dq, dp;
};

ForwardPath::Impl::Impl(const Model& model_, std::vector<Actuator> actuators, const ForwardOptions& options_)
    : model(model_), options(checked(options_)), h(options.duration / options.steps), t0(model_.initialState().t), system(model_),
      actuation(system, withoutMuscles(std::move(actuators))), lagrangian(system, options.quadrature), units(system),
      start(consistentStart(model_)), n(system.size()), m(system.constraints()), nu(actuation.size()), leftByBegin(system.matrix()),
      leftByEnd(leftByBegin), rightByBegin(leftByBegin), rightByEnd(leftByBegin), G0(system.gradient()), G1(G0) {
  for (VectorX* v : {&work, &leaving, &arriving, &nodeVelocity, &p0, &qbar, &pbar}) v->setZero(n);
  for (VectorX* v : {&closing, &reaction, &opposite}) v->setZero(m);
  rhs.setZero(n + m), correction = rhs;
  system.rates(start.q, start.v, work);
  p0.noalias() = system.mass() * work;
}

// ---- the equations ---------------------------------------------------------------------------------------------------------------------

void ForwardPath::Impl::leave(const VectorX& q0, const VectorX& q1, const Controls& tau, int k, VectorX& r) {
  lagrangian.left(q0, q1, time(k), h, r);
  actuation.addForce(q0, middle(k), tau, h / 2, r);
}

void ForwardPath::Impl::arrive(const VectorX& q0, const VectorX& q1, const Controls& tau, int k, VectorX& momentum) {
  lagrangian.right(q0, q1, time(k), h, momentum);
  actuation.addForce(q1, middle(k), tau, h / 2, momentum);
}

void ForwardPath::Impl::addReaction(const VectorX& q0, int k, const VectorX& multipliers, VectorX& r) {
  system.constraintGradient(q0, time(k), G0);
  r.noalias() -= G0.transpose() * multipliers;
}

/// M q' + G^T mu' = p,  G q' = 0.
void ForwardPath::Impl::findVelocity(const VectorX& at, const VectorX& momentum, int k) {
  system.constraintRate(at, time(k), closing);
  if (!closing.isZero(0))
    throw InputError("forward run: velocities of nodes cannot be differentiated where ground or drives move; take places of two nodes");
  if (!ofVelocity) {
    negativeMass = bend = system.matrix();
    system.addMassMatrix(-1, negativeMass);
    ofVelocity.emplace(negativeMass, G0, units.unit);
  }
  ofVelocity->forget();
  system.constraintGradient(at, time(k), G0);
  if (!ofVelocity->factorise(negativeMass, G0, G0, units.mass))
    throw NumericalFailure(
        fmt::format("forward run: the velocities at t = {:.9g} s are not determined: something has no inertia", time(k)));
  rhs.head(n) = momentum, rhs.tail(m).setZero();
  solve(*ofVelocity, &SaddleMatrix::solve);
  nodeVelocity = rhs.head(n), reaction = rhs.tail(m);
}

void ForwardPath::Impl::checkPlace(const PathFunction& function, const PathFunction::Value& value, const PathPlace& place) const {
  const int node = nodeOf(value, place.atOther);
  const auto refuse = [&](const std::string& why) { throw InputError("forward run: function '" + function.name + "' " + why); };
  if (node < 0 || node > N()) refuse(fmt::format("reads node {}; there are those from 0 to {}", node, N()));
  if (place.part == PathPart::Impulse) refuse("reads an impulse of a contact; forward runs know none");
  const bool isControl = place.part == PathPart::Control;
  if (place.index < 0 || place.index >= (isControl ? nu : n)) refuse("reads a number that the path does not have");
  const int interval = place.atOther ? node - 1 : node;
  if (isControl && (interval < 0 || interval >= N())) refuse(fmt::format("reads controls of step {}; there are {} steps", interval, N()));
}

void ForwardPath::Impl::check(const PathFunction& function) const {
  if (!function.combine) throw InputError("forward run: function '" + function.name + "' does not say what it makes of its values");
  const auto one = [](const PathPlace&) { return 1.0; };
  for (const PathFunction::Value& value : function.values)
    value.row.differentiate(one, [&](const PathPlace& place, double) { checkPlace(function, value, place); });
}

double ForwardPath::Impl::number(const PathFunction::Value& value, const PathPlace& place, const Trajectory& path) {
  const int node = nodeOf(value, place.atOther);
  const auto k = std::size_t(node);
  if (place.part == PathPart::Control) return path.controls(place.index, place.atOther ? node - 1 : node);
  if (place.part == PathPart::Node) return path.q[k][place.index];
  if (!hasVelocity[k]) {
    findVelocity(path.q[k], path.p[k], node);
    velocities[k] = nodeVelocity, hasVelocity[k] = 1;
  }
  return velocities[k][place.index];
}

double ForwardPath::Impl::evaluate(const PathFunction& function, const Trajectory& path, bool withGradient) {
  check(function);
  hasVelocity.assign(std::size_t(N()) + 1, 0);
  velocities.resize(std::size_t(N()) + 1);
  y.resize(Eigen::Index(function.values.size()));
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const PathFunction::Value& value = function.values[std::size_t(i)];
    y[i] = value.row.value([&](const PathPlace& place) { return number(value, place, path); });
  }
  byY.setZero(y.size());
  const double phi = function.combine(y, withGradient ? &byY : nullptr);
  if (!std::isfinite(phi) || !byY.allFinite())
    throw NumericalFailure("forward run: function '" + function.name + "' or its derivative is not finite at what the run gives it");
  return phi;
}

double ForwardPath::Impl::seed(const PathFunction& function) {
  const double phi = evaluate(function, trajectory, true);
  for (MatrixX* seeds : {&seedQ, &seedP, &seedV}) seeds->setZero(n, N() + 1);
  seedTau.setZero(nu, N());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const PathFunction::Value& value = function.values[std::size_t(i)];
    const auto numberAt = [&](const PathPlace& place) { return number(value, place, trajectory); };
    value.row.differentiate(numberAt, [&](const PathPlace& place, double share) {
      const int node = nodeOf(value, place.atOther);
      if (place.part == PathPart::Control)
        seedTau(place.index, place.atOther ? node - 1 : node) += byY[i] * share;
      else
        (place.part == PathPart::Node ? seedQ : seedV)(place.index, node) += byY[i] * share;
    });
  }
  for (int k = 0; k <= N(); ++k)
    if (hasVelocity[std::size_t(k)]) pullBackVelocity(k);
  return phi;
}

/// From a velocity to the place and the momentum that it comes from: d(M q' + G^T mu') = dp, d(G q') = 0.
void ForwardPath::Impl::pullBackVelocity(int k) {
  findVelocity(trajectory.q[std::size_t(k)], trajectory.p[std::size_t(k)], k);
  rhs.head(n) = seedV.col(k), rhs.tail(m).setZero();
  solve(*ofVelocity, &SaddleMatrix::solveTransposed);
  const auto addBent = [&](const VectorX& multipliers, const VectorX& along) {
    bend.coeffs().setZero();
    system.addConstraintHessian(multipliers, time(k), 1, bend);
    seedQ.col(k).noalias() -= bend * along;
  };
  seedP.col(k) += rhs.head(n);
  work = rhs.head(n);
  addBent(reaction, work);
  reaction = rhs.tail(m);
  addBent(reaction, nodeVelocity);
}

// ---- the path --------------------------------------------------------------------------------------------------------------------------

void ForwardPath::Impl::run(const Eigen::Ref<const MatrixX>& tau) {
  if (tau.rows() != nu || tau.cols() != N())
    throw InputError(fmt::format("forward run: controls are {} x {}, not {} actuators x {} steps", tau.rows(), tau.cols(), nu, N()));
  if (!tau.allFinite()) throw InputError("forward run: controls must be finite");
  auto& [q, p, controls] = trajectory;
  controls = tau;
  VariationalOptions integration{.duration = options.duration, .step = h, .quadrature = options.quadrature};
  integration.applied = [this](const VectorX& at, double t, double scale, VectorX& f) {
    actuation.addForce(at, t, trajectory.controls.col(std::clamp(int((t - t0) / h), 0, N() - 1)), scale, f);
  };
  q.clear(), p.clear();
  isDifferentiated = false;
  Vectors nodes{start.q}, momenta{p0};
  nodes.reserve(std::size_t(N()) + 1), momenta.reserve(std::size_t(N()) + 1);
  VariationalIntegrator integrator(model, integration);
  integrator.start();
  for (int k = 0; k < N(); ++k) {
    if (k > 0) integrator.advance();
    nodes.push_back(integrator.ahead());
    arrive(nodes[std::size_t(k)], nodes.back(), controls.col(k), k, arriving);
    momenta.push_back(arriving);
  }
  q = std::move(nodes), p = std::move(momenta);
}

void ForwardPath::Impl::requireRun() const {
  if (trajectory.q.empty()) throw InputError("forward run: there is no path yet; run it first");
}

const VectorX& ForwardPath::Impl::at(const Vectors& vectors, int k) const {
  if (k < 0 || k >= int(vectors.size()))
    throw InputError(fmt::format("forward run: there is no node {} yet; nodes 0 to {} are known after a run, their changes after a tangent "
                                 "sweep",
                                 k, N()));
  return vectors[std::size_t(k)];
}

void ForwardPath::Impl::requireShapeOf(const Impl& other) const {
  if (other.n != n || other.m != m || other.nu != nu || other.N() != N())
    throw InputError(
        "forward run: a parameter changes the number of bodies, joints, actuators or steps; it must be one that a model depends "
        "on smoothly");
}

/// All that remembers factorisations begins anew, so that results do not depend on what came before.
void ForwardPath::Impl::beginSweep() {
  requireRun();
  const auto count = std::size_t(N());
  if (saddle)
    saddle->forget();
  else
    saddle.emplace(leftByEnd, G0, units.unit);
  for (Vectors* vectors : {&mus, &beta}) vectors->resize(count, VectorX::Zero(m));
  for (Vectors* vectors : {&alpha, &bar}) vectors->resize(count, VectorX::Zero(n));
  for (Vectors* vectors : {&dq, &dp}) vectors->resize(count + 1, VectorX::Zero(n));
}

/// rhs becomes the solution; what the compliance of the matrix moves is taken back.
void ForwardPath::Impl::solve(const SaddleMatrix& matrix, Solve by) {
  (matrix.*by)(rhs);
  opposite = -rhs.tail(m);
  correction.setZero();
  matrix.share(opposite, correction);
  (matrix.*by)(correction);
  rhs += correction;
}

/// The matrix of step k, factorised; its multipliers, which are the answer to what is in balance; and all derivatives.
void ForwardPath::Impl::linearise(int k) {
  const VectorX &q0 = trajectory.q[std::size_t(k)], &q1 = trajectory.q[std::size_t(k) + 1];
  const auto tau = trajectory.controls.col(k);
  lagrangian.leftByEnd(q0, q1, time(k), h, leftByEnd);
  system.constraintGradient(q0, time(k), G0);
  system.constraintGradient(q1, time(k + 1), G1);
  if (!saddle->factorise(leftByEnd, G0, G1, units.mass / h))
    throw NumericalFailure(fmt::format("forward run: the matrix of step {} is singular; the path has no derivative there", k + 1));
  leave(q0, q1, tau, k, leaving);
  rhs.head(n) = trajectory.p[std::size_t(k)] + leaving, rhs.tail(m).setZero();
  solve(*saddle, &SaddleMatrix::solve);
  VectorX& mu = mus[std::size_t(k)];
  mu = rhs.tail(m);

  lagrangian.leftByBegin(q0, q1, time(k), h, leftByBegin);
  actuation.addGradient(q0, middle(k), tau, h / 2, leftByBegin);
  system.addConstraintHessian(mu, time(k), -1, leftByBegin);
  lagrangian.rightByBegin(q0, q1, time(k), h, rightByBegin);
  lagrangian.rightByEnd(q0, q1, time(k), h, rightByEnd);
  actuation.addGradient(q1, middle(k), tau, h / 2, rightByEnd);
  actuation.columns(q0, middle(k), Bt0);
  actuation.columns(q1, middle(k), Bt1);
}

void ForwardPath::Impl::sweepBack() {
  beginSweep();
  gradient.controls = seedTau;
  qbar = seedQ.col(N()), pbar = seedP.col(N());
  for (int k = N() - 1; k >= 0; --k) {
    const auto i = std::size_t(k);
    linearise(k);
    bar[i] = pbar;
    rhs.head(n) = qbar, rhs.tail(m).setZero();
    rhs.head(n).noalias() += rightByEnd.transpose() * pbar;
    solve(*saddle, &SaddleMatrix::solveTransposed);
    alpha[i] = rhs.head(n), beta[i] = rhs.tail(m);
    gradient.controls.col(k).noalias() += (h / 2) * (Bt0.transpose() * alpha[i]);
    gradient.controls.col(k).noalias() += (h / 2) * (Bt1.transpose() * pbar);
    qbar = seedQ.col(k);
    qbar.noalias() += rightByBegin.transpose() * pbar;
    qbar.noalias() += leftByBegin.transpose() * alpha[i];
    pbar = seedP.col(k) + alpha[i];
  }
  pullBackStart();
  isDifferentiated = true;
}

/// p_0 = M q'_0 with q' = (R v, R (w x e_I)) of a pose block, which turns by R exp(theta).
void ForwardPath::Impl::pullBackStart() {
  gradient.placement.resize(model.nv()), gradient.velocity.resize(model.nv());
  work.noalias() = system.mass() * pbar;
  system.pullBack(start.q, work, gradient.velocity);
  system.pullBack(start.q, qbar, gradient.placement);
  for (const Block& block : model.blocks()) {
    if (block.kind != Block::Kind::Pose) continue;
    const Vector3 v = start.v.segment<3>(block.v), w = start.v.segment<3>(block.v + 3);
    const Matrix34 local = loadPose(start.q.data() + block.q).R.transpose() * Eigen::Map<const Matrix34>(work.data() + block.q);
    Vector3 moment = v.cross(local.col(0));
    for (int I = 0; I < 3; ++I) moment += w.cross(Vector3::Unit(I)).cross(local.col(I + 1));
    gradient.placement.segment<3>(block.v + 3) += moment;
  }
}

void ForwardPath::Impl::check(const Change& change) const {
  const auto fits = [](const Vectors& vectors, int count, int size) {
    return vectors.empty() || (int(vectors.size()) == count &&
                               std::all_of(vectors.begin(), vectors.end(), [&](const VectorX& v) { return v.size() == size; }));
  };
  const auto fitsOrEmpty = [&](const VectorX& v) { return v.size() == 0 || v.size() == n; };
  const bool hasControls = change.controls.size() > 0;
  if (!fitsOrEmpty(change.begin) || !fitsOrEmpty(change.momentum) || !fits(change.leaving, N(), n) || !fits(change.arriving, N(), n) ||
      !fits(change.closing, N(), m) || (hasControls && (change.controls.rows() != nu || change.controls.cols() != N())))
    throw InputError("forward run: a change does not have the sizes of the path");
}

void ForwardPath::Impl::sweepOn(const Change& change) {
  check(change);
  beginSweep();
  const auto take = [](const VectorX& given, VectorX& to) {
    if (given.size() == 0)
      to.setZero();
    else
      to = given;
  };
  take(change.begin, dq[0]), take(change.momentum, dp[0]);
  const bool hasControls = change.controls.size() > 0;
  for (int k = 0; k < N(); ++k) {
    const auto i = std::size_t(k);
    linearise(k);
    rhs.head(n) = dp[i], rhs.tail(m).setZero();
    rhs.head(n).noalias() += leftByBegin * dq[i];
    if (hasControls) rhs.head(n).noalias() += (h / 2) * (Bt0 * change.controls.col(k));
    if (!change.leaving.empty()) rhs.head(n) += change.leaving[i];
    if (!change.closing.empty()) rhs.tail(m) -= change.closing[i];
    solve(*saddle, &SaddleMatrix::solve);
    dq[i + 1] = rhs.head(n);
    dp[i + 1].noalias() = rightByBegin * dq[i];
    dp[i + 1].noalias() += rightByEnd * dq[i + 1];
    if (hasControls) dp[i + 1].noalias() += (h / 2) * (Bt1 * change.controls.col(k));
    if (!change.arriving.empty()) dp[i + 1] += change.arriving[i];
  }
}

/// leaving, arriving, closing: (1), (2) and g of another model at this path, with the multipliers of the last sweep.
void ForwardPath::Impl::equationsOf(Impl& other, int k) {
  const VectorX &q0 = trajectory.q[std::size_t(k)], &q1 = trajectory.q[std::size_t(k) + 1];
  other.leave(q0, q1, trajectory.controls.col(k), k, leaving);
  other.addReaction(q0, k, mus[std::size_t(k)], leaving);
  other.arrive(q0, q1, trajectory.controls.col(k), k, arriving);
  other.system.constraint(q1, time(k + 1), closing);
}

double ForwardPath::Impl::augmented(Impl& other, const PathFunction& function) {
  requireShapeOf(other);
  double sum = other.evaluate(function, trajectory, false) + qbar.dot(other.start.q) + pbar.dot(other.p0);
  for (int k = 0; k < N(); ++k) {
    const auto i = std::size_t(k);
    equationsOf(other, k);
    sum += alpha[i].dot(leaving) - beta[i].dot(closing) + bar[i].dot(arriving);
  }
  return sum;
}

// ---- the class -------------------------------------------------------------------------------------------------------------------------

ForwardPath::ForwardPath(const Model& model, std::vector<Actuator> actuators, const ForwardOptions& options)
    : impl_(std::make_unique<Impl>(model, std::move(actuators), options)) {}
ForwardPath::~ForwardPath() = default;
ForwardPath::ForwardPath(ForwardPath&&) noexcept = default;

void ForwardPath::run(const Eigen::Ref<const MatrixX>& controls) { impl_->run(controls); }
const DirectorSystem& ForwardPath::system() const { return impl_->system; }
const ForwardOptions& ForwardPath::options() const { return impl_->options; }
int ForwardPath::actuators() const { return impl_->nu; }
const MatrixX& ForwardPath::controls() const { return impl_->trajectory.controls; }
const VectorX& ForwardPath::node(int n) const { return impl_->at(impl_->trajectory.q, n); }
const VectorX& ForwardPath::momentum(int n) const { return impl_->at(impl_->trajectory.p, n); }
const VectorX& ForwardPath::nodeChange(int n) const { return impl_->at(impl_->dq, n); }
const VectorX& ForwardPath::momentumChange(int n) const { return impl_->at(impl_->dp, n); }

VectorX ForwardPath::velocity(int n) {
  impl_->findVelocity(node(n), momentum(n), n);
  return impl_->nodeVelocity;
}

double ForwardPath::value(const PathFunction& function) {
  impl_->requireRun();
  return impl_->evaluate(function, impl_->trajectory, false);
}

const ForwardPath::Gradient& ForwardPath::differentiate(const PathFunction& function) {
  impl_->requireRun();
  impl_->gradient.value = impl_->seed(function);
  impl_->sweepBack();
  return impl_->gradient;
}

double ForwardPath::augmented(ForwardPath& other, const PathFunction& function) {
  if (!impl_->isDifferentiated) throw InputError("forward run: the augmented function needs a gradient; differentiate first");
  return impl_->augmented(*other.impl_, function);
}

ForwardPath::Change ForwardPath::startChange(const VectorX& placement, const VectorX& velocity) const {
  const DirectorSystem& system = impl_->system;
  Change change;
  change.begin.resize(system.size());
  system.rates(impl_->start.q, placement, change.begin);
  VectorX rate(system.size()), turned(system.size()), fixed(system.size());
  system.rates(impl_->start.q, velocity, rate);
  system.rates(change.begin, impl_->start.v, turned);
  system.rates(VectorX::Zero(system.size()), impl_->start.v, fixed); // of vector blocks, whose rates do not depend on q
  change.momentum = system.mass() * (rate + turned - fixed);
  return change;
}

ForwardPath::Change ForwardPath::modelChange(ForwardPath& plus, const PathFunction& ofPlus, ForwardPath& minus, const PathFunction& ofMinus,
                                             double width) {
  Impl &i = *impl_, &above = *plus.impl_, &below = *minus.impl_;
  i.requireShapeOf(above), i.requireShapeOf(below);
  i.beginSweep();
  Change change;
  change.begin = (above.start.q - below.start.q) / width;
  change.momentum = (above.p0 - below.p0) / width;
  for (int k = 0; k < i.N(); ++k) {
    i.linearise(k);
    i.equationsOf(below, k);
    const VectorX leaving = i.leaving, arriving = i.arriving, closing = i.closing;
    i.equationsOf(above, k);
    change.leaving.push_back((i.leaving - leaving) / width);
    change.arriving.push_back((i.arriving - arriving) / width);
    change.closing.push_back((i.closing - closing) / width);
  }
  change.function = (above.evaluate(ofPlus, i.trajectory, false) - below.evaluate(ofMinus, i.trajectory, false)) / width;
  return change;
}

double ForwardPath::differentiate(const PathFunction& function, const Change& change) {
  Impl& i = *impl_;
  i.requireRun();
  i.seed(function);
  i.sweepOn(change);
  double sum = change.function;
  if (change.controls.size() > 0) sum += i.seedTau.cwiseProduct(change.controls).sum();
  for (int k = 0; k <= i.N(); ++k) sum += i.seedQ.col(k).dot(i.dq[std::size_t(k)]) + i.seedP.col(k).dot(i.dp[std::size_t(k)]);
  return sum;
}

}
