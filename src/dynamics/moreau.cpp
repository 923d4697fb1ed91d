#include "tendril/dynamics/moreau.h"

#include "dynamics/impulse_memory.h"
#include "dynamics/impulse_response.h"
#include "dynamics/initial_overlaps.h"
#include "dynamics/position_projection.h"
#include "dynamics/rigid_flight.h"
#include "dynamics/sleeping.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/model/error.h"
#include "tendril/solvers/friction_compliance.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace tendril {

namespace {

/// Gaps below this, relative to the smallest shape, count as touching: a body at rest stays in contact in spite of rounding.
constexpr double touching = 1e-6;
/// Overlap of this size, in the same measure, is left alone by the projection.
constexpr double allowedOverlap = 1e-6;
constexpr int maxProjections = 20;
constexpr int maxCuts = 3;

}

struct Moreau::Impl {
  Impl(const Model& model_, const ContactModel& contacts, const MoreauOptions& options_);

  void classify();
  void start(std::vector<std::string>& messages);
  void advance();
  void advanceBy(double step, int cutsLeft);
  void beginStep();
  void moveFreely();
  void evaluateAhead();
  void findReach();
  void selectContacts();
  void setAsideSleepers();
  void setUpProblem();
  void addCompliances();
  void warmStart();
  const FrictionReport* solve();
  const FrictionReport& solveHolding();
  void recordCompliant(const FrictionReport& solution);
  void applyImpulses();
  /// (theta h)^2, by which curvatures are measured: steps may differ in size.
  double secondPart() const { return options.theta * options.theta * h * h; }
  /// A = M + h theta C + (h theta)^2 K = secondPart() x the matrix that this asks for.
  Request request() const {
    const double w = 1 / (options.theta * h);
    return {.motion = true, .tangent = true, .stiffness = true, .timeRate = true, .damping = w, .inertia = w * w};
  }
  void record(std::size_t i);
  void recordSleeper(const ContactBlock& block);
  void settle();
  void refuseCrushing();
  void endStep();
  void holdJoints(bool isAtEnd);
  void learnCurvature();
  void separate();
  const TangentialCompliance* compliance(int first, int second) const;
  [[noreturn]] void fail(const FrictionReport& solution) const;

  const Model& model;
  MoreauOptions options;
  KktSystem kkt;
  std::unique_ptr<RigidFlight> flight;
  ContactDetection detection;
  std::unique_ptr<ImpulseResponse> response;
  std::unique_ptr<PositionProjection> projection;
  std::unique_ptr<Sleeping> sleeping; ///< where it is wanted and possible
  FrictionSolver solver;
  FrictionProblem problem;

  bool isCoupled = false; ///< joints, elasticity or dampers tie blocks together: the equations are factorised in every step
  double h;               ///< of the step at hand; a part of the step given where that was cut
  double margin = 0;
  bool isTold = false; ///< the problem of this step was given away
  State state;         ///< accepted
  State ahead;         ///< where the theta-scheme takes its forces
  State mid;           ///< at the time where contacts are looked for; v there: before the impulses
  VectorX freeVelocity, jointImpulse, increment, upper, lower, r, zeroLambda;
  VectorX jointAtMid;        ///< g(q_m)
  VectorX jointCurvature;    ///< what the second part of the last step added to g beyond the velocity, over (theta h)^2: k / 2
  VectorX relative;          ///< velocities of the contacts, as their problem has them
  VectorX gained;            ///< velocities that forces alone bring in a step
  std::vector<double> reach; ///< of each part within the rest of the step
  struct Approach {
    Vector6 before, free;    ///< relative velocities
    double curved = 0;       ///< what the curved paths add to the gap beyond the velocity, not below zero
    bool isTouching = false; ///< closed, to what rounding can tell
    bool isAhead = false;    ///< will close in this step, and come to rest there
    const TangentialCompliance* spring = nullptr;
    double longest = 0; ///< step that resolves the spring, which then decides where friction alone allows several solutions or none
    Vector3 held = Vector3::Zero(); ///< friction that the spring holds at the begin of the step, in the contact frame
  };
  std::vector<ContactBlock> blocks; ///< those that take part in the friction problem
  std::vector<Approach> approaches;
  std::vector<ContactBlock> sleepers; ///< those of bodies asleep
  ImpulseMemory memory;
  struct SoftPair {
    int first, second; ///< parts
    TangentialCompliance law;
  };
  std::vector<SoftPair> soft;
  VectorX compliances; ///< on the diagonal of W
  double stored = 0;   ///< energy of the springs at the end of the last step
  ContactReport contactReport;
  StepReport report;
  double begin = 0;
};

