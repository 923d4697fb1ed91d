#include "control/path_program.h"
#include "control/plain_problem.h"
#include "tendril/model/error.h"
#include "tendril/model/increment.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace tendril {

// ---- values ----------------------------------------------------------------------------------------------------------------------------

double ControlledPath::Impl::number(const PathPlace& place, const PlacedCondition& p) const {
  const int k = nodeOf(place, p);
  const Node& node = nodes[std::size_t(k)];
  switch (place.part) {
  case PathPart::Node:
    return node.space.q()[place.index];
  case PathPart::Velocity:
    return node.velocity[place.index];
  case PathPart::Control:
    return controls(place.index, place.atOther ? k - 1 : k);
  case PathPart::Impulse: {
    const Impulse& impulse = impulses[std::size_t(impulseAt(place, k))];
    return impulse.value[place.index - impulse.first];
  }
  }
  return 0;
}

double ControlledPath::Impl::value(const PlacedCondition& p) const {
  return p.condition->row.value([&](const PathPlace& place) { return number(place, p); });
}

/// l(tau) of an interval.
double ControlledPath::Impl::effort(int interval) const {
  if (problem.effort.empty()) return 0;
  double squares = problem.effortNorm ? *problem.effortNorm * *problem.effortNorm : 0;
  for (int i = 0; i < nu; ++i) squares += problem.effort[std::size_t(i)] * controls(i, interval) * controls(i, interval);
  return problem.effortNorm ? std::sqrt(squares) : squares;
}

double ControlledPath::Impl::totalCost() const {
  double cost = problem.durationWeight * duration;
  for (int k = 0; k < N(); ++k) cost += h() * effort(k);
  return cost;
}

void ControlledPath::Impl::findBalance(Balance& b, VectorX& w) {
  const Node& node = nodes[std::size_t(b.node)];
  w.setZero();
  if (b.node == 0 && problem.beginMomentum) w += *problem.beginMomentum;
  if (b.node == N() && problem.endMomentum) w -= *problem.endMomentum;
  if (b.velocitySign != 0) w.noalias() += double(b.velocitySign) * (system.mass() * node.velocity);
  for (const int i : node.impulses) {
    const Impulse& impulse = impulses[std::size_t(i)];
    if (&balances[std::size_t(impulse.balance)] == &b) w.noalias() += positionOf[std::size_t(impulse.contact)].transpose() * impulse.value;
  }
  b.controlSum.setZero();
  if (b.takesAfter) {
    lagrangian.left(q(b.node), q(b.node + 1), time(b.node), h(), middle);
    w += middle;
    b.controlSum += controls.col(b.node);
    if (!muscles.empty()) muscles.addForce(q(b.node), time(b.node), rateOf(b.node), controls.col(b.node), h() / 2, w);
  }
  if (b.takesBefore) {
    lagrangian.right(q(b.node - 1), q(b.node), time(b.node - 1), h(), middle);
    w += middle;
    b.controlSum += controls.col(b.node - 1);
    if (!muscles.empty()) muscles.addForce(q(b.node), time(b.node), rateOf(b.node - 1), controls.col(b.node - 1), h() / 2, w);
  }
  actuation.addForce(q(b.node), time(b.node), b.controlSum, h() / 2, w);
}

const VectorX& ControlledPath::Impl::rateOf(int interval) {
  VectorX& rate = spans[std::size_t(interval)].rate;
  rate = (q(interval + 1) - q(interval)) / h();
  return rate;
}

/// w of all balances.
bool ControlledPath::Impl::findBalances() {
  for (Balance& b : balances) {
    findBalance(b, b.w);
    if (!b.w.allFinite()) return false;
  }
  return true;
}

