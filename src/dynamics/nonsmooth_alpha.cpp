#include "tendril/dynamics/nonsmooth_alpha.h"

#include "dynamics/contact_correction.h"
#include "tendril/contact/contact_motion.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tendril {

namespace {

/// Halvings of a step whose contacts were not solved.
constexpr int maxCuts = 3;
/// Share of their size by which parts are expected to move at least.
constexpr double smallestReach = 1e-3;

}

struct NonsmoothAlpha::Impl {
  Impl(const Model& model_, const NonsmoothAlphaOptions& options_, const ContactModel& parts_,
       std::unique_ptr<ContactConstraints> contacts_);

  void start(std::vector<std::string>& told);
  void removeOverlaps(std::vector<std::string>& told);
  void advance();
  bool correct();
  bool isTouched() const;
  bool solvePosition();
  bool solveVelocity();
  bool note(const ContactNewtonReport& newton, const char* problem);
  void accept();
  void balance();
  void findContacts(const State& at);
  void record();

  const Model& model;
  NonsmoothAlphaOptions options;
  const ContactModel& parts;
  ContactMotion motion;
  std::unique_ptr<ContactConstraints> contacts;
  GeneralizedAlpha smooth; ///< problem (1)
  KktSystem kkt;           ///< of problems (2) and (3)
  PositionCorrection position;
  VelocityCorrection velocity;

  State state;                ///< accepted
  State end;                  ///< of the step at hand
  double h = 0, balanced = 0; ///< step at hand, and the one that scales the multipliers
  double reach = 0;           ///< up to which contacts were looked for
  std::vector<char> isClosed; ///< of each constraint: takes part in (3)
  bool isCorrected = false;   ///< contact took part in the step
  std::string failure;
  ContactReport contactReport;
  StepReport report;
};

NonsmoothAlpha::Impl::Impl(const Model& model_, const NonsmoothAlphaOptions& options_, const ContactModel& parts_,
                           std::unique_ptr<ContactConstraints> contacts_)
    : model(model_), options(options_), parts(parts_), motion(model_, parts_), contacts(std::move(contacts_)),
      smooth(model_, options_.smooth), kkt(model_, options_.smooth.tolerances, Redundancy::Share),
      position(kkt, *contacts, options_.contact, options_.gapTolerance * contacts->size()),
      velocity(kkt, *contacts, options_.contact, options_.gapTolerance * contacts->size()), state(model_.initialState()), end(state) {
  parts.check();
  contactReport.model = &parts;
}

// ---- start -----------------------------------------------------------------------------------------------------------------------------

void NonsmoothAlpha::Impl::start(std::vector<std::string>& told) {
  smooth.start();
  told = smooth.messages();
  state = end = smooth.state();
  kkt.setRedundantRows(smooth.kkt().redundantRows());
  balanced = 0;
  removeOverlaps(told);
}

void NonsmoothAlpha::Impl::removeOverlaps(std::vector<std::string>& told) {
  const double size = contacts->size();
  contacts->begin(state, smallestReach * size);
  contacts->evaluate(state);
  const Overlap overlap = deepestOverlap(*contacts);
  if (overlap.depth <= allowedOverlap * size) return;
  if (!options.projectInitial) {
    throw InputError("surfaces overlap at the start: " + overlap.place +
                     "; move them apart, or set project_initial: true to have that done");
  }
  h = options.smooth.step;
  balance();
  if (const ContactNewtonReport& newton = position.solve(state, h); !newton.converged) {
    throw NumericalFailure("overlaps at the start could not be taken out, the deepest is " + overlap.place + ": move these apart; " +
                           newton.message);
  }
  smooth.replaceMotion(position.state().q, state.v);
  smooth.start();
  state = end = smooth.state();
  told.push_back("overlaps at the start were taken out by moving what overlaps: the deepest was " + overlap.place);
}

// ---- one step --------------------------------------------------------------------------------------------------------------------------