Moreau::Impl::Impl(const Model& model_, const ContactModel& contacts, const MoreauOptions& options_)
    : model(model_), options(options_), kkt(model_, options_.tolerances, Redundancy::Share), detection(contacts), h(options_.step),
      state(model_.initialState()) {
  if (!(options.duration > 0 && options.step > 0)) throw InputError("Moreau's scheme needs a positive duration and step");
  if (!(options.theta >= 0.5 && options.theta <= 1)) {
    throw InputError(fmt::format("theta is {}; give a number from 0.5 (midpoint) to 1 (end of the step)", options.theta));
  }
  contacts.check();
  margin = touching * detection.smallestSize();
  contactReport.model = &contacts;
}

/// Finds which blocks are rigid bodies on their own, and whether anything else couples them.
void Moreau::Impl::classify() {
  Assembly& assembly = kkt.assembly();
  assembly.multiplierScale = 1;
  mid = state;
  mid.a.setZero(), mid.lambda.setZero();
  ahead = mid;
  kkt.evaluate(mid, {.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
  flight = std::make_unique<RigidFlight>(model, assembly);
  assembly.carriedBlocks() = flight->isBody();
  isCoupled = model.nc() > 0 || !flight->ownsAll();
  // Elastic and viscous forces between bodies, or from the ground, show in the tangent; the weight alone turns only with the frame.
  kkt.evaluate(mid, {.motion = true, .tangent = true, .stiffness = true, .damping = 1, .inertia = 0});
  const SparseMatrix& A = assembly.matrix();
  for (const RigidFlight::Body& body : flight->bodies()) {
    for (int c = 0; c < 6 && !isCoupled; ++c) {
      for (SparseMatrix::InnerIterator entry(A, body.v + c); entry; ++entry) {
        const auto row = entry.row() - body.v;
        if (entry.value() != 0 && (row < 0 || row >= 6 || c < 3)) isCoupled = true;
      }
    }
  }
  response = std::make_unique<ImpulseResponse>(kkt, *flight, isCoupled);
  projection = std::make_unique<PositionProjection>(model, detection, *flight, *response);
  if (options.sleeping && !isCoupled) sleeping = std::make_unique<Sleeping>(int(model.blocks().size()));
}

void Moreau::Impl::start(std::vector<std::string>& told) {
  classify();
  kkt.assembly().carriedBlocks().clear();
  told = makeConsistent(kkt, state);
  kkt.assembly().carriedBlocks() = flight->isBody();
  begin = state.t;
  for (VectorX* v : {&freeVelocity, &gained, &increment, &upper}) v->setZero(model.nv());
  for (VectorX* v : {&jointImpulse, &jointCurvature, &jointAtMid, &lower, &zeroLambda}) v->setZero(model.nc());
  if (isCoupled) {
    kkt.assembly().multiplierScale = 1;
    kkt.evaluate(state, request());
    kkt.balance();
  }
  reach.assign(detection.model().parts().size(), 2 * margin);
  const InitialOverlaps overlaps = findInitialOverlaps(detection, state, reach, 10 * margin, options.projectInitial);
  if (overlaps.deepest == 0) return;
  if (isCoupled) {
    beginStep();
    moveFreely();
  }
  reach.assign(reach.size(), 2 * overlaps.deepest);
  detection.findPairs(state, reach);
  const auto result = projection->project(state, 0.5 * margin, 200, true);
  told.push_back(fmt::format("{}; the largest left is {:.3g} m", overlaps.removed(), result.after));
}

// ---- one step --------------------------------------------------------------------------------------------------------------------------

void Moreau::Impl::advance() {
  const auto clock = std::chrono::steady_clock::now();
  contactReport.note.clear();
  contactReport.sweeps = contactReport.newtonSteps = contactReport.ambiguous = 0;
  contactReport.residual = contactReport.dissipation = contactReport.work = contactReport.projection = 0;
  report.cuts = 0;
  isTold = false;
  const double end = begin + options.duration, next = begin + double(report.step + 1) * options.step;
  const bool isLast = next > end - 1e-9 * options.step;
  report.h = isLast ? end - (next - options.step) : options.step;
  advanceBy(report.h, maxCuts);
  ++report.step;
  report.t = state.t = isLast ? end : next;
  report.iterations = int(contactReport.newtonSteps + contactReport.sweeps);
  report.residual = contactReport.residual / options.friction.tolerance;
  report.note = contactReport.note;
  contactReport.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
}

/// A friction problem that cannot be solved is the problem of one configuration: in two steps of half the size, others are met.
void Moreau::Impl::advanceBy(double step, int cutsLeft) {
  h = contactReport.step = step;
  beginStep();
  moveFreely();
  gained = freeVelocity - mid.v;
  findReach();
  selectContacts();
  setUpProblem();
  warmStart();
  const FrictionReport* solution = solve();
  if (solution && !solution->converged) {
    if (cutsLeft == 0) fail(*solution);
    ++report.cuts;
    advanceBy(step / 2, cutsLeft - 1);
    advanceBy(step / 2, cutsLeft - 1);
    return;
  }
  applyImpulses();
  endStep();
}

/// Where joints hold a body against a contact, nothing is left of W but rounding, and the impulses that it gives do not move anything.
void Moreau::Impl::refuseCrushing() {
  if (blocks.empty()) return;
  velocities(problem, r, relative);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double truly = blocks[i].velocity(model, freeVelocity)[0],
                 expected = relative[problem.firstRow[i]] - problem.q[problem.firstRow[i]];
    if (std::abs(truly - approaches[i].free[0] - expected) <= 1e-6 * problem.q.norm()) continue;
    throw NumericalFailure(fmt::format("step {}, t = {:.9g}: {} are pressed together by joints that cannot give way; free one of them, or "
                                       "remove the contact",
                                       report.step + 1, state.t, detection.names(blocks[i].contact)));
  }
}

/// The configuration in which forces are taken and contacts looked for, with the velocities at the begin of the step resolved there.
void Moreau::Impl::beginStep() {
  mid.t = state.t + (1 - options.theta) * h;
  mid.q = state.q, mid.v = state.v;
  mid.a.setZero(), mid.lambda.setZero();
  flight->move(mid.q, mid.v, (1 - options.theta) * h);
}

/// Velocities at the end of the step without contacts. Joints hold them in the directions that are free at the end: with k the second
/// derivative of g along the motion, G(q_f) v_f = G(q_m) v_f + theta h k. With G(q_m) v_f = 0 every step would lose what of the velocity
/// points along the normal of a curved path.
void Moreau::Impl::moveFreely() {
  flight->spin(mid.v, h); // before the impacts, so that an elastic one returns what it took
  freeVelocity = mid.v;
  if (!isCoupled) {
    kkt.evaluate(mid, {.motion = true, .tangent = false});
    const VectorX& residual = kkt.assembly().residual();
    for (const RigidFlight::Body& body : flight->bodies()) {
      freeVelocity.segment<6>(body.v).noalias() -= h * (body.inverse * residual.segment<6>(body.v));
    }
    if (sleeping) sleeping->checkForces(*flight, residual);
    return;
  }
  const double unit = secondPart();
  const bool exists = kkt.evaluate(mid, request());
  if (!exists)
    throw NumericalFailure(fmt::format("step {}: an element is deformed beyond what it can represent; shorten the step", report.step + 1));
  const Assembly& assembly = kkt.assembly();
  jointAtMid = assembly.constraint();
  lower = -assembly.constraintRate() - 2 * options.theta * h * jointCurvature;
  const SparseMatrix& A = assembly.matrix();
  for (int c = 0; c < model.nv(); ++c) { // lower -= G v
    for (SparseMatrix::InnerIterator entry(A, c); entry; ++entry) {
      if (entry.row() >= model.nv()) lower[entry.row() - model.nv()] += entry.value() / assembly.multiplierScale * freeVelocity[c];
    }
  }
  if (!kkt.factorise())
    throw NumericalFailure(fmt::format("step {}: the equations are singular; {}", report.step + 1, kkt.describeSingular()));
  if (options.theta > 0.5) evaluateAhead();
  upper = -(h / unit) * assembly.residual();
  kkt.solve(upper, lower, increment, jointImpulse);
  freeVelocity += increment;
  jointImpulse *= unit;
  response->setUnit(unit);
}

/// Forces of the theta-scheme are those of q_i (+) theta h v_i: in the local frames they fit the equations of the middle configuration.
void Moreau::Impl::evaluateAhead() {
  ahead.t = state.t + options.theta * h;
  ahead.q = state.q, ahead.v = state.v;
  flight->move(ahead.q, ahead.v, options.theta * h);
  kkt.evaluate(ahead, {.motion = true, .tangent = false});
}

/// How far the surface of each part can come in the rest of the step.
void Moreau::Impl::findReach() {
  const auto speed = [this](int p) {
    const Marker* marker = detection.model().parts()[std::size_t(p)].marker;
    if (!marker) return 0.0; // a curve, which this method lets touch nothing
    const Vector6 twist = marker->twist(mid);
    return twist.head<3>().norm() + detection.radius(p) * twist.tail<3>().norm();
  };
  for (int p = 0; p < int(reach.size()); ++p) reach[std::size_t(p)] = speed(p);
  mid.v.swap(freeVelocity);
  for (int p = 0; p < int(reach.size()); ++p) {
    double& own = reach[std::size_t(p)];
    own = options.theta * h * std::max(own, speed(p)) + margin;
  }
  mid.v.swap(freeVelocity);
  for (int p = 0; p < int(reach.size()) && sleeping; ++p) {
    const Marker* marker = detection.model().parts()[std::size_t(p)].marker;
    if (!marker) continue;
    const auto on = marker->blocks();
    if (!on.empty() && sleeping->isAsleep(on.front())) reach[std::size_t(p)] = margin;
  }
  detection.findPairs(mid, reach);
}

void Moreau::Impl::selectContacts() {
  const auto& contacts = options.project ? detection.findContacts(mid, margin, reach) : detection.findContacts(mid, margin);
  std::size_t used = 0;
  blocks.resize(std::max(blocks.size(), contacts.size()));
  approaches.resize(blocks.size());
  for (const Contact& contact : contacts) {
    ContactBlock& block = blocks[used];
    block.contact = contact;
    detection.rows(contact, mid, block.rows);
    Approach& approach = approaches[used];
    approach.before = block.velocity(model, mid.v);
    approach.free = block.velocity(model, freeVelocity);
    // An impact with restitution waits until the surfaces have met; what comes to rest is stopped where it touches.
    const bool isSlow = -approach.before[0] <= 2 * std::abs(approach.free[0] - approach.before[0]);
    const bool comesToRest = options.project && (isSlow || contact.law->restitution == 0);
    approach.isTouching = contact.point.gap <= margin;
    approach.spring = nullptr, approach.held.setZero(), approach.longest = 0;
    const ImpulseMemory::Entry* last = options.project ? memory.find(contact.key) : nullptr;
    approach.curved = last ? secondPart() * std::max(last->curvature, 0.0) : 0;
    approach.isAhead = comesToRest && contact.point.gap + approach.curved > 0;
    if (!approach.isTouching && !approach.isAhead) continue;
    block.chooseLaw();
    ++used;
  }
  blocks.resize(used);
  approaches.resize(used);
  if (sleeping) setAsideSleepers();
}

/// What sleeps stays at rest and out of the problem, unless something that moves reaches it.
void Moreau::Impl::setAsideSleepers() {
  while (sleeping->wakeTouched(blocks)) {
  }
  sleepers.clear();
  std::size_t used = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (sleeping->sleeps(blocks[i])) {
      sleepers.push_back(blocks[i]);
    } else {
      if (used != i) blocks[used] = blocks[i], approaches[used] = approaches[i];
      ++used;
    }
  }
  blocks.resize(used);
  approaches.resize(used);
  for (const RigidFlight::Body& body : flight->bodies()) {
    if (sleeping->isAsleep(body.block)) freeVelocity.segment<6>(body.v).setZero();
  }
}