/// M_r nu = P^T p + (D P)^T r,  D P nu = 0.
VectorX ControlledPath::Impl::admit(int k, const VectorX& momentum) {
  const NodeSpace& space = nodes[std::size_t(k)].space;
  const MatrixX P = space.unit().asDiagonal() * space.basis();
  std::vector<int> standing;
  Eigen::Index s = 0;
  for (std::size_t c = 0; c < problem.contacts.size(); ++c) {
    const PathContact& contact = problem.contacts[c];
    if (contact.first > k || contact.last < k || (contact.last == k && k < N())) continue;
    standing.push_back(int(c));
    s += positionOf[c].rows();
  }
  MatrixX A = MatrixX::Zero(r + s, r + s);
  A.topLeftCorner(r, r) = P.transpose() * (system.mass() * P);
  Eigen::Index at = r;
  for (const int c : standing) {
    const MatrixX& D = positionOf[std::size_t(c)];
    A.middleRows(at, D.rows()).leftCols(r) = D * P;
    at += D.rows();
  }
  A.topRightCorner(r, s) = A.bottomLeftCorner(s, r).transpose();
  VectorX b = VectorX::Zero(r + s);
  b.head(r) = P.transpose() * momentum;
  const VectorX x = s > 0 ? VectorX(A.fullPivLu().solve(b)) : VectorX(A.partialPivLu().solve(b));
  return P * x.head(r);
}

// ---- the program -----------------------------------------------------------------------------------------------------------------------

ControlledPath::ControlledPath(const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess,
                               const MatrixX& controls)
    : impl_(std::make_unique<Impl>(system, std::move(problem), guess, controls)) {}
ControlledPath::~ControlledPath() = default;

const ControlProblem& ControlledPath::problem() const { return impl_->problem; }
int ControlledPath::intervals() const { return impl_->N(); }
int ControlledPath::freedom() const { return impl_->r; }
double ControlledPath::duration() const { return impl_->duration; }
const VectorX& ControlledPath::node(int n) const { return impl_->nodes[std::size_t(n)].space.q(); }
Eigen::Ref<const VectorX> ControlledPath::control(int interval) const { return impl_->controls.col(interval); }
const MatrixX& ControlledPath::controls() const { return impl_->controls; }
MatrixX ControlledPath::basis(int n) const {
  const NodeSpace& space = impl_->nodes[std::size_t(n)].space;
  return space.unit().asDiagonal() * space.basis();
}

void ControlledPath::momenta(int interval, VectorX& left, VectorX& right) const {
  Impl& m = *impl_;
  const VectorX &q0 = node(interval), &q1 = node(interval + 1);
  left.resize(m.n), right.resize(m.n);
  m.lagrangian.left(q0, q1, m.time(interval), m.h(), left);
  m.lagrangian.right(q0, q1, m.time(interval), m.h(), right);
  m.actuation.addForce(q0, m.time(interval), m.controls.col(interval), m.h() / 2, left);
  m.actuation.addForce(q1, m.time(interval + 1), m.controls.col(interval), m.h() / 2, right);
  if (!m.muscles.empty()) {
    m.muscles.addForce(q0, m.time(interval), m.rateOf(interval), m.controls.col(interval), m.h() / 2, left);
    m.muscles.addForce(q1, m.time(interval + 1), m.rateOf(interval), m.controls.col(interval), m.h() / 2, right);
  }
  left = -left;
}

VectorX ControlledPath::velocity(int k) const {
  Impl& m = *impl_;
  const Impl::Node& node = m.nodes[std::size_t(k)];
  if (node.velocityVariable >= 0) return m.admit(k, m.system.mass() * node.velocity);
  VectorX left, right;
  if (k < m.N()) {
    momenta(k, left, right);
  } else if (m.problem.endMomentum) {
    left = *m.problem.endMomentum;
  } else {
    momenta(k - 1, right, left);
  }
  return m.admit(k, left);
}

VectorX ControlledPath::velocityBefore(int k) const {
  const Impl::Node& node = impl_->nodes[std::size_t(k)];
  return node.velocityVariable >= 0 ? node.velocity : velocity(k);
}

double ControlledPath::costUnit() const { return impl_->unit; }

VectorX ControlledPath::unbalanced(int k) const {
  Impl& m = *impl_;
  VectorX all = VectorX::Zero(m.n), w = all;
  for (const int b : m.nodes[std::size_t(k)].balances) {
    m.findBalance(m.balances[std::size_t(b)], w);
    all += w;
  }
  return all;
}

VectorX ControlledPath::contactMomentum(int k) const {
  VectorX all = VectorX::Zero(impl_->n);
  for (const int i : impl_->nodes[std::size_t(k)].impulses) {
    const Impl::Impulse& impulse = impl_->impulses[std::size_t(i)];
    all += impl_->positionOf[std::size_t(impulse.contact)].transpose() * impulse.value;
  }
  return all;
}