void NonsmoothAlpha::Impl::advance() {
  const auto clock = std::chrono::steady_clock::now();
  contactReport.newtonSteps = 0;
  contactReport.residual = contactReport.dissipation = contactReport.work = contactReport.projection = contactReport.penetration = 0;
  int iterations = 0, factorisations = 0;
  for (int cuts = 0;; ++cuts) {
    report = smooth.advance();
    report.iterations += iterations, report.factorisations += factorisations, report.cuts += cuts;
    h = report.h;
    bool isSolved = false;
    try {
      isSolved = correct();
    } catch (const NumericalFailure&) {
      smooth.retake(h);
      throw;
    }
    if (isSolved) break;
    smooth.retake(cuts < maxCuts ? h / 2 : h);
    if (cuts == maxCuts) {
      throw NumericalFailure(fmt::format("dynamics: step {} at t = {:.9g} s: the contacts were not solved, also with the step cut to "
                                         "{:.3g} s: {}",
                                         report.step, state.t, h, failure));
    }
    iterations = report.iterations, factorisations = report.factorisations;
  }
  contactReport.step = h;
  contactReport.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
}

/// Problems (2) and (3), where something is touched. False if they were not solved.
bool NonsmoothAlpha::Impl::correct() {
  reach = std::max(1.1 * motion.farthest(state, smooth.state()), smallestReach * contacts->size());
  findContacts(smooth.state());
  isCorrected = isTouched();
  if (!isCorrected) {
    position.release();
    velocity.release();
    end = smooth.state();
    record();
    state = end;
    return true;
  }
  balance();
  if (options.positionLevel && !solvePosition()) return false;
  const auto constraints = contacts->constraints();
  isClosed.assign(constraints.size(), 0);
  for (std::size_t j = 0; j < constraints.size(); ++j) {
    isClosed[j] = constraints[j].isPresent && (constraints[j].gap <= (options.positionLevel ? position.gapTolerance() : 0) ||
                                               (options.positionLevel && position.forces()(0, Eigen::Index(j)) > 0));
  }
  if (!solveVelocity()) return false;
  accept();
  return true;
}

bool NonsmoothAlpha::Impl::isTouched() const {
  const auto constraints = contacts->constraints();
  return std::any_of(constraints.begin(), constraints.end(), [](const ContactConstraint& c) { return c.isPresent && c.gap <= 0; });
}

/// Multipliers are scaled for the size of the step, from the last accepted state, which a resumed run knows too.
void NonsmoothAlpha::Impl::balance() {
  if (h == balanced) return;
  balanced = h;
  kkt.assembly().velocityMaps().assign(model.blocks().size(), Matrix6::Identity());
  kkt.evaluate(state, {.motion = true, .tangent = true, .damping = 0, .inertia = PositionCorrection::inertiaWeight(h)});
  kkt.balance();
}

void NonsmoothAlpha::Impl::findContacts(const State& at) {
  contacts->begin(state, reach);
  if (options.positionLevel) {
    contacts->evaluate(state);
    velocity.beginStep();
  }
  contacts->evaluate(at);
}

/// How far a point of what may touch has moved at most.
bool NonsmoothAlpha::Impl::note(const ContactNewtonReport& newton, const char* problem) {
  contactReport.newtonSteps += newton.iterations;
  report.iterations += newton.iterations;
  report.factorisations += newton.factorisations;
  if (!newton.converged) {
    failure = fmt::format("{}: {}", problem, newton.message);
    return false;
  }
  contactReport.residual = std::max(contactReport.residual, newton.residual);
  report.residual = std::max(report.residual, newton.residual);
  return true;
}

bool NonsmoothAlpha::Impl::solvePosition() {
  for (;;) {
    if (!note(position.solve(smooth.state(), h), "positions")) return false;
    // What moved farther than was looked for may have passed through something.
    const double moved = motion.farthest(state, position.state());
    if (moved <= reach) return true;
    reach = 2 * moved;
    findContacts(smooth.state());
  }
}

bool NonsmoothAlpha::Impl::solveVelocity() {
  if (options.positionLevel) velocity.turn(position.forces());
  velocity.prepare(options.positionLevel ? &position.state().q : nullptr, state.v, h, isClosed);
  return note(velocity.solve(smooth.state(), h), "velocities");
}