/// With V_n = U_n+ + e U_n-, V_t = U_t+ + tau U_t- the law holds between V and P - c n, c the cohesion of the step, which therefore pulls
/// like a given impulse. A contact ahead must only not have closed at the end: V_n = U_n+ + gap / (theta h), where the gap includes what
/// the curved paths of the surfaces are known to add to it.
void Moreau::Impl::setUpProblem() {
  response->gather(blocks, problem);
  r.setZero(problem.rows());
  bool isCohesive = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactLaw& law = *blocks[i].contact.law;
    if (law.cohesion > 0 && approaches[i].isTouching) r[problem.firstRow[i]] = -h * law.cohesion, isCohesive = true;
  }
  if (isCohesive) {
    response->apply(blocks, problem, r, freeVelocity, jointImpulse);
    for (std::size_t i = 0; i < blocks.size(); ++i) approaches[i].free = blocks[i].velocity(model, freeVelocity);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactBlock& block = blocks[i];
    const Approach& approach = approaches[i];
    const ContactLaw& law = *block.contact.law;
    for (int row = 0; row < block.law.size; ++row) {
      const int component = block.component[std::size_t(row)];
      const double back = component == 0 ? law.restitution : law.tangentialRestitution;
      double& q = problem.q[problem.firstRow[i] + row];
      q = approach.free[component];
      if (!approach.isAhead)
        q += back * approach.before[component];
      else if (component == 0)
        q += (block.contact.point.gap + approach.curved) / (options.theta * h);
    }
  }
  if (!soft.empty()) addCompliances();
}

