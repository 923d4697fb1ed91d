#include "dynamics/event_driven_impl.h"
#include "dynamics/wedging.h"

#include <algorithm>

namespace tendril {

bool EventDriven::Impl::hit() {
  blocks.clear();
  bool isHit = false;
  for (const Contact& contact : detection.findContacts(work, touching * size)) {
    ContactBlock& block = blocks.emplace_back();
    block.contact = contact;
    block.chooseLaw();
    detection.rows(contact, work, block.rows);
    isHit = isHit || block.velocity(model, work.v)[0] < -closed.noise;
  }
  if (!isHit) return false;
  response.gather(blocks, problem);
  VectorX q(problem.rows());
  std::vector<Vector6> before;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ContactLaw& law = *blocks[i].contact.law;
    before.push_back(blocks[i].velocity(model, work.v));
    for (int row = 0; row < blocks[i].law.size; ++row) {
      q[problem.firstRow[i] + row] = (1 + (row == 0 ? law.restitution : law.tangentialRestitution)) * before[i][row];
    }
  }
  const FrictionReport& solution = solveImpulses(q);
  if (!solution.converged) fail("an impact was not solved: " + solution.failure + wedge());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (before[i][0] >= -closed.noise) continue;
    double& largest = largestImpact[blocks[i].contact.key];
    largest = std::max(largest, -before[i][0]);
    addEvent(Kind::Impact, blocks[i].contact, -before[i][0]);
  }
  return true;
}

std::string EventDriven::Impl::wedge() const {
  const std::string found = describeWedge(blocks, detection);
  return found.empty() ? "" : "; " + found;
}

const FrictionReport& EventDriven::Impl::solveImpulses(const VectorX& q) {
  problem.q = q;
  impulses.setZero(problem.rows());
  FrictionOptions friction;
  friction.tolerance = 1e-12;
  friction.measure = FrictionOptions::Measure::Scaled;
  const FrictionReport& solution = solver.solve(problem, friction, impulses);
  contactReport.residual = solution.residual.scaled;
  contactReport.sweeps += solution.sweeps, contactReport.newtonSteps += solution.newtonSteps;
  const State before = work;
  response.apply(blocks, problem, impulses, work.v, noMultipliers);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Vector3 components = Vector3::Zero();
    components.head(blocks[i].law.size) = impulses.segment(problem.firstRow[i], blocks[i].law.size);
    accounts[blocks[i].contact.key].impulse += blocks[i].contact.frame * components;
    contactReport.dissipation -= 0.5 * components.dot((blocks[i].velocity(model, before.v) + blocks[i].velocity(model, work.v)).head<3>());
  }
  motion.toNumbers(work, y);
  return solution;
}

void EventDriven::Impl::noteAccumulation(const ClosedContact& c) {
  response.gather(std::span(&c.block, 1), problem);
  VectorX answer = VectorX::Zero(model.nv()), r = (c.block.contact.frame.transpose() * c.force).head(c.block.law.size);
  response.apply(std::span(&c.block, 1), problem, r, answer, noMultipliers);
  const double pull = c.block.velocity(model, answer, false)[0], v = c.velocity[0], e = c.block.contact.law->restitution;
  if (!(pull > 0)) return;
  addEvent(Kind::Accumulation, c.block.contact, v);
  if (e < 1) events.back().time += 2 * v / (pull * (1 - e));
}

void EventDriven::Impl::jam() {
  const VectorX q = velocitiesOfVanishingStep();
  const FrictionReport& solution = solveImpulses(q);
  if (!solution.converged) fail("an impact without collision was not solved: " + solution.failure + wedge());
  if (!keepHeld()) fail("no accelerations agree with the laws of the contacts, and no jump of velocities either");
  closed.holdVelocities(work); // takes the vanishing step out of the velocities
  motion.toNumbers(work, y);
}

VectorX EventDriven::Impl::velocitiesOfVanishingStep() {
  blocks.clear();
  motion.freeAcceleration(work, a);
  double largest = 0;
  for (const ClosedContact& c : closed.list()) {
    blocks.push_back(c.block);
    largest = std::max(largest, (c.block.velocity(model, a, false).head<3>() + c.bias).norm());
  }
  if (blocks.empty() || !(largest > 0)) fail("no accelerations agree with the laws of the contacts");
  response.gather(blocks, problem);
  const double step = 1e-10 * speedScale / largest;
  VectorX q(problem.rows());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Vector3 rate = blocks[i].velocity(model, a, false).head<3>() + closed.list()[i].bias;
    q.segment(problem.firstRow[i], blocks[i].law.size) = (closed.list()[i].velocity + step * rate).head(blocks[i].law.size);
  }
  return q;
}

bool EventDriven::Impl::keepHeld() {
  const double strongest = impulses.lpNorm<Eigen::Infinity>();
  bool isJammed = false;
  std::vector<ClosedContact> held;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!(impulses[problem.firstRow[i]] > 1e-6 * strongest)) continue;
    ClosedContact& c = held.emplace_back(closed.list()[i]);
    const double slip = c.tangential(blocks[i].velocity(model, work.v).head<3>()).norm();
    c.mode = slip < nearlyStill * speedScale ? Mode::Stick : Mode::Slip;
    if (std::find(closed.withoutRest.begin(), closed.withoutRest.end(), int(i)) == closed.withoutRest.end()) continue;
    addEvent(Kind::Jam, blocks[i].contact, c.tangential(c.velocity).norm());
    isJammed = true;
  }
  if (isJammed) closed.list() = std::move(held);
  return isJammed;
}

}
