#include "tendril/dynamics/sweeping.h"

#include "dynamics/impulse_response.h"
#include "dynamics/initial_overlaps.h"
#include "dynamics/rigid_flight.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"
#include "tendril/solvers/friction_solver.h"
#include "tendril/solvers/lcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tendril {

namespace {

/// Overlap at the start up to this, relative to the smallest shape, is the precision of the input.
constexpr double touchingAtStart = 1e-6;
/// Of joints, lengths relative to the size of the model.
constexpr double jointTolerance = 1e-13;
constexpr int maxIterations = 100, fewContacts = 150;

}

struct Sweeping::Impl {
  Impl(const Model& model_, const ContactModel& contacts, const SweepingOptions& options_);

  void start(std::vector<std::string>& told);
  void advance();
  void findReach();
  void project();
  double correct();
  void solveGaps();
  void wayBack(VectorX& d) const;
  double jointError();
  double lengthOf(const VectorX& d) const;
  [[noreturn]] void failCaught() const;
  std::string names() const;
  void record();

  const Model& model;
  SweepingOptions options;
  KktSystem kkt;
  std::unique_ptr<RigidFlight> flight;
  ContactDetection detection;
  std::unique_ptr<ImpulseResponse> response;
  FrictionSolver solver;
  FrictionProblem problem;
  std::vector<ContactBlock> blocks;

  double begin = 0, size = 1;
  State state, before;
  VectorX upper, lower, increment, jointIncrement, back, r;
  std::vector<double> reach;
  std::vector<Pose> poses;
  ContactReport contactReport;
  StepReport report;
};