const TangentialCompliance* Moreau::Impl::compliance(int first, int second) const {
  const auto found = std::find_if(soft.begin(), soft.end(),
                                  [&](const SoftPair& pair) { return std::minmax(pair.first, pair.second) == std::minmax(first, second); });
  return found == soft.end() ? nullptr : &found->law;
}

/// w = u_t + C (P_t / h - g) / (h + tau) on the tangential rows.
void Moreau::Impl::addCompliances() {
  compliances.setZero(problem.rows());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactBlock& block = blocks[i];
    Approach& approach = approaches[i];
    approach.spring = compliance(block.contact.first, block.contact.second);
    if (!approach.spring) continue;
    if (const ImpulseMemory::Entry* last = memory.find(block.contact.key)) approach.held = block.contact.frame.transpose() * last->held;
    const double rate = approach.spring->compliance / (h + approach.spring->relaxation);
    for (int row = 0; row < block.law.size; ++row) {
      const int component = block.component[std::size_t(row)];
      if (component != 1 && component != 2) continue;
      compliances[problem.firstRow[i] + row] = rate / h;
      problem.q[problem.firstRow[i] + row] -= rate * approach.held[component];
    }
  }
  if (compliances.isZero(0)) return;
  const VectorX rigid = addCompliance(problem, compliances);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!approaches[i].spring || blocks[i].law.size == 1) continue;
    const int tangent = problem.firstRow[i] + 1;
    approaches[i].longest = h * std::sqrt(compliances[tangent] / rigid[tangent]);
  }
}

