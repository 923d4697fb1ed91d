#include "dynamics/node_contacts.h"

#include "dynamics/initial_overlaps.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

/// Gaps below this, relative to the smallest shape, count as touching where cohesion asks for it; overlaps below it are rounding and are
/// taken back, up to ten times as deep they are accepted at the start.
constexpr double touching = 1e-6;
constexpr int maxIterations = 50;
/// After so many, second-order parts of the gaps stay as they are: features of polyhedra come and go from one iterate to the next.
constexpr int bendingIterations = 8;

void halveRotations(const Model& model, VectorX& v) {
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) v.segment<3>(block.v + 3) *= 0.5;
}

/// The matrix of a step differs from its transpose by the rotation within the step.
void makeSymmetric(FrictionProblem& problem) {
  BlockMatrix& W = problem.W;
  const auto find = [&](int row, int column) -> double* {
    const auto begin = W.blocks.begin() + W.start[row], end = W.blocks.begin() + W.start[row + 1];
    const auto found = std::lower_bound(begin, end, column, [](const BlockMatrix::Block& b, int c) { return b.column < c; });
    return found != end && found->column == column ? W.values.data() + found->offset : nullptr;
  };
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int k = W.start[i]; k < W.start[i + 1]; ++k) {
      const int j = W.blocks[k].column;
      if (j < i) continue;
      double* other = find(j, i);
      if (!other) continue;
      Eigen::Map<MatrixX> A(W.values.data() + W.blocks[k].offset, problem.laws[i].size, problem.laws[j].size);
      Eigen::Map<MatrixX> B(other, problem.laws[j].size, problem.laws[i].size);
      for (Eigen::Index row = 0; row < A.rows(); ++row)
        for (Eigen::Index column = i == j ? row : 0; column < A.cols(); ++column)
          A(row, column) = B(column, row) = 0.5 * (A(row, column) + B(column, row));
    }
  }
}

}

void meanTwist(const DirectorSystem& system, const VectorX& q, const VectorX& q0, const VectorX& q1, double h, VectorX& v) {
  const Model& model = system.model();
  v.resize(model.nv());
  for (const Block& block : model.blocks()) {
    if (block.kind != Block::Kind::Pose) {
      v.segment(block.v, block.nv) = (q1.segment(block.q, block.nq) - q0.segment(block.q, block.nq)) / h;
      continue;
    }
    const Eigen::Map<const Matrix3> R(q.data() + block.q + 3), R0(q0.data() + block.q + 3), R1(q1.data() + block.q + 3);
    v.segment<3>(block.v).noalias() = R.transpose() * (q1.segment<3>(block.q) - q0.segment<3>(block.q));
    const Matrix3 A = R.transpose() * (R1 - R0);
    v.segment<3>(block.v + 3) << 0.5 * (A(2, 1) - A(1, 2)), 0.5 * (A(0, 2) - A(2, 0)), 0.5 * (A(1, 0) - A(0, 1));
    v.segment<6>(block.v) /= h;
  }
}

NodeContacts::NodeContacts(const DirectorSystem& system, const ContactModel& contacts, const FrictionOptions& friction, Observer observer)
    : system_(system), model_(system.model()), options_(friction), observer_(std::move(observer)), detection_(contacts),
      at_(model_.initialState()) {
  contacts.check();
  for (int p = 0; p < int(contacts.parts().size()); ++p) {
    for (int other = 0; contacts.parts()[std::size_t(p)].curve && other < int(contacts.parts().size()); ++other) {
      if (!contacts.law(p, other)) continue;
      throw InputError(fmt::format("variational integrators know no contact of beams, but '{}' may touch '{}'; use the nonsmooth "
                                   "generalized-alpha scheme, or give the beam's ends bodies that touch",
                                   contacts.parts()[std::size_t(p)].name, contacts.parts()[std::size_t(other)].name));
    }
  }
  margin_ = touching * detection_.smallestSize();
  report_.model = &contacts;
  at_.a.setZero(model_.nv()), at_.lambda.setZero(model_.nc());
  for (VectorX* v : {&momentum_, &move_, &arrived_}) v->setZero(system.size());
  for (VectorX* v : {&freeTwist_, &twist_, &force_}) v->setZero(model_.nv());
  reach_.assign(contacts.parts().size(), 0);
}