void NonsmoothAlpha::Impl::accept() {
  end = velocity.state();
  record();
  if (!options.positionLevel) contacts->evaluate(end);
  for (const ContactConstraint& c : contacts->constraints()) {
    if (c.isPresent) contactReport.penetration = std::max(contactReport.penetration, -c.gap);
  }
  if (options.positionLevel) position.accept();
  velocity.accept();
  smooth.replaceMotion(end.q, end.v);
  state = end;
}

/// The contacts as they are between the state accepted last and the end of the step.
void NonsmoothAlpha::Impl::record() {
  contactReport.contacts.clear();
  const auto constraints = contacts->constraints();
  for (std::size_t j = 0; j < constraints.size(); ++j) {
    const ContactConstraint& c = constraints[j];
    if (!c.isPresent) continue;
    ContactRecord record{.first = c.first, .second = c.second, .position = c.position, .frame = c.frame, .gap = c.gap};
    record.length = c.weight, record.arclength = c.arclength, record.otherArclength = c.otherArclength;
    record.velocityBefore = velocity.relativeVelocity(c, state.v);
    record.velocity = velocity.relativeVelocity(c, end.v);
    if (isCorrected) record.impulse = h * velocity.forces().col(Eigen::Index(j));
    if (record.impulse[0] > 0) {
      const bool sticks = c.law->friction > 0 && h * record.velocity.tail<2>().norm() <= position.gapTolerance();
      record.status = sticks ? ContactStatus::Stick : ContactStatus::Slip;
    }
    contactReport.dissipation -= 0.5 * record.impulse.dot(record.velocityBefore + record.velocity);
    contactReport.work -= record.impulse.dot(contacts->drift(c));
    contactReport.contacts.push_back(record);
  }
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

NonsmoothAlpha::NonsmoothAlpha(const Model& model, const NonsmoothAlphaOptions& options, const ContactModel& parts,
                               std::unique_ptr<ContactConstraints> contacts)
    : impl_(std::make_unique<Impl>(model, options, parts, std::move(contacts))) {}
NonsmoothAlpha::~NonsmoothAlpha() = default;

void NonsmoothAlpha::start() { impl_->start(messages_); }
bool NonsmoothAlpha::finished() const { return impl_->smooth.finished(); }
const State& NonsmoothAlpha::state() const { return impl_->state; }
VectorX NonsmoothAlpha::reactions() { return impl_->kkt.minimumNorm(impl_->state); }
const ContactReport* NonsmoothAlpha::contacts() const { return &impl_->contactReport; }
double NonsmoothAlpha::progress() const { return impl_->smooth.progress(); }

const StepReport& NonsmoothAlpha::advance() {
  impl_->advance();
  return impl_->report;
}

Snapshot NonsmoothAlpha::save() {
  Snapshot snapshot = impl_->smooth.save();
  const State& s = impl_->state;
  snapshot["contact a"].assign(s.a.data(), s.a.data() + s.a.size());
  snapshot["contact lambda"].assign(s.lambda.data(), s.lambda.data() + s.lambda.size());
  snapshot["contact forces, position"] = impl_->position.save();
  snapshot["contact forces, velocity"] = impl_->velocity.save();
  impl_->kkt.forget();
  impl_->balanced = 0;
  return snapshot;
}

void NonsmoothAlpha::restore(const Snapshot& snapshot) {
  impl_->smooth.restore(snapshot);
  messages_ = impl_->smooth.messages();
  impl_->kkt.setRedundantRows(impl_->smooth.kkt().redundantRows());
  State& s = impl_->state;
  s = impl_->smooth.state();
  s.a = Eigen::Map<const VectorX>(snapshot.at("contact a").data(), s.a.size());
  s.lambda = Eigen::Map<const VectorX>(snapshot.at("contact lambda").data(), s.lambda.size());
  impl_->position.restore(snapshot.at("contact forces, position"));
  impl_->velocity.restore(snapshot.at("contact forces, velocity"));
  impl_->balanced = 0;
}

}
