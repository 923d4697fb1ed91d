#include "control/path_program.h"
#include "control/plain_problem.h"
#include "tendril/discrete/null_space.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <set>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void setZero(SparseMatrix& K) { std::fill_n(K.valuePtr(), K.nonZeros(), 0.0); }

}

DenseBlock declareBlock(std::vector<MatrixEntry>& entries, int row, int column, int rows, int columns) {
  const DenseBlock block{Eigen::Index(entries.size()), rows, columns};
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) entries.push_back({row + r, column + c});
  return block;
}

Eigen::Index declareEntry(std::vector<MatrixEntry>& entries, int row, int column) {
  entries.push_back({row, column});
  return Eigen::Index(entries.size()) - 1;
}

SymmetricBlock declareSymmetric(std::vector<MatrixEntry>& entries, int first, int size) {
  const SymmetricBlock block{Eigen::Index(entries.size()), size};
  for (int c = 0; c < size; ++c)
    for (int r = c; r < size; ++r) entries.push_back({first + r, first + c});
  return block;
}

ControlledPath::Impl::Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess,
                           const MatrixX& controls_)
    : system(system_), problem(std::move(problem_)), actuation(system_, problem.actuators), muscles(system_, problem.actuators),
      lagrangian(system_, problem.quadrature), n(system_.size()), nu(actuation.size()), controls(controls_), duration(problem.duration),
      scratch(system_.matrix()), G(system_.gradient()), G0(system_.gradient()) {
  check(guess);
  if (controls.size() == 0) controls.setZero(nu, N());
  rows = NullSpace(system, guess[0], 0).keptConstraints();
  velocityRowOf.assign(std::size_t(system.constraints()), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) velocityRowOf[std::size_t(rows[i])] = int(i);
  nodes.reserve(std::size_t(N()) + 1);
  for (int k = 0; k <= N(); ++k) {
    const VectorX& q = guess[std::size_t(k)];
    nodes.emplace_back(k == 0 ? NodeSpace(system, rows, q, time(k)) : NodeSpace(nodes[0].space, q, time(k)));
    if (nodes.back().space.closure() > 1e-9)
      throw InputError("optimal control: node " + std::to_string(k) +
                       " of the first guess violates the constraints; start from configurations that joints allow");
  }
  r = nodes[0].space.dimension();
  for (VectorX* v : {&work, &sum, &middle, &ofNode, &ofOther}) v->setZero(n);
  reduced.setZero(r), moved.setZero(n), turn.setZero(system.model().nv());
  VectorX zero = VectorX::Zero(n);
  setZero(G0);
  system.constraintGradient(zero, 0, G0);
  expandContacts();
  layOut();
}

void ControlledPath::Impl::check(const std::vector<VectorX>& guess) const {
  if (N() < 2) throw InputError("optimal control: at least two intervals are needed");
  if (!(problem.duration > 0)) throw InputError("optimal control: the duration must be positive");
  if (int(guess.size()) != N() + 1) throw InputError("optimal control: the first guess needs one configuration per node");
  if (controls.size() > 0 && (controls.rows() != nu || controls.cols() != N()))
    throw InputError("optimal control: the controls of the first guess do not fit the actuators and intervals");
  const auto fits = [&](const std::vector<double>& values) { return values.empty() || int(values.size()) == nu; };
  if (!fits(problem.lower) || !fits(problem.upper) || !fits(problem.effort))
    throw InputError("optimal control: bounds and weights need one number per control");
  for (int k = 0; k < nu; ++k)
    if (!problem.lower.empty() && !problem.upper.empty() && !(problem.lower[std::size_t(k)] < problem.upper[std::size_t(k)]))
      throw InputError("actuator '" + problem.actuators[std::size_t(k)].name + "': its lower bound is not below its upper bound");
  for (const PathCondition& c : problem.conditions) {
    if (c.lower > c.upper) throw InputError("condition '" + c.row.name + "': its lower bound is above its upper bound");
    if (c.first < 0 || c.last < c.first || c.last > N() || c.other > N())
      throw InputError("condition '" + c.row.name + "': it names nodes that do not exist");
  }
  if (problem.durationBounds) {
    const auto [least, most] = *problem.durationBounds;
    if (!(least > 0 && least < most)) throw InputError("optimal control: the bounds of the duration must be positive and in order");
    if (!muscles.empty()) throw InputError("optimal control: a free duration does not go with muscles yet; fix the duration");
    if (system.hasForces())
      throw InputError("optimal control: a free duration does not go with dampers or loads yet; fix the duration, or remove them");
  }
  checkContacts();
}