void Moreau::Impl::warmStart() {
  memory.warmStart(blocks, problem, r);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactLaw& law = *blocks[i].contact.law;
    if (approaches[i].isTouching && memory.find(blocks[i].contact.key)) r[problem.firstRow[i]] += h * law.cohesion;
  }
}

/// What the solver tells; null if nothing touches. Without convergence nothing has changed yet.
const FrictionReport* Moreau::Impl::solve() {
  if (blocks.empty()) return nullptr;
  const FrictionReport& solution = soft.empty() ? solver.solve(problem, options.friction, r) : solveHolding();
  if (options.onProblem && !isTold) options.onProblem(report.step + 1, problem, r);
  isTold = true;
  if (soft.empty())
    recordSolution(solution, blocks, detection, contactReport);
  else
    recordCompliant(solution);
  return &solution;
}

/// Springs cannot let go at once: a contact whose spring holds friction goes on sticking as long as that is a solution, though to open may
/// be another one.
const FrictionReport& Moreau::Impl::solveHolding() {
  const auto isWithin = [this](std::size_t i) {
    const FrictionLaw& law = blocks[i].law;
    const auto rows = r.segment(problem.firstRow[i], law.size);
    bool isInside = rows[0] >= 0;
    for (int d = 0; d < law.discCount; ++d)
      isInside = isInside && rows.segment(law.discs[d].first, law.discs[d].size).norm() <= law.discs[d].coefficient * rows[0];
    return isInside;
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!approaches[i].held.isZero(0)) problem.laws[i] = FrictionLaw::bilateral(blocks[i].law.size);
  }
  for (;;) {
    const FrictionReport& solution = solver.solve(problem, options.friction, r);
    bool isReleased = false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (problem.laws[i].kind != FrictionLaw::Kind::Bilateral || (solution.converged && isWithin(i))) continue;
      problem.laws[i] = blocks[i].law;
      isReleased = true;
    }
    if (isReleased) continue;
    for (std::size_t i = 0; i < blocks.size(); ++i) problem.laws[i] = blocks[i].law;
    return solution;
  }
}