void NodeContacts::start(const State& state) {
  memory_.clear();
  reach_.assign(reach_.size(), 2 * margin_);
  const auto deepest = findInitialOverlaps(detection_, state, reach_, 10 * margin_, true);
  if (deepest.deepest > 0) throw InputError("bodies overlap at the start: " + deepest.names + "; move them apart");
}

// ---- one node --------------------------------------------------------------------------------------------------------------------------

void NodeContacts::resolve(const Node& node, Balance& balance) {
  const auto clock = std::chrono::steady_clock::now();
  report_.contacts.clear();
  report_.note.clear();
  report_.step = 0.5 * (node.before + node.after);
  report_.sweeps = report_.newtonSteps = report_.ambiguous = 0;
  report_.residual = report_.dissipation = report_.work = report_.penetration = 0;
  acts_ = false;
  arrived_ = node.arrived;
  meanTwist(system_, node.q, node.q, balance.reached(), node.after, freeTwist_);
  at_.q = node.q, at_.t = node.t;
  std::fill(reach_.begin(), reach_.end(), 0);
  widenReach(node.after, node.twist);
  widenReach(node.after, freeTwist_);
  do {
    if (acts_) balance.solve(node.arrived, node.t), acts_ = false;
    findCandidates(node);
    bends_ = true;
    measure(node, balance.reached());
    findImpacts(node);
    admit(node);
    if (!presses(node)) break;
    acts_ = true;
    iterate(node, balance);
  } while (widenReach(node.after, twist_));
  record();
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
}

/// How far the surface of each part comes in the interval. True if some part comes farther than was looked for.
bool NodeContacts::widenReach(double h, const VectorX& twist) {
  bool isWider = false;
  at_.v = twist;
  for (std::size_t p = 0; p < reach_.size(); ++p) {
    const Marker* marker = detection_.model().parts()[p].marker;
    if (!marker) continue;
    const Vector6 v = marker->twist(at_);
    const double way = h * (v.head<3>().norm() + detection_.radius(int(p)) * v.tail<3>().norm()) + margin_;
    if (way <= reach_[p]) continue;
    reach_[p] = 1.1 * way;
    isWider = true;
  }
  return isWider;
}

void NodeContacts::findCandidates(const Node& node) {
  at_.q = node.q, at_.t = node.t;
  detection_.findPairs(at_, reach_);
  const auto& contacts = detection_.findContacts(at_, margin_, reach_);
  found_ = contacts.size();
  candidates_.resize(std::max(candidates_.size(), found_));
  for (std::size_t i = 0; i < found_; ++i) {
    Candidate& c = candidates_[i];
    c.block.contact = contacts[i];
    const ContactLaw& law = *contacts[i].law;
    // What moves by prescription is taken halfway through the intervals, as they move on the mean.
    at_.t = node.t - node.before / 2;
    detection_.rows(contacts[i], at_, c.block.rows);
    c.before = c.block.velocity(model_, node.twist);
    c.drift = 0.5 * c.block.rows.drift;
    at_.t = node.t + node.after / 2;
    detection_.rows(contacts[i], at_, c.block.rows);
    c.drift += 0.5 * c.block.rows.drift;
    c.free = c.block.velocity(model_, freeTwist_);
    c.block.chooseLaw();
    c.pull = law.cohesion > 0 && contacts[i].point.gap <= margin_ ? report_.step * law.cohesion : 0;
    c.r.setZero();
    c.r[0] = c.pull;
    c.isIn = false;
    report_.penetration = std::max(report_.penetration, -contacts[i].point.gap);
  }
  at_.t = node.t;
}

/// Velocities at the end of the interval found, and what the gaps do beyond them.
void NodeContacts::measure(const Node& node, const VectorX& end) {
  meanTwist(system_, node.q, node.q, end, node.after, twist_);
  for (std::size_t i = 0; i < found_; ++i) candidates_[i].after = candidates_[i].block.velocity(model_, twist_);
  if (bends_) findEndGaps(node, end);
}