Vector3 ControlledPath::impulse(int contact, int k) const {
  Vector3 sum = Vector3::Zero();
  for (const int i : impl_->nodes[std::size_t(k)].impulses)
    if (impl_->impulses[std::size_t(i)].contact == contact)
      sum += impl_->directionsOf[std::size_t(contact)] * impl_->impulses[std::size_t(i)].value;
  return sum;
}

double ControlledPath::largestTurn() const {
  double largest = 0;
  const Model& model = impl_->system.model();
  for (int k = 0; k < intervals(); ++k) {
    model.difference(node(k), node(k + 1), impl_->turn);
    for (const Block& block : model.blocks())
      if (block.kind == Block::Kind::Pose) largest = std::max(largest, impl_->turn.segment<3>(block.v + 3).norm());
  }
  return largest;
}

double ControlledPath::closure() const {
  double largest = 0;
  for (const Impl::Node& node : impl_->nodes) largest = std::max(largest, node.space.closure());
  return largest;
}

ControlledPath::Units ControlledPath::units() const {
  const Impl& m = *impl_;
  VectorX along = VectorX::Zero(m.n);
  for (const Block& block : m.system.model().blocks())
    if (block.kind == Block::Kind::Pose) along[block.q] = 1;
  const double mass = along.dot(m.system.mass() * along), L = m.system.model().characteristicLength(), T = m.problem.duration;
  Units units;
  units.variable.setOnes(m.structure.variables());
  units.equality.setOnes(m.structure.equalities());
  units.inequality.setOnes(m.structure.inequalities());
  double objective = m.problem.durationWeight * T;
  const std::vector<double> control = unitsOfControls(m.problem, mass, L);
  for (std::size_t i = 0; i < control.size() && !m.problem.effort.empty(); ++i) {
    const double square = m.problem.effort[i] * control[i] * control[i];
    objective += T * (m.problem.effortNorm ? std::sqrt(square) : square);
  }
  if (m.unitVariable >= 0) objective /= m.unit;
  for (const NodeObjective& o : m.problem.objectives) objective += std::abs(o.weight) * o.row.unit;
  if (objective > 0) units.objective = objective;
  for (int k = 0; k < m.N(); ++k)
    for (int i = 0; i < m.nu; ++i) units.variable[m.controlVariable(k) + i] = control[std::size_t(i)];
  for (const Impl::Balance& b : m.balances) units.equality.segment(b.row, m.r).setConstant(mass * L * L / T);
  for (const Impl::Node& node : m.nodes) {
    if (node.velocityVariable < 0) continue;
    units.variable.segment(node.velocityVariable, m.n) = node.space.unit() / T;
    for (std::size_t i = 0; i < m.rows.size(); ++i) {
      const int row = m.rows[i] - m.system.internalConstraints();
      const bool isLength = row >= 0 && m.system.model().constraintQuantities()[row] == RowQuantity::Length;
      units.equality[node.velocityRow + Eigen::Index(i)] = (isLength ? L : 1) / T;
    }
  }
  for (const Impl::Impulse& impulse : m.impulses) units.variable.segment(impulse.variable, impulse.value.size()).setConstant(mass * L / T);
  if (m.unitVariable >= 0) units.variable[m.unitVariable] = m.unit;
  for (const Impl::PlacedCondition& p : m.placed) (p.isEquality ? units.equality : units.inequality)[p.row] = p.condition->row.unit;
  const Eigen::Index bounded = Eigen::Index(m.boundedControls.size());
  for (Eigen::Index k = 0; k < m.N(); ++k)
    for (Eigen::Index i = 0; i < bounded; ++i)
      units.inequality[m.firstControlRow + k * bounded + i] = control[std::size_t(m.boundedControls[std::size_t(i)])];
  if (m.durationVariable >= 0) units.variable[m.durationVariable] = units.inequality[m.durationRow] = T;
  return units;
}

const ProgramStructure& ControlledPath::structure() const { return impl_->structure; }

/// q, P and velocities of every node, the controls, impulses, T and s.
int ControlledPath::pointSize() const {
  const Impl& m = *impl_;
  Eigen::Index size = Eigen::Index(m.nodes.size()) * m.n * (1 + m.r) + m.nu * m.N() + 2;
  for (const Impl::Node& node : m.nodes) size += node.velocity.size();
  for (const Impl::Impulse& impulse : m.impulses) size += impulse.value.size();
  return int(size);
}