/// A contact whose spring decides is not ambiguous.
void Moreau::Impl::recordCompliant(const FrictionReport& solution) {
  FrictionReport told = solution;
  std::erase_if(told.ambiguous, [this](int contact) { return approaches[std::size_t(contact)].longest >= h; });
  recordSolution(told, blocks, detection, contactReport);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (approaches[i].spring && approaches[i].longest < h)
      contactReport.note = fmt::format("the step is too long for the compliance of the contact of {}, which therefore acts as if it were "
                                       "rigid: shorten it to {:.3g} s",
                                       detection.names(blocks[i].contact), approaches[i].longest);
  }
}

void Moreau::Impl::fail(const FrictionReport& solution) const {
  throw NumericalFailure(
      describeUnsolved(report.step + 1, state.t, solution.residual, options.friction.tolerance, solution.failure, blocks, detection));
}

void Moreau::Impl::applyImpulses() {
  response->apply(blocks, problem, r, freeVelocity, jointImpulse);
  if (isCoupled) refuseCrushing(); // before anything of the last step is forgotten
  settle();
  contactReport.contacts.clear();
  const double storedBefore = std::exchange(stored, 0);
  for (std::size_t i = 0; i < blocks.size(); ++i) record(i);
  for (const ContactBlock& block : sleepers) recordSleeper(block);
  contactReport.dissipation -= stored - storedBefore;
  memory.turnOver();
}

void Moreau::Impl::record(std::size_t i) {
  const ContactBlock& block = blocks[i];
  const Contact& c = block.contact;
  const Vector6 after = block.velocity(model, freeVelocity);
  const auto rows = r.segment(problem.firstRow[i], block.law.size);
  Vector6 impulse = impulseOf(block, rows);
  if (approaches[i].isTouching) impulse[0] -= h * c.law->cohesion;
  Vector3 held(0, impulse[1] / h, impulse[2] / h), yielding = Vector3::Zero();
  if (const TangentialCompliance* spring = approaches[i].spring) {
    const Vector3 rate = (held - approaches[i].held) / (h + spring->relaxation);
    yielding = -spring->compliance * rate;
    held = approaches[i].held + h * rate;
    stored += 0.5 * spring->compliance * held.squaredNorm();
  }
  recordContact(block, {approaches[i].before, approaches[i].free, after, block.rows.drift, yielding}, rows, impulse, contactReport);
  memory.add(
      {c.key, c.frame * impulse.head<3>(), c.frame * impulse.tail<3>(), c.point.gap + options.theta * h * after[0], 0, c.frame * held});
}