void ControlledPath::Impl::checkContacts() const {
  for (const PathContact& c : problem.contacts) {
    const std::string what = "contact '" + c.name + "': ";
    if (!c.marker || c.marker->directors().count == 0) throw InputError(what + "it needs a marker on a body or a beam");
    if (c.first < 0 || c.last <= c.first || c.last > N()) throw InputError(what + "it stands between nodes that do not exist");
    if (c.friction && !(*c.friction >= 0)) throw InputError(what + "its friction coefficient is negative");
    if (!(std::abs(c.normal.norm() - 1) < 1e-9)) throw InputError(what + "its normal is no unit vector");
    for (const Vector3& a : c.directions)
      for (const Vector3& b : c.directions)
        if (!(std::abs(a.dot(b) - (&a == &b ? 1 : 0)) < 1e-9))
          throw InputError(what + "the directions in which it holds are not orthonormal");
  }
}

/// Conditions of the contacts, and velocities where they begin and end.
void ControlledPath::Impl::expandContacts() {
  conditions.assign(problem.conditions.begin(), problem.conditions.end());
  const double L = system.model().characteristicLength();
  std::set<int> with(problem.velocityNodes.begin(), problem.velocityNodes.end());
  for (const PathContact& c : problem.contacts) {
    const std::vector<Vector3> axes{Vector3::UnitX(), Vector3::UnitY(), Vector3::UnitZ()};
    const std::vector<Vector3>& held = c.directions.empty() ? axes : c.directions;
    MatrixX D = MatrixX::Zero(Eigen::Index(held.size()), n);
    Eigen::Matrix<double, 3, Eigen::Dynamic> directions(3, held.size());
    for (Eigen::Index i = 0; i < D.rows(); ++i) {
      directions.col(i) = held[std::size_t(i)];
      PathRow still{.name = "contact '" + c.name + "' stands still", .products = {}, .linear = {}, .unit = L};
      for (const auto& [at, factor] : markerCoordinate("", *c.marker, held[std::size_t(i)]).linear) {
        D(i, at.index) += factor;
        still.add({PathPart::Node, at.index, true}, factor);
        still.add(at, -factor);
      }
      conditions.push_back({std::move(still), c.first, c.last - 1, 0, 0});
    }
    positionOf.push_back(std::move(D));
    directionsOf.push_back(std::move(directions));
    if (c.height) {
      PathRow height = markerCoordinate("height of contact '" + c.name + "'", *c.marker, c.normal);
      height.unit = L;
      conditions.push_back({std::move(height), c.first, c.first, *c.height, *c.height});
    }
    if (c.first > 0 || !problem.beginMomentum) with.insert(c.first);
    if (c.last < N() || !problem.endMomentum) with.insert(c.last);
  }
  if (problem.beginMomentum) with.erase(0);
  if (problem.endMomentum) with.erase(N());
  for (const int k : with) {
    if (k < 0 || k > N()) throw InputError("optimal control: velocities are asked of a node that does not exist");
    nodes[std::size_t(k)].velocity.setZero(n);
  }
  for (std::size_t number = 0; number < problem.contacts.size(); ++number) {
    const PathContact& c = problem.contacts[number];
    for (const int k : {c.first, c.last}) {
      const bool isHeld = k == c.last || (k == 0 && c.standsAtBegin);
      if (!isHeld || nodes[std::size_t(k)].velocity.size() == 0) continue;
      for (Eigen::Index i = 0; i < directionsOf[number].cols(); ++i) {
        PathRow row = markerVelocity("contact '" + c.name + "' is at rest", *c.marker, directionsOf[number].col(i));
        row.unit = L / problem.duration;
        conditions.push_back({std::move(row), k, k, 0, 0});
      }
    }
  }
  placeBalances();
  for (std::size_t c = 0; c < problem.contacts.size(); ++c) {
    const PathContact& contact = problem.contacts[c];
    for (int k = contact.first; k <= contact.last; ++k) {
      Node& node = nodes[std::size_t(k)];
      const auto found = std::find_if(node.balances.begin(), node.balances.end(), [&](int b) {
        const Balance& balance = balances[std::size_t(b)];
        return k < contact.last ? balance.takesAfter : balance.takesBefore;
      });
      if (found == node.balances.end()) continue;
      int first = 0;
      for (const int i : node.impulses) first += int(impulses[std::size_t(i)].value.size());
      node.impulses.push_back(int(impulses.size()));
      const MatrixX& directions = directionsOf[c];
      const int held = int(directions.cols());
      impulses.push_back({.contact = int(c), .node = k, .balance = *found, .first = first, .value = VectorX::Zero(held)});
      const VectorX normal = directions.transpose() * contact.normal;
      const auto place = [&](int i) { return PathPlace{PathPart::Impulse, first + i}; };
      if (contact.pushes || contact.friction) {
        PathRow push{.name = "push of contact '" + contact.name + "'", .products = {}, .linear = {}, .unit = impulseUnit()};
        for (int i = 0; i < held; ++i) push.add(place(i), normal[i]);
        conditions.push_back({std::move(push), k, k, 0, infinity});
      }
      if (!contact.friction) continue;
      PathRow cone{.name = "friction of contact '" + contact.name + "'", .products = {}, .linear = {}};
      cone.unit = impulseUnit() * impulseUnit();
      const double mu = *contact.friction;
      for (int i = 0; i < held; ++i)
        for (int j = 0; j < held; ++j)
          cone.products.push_back({place(i), place(j), (1 + mu * mu) * normal[i] * normal[j] - (i == j ? 1 : 0)});
      conditions.push_back({std::move(cone), k, k, 0, infinity});
    }
  }
}