void NodeContacts::findEndGaps(const Node& node, const VectorX& end) {
  at_.q = end, at_.t = node.t + node.after;
  endGaps_.clear();
  for (const Contact& contact : detection_.findContacts(at_, margin_, reach_)) endGaps_.push_back({contact.key, contact.point.gap});
  at_.q = node.q, at_.t = node.t;
  const auto isLess = [](const EndGap& a, const EndGap& b) { return a.key < b.key; };
  std::sort(endGaps_.begin(), endGaps_.end(), isLess);
  for (std::size_t i = 0; i < found_; ++i) {
    Candidate& c = candidates_[i];
    const Contact& contact = c.block.contact;
    const auto found = std::lower_bound(endGaps_.begin(), endGaps_.end(), EndGap{contact.key, 0}, isLess);
    c.curvature = 0;
    if (found == endGaps_.end() || found->key != contact.key) continue;
    const double beyond = found->gap - contact.point.gap - node.after * c.after[0];
    // More than the surfaces can have moved is another feature under the same name.
    if (std::abs(beyond) <= reach_[std::size_t(contact.first)] + reach_[std::size_t(contact.second)]) c.curvature = beyond;
  }
}

/// What comes or goes no faster than it is driven in two steps, by forces or because its path is curved, lasts or comes to rest. What goes
/// faster and is thrown back by an impact elsewhere in the same node must not be stopped as if it lasted: that would add energy.
void NodeContacts::findImpacts(const Node& node) {
  for (std::size_t i = 0; i < found_; ++i) {
    Candidate& c = candidates_[i];
    const double bend = c.curvature / node.after; // the same before the node, where time runs the other way
    const double rate = c.before[0] - bend * node.before / node.after;
    c.lasts = c.block.contact.law->restitution == 0 || std::abs(rate) <= 2 * std::abs(c.free[0] + bend - rate);
  }
}

/// Takes in what lasts, and impacts of what would cross. True if the problem has grown.
bool NodeContacts::admit(const Node& node) {
  bool hasGrown = false;
  for (std::size_t i = 0; i < found_; ++i) {
    Candidate& c = candidates_[i];
    if (c.isIn || !(c.lasts || c.block.contact.point.gap + c.curvature + node.after * c.after[0] < 0)) continue;
    c.isIn = hasGrown = true;
  }
  if (!hasGrown) return false;
  in_.clear();
  for (std::size_t i = 0; i < found_; ++i)
    if (candidates_[i].isIn) in_.push_back(i);
  return true;
}

bool NodeContacts::presses(const Node& node) const {
  return std::any_of(candidates_.begin(), candidates_.begin() + std::ptrdiff_t(found_),
                     [&](const Candidate& c) { return c.isIn && (c.pull > 0 || lawVelocity(c, 0, node.after) < 0); });
}

double NodeContacts::lawVelocity(const Candidate& c, int component, double h) const {
  const ContactLaw& law = *c.block.contact.law;
  if (!c.lasts) return c.after[component] + (component == 0 ? law.restitution : law.tangentialRestitution) * c.before[component];
  if (component > 0) return c.after[component];
  const double gap = c.block.contact.point.gap;
  return c.after[0] + ((gap < -margin_ ? 0 : gap) + c.curvature) / h;
}

/// Laws and impulses of those that take part, as the problem has them.
void NodeContacts::gather() {
  blocks_.clear();
  problem_.laws.clear();
  for (const std::size_t i : in_) blocks_.push_back(candidates_[i].block), problem_.laws.push_back(blocks_.back().law);
  problem_.layOut();
  r_.setZero(problem_.rows());
  for (std::size_t k = 0; k < in_.size(); ++k)
    r_.segment(problem_.firstRow[k], blocks_[k].law.size) = candidates_[in_[k]].r.head(blocks_[k].law.size);
}

/// V, and q = V - W r.
void NodeContacts::setVelocities(double h) {
  problem_.q.setZero(problem_.rows());
  velocities(problem_, r_, Wr_);
  V_.resize(problem_.rows());
  for (std::size_t k = 0; k < in_.size(); ++k) {
    for (int row = 0; row < blocks_[k].law.size; ++row)
      V_[problem_.firstRow[k] + row] = lawVelocity(candidates_[in_[k]], blocks_[k].component[std::size_t(row)], h);
  }
  problem_.q = V_ - Wr_;
}

void NodeContacts::findDelassus(const Node& node, Balance& balance) {
  if (columns_.cols() < problem_.rows()) columns_.resize(model_.nv(), 2 * problem_.rows());
  balance.linearise(node.t);
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const ContactBlock& block = blocks_[k];
    for (int row = 0; row < block.law.size; ++row) {
      force_.setZero();
      for (int b = 0; b < block.rows.count; ++b)
        force_.segment<6>(model_.blocks()[block.rows.block[b]].v) = block.rows.H[b].row(block.component[row]).transpose();
      halveRotations(model_, force_);
      system_.rates(node.q, force_, momentum_);
      momentum_ *= node.weight / node.after;
      balance.respond(momentum_, move_);
      system_.pullBack(node.q, move_, force_);
      halveRotations(model_, force_);
      columns_.col(problem_.firstRow[k] + row) = force_;
    }
  }
  fillDelassus(model_, blocks_, columns_, problem_);
  makeSymmetric(problem_);
}