void Moreau::Impl::recordSleeper(const ContactBlock& block) {
  const Contact& c = block.contact;
  const ImpulseMemory::Entry* last = memory.find(c.key);
  if (!last) return;
  contactReport.contacts.push_back({c.first, c.second, c.point.position, c.frame, c.point.gap, c.frame.transpose() * last->impulse,
                                    c.frame.transpose() * last->moment, Vector3::Zero(), Vector3::Zero(), ContactStatus::Stick});
  if (const TangentialCompliance* spring = compliance(c.first, c.second)) stored += 0.5 * spring->compliance * last->held.squaredNorm();
  memory.add(*last);
}

/// Bodies in contact that were at rest and still are, to the tolerance of the solver, are at rest exactly: they do not creep.
void Moreau::Impl::settle() {
  if (blocks.empty() || isCoupled) return;
  const double noise = 10 * std::max(options.friction.tolerance, 1e-12) * problem.q.norm() / std::sqrt(double(problem.rows()));
  for (const ContactBlock& block : blocks) {
    for (int k = 0; k < block.rows.count; ++k) {
      const int b = block.rows.block[std::size_t(k)];
      const int v = model.blocks()[std::size_t(b)].v;
      const double radius = detection.smallestSize();
      const auto speed = [&](const VectorX& velocity) {
        return velocity.segment<3>(v).norm() + radius * velocity.segment<3>(v + 3).norm();
      };
      if (speed(freeVelocity) <= noise && speed(mid.v) <= noise) freeVelocity.segment<6>(v).setZero();
    }
  }
}

void Moreau::Impl::endStep() {
  state.a = (freeVelocity - mid.v) / h;
  state.v = freeVelocity;
  state.q = mid.q;
  flight->move(state.q, state.v, options.theta * h);
  state.t += h;
  state.lambda = jointImpulse / h;
  holdJoints(true);
  learnCurvature();
  separate();
  if (sleeping) sleeping->observe(blocks, *flight, state.v, kkt.assembly().residual());
}

/// Joints hold velocities; what their positions drift in a step is taken back, with the factorisation at hand.
void Moreau::Impl::holdJoints(bool isAtEnd) {
  if (model.nc() == 0) return;
  zeroLambda.setZero();
  for (int iteration = 0; iteration < 3; ++iteration) {
    kkt.evaluate(state, {.motion = false, .tangent = false});
    lower = -kkt.assembly().constraint();
    if (iteration == 0 && isAtEnd) jointCurvature = 2 * jointCurvature - (lower + jointAtMid) / secondPart();
    if (lower.lpNorm<Eigen::Infinity>() <= 1e-14 * model.characteristicLength()) return;
    upper.setZero();
    VectorX& correction = increment;
    kkt.solve(upper, lower, correction, zeroLambda);
    flight->displace(state.q, state.v, correction);
  }
}

/// Compares the gaps of the contacts that pushed with those that their velocities led to expect.
void Moreau::Impl::learnCurvature() {
  if (!options.project || blocks.empty()) return;
  for (const Contact& contact : detection.findContacts(state, 1e-3 * detection.smallestSize())) {
    ImpulseMemory::Entry* last = memory.find(contact.key);
    if (last && !last->impulse.isZero(0)) last->curvature = (contact.point.gap - last->expected) / secondPart();
  }
}