/// Mass times the size of the model over the duration.
double ControlledPath::Impl::impulseUnit() const {
  VectorX along = VectorX::Zero(n);
  for (const Block& b : system.model().blocks())
    if (b.kind == Block::Kind::Pose) along[b.q] = 1;
  return along.dot(system.mass() * along) * system.model().characteristicLength() / problem.duration;
}

void ControlledPath::Impl::placeBalances() {
  const auto add = [&](int k, bool before, bool after, int sign) {
    nodes[std::size_t(k)].balances.push_back(int(balances.size()));
    Balance b;
    b.node = k, b.takesBefore = before, b.takesAfter = after, b.velocitySign = sign;
    for (VectorX* v : {&b.w, &b.a, &b.dwdh, &b.kinetic}) v->setZero(n);
    b.E.setZero(n, r), b.ER.setZero(n, r), b.power.setZero(n, nu);
    b.controlSum.setZero(nu);
    b.W = system.matrix();
    balances.push_back(std::move(b));
  };
  spans.resize(std::size_t(N()));
  for (Interval& span : spans) {
    span.beginByEnd = span.endByBegin = span.curvature = system.matrix();
    if (muscles.empty()) continue;
    span.rate.setZero(n);
    for (MatrixX* X : {&span.beginBt, &span.endBt, &span.beginPower, &span.endPower}) X->setZero(n, nu);
  }
  for (int k = 0; k <= N(); ++k) {
    const bool hasVelocity = nodes[std::size_t(k)].velocity.size() > 0;
    if (k == 0) {
      if (problem.beginMomentum || hasVelocity) add(k, false, true, hasVelocity ? 1 : 0);
    } else if (k == N()) {
      if (problem.endMomentum || hasVelocity) add(k, true, false, hasVelocity ? -1 : 0);
    } else if (hasVelocity) {
      add(k, true, false, -1);
      add(k, false, true, 1);
    } else {
      add(k, true, true, 0);
    }
    for (const int b : nodes[std::size_t(k)].balances) {
      if (balances[std::size_t(b)].takesBefore) spans[std::size_t(k) - 1].endBalance = b;
      if (balances[std::size_t(b)].takesAfter) spans[std::size_t(k)].beginBalance = b;
    }
  }
}