void NodeContacts::iterate(const Node& node, Balance& balance) {
  gather();
  for (int iteration = 1;; ++iteration) {
    findDelassus(node, balance);
    setVelocities(node.after);
    if (iteration == 1) {
      memory_.warmStart(blocks_, problem_, r_);
      for (std::size_t k = 0; k < in_.size(); ++k) r_[problem_.firstRow[k]] += candidates_[in_[k]].pull;
    }
    const FrictionReport& solution = solver_.solve(problem_, options_, r_);
    if (observer_ && (iteration == 1 || !solution.converged)) observer_(node.step, problem_, r_);
    report_.ambiguous = 0;
    recordSolution(solution, blocks_, detection_, report_);
    const auto fail = [&](const FrictionResidual& residual, const std::string& why) {
      throw NumericalFailure("variational: " + describeUnsolved(node.step, node.t, residual, options_.tolerance, why, blocks_, detection_));
    };
    if (!solution.converged) fail(solution.residual, solution.failure);
    applyImpulses(node, balance);
    bends_ = iteration < bendingIterations;
    measure(node, balance.reached());
    if (admit(node)) {
      gather();
      continue;
    }
    setVelocities(node.after);
    const FrictionResidual residual = frictionResidual(problem_, r_, V_);
    report_.residual = residual.scaled;
    if (residual.scaled <= options_.tolerance || isRounding(node, residual)) return;
    if (iteration == maxIterations) {
      fail(residual, fmt::format("{} iterations of the balance and its contacts did not settle; take smaller steps", iteration));
    }
  }
}

/// Mean velocities are differences of coordinates over the step: they are known no better than those.
bool NodeContacts::isRounding(const Node& node, const FrictionResidual& residual) const {
  double size = model_.characteristicLength();
  for (const Block& block : model_.blocks())
    if (block.kind == Block::Kind::Pose) size = std::max(size, node.q.segment<3>(block.q).lpNorm<Eigen::Infinity>());
  const double known = 8 * std::numeric_limits<double>::epsilon() * size / node.after;
  return residual.scaled * problem_.q.norm() <= known * std::sqrt(double(problem_.rows()));
}

void NodeContacts::applyImpulses(const Node& node, Balance& balance) {
  force_.setZero();
  for (std::size_t k = 0; k < in_.size(); ++k) {
    Candidate& c = candidates_[in_[k]];
    const int size = c.block.law.size;
    c.r.head(size) = r_.segment(problem_.firstRow[k], size);
    Vector6 impulse = impulseOf(c.block, c.r.head(size));
    impulse[0] -= c.pull;
    for (int b = 0; b < c.block.rows.count; ++b)
      force_.segment<6>(model_.blocks()[c.block.rows.block[b]].v).noalias() += c.block.rows.H[b].transpose() * impulse;
  }
  halveRotations(model_, force_);
  system_.rates(node.q, force_, momentum_);
  arrived_ = node.arrived + node.weight * momentum_;
  balance.solve(arrived_, node.t);
}

void NodeContacts::record() {
  for (std::size_t i = 0; i < found_; ++i) {
    const Candidate& c = candidates_[i];
    if (!c.isIn) continue;
    const Contact& contact = c.block.contact;
    const int size = c.block.law.size;
    Vector6 impulse = impulseOf(c.block, c.r.head(size));
    impulse[0] -= c.pull;
    recordContact(c.block, {c.before, c.free, c.after, c.drift}, c.r.head(size), impulse, report_);
    if (!impulse.isZero(0)) memory_.add({contact.key, contact.frame * impulse.head<3>(), contact.frame * impulse.tail<3>(), 0, 0});
  }
  memory_.turnOver();
}

void NodeContacts::save(Snapshot& snapshot) const {
  snapshot["contacts"] = memory_.save();
  snapshot["contacts act"] = {double(acts_)};
}

void NodeContacts::restore(const Snapshot& snapshot) {
  memory_.restore(snapshot.at("contacts"));
  acts_ = snapshot.at("contacts act").at(0) != 0;
  report_.contacts.clear();
}

}