/// Bodies that are coming or going faster than forces make them in a step are left to their impact and its rebound.
void Moreau::Impl::separate() {
  const auto waits = [this](const ContactBlock& block) {
    return block.contact.law->restitution > 0 &&
           std::abs(block.velocity(model, state.v)[0]) > 2 * std::abs(block.velocity(model, gained, false)[0]);
  };
  const auto result =
      projection->project(state, allowedOverlap * detection.smallestSize(), options.project ? maxProjections : 0, false, waits);
  contactReport.penetration = std::max(result.after, result.waiting);
  if (result.iterations == 0) return;
  holdJoints(false); // the projection holds them to first order
  contactReport.projection += model.energy(state).total() - result.energyBefore;
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

Moreau::Moreau(const Model& model, const ContactModel& contacts, const MoreauOptions& options)
    : impl_(std::make_unique<Impl>(model, contacts, options)) {}
Moreau::~Moreau() = default;

void Moreau::start() { impl_->start(messages_); }
bool Moreau::finished() const { return impl_->state.t >= impl_->begin + impl_->options.duration; }
const State& Moreau::state() const { return impl_->state; }
VectorX Moreau::reactions() { return impl_->kkt.minimumNorm(impl_->state); }
const ContactReport* Moreau::contacts() const { return &impl_->contactReport; }
double Moreau::progress() const { return (impl_->state.t - impl_->begin) / impl_->options.duration; }

Energy Moreau::energy(const Model& model) const {
  Energy energy = model.energy(impl_->state);
  energy.elastic += impl_->stored;
  return energy;
}

void Moreau::soften(int first, int second, const TangentialCompliance& compliance) {
  if (!(compliance.compliance > 0 && std::isfinite(compliance.compliance)))
    throw InputError(fmt::format("the tangential compliance of a contact is {} m/N; it must be positive", compliance.compliance));
  if (!std::isfinite(compliance.compliance / (impl_->options.step * impl_->options.step)))
    throw InputError(fmt::format("a tangential compliance of {:.3g} m/N is beyond what steps of {:.3g} s can hold; give a smaller one",
                                 compliance.compliance, impl_->options.step));
  if (!(compliance.relaxation >= 0 && std::isfinite(compliance.relaxation)))
    throw InputError(fmt::format("the relaxation time of a contact is {} s; it must not be negative", compliance.relaxation));
  if (!isSoft(first, second)) impl_->soft.push_back({first, second, compliance});
}

bool Moreau::isSoft(int first, int second) const { return impl_->compliance(first, second) != nullptr; }

const StepReport& Moreau::advance() {
  impl_->advance();
  return impl_->report;
}

Snapshot Moreau::save() {
  impl_->kkt.forget();
  Snapshot snapshot;
  store(impl_->state, snapshot);
  snapshot["moreau/joints"].assign(impl_->jointCurvature.data(), impl_->jointCurvature.data() + impl_->jointCurvature.size());
  snapshot["moreau/begin"] = {impl_->begin, double(impl_->report.step)};
  snapshot["moreau/impulses"] = impl_->memory.save();
  std::vector<double>& springs = snapshot["moreau/springs"];
  springs = {impl_->stored};
  for (const Impl::SoftPair& pair : impl_->soft)
    springs.insert(springs.end(), {double(pair.first), double(pair.second), pair.law.compliance, pair.law.relaxation});
  if (impl_->sleeping) snapshot["moreau/sleeping"] = impl_->sleeping->save();
  return snapshot;
}

void Moreau::restore(const Snapshot& snapshot) {
  impl_->start(messages_);
  load(snapshot, impl_->state);
  const std::vector<double>& joints = snapshot.at("moreau/joints");
  impl_->jointCurvature = Eigen::Map<const VectorX>(joints.data(), Eigen::Index(joints.size()));
  impl_->begin = snapshot.at("moreau/begin")[0];
  impl_->report.step = long(snapshot.at("moreau/begin")[1]);
  if (impl_->sleeping) impl_->sleeping->restore(snapshot.at("moreau/sleeping"));
  impl_->memory.restore(snapshot.at("moreau/impulses"));
  const std::vector<double>& springs = snapshot.at("moreau/springs");
  impl_->stored = springs[0];
  impl_->soft.clear();
  for (std::size_t i = 1; i + 4 <= springs.size(); i += 4)
    impl_->soft.push_back({int(springs[i]), int(springs[i + 1]), {springs[i + 2], springs[i + 3]}});
}

}