void ControlledPath::Impl::placeVariables() {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.P.setZero(n, r);
    for (VectorX* v : {&node.gradient, &node.actionByStep}) v->setZero(n);
    node.H = system.matrix();
    node.first = structure.variables();
    for (int i = 0; i < r; ++i) structure.addVariable(k);
    if (k < N()) {
      node.control = structure.variables();
      for (int i = 0; i < nu; ++i) structure.addVariable(k);
    }
    if (node.velocity.size() > 0) {
      node.velocityVariable = structure.variables();
      for (int i = 0; i < n; ++i) structure.addVariable(k);
    }
    for (const int i : node.impulses) {
      impulses[std::size_t(i)].variable = structure.variables();
      for (Eigen::Index c = 0; c < impulses[std::size_t(i)].value.size(); ++c) structure.addVariable(k);
    }
  }
  if (problem.durationBounds) durationVariable = structure.addVariable(ProgramStructure::global);
  if (problem.perUnit) unitVariable = structure.addVariable(ProgramStructure::global);
}

void ControlledPath::Impl::layOutBalance(Balance& b) {
  const int k = b.node;
  std::vector<MatrixEntry>& J = structure.equalityJacobian;
  b.row = structure.equalities();
  for (int i = 0; i < r; ++i) structure.addEquality(k);
  b.byNode = declareBlock(J, b.row, variable(k), r, r);
  if (b.takesBefore) {
    b.byBefore = declareBlock(J, b.row, variable(k - 1), r, r);
    b.byControlBefore = declareBlock(J, b.row, controlVariable(k - 1), r, nu);
  }
  if (b.takesAfter) {
    b.byAfter = declareBlock(J, b.row, variable(k + 1), r, r);
    b.byControl = declareBlock(J, b.row, controlVariable(k), r, nu);
  }
  if (b.velocitySign != 0) b.byVelocity = declareBlock(J, b.row, nodes[std::size_t(k)].velocityVariable, r, n);
  if (durationVariable >= 0) b.byDuration = declareBlock(J, b.row, durationVariable, r, 1);
}

/// G q' = 0.
void ControlledPath::Impl::layOutVelocity(int k) {
  Node& node = nodes[std::size_t(k)];
  std::vector<MatrixEntry>& J = structure.equalityJacobian;
  node.velocityRow = structure.equalities();
  for (std::size_t i = 0; i < rows.size(); ++i) structure.addEquality(k);
  for (int j = 0; j < G.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(G, j); it; ++it) {
      const int row = velocityRowOf[std::size_t(it.row())];
      node.constraintByVelocity.push_back(row < 0 ? -1 : declareEntry(J, node.velocityRow + row, node.velocityVariable + j));
    }
  node.constraintByNode = declareBlock(J, node.velocityRow, variable(k), int(rows.size()), r);
}

int ControlledPath::Impl::variableOf(const PathPlace& place, const PlacedCondition& p) const {
  const int k = nodeOf(place, p);
  const auto refuse = [&](const char* what) {
    throw InputError("condition '" + p.condition->row.name + "' at node " + std::to_string(k) + ": " + what);
  };
  const Node& node = nodes[std::size_t(k)];
  switch (place.part) {
  case PathPart::Node:
    break;
  case PathPart::Velocity:
    if (node.velocityVariable < 0) refuse("the node has no velocities among its variables");
    return node.velocityVariable + place.index;
  case PathPart::Control: {
    const int interval = place.atOther ? k - 1 : k;
    if (interval < 0 || interval >= N()) refuse("there is no interval of its control");
    return controlVariable(interval) + place.index;
  }
  case PathPart::Impulse: {
    const int i = impulseAt(place, k);
    if (i < 0) refuse("no such impulse acts there");
    return impulses[std::size_t(i)].variable + place.index - impulses[std::size_t(i)].first;
  }
  }
  return -1;
}