void ControlledPath::getPoint(Eigen::Ref<VectorX> numbers) const {
  const Impl& m = *impl_;
  Eigen::Index at = 0;
  const auto write = [&](const auto& values) {
    Eigen::Map<MatrixX>(numbers.data() + at, values.rows(), values.cols()) = values;
    at += values.size();
  };
  for (const Impl::Node& node : m.nodes) write(node.space.q()), write(node.space.basis()), write(node.velocity);
  write(m.controls);
  for (const Impl::Impulse& impulse : m.impulses) write(impulse.value);
  numbers[at] = m.duration, numbers[at + 1] = m.unit;
}

void ControlledPath::setPoint(const Eigen::Ref<const VectorX>& numbers) {
  Impl& m = *impl_;
  Eigen::Index at = 0;
  const auto read = [&](auto& values) {
    values = Eigen::Map<const MatrixX>(numbers.data() + at, values.rows(), values.cols());
    at += values.size();
  };
  for (Impl::Node& node : m.nodes) {
    node.space.set(numbers.segment(at, m.n), Eigen::Map<const MatrixX>(numbers.data() + at + m.n, m.n, m.r));
    at += m.n * (1 + m.r);
    read(node.velocity);
  }
  read(m.controls);
  for (Impl::Impulse& impulse : m.impulses) read(impulse.value);
  m.duration = numbers[at], m.unit = numbers[at + 1];
  m.isReached = true;
}

void ControlledPath::retract(const Eigen::Ref<const VectorX>& increment) {
  Impl& m = *impl_;
  for (int k = 0; k <= m.N(); ++k) {
    Impl::Node& node = m.nodes[std::size_t(k)];
    m.isReached = node.space.retract(increment.segment(m.variable(k), m.r)) && m.isReached;
    if (k < m.N()) m.controls.col(k) += increment.segment(m.controlVariable(k), m.nu);
    if (node.velocityVariable >= 0) node.velocity += increment.segment(node.velocityVariable, m.n);
  }
  for (Impl::Impulse& impulse : m.impulses) impulse.value += increment.segment(impulse.variable, impulse.value.size());
  if (m.durationVariable >= 0) m.duration += increment[m.durationVariable];
  if (m.unitVariable >= 0) m.unit += increment[m.unitVariable];
}

double ControlledPath::longestFactor(const Eigen::Ref<const VectorX>& increment) const {
  Impl& m = *impl_;
  double factor = 1;
  for (int k = 0; k <= m.N(); ++k) {
    const NodeSpace& space = m.nodes[std::size_t(k)].space;
    m.moved.noalias() = space.basis() * increment.segment(m.variable(k), m.r);
    m.moved.array() *= 0.5 * space.unit().array();
    m.system.pullBack(space.q(), m.moved, m.turn); // N^T N is 2 on rotations
    factor = std::min(factor, longestTurn(m.system.model(), m.turn));
  }
  const auto stayPositive = [&](int variable, double value) {
    if (variable >= 0 && increment[variable] < 0) factor = std::min(factor, -0.5 * value / increment[variable]);
  };
  stayPositive(m.durationVariable, m.duration);
  stayPositive(m.unitVariable, m.unit);
  return factor;
}

bool ControlledPath::evaluate(ProgramValues& values) {
  Impl& m = *impl_;
  if (!m.isReached || !(m.duration > 0) || !(m.unit > 0) || !m.findBalances()) return false;
  values.objective = m.totalCost() / m.unit;
  for (std::size_t i = 0; i < m.objectives.size(); ++i) values.objective += m.problem.objectives[i].weight * m.value(m.objectives[i]);
  for (Impl::Balance& b : m.balances) {
    const NodeSpace& space = m.nodes[std::size_t(b.node)].space;
    m.moved = space.unit().cwiseProduct(b.w);
    values.equality.segment(b.row, m.r).noalias() = space.basis().transpose() * m.moved;
  }
  for (int k = 0; k <= m.N(); ++k) {
    const Impl::Node& node = m.nodes[std::size_t(k)];
    if (node.velocityVariable < 0) continue;
    m.system.constraintGradient(node.space.q(), m.time(k), m.G);
    m.constraintRates.noalias() = m.G * node.velocity;
    for (std::size_t i = 0; i < m.rows.size(); ++i) values.equality[node.velocityRow + Eigen::Index(i)] = m.constraintRates[m.rows[i]];
  }
  for (const Impl::PlacedCondition& p : m.placed) {
    const double phi = m.value(p);
    if (p.isEquality)
      values.equality[p.row] = phi - (p.isUnit ? m.unit : p.condition->lower);
    else
      values.inequality[p.row] = phi;
  }
  const Eigen::Index bounded = Eigen::Index(m.boundedControls.size());
  for (Eigen::Index k = 0; k < m.N(); ++k)
    for (Eigen::Index i = 0; i < bounded; ++i)
      values.inequality[m.firstControlRow + k * bounded + i] = m.controls(m.boundedControls[std::size_t(i)], k);
  if (m.durationRow >= 0) values.inequality[m.durationRow] = m.duration;
  return std::isfinite(values.objective);
}