Sweeping::Impl::Impl(const Model& model_, const ContactModel& contacts, const SweepingOptions& options_)
    : model(model_), options(options_), kkt(model_, {}, Redundancy::Share), detection(contacts), state(model_.initialState()) {
  if (!(options.duration > 0 && options.step > 0)) throw InputError("a sweeping process needs a positive duration and step");
  if (!(options.tolerance > 0)) throw InputError("the tolerance of overlaps must be positive");
  contacts.check();
  contactReport.model = &contacts;
  size = detection.smallestSize();
  state.a.setZero(model.nv()), state.lambda.setZero(model.nc()), state.v.setZero(model.nv());
  kkt.evaluate(state, {.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
  flight = std::make_unique<RigidFlight>(model, kkt.assembly());
  if (!flight->ownsAll()) {
    int b = 0;
    while (flight->isBody()[std::size_t(b)]) ++b;
    throw InputError("the sweeping process knows rigid bodies and joints only, but there is " + model.nameOfBlock(b));
  }
  response = std::make_unique<ImpulseResponse>(kkt, *flight, model.nc() > 0);
}

void Sweeping::Impl::start(std::vector<std::string>& told) {
  begin = report.t = state.t;
  upper.setZero(model.nv()), lower.setZero(model.nc()), increment.setZero(model.nv()), jointIncrement.setZero(model.nc()),
      back.setZero(model.nv());
  if (model.nc() > 0) {
    told = makeConsistent(kkt, state);
    state.v.setZero(), state.a.setZero(), state.lambda.setZero();
    kkt.assembly().multiplierScale = 1;
    kkt.evaluate(state, {.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
    kkt.balance();
  }
  for (const ContactModel::Part& part : detection.model().parts()) poses.push_back(part.marker->frame(state));
  reach.assign(poses.size(), touchingAtStart * size);
  const InitialOverlaps overlaps = findInitialOverlaps(detection, state, reach, touchingAtStart * size, options.projectInitial);
  if (overlaps.deepest == 0) return;
  told.push_back(overlaps.removed());
  reach.assign(poses.size(), 2 * overlaps.deepest);
  project();
}

void Sweeping::Impl::advance() {
  if (upper.size() != model.nv()) throw InputError("sweeping: call start() first");
  const auto clock = std::chrono::steady_clock::now();
  const double end = std::min(begin + double(report.step + 1) * options.step, begin + options.duration);
  const State accepted = state;
  try {
    state.t = end;
    findReach();
    project();
  } catch (...) {
    state = accepted;
    throw;
  }
  ++report.step;
  report.h = end - report.t;
  report.t = end;
  model.difference(before.q, state.q, state.v);
  state.v /= report.h;
  record();
  contactReport.step = report.h;
  contactReport.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
}

/// How far obstacles move in the step: no body is pushed farther than all of them together, which is tried first with one.
void Sweeping::Impl::findReach() {
  double farthest = 0;
  for (std::size_t p = 0; p < poses.size(); ++p) {
    const Pose now = detection.model().parts()[p].marker->frame(state);
    const double turn = so3::log(Matrix3(poses[p].R.transpose() * now.R)).norm();
    farthest = std::max(farthest, (now.x - poses[p].x).norm() + detection.radius(int(p)) * turn);
  }
  std::fill(reach.begin(), reach.end(), 2 * farthest + touchingAtStart * size);
}

/// The projection of `before` on all that must hold at the time of the state. With d the displacement that is still missing,
///
///     min 1/2 (d - b)^T A (d - b)    subject to   gap_i + H_n,i d >= 0,   g + G d = 0,
///
/// b the way back to `before`: at the limit d = 0, and A b is in the cone of the forces of what holds.
void Sweeping::Impl::project() {
  const double allowed = options.tolerance * size;
  before = state;
  double moved = 0;
  for (report.iterations = 0; report.iterations < maxIterations; ++report.iterations) {
    detection.findPairs(state, reach);
    const double step = correct();
    flight->displace(state.q, state.v, increment);
    wayBack(back);
    moved = lengthOf(back);
    contactReport.penetration = 0;
    for (const Contact& contact : detection.findContacts(state, allowed)) {
      contactReport.penetration = std::max(contactReport.penetration, -contact.point.gap);
    }
    report.residual = contactReport.penetration / allowed;
    if (step <= allowed && contactReport.penetration <= allowed && jointError() <= jointTolerance * model.characteristicLength()) return;
    if (moved > reach.front()) std::fill(reach.begin(), reach.end(), 2 * moved); // pushed out of what was looked at
  }
  failCaught();
}

/// One displacement towards the projection; returns its length.
double Sweeping::Impl::correct() {
  wayBack(back);
  increment = back;
  if (model.nc() > 0) {
    kkt.evaluate(state, {.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
    lower = -kkt.assembly().constraint() - kkt.assembly().gradient() * back; // before the matrix is scaled
    if (!kkt.factorise()) throw NumericalFailure(fmt::format("t = {:.9g}: joints are singular; {}", state.t, kkt.describeSingular()));
    upper.setZero();
    VectorX correction(model.nv());
    kkt.solve(upper, lower, correction, jointIncrement);
    increment += correction;
  }
  const auto& contacts = detection.findContacts(state, 2 * reach.front());
  blocks.resize(contacts.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].contact = contacts[i];
    blocks[i].chooseNormal();
    detection.rows(contacts[i], state, blocks[i].rows);
  }
  if (!blocks.empty()) {
    response->gather(blocks, problem);
    bool isClear = true;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      problem.q[Eigen::Index(i)] = blocks[i].contact.point.gap + blocks[i].velocity(model, increment, false)[0];
      isClear = isClear && problem.q[Eigen::Index(i)] >= 0;
    }
    if (!isClear) {
      solveGaps();
      response->apply(blocks, problem, r, increment, jointIncrement);
    }
  }
  return lengthOf(increment);
}

/// Few contacts by an active set, which tells when nothing satisfies all; many by the solver that is made for them.
void Sweeping::Impl::solveGaps() {
  r.setZero(problem.rows());
  if (problem.contacts() <= fewContacts) {
    if (solveFrictionless(problem, FrictionlessMethod::ActiveSet, r).status == PivotStatus::Infeasible) failCaught();
    return;
  }
  FrictionOptions friction;
  friction.tolerance = 1e-13;
  friction.measure = FrictionOptions::Measure::Scaled;
  solver.solve(problem, friction, r); // what it leaves shows in the gaps
}

/// Displacement in the local frames that leads back to where the step began: of centres of mass on straight lines.
void Sweeping::Impl::wayBack(VectorX& d) const {
  for (const RigidFlight::Body& body : flight->bodies()) {
    const Pose from = loadPose(state.q.data() + body.q), to = loadPose(before.q.data() + body.q);
    const Vector3 turn = so3::log(Matrix3(from.R.transpose() * to.R));
    d.segment<3>(body.v) = from.R.transpose() * (to * body.centre - from * body.centre) - turn.cross(body.centre);
    d.segment<3>(body.v + 3) = turn;
  }
}

double Sweeping::Impl::lengthOf(const VectorX& d) const {
  double length = 0;
  for (const RigidFlight::Body& body : flight->bodies()) {
    length = std::max(length, d.segment<3>(body.v).norm() + size * d.segment<3>(body.v + 3).norm());
  }
  return length;
}

double Sweeping::Impl::jointError() {
  if (model.nc() == 0) return 0;
  kkt.evaluate(state, {.motion = false, .tangent = false});
  return kkt.assembly().constraint().lpNorm<Eigen::Infinity>();
}

void Sweeping::Impl::failCaught() const {
  throw NumericalFailure(fmt::format("t = {:.9g}: bodies are caught between obstacles, the worst contact is {}; shorten the step "
                                     "or change the motion of the obstacles",
                                     state.t, names()));
}

std::string Sweeping::Impl::names() const {
  const ContactBlock* worst = nullptr;
  for (const ContactBlock& block : blocks) {
    if (!worst || block.contact.point.gap < worst->contact.point.gap) worst = &block;
  }
  return worst ? "the contact of " + detection.names(worst->contact) : "no contact";
}

void Sweeping::Impl::record() {
  contactReport.contacts.clear();
  for (std::size_t p = 0; p < poses.size(); ++p) poses[p] = detection.model().parts()[p].marker->frame(state);
  for (const Contact& contact : detection.findContacts(state, touchingAtStart * size)) {
    ContactBlock block;
    block.contact = contact;
    detection.rows(contact, state, block.rows);
    ContactRecord record{contact.first, contact.second, contact.point.position, contact.frame, contact.point.gap};
    record.velocity = record.velocityBefore = block.velocity(model, state.v).head<3>();
    record.status = ContactStatus::Slip;
    contactReport.contacts.push_back(record);
  }
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

Sweeping::Sweeping(const Model& model, const ContactModel& contacts, const SweepingOptions& options)
    : impl_(std::make_unique<Impl>(model, contacts, options)) {}
Sweeping::~Sweeping() = default;

void Sweeping::start() { impl_->start(messages_); }
bool Sweeping::finished() const { return impl_->state.t >= impl_->begin + impl_->options.duration * (1 - 1e-12); }
const State& Sweeping::state() const { return impl_->state; }
VectorX Sweeping::reactions() { return VectorX::Zero(impl_->model.nc()); }
const ContactReport* Sweeping::contacts() const { return &impl_->contactReport; }
double Sweeping::progress() const { return (impl_->state.t - impl_->begin) / impl_->options.duration; }

const StepReport& Sweeping::advance() {
  impl_->advance();
  return impl_->report;
}

Snapshot Sweeping::save() {
  impl_->kkt.forget();
  Snapshot snapshot;
  store(impl_->state, snapshot);
  snapshot["sweeping/begin"] = {impl_->begin, double(impl_->report.step)};
  return snapshot;
}

void Sweeping::restore(const Snapshot& snapshot) {
  Impl& m = *impl_;
  m.start(messages_);
  load(snapshot, m.state);
  m.begin = snapshot.at("sweeping/begin")[0];
  m.report.step = long(snapshot.at("sweeping/begin")[1]);
  m.report.t = m.state.t;
  for (std::size_t p = 0; p < m.poses.size(); ++p) m.poses[p] = m.detection.model().parts()[p].marker->frame(m.state);
}

}