int ControlledPath::Impl::impulseAt(const PathPlace& place, int k) const {
  for (const int i : nodes[std::size_t(k)].impulses) {
    const Impulse& impulse = impulses[std::size_t(i)];
    if (place.index >= impulse.first && place.index < impulse.first + int(impulse.value.size())) return i;
  }
  return -1;
}

void ControlledPath::Impl::layOutCondition(PlacedCondition p, int stage) {
  const PathCondition& c = *p.condition;
  p.isEquality = p.isUnit || c.lower == c.upper;
  p.row = p.isEquality ? structure.addEquality(stage) : structure.addInequality(stage, c.lower, c.upper);
  std::vector<MatrixEntry>& J = p.isEquality ? structure.equalityJacobian : structure.inequalityJacobian;
  bool readsNode = false, readsOther = false;
  const auto declare = [&](const PathPlace& place) {
    if (place.part == PathPart::Node)
      (place.atOther ? readsOther : readsNode) = true;
    else
      p.entries.push_back(declareEntry(J, p.row, variableOf(place, p)));
  };
  for (const auto& [place, factor] : c.row.linear) declare(place);
  for (const PathRow::Term& term : c.row.products) declare(term.i), declare(term.j);
  if (readsNode) p.byNode = declareBlock(J, p.row, variable(p.node), 1, r);
  if (readsOther) p.byOther = declareBlock(J, p.row, variable(p.other), 1, r);
  if (p.isUnit) p.byUnit = declareEntry(J, p.row, unitVariable);
  placed.push_back(std::move(p));
}

void ControlledPath::Impl::layOutConditions() {
  for (const PathCondition& c : conditions) {
    const bool isPair = c.row.readsOther();
    for (int k = c.first; k <= c.last && (c.other >= 0 || k + (isPair ? 1 : 0) <= N()); ++k) {
      PlacedCondition p{.condition = &c, .node = k, .other = !isPair ? k : c.other >= 0 ? c.other : k + 1};
      layOutCondition(p, std::abs(p.node - p.other) <= 1 ? std::min(p.node, p.other) : ProgramStructure::global);
    }
  }
  if (problem.perUnit) {
    const PathCondition& c = *problem.perUnit;
    layOutCondition({.condition = &c, .node = c.first, .other = c.other >= 0 ? c.other : c.first, .isUnit = true},
                    c.other < 0 || std::abs(c.first - c.other) <= 1 ? c.first : ProgramStructure::global);
  }
  for (const NodeObjective& o : problem.objectives) {
    conditions.push_back({o.row, o.node, o.node, 0, 0});
    objectives.push_back({.condition = &conditions.back(), .node = o.node, .other = o.node});
  }
}

void ControlledPath::Impl::layOutBounds() {
  boundedControls = tendril::boundedControls(problem, nu);
  if (!boundedControls.empty()) {
    firstControlRow = structure.inequalities();
    for (int k = 0; k < N(); ++k) {
      for (const int i : boundedControls) {
        const int row = structure.addInequality(k, problem.lower.empty() ? -infinity : problem.lower[std::size_t(i)],
                                                problem.upper.empty() ? infinity : problem.upper[std::size_t(i)]);
        boundsOfControls.push_back(declareEntry(structure.inequalityJacobian, row, controlVariable(k) + i));
      }
    }
  }
  if (problem.durationBounds) {
    durationRow = structure.addInequality(ProgramStructure::global, (*problem.durationBounds)[0], (*problem.durationBounds)[1]);
    boundOfDuration = declareEntry(structure.inequalityJacobian, durationRow, durationVariable);
  }
}