bool ControlledPath::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) {
  Impl& m = *impl_;
  if (!m.isReached || !m.findBalances()) return false;
  m.findMatrices();
  m.writeJacobians(d);
  m.writeGradient(d);
  if (!d.equalityJacobian.allFinite()) return false;
  if (!multipliers) return true;
  m.findMultipliers(*multipliers);
  m.addCurvatures();
  m.writeHessian(*multipliers, d);
  return d.hessian.allFinite();
}

std::string ControlledPath::nameOfVariable(int i) const {
  const Impl& m = *impl_;
  if (i == m.durationVariable) return "the duration";
  if (i == m.unitVariable) return "what the cost is divided by";
  for (const Impl::Impulse& impulse : m.impulses)
    if (i >= impulse.variable && i < impulse.variable + int(impulse.value.size()))
      return "impulse of contact '" + m.problem.contacts[std::size_t(impulse.contact)].name + "' at node " + std::to_string(impulse.node);
  int k = m.N();
  while (k > 0 && m.variable(k) > i) --k;
  const Impl::Node& node = m.nodes[std::size_t(k)];
  const std::string where = " of node " + std::to_string(k);
  if (i < node.first + m.r) return "coordinate " + std::to_string(i - node.first + 1) + where;
  if (node.control >= 0 && i < node.control + m.nu)
    return "control '" + m.problem.actuators[std::size_t(i - node.control)].name + "' of interval " + std::to_string(k);
  return "velocity of " + m.system.nameOfCoordinate(i - node.velocityVariable) + where;
}

std::string ControlledPath::nameOfEquality(int i) const {
  const Impl& m = *impl_;
  for (const Impl::Balance& b : m.balances) {
    if (i < b.row || i >= b.row + m.r) continue;
    Eigen::Index largest = 0;
    m.nodes[std::size_t(b.node)].space.basis().col(i - b.row).cwiseAbs().maxCoeff(&largest);
    return "balance of momentum at node " + std::to_string(b.node) + ", mostly of " + m.system.nameOfCoordinate(int(largest));
  }
  for (int k = 0; k <= m.N(); ++k) {
    const int first = m.nodes[std::size_t(k)].velocityRow;
    if (first >= 0 && i >= first && i < first + int(m.rows.size()))
      return "velocity at node " + std::to_string(k) + " against " + m.system.nameOfConstraint(m.rows[std::size_t(i - first)]);
  }
  for (const Impl::PlacedCondition& p : m.placed)
    if (p.isEquality && p.row == i) return p.condition->row.name + " at node " + std::to_string(p.node);
  return NonlinearProgram::nameOfEquality(i);
}

std::string ControlledPath::nameOfInequality(int i) const {
  const Impl& m = *impl_;
  if (i == m.durationRow) return "bounds of the duration";
  const int bounded = int(m.boundedControls.size());
  if (bounded > 0 && i >= m.firstControlRow && i < m.firstControlRow + bounded * m.N()) {
    const int number = i - m.firstControlRow, control = m.boundedControls[std::size_t(number % bounded)];
    return "bounds of control '" + m.problem.actuators[std::size_t(control)].name + "' in interval " + std::to_string(number / bounded);
  }
  for (const Impl::PlacedCondition& p : m.placed)
    if (!p.isEquality && p.row == i) return p.condition->row.name + " at node " + std::to_string(p.node);
  return NonlinearProgram::nameOfInequality(i);
}

}