/// Second derivatives by products whose places are not both coordinates of one node.
void ControlledPath::Impl::layOutCouplings(PlacedCondition& p) {
  std::vector<MatrixEntry>& H = structure.hessian;
  for (const PathRow::Term& term : p.condition->row.products) {
    PlacedCondition::Coupling coupling;
    const bool isNodeI = term.i.part == PathPart::Node, isNodeJ = term.j.part == PathPart::Node;
    if (isNodeI && isNodeJ) {
      const int a = nodeOf(term.i, p), b = nodeOf(term.j, p);
      if (std::abs(a - b) > 1)
        throw InputError("condition '" + p.condition->row.name + "': one that binds distant nodes must be linear in them");
    } else if (isNodeI || isNodeJ) {
      const int first = variable(nodeOf(isNodeI ? term.i : term.j, p)), single = variableOf(isNodeI ? term.j : term.i, p);
      coupling.isNodeRow = first > single;
      coupling.block = coupling.isNodeRow ? declareBlock(H, first, single, r, 1) : declareBlock(H, single, first, 1, r);
    } else {
      const int a = variableOf(term.i, p), b = variableOf(term.j, p);
      coupling.block = declareBlock(H, std::max(a, b), std::min(a, b), 1, 1);
    }
    p.couplings.push_back(coupling);
  }
}

void ControlledPath::Impl::layOutHessian() {
  std::vector<MatrixEntry>& H = structure.hessian;
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.nodeNode = declareSymmetric(H, variable(k), r);
    if (k > 0) {
      node.nodeNodeBefore = declareBlock(H, variable(k), variable(k - 1), r, r);
      node.nodeControlBefore = declareBlock(H, variable(k), controlVariable(k - 1), r, nu);
    }
    if (node.velocityVariable >= 0) node.velocityNode = declareBlock(H, node.velocityVariable, variable(k), n, r);
    for (const int i : node.impulses)
      impulses[std::size_t(i)].impulseNode =
          declareBlock(H, impulses[std::size_t(i)].variable, variable(k), int(impulses[std::size_t(i)].value.size()), r);
    if (durationVariable >= 0) node.durationNode = declareBlock(H, durationVariable, variable(k), 1, r);
    if (k == N()) continue;
    node.controlNode = declareBlock(H, controlVariable(k), variable(k), nu, r);
    Interval& span = spans[std::size_t(k)];
    span.effort = declareSymmetric(H, controlVariable(k), nu);
    if (durationVariable >= 0) node.durationControl = declareBlock(H, durationVariable, controlVariable(k), 1, nu);
    if (unitVariable >= 0) span.effortByUnit = declareBlock(H, unitVariable, controlVariable(k), 1, nu).offset;
  }
  if (durationVariable >= 0) durationDuration = declareSymmetric(H, durationVariable, 1);
  if (unitVariable >= 0) {
    unitUnit = declareSymmetric(H, unitVariable, 1);
    if (durationVariable >= 0) unitDuration = declareEntry(H, unitVariable, durationVariable);
  }
  for (PlacedCondition& p : placed) layOutCouplings(p);
  for (PlacedCondition& p : objectives) layOutCouplings(p);
}

void ControlledPath::Impl::layOut() {
  placeVariables();
  for (Balance& b : balances) {
    layOutBalance(b);
    for (const int i : nodes[std::size_t(b.node)].impulses) {
      Impulse& impulse = impulses[std::size_t(i)];
      if (&balances[std::size_t(impulse.balance)] == &b)
        impulse.byImpulse = declareBlock(structure.equalityJacobian, b.row, impulse.variable, r, int(impulse.value.size()));
    }
  }
  for (int k = 0; k <= N(); ++k)
    if (nodes[std::size_t(k)].velocityVariable >= 0) layOutVelocity(k);
  layOutConditions();
  layOutBounds();
  layOutHessian();
  effortHessian.setZero(nu, nu);
  if (!problem.perUnit) return;
  unit = 1;
  const auto isUnit = [](const PlacedCondition& p) { return p.isUnit; };
  unit = value(*std::find_if(placed.begin(), placed.end(), isUnit));
  if (!(unit > 0)) throw InputError("optimal control: what the cost is divided by is not positive in the first guess");
}

}
