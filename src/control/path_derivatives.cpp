#include "control/path_program.h"

#include <cmath>

namespace tendril {

namespace {

void setZero(SparseMatrix& K) { std::fill_n(K.valuePtr(), K.nonZeros(), 0.0); }

void addValues(const SparseMatrix& from, SparseMatrix& to, double scale = 1) {
  for (Eigen::Index i = 0; i < to.nonZeros(); ++i) to.valuePtr()[i] += scale * from.valuePtr()[i];
}

}

/// Derivatives of w, and what constraints take from it.
void ControlledPath::Impl::findMatrices() {
  for (Node& node : nodes) {
    node.P = node.space.unit().asDiagonal() * node.space.basis();
    actuation.columns(node.space.q(), 0, node.Bt);
  }
  for (Balance& b : balances) {
    setZero(b.W);
    const double t = time(b.node);
    if (b.takesAfter) {
      lagrangian.leftByBegin(q(b.node), q(b.node + 1), t, h(), scratch);
      addValues(scratch, b.W);
      lagrangian.leftByEnd(q(b.node), q(b.node + 1), t, h(), spans[std::size_t(b.node)].beginByEnd);
    }
    if (b.takesBefore) {
      const double before = time(b.node - 1);
      lagrangian.rightByEnd(q(b.node - 1), q(b.node), before, h(), scratch);
      addValues(scratch, b.W);
      lagrangian.rightByBegin(q(b.node - 1), q(b.node), before, h(), spans[std::size_t(b.node) - 1].endByBegin);
    }
    actuation.addGradient(q(b.node), t, b.controlSum, h() / 2, b.W);
    if (!muscles.empty()) addMuscles(b);
    NodeSpace& space = nodes[std::size_t(b.node)].space;
    work = space.unit().cwiseProduct(b.w);
    space.multipliers(work, b.lambda);
    system.addConstraintHessian(b.lambda, t, -1, b.W);
    if (durationVariable < 0) continue;
    // left = -M d/h - h p, right = M d/h - h p: their derivatives by h from themselves and from M d/h.
    sum.setZero(), work.setZero();
    const auto addInterval = [&](int k, double sign, bool isBegin) {
      middle = q(k + 1) - q(k);
      sum += sign * middle;
      if (isBegin)
        lagrangian.left(q(k), q(k + 1), time(k), h(), middle);
      else
        lagrangian.right(q(k), q(k + 1), time(k), h(), middle);
      work += middle;
    };
    if (b.takesBefore) addInterval(b.node - 1, 1, false);
    if (b.takesAfter) addInterval(b.node, -1, true);
    actuation.addForce(q(b.node), t, b.controlSum, h() / 2, work);
    b.kinetic.noalias() = system.mass() * sum;
    b.kinetic /= h();
    b.dwdh = (work - 2 * b.kinetic) / h();
  }
}

/// Derivatives of (h/2) f(q_n, (q_{k+1} - q_k)/h, tau_k) of the intervals k beside a node n.
void ControlledPath::Impl::addMuscles(Balance& b) {
  const double t = time(b.node);
  if (b.takesAfter) {
    Interval& span = spans[std::size_t(b.node)];
    const auto tau = controls.col(b.node);
    muscles.addGradient(q(b.node), t, rateOf(b.node), tau, h() / 2, -0.5, b.W);
    muscles.addGradient(q(b.node), t, span.rate, tau, 0, 0.5, span.beginByEnd);
    muscles.columns(q(b.node), t, span.rate, span.beginBt);
  }
  if (b.takesBefore) {
    Interval& span = spans[std::size_t(b.node) - 1];
    const auto tau = controls.col(b.node - 1);
    muscles.addGradient(q(b.node), t, rateOf(b.node - 1), tau, h() / 2, 0.5, b.W);
    muscles.addGradient(q(b.node), t, span.rate, tau, 0, -0.5, span.endByBegin);
    muscles.columns(q(b.node), t, span.rate, span.endBt);
  }
}

void ControlledPath::Impl::findMusclePower() {
  for (int k = 0; k < N(); ++k) {
    Interval& span = spans[std::size_t(k)];
    span.beginPower.setZero(), span.endPower.setZero();
    if (span.beginBalance >= 0) {
      const VectorX& a = balances[std::size_t(span.beginBalance)].a;
      muscles.addPower(q(k), time(k), rateOf(k), a, h() / 2, -0.5, span.beginPower);
      muscles.addPower(q(k), time(k), span.rate, a, 0, 0.5, span.endPower);
    }
    if (span.endBalance >= 0) {
      const VectorX& a = balances[std::size_t(span.endBalance)].a;
      muscles.addPower(q(k + 1), time(k + 1), rateOf(k), a, 0, -0.5, span.beginPower);
      muscles.addPower(q(k + 1), time(k + 1), span.rate, a, h() / 2, 0.5, span.endPower);
    }
  }
}

void ControlledPath::Impl::addMuscleCurvatures() {
  for (int k = 0; k < N(); ++k) {
    Interval& span = spans[std::size_t(k)];
    SparseMatrix &atBegin = nodes[std::size_t(k)].H, &atEnd = nodes[std::size_t(k) + 1].H;
    const double s = h() / 2, e = 1 / (2 * h());
    const auto add = [&](int node, int balance, const Muscles::Weights& weights, SparseMatrix& K) {
      muscles.addCurvature(q(node), time(node), span.rate, controls.col(k), balances[std::size_t(balance)].a, weights, K);
    };
    if (const int b = span.beginBalance; b >= 0) {
      add(k, b, {.pp = s, .pr = -0.5, .rp = -0.5, .rr = e}, atBegin);
      add(k, b, {.rr = e}, atEnd);
      add(k, b, {.rp = 0.5, .rr = -e}, span.curvature);
    }
    if (const int b = span.endBalance; b >= 0) {
      add(k + 1, b, {.pp = s, .pr = 0.5, .rp = 0.5, .rr = e}, atEnd);
      add(k + 1, b, {.rr = e}, atBegin);
      add(k + 1, b, {.pr = -0.5, .rr = -e}, span.curvature);
    }
  }
}

const MatrixX& ControlledPath::Impl::columns(int node, int interval) {
  const Interval& span = spans[std::size_t(interval)];
  if (muscles.empty()) return nodes[std::size_t(node)].Bt;
  allColumns = nodes[std::size_t(node)].Bt + (interval == node ? span.beginBt : span.endBt);
  return allColumns;
}

/// Coordinates' part of scale d(phi)/dy, at the node and at the other one.
void ControlledPath::Impl::gradientOf(const PlacedCondition& p, double scale) {
  ofNode.setZero(), ofOther.setZero();
  const auto add = [&](const PathPlace& place, double value) {
    if (place.part == PathPart::Node) (place.atOther ? ofOther : ofNode)[place.index] += scale * value;
  };
  p.condition->row.differentiate([&](const PathPlace& place) { return number(place, p); }, add);
}

void ControlledPath::Impl::writeJacobians(ProgramDerivatives& d) {
  VectorX& J = d.equalityJacobian;
  for (const Balance& b : balances) {
    const Node& node = nodes[std::size_t(b.node)];
    KP.noalias() = b.W * node.P;
    b.byNode.of(J).noalias() = node.P.transpose() * KP;
    if (b.takesBefore) {
      KP.noalias() = spans[std::size_t(b.node) - 1].endByBegin * nodes[std::size_t(b.node) - 1].P;
      b.byBefore.of(J).noalias() = node.P.transpose() * KP;
      b.byControlBefore.of(J).noalias() = (h() / 2) * (node.P.transpose() * columns(b.node, b.node - 1));
    }
    if (b.takesAfter) {
      KP.noalias() = spans[std::size_t(b.node)].beginByEnd * nodes[std::size_t(b.node) + 1].P;
      b.byAfter.of(J).noalias() = node.P.transpose() * KP;
      b.byControl.of(J).noalias() = (h() / 2) * (node.P.transpose() * columns(b.node, b.node));
    }
    if (b.velocitySign != 0) {
      KP.noalias() = system.mass() * node.P; // M is symmetric
      b.byVelocity.of(J) = double(b.velocitySign) * KP.transpose();
    }
    if (durationVariable >= 0) b.byDuration.of(J).noalias() = node.P.transpose() * b.dwdh / N();
  }
  for (const Impulse& impulse : impulses)
    impulse.byImpulse.of(J).noalias() =
        nodes[std::size_t(impulse.node)].P.transpose() * positionOf[std::size_t(impulse.contact)].transpose();
  for (int k = 0; k <= N(); ++k) {
    const Node& node = nodes[std::size_t(k)];
    if (node.velocityVariable < 0) continue;
    system.constraintGradient(node.space.q(), time(k), G);
    for (std::size_t i = 0; i < node.constraintByVelocity.size(); ++i)
      if (node.constraintByVelocity[i] >= 0) J[node.constraintByVelocity[i]] = G.valuePtr()[i];
    // G is affine in q: its change along the node is G(P delta) - G(0), applied to q' either way round.
    system.constraintGradient(node.velocity, time(k), G);
    addValues(G0, G, -1);
    KP.noalias() = G * node.P;
    auto byNode = node.constraintByNode.of(J);
    for (std::size_t i = 0; i < rows.size(); ++i) byNode.row(Eigen::Index(i)) = KP.row(rows[i]);
  }
  for (const PlacedCondition& p : placed) {
    VectorX& values = p.isEquality ? d.equalityJacobian : d.inequalityJacobian;
    gradientOf(p, 1);
    if (p.byNode.exists()) p.byNode.of(values).noalias() = ofNode.transpose() * nodes[std::size_t(p.node)].P;
    if (p.byOther.exists()) p.byOther.of(values).noalias() = ofOther.transpose() * nodes[std::size_t(p.other)].P;
    if (p.isUnit) values[p.byUnit] = -1;
    std::size_t at = 0;
    const auto write = [&](const PathPlace& place, double value) {
      if (place.part != PathPart::Node) values[p.entries[at++]] = value;
    };
    p.condition->row.differentiate([&](const PathPlace& place) { return number(place, p); }, write);
  }
  for (const Eigen::Index bound : boundsOfControls) d.inequalityJacobian[bound] = 1;
  if (boundOfDuration >= 0) d.inequalityJacobian[boundOfDuration] = 1;
}

void ControlledPath::Impl::writeGradient(ProgramDerivatives& d) {
  d.gradient.setZero();
  double efforts = 0;
  for (int k = 0; k < N(); ++k) {
    const double l = effort(k);
    efforts += l;
    for (int i = 0; i < nu && !problem.effort.empty(); ++i) {
      const double slope = problem.effort[std::size_t(i)] * controls(i, k);
      d.gradient[controlVariable(k) + i] = h() / unit * (problem.effortNorm ? slope / l : 2 * slope);
    }
  }
  if (durationVariable >= 0) d.gradient[durationVariable] = (problem.durationWeight + efforts / N()) / unit;
  if (unitVariable >= 0) d.gradient[unitVariable] = -totalCost() / (unit * unit);
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const PlacedCondition& p = objectives[i];
    const double weight = problem.objectives[i].weight;
    gradientOf(p, weight);
    d.gradient.segment(variable(p.node), r).noalias() += nodes[std::size_t(p.node)].P.transpose() * ofNode;
    const auto add = [&](const PathPlace& place, double value) {
      if (place.part != PathPart::Node) d.gradient[variableOf(place, p)] += weight * value;
    };
    p.condition->row.differentiate([&](const PathPlace& place) { return number(place, p); }, add);
  }
}

/// a, E, and the gradient of the Lagrangian in q of the nodes.
void ControlledPath::Impl::findMultipliers(const ProgramMultipliers& multipliers) {
  for (Node& node : nodes) {
    node.gradient.setZero();
    setZero(node.H);
  }
  for (Balance& b : balances) {
    Node& node = nodes[std::size_t(b.node)];
    work.noalias() = node.space.basis() * multipliers.equality.segment(b.row, r);
    b.a = node.space.unit().cwiseProduct(work);
    node.space.bend(work, b.E);
    reduced.noalias() = node.P.transpose() * b.w;
    work.noalias() = node.space.basis() * reduced;
    node.space.bend(work, b.ER);
    block.noalias() = b.E.transpose() * b.ER;
    b.ER.topRows(r) = 0.5 * (block + block.transpose());
    b.E = node.space.unit().asDiagonal() * b.E;
    actuation.powerGradient(node.space.q(), time(b.node), b.a, b.power);
    node.gradient.noalias() += b.W.transpose() * b.a;
    if (b.takesBefore) nodes[std::size_t(b.node) - 1].gradient.noalias() += spans[std::size_t(b.node) - 1].endByBegin.transpose() * b.a;
    if (b.takesAfter) nodes[std::size_t(b.node) + 1].gradient.noalias() += spans[std::size_t(b.node)].beginByEnd.transpose() * b.a;
  }
  if (!muscles.empty()) findMusclePower();
  if (durationVariable >= 0) findActionByStep();
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    if (node.velocityVariable < 0) continue;
    nu_.setZero(system.constraints());
    for (std::size_t i = 0; i < rows.size(); ++i) nu_[rows[i]] = multipliers.equality[node.velocityRow + Eigen::Index(i)];
    setZero(scratch);
    system.addConstraintHessian(nu_, time(k), 1, scratch);
    node.gradient.noalias() += scratch * node.velocity;
  }
  for (const PlacedCondition& p : placed) {
    gradientOf(p, weightOf(p, multipliers));
    nodes[std::size_t(p.node)].gradient += ofNode;
    nodes[std::size_t(p.other)].gradient += ofOther;
  }
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    gradientOf(objectives[i], multipliers.weight * problem.objectives[i].weight);
    nodes[std::size_t(objectives[i].node)].gradient += ofNode;
  }
}

/// The gradient of sum a . w is K/h + h (...) as w is.
void ControlledPath::Impl::findActionByStep() {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.actionByStep = node.gradient;
    for (const int i : node.balances) {
      const Balance& b = balances[std::size_t(i)];
      setZero(scratch);
      system.addConstraintHessian(b.lambda, time(k), 1, scratch);
      node.actionByStep.noalias() += scratch * b.a;
    }
    sum.setZero();
    const auto addInterval = [&](int interval, double sign) {
      const Interval& span = spans[std::size_t(interval)];
      if (span.endBalance >= 0) sum += sign * balances[std::size_t(span.endBalance)].a;
      if (span.beginBalance >= 0) sum -= sign * balances[std::size_t(span.beginBalance)].a;
    };
    if (k > 0) addInterval(k - 1, 1);
    if (k < N()) addInterval(k, -1);
    node.actionByStep.noalias() -= (2 / h()) * (system.mass() * sum);
    node.actionByStep /= h();
  }
}

/// Second derivatives of a . w, and of the constraints' part of the Lagrangian.
void ControlledPath::Impl::addCurvatures() {
  for (const Balance& b : balances) actuation.addCurvature(b.a, b.controlSum, h() / 2, nodes[std::size_t(b.node)].H);
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    work = node.space.unit().cwiseProduct(node.gradient);
    node.space.multipliers(work, nu_);
    system.addConstraintHessian(nu_, time(k), -1, node.H);
  }
  // The potential: V''(q) a along q, as the central difference of V'' along a, exact where V is of degree four.
  const auto difference = [&](const VectorX& at, const VectorX& a, double t, double scale, SparseMatrix& K) {
    const double size = a.cwiseQuotient(nodes[0].space.unit()).norm();
    if (size == 0) return;
    const double eps = 1e-3 / size;
    work = at + eps * a;
    system.addPotentialHessian(work, t, scale / (2 * eps), K);
    work = at - eps * a;
    system.addPotentialHessian(work, t, -scale / (2 * eps), K);
  };
  for (int k = 0; k < N(); ++k) {
    Node &begin = nodes[std::size_t(k)], &end = nodes[std::size_t(k) + 1];
    Interval& span = spans[std::size_t(k)];
    const Balance* first = span.beginBalance >= 0 ? &balances[std::size_t(span.beginBalance)] : nullptr;
    const Balance* second = span.endBalance >= 0 ? &balances[std::size_t(span.endBalance)] : nullptr;
    setZero(span.curvature);
    if (problem.quadrature == Quadrature::Trapezoidal) {
      if (first) difference(begin.space.q(), first->a, time(k), -h() / 2, begin.H);
      if (second) difference(end.space.q(), second->a, time(k + 1), -h() / 2, end.H);
      continue;
    }
    sum.setZero();
    if (first) sum += first->a;
    if (second) sum += second->a;
    middle = 0.5 * (begin.space.q() + end.space.q());
    difference(middle, sum, time(k) + h() / 2, -h() / 8, span.curvature);
    addValues(span.curvature, begin.H);
    addValues(span.curvature, end.H);
  }
  if (!muscles.empty()) addMuscleCurvatures();
}

void ControlledPath::Impl::writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& d) {
  VectorX& values = d.hessian;
  values.setZero();
  for (int k = 0; k <= N(); ++k) writeNode(k, multipliers, values);
  for (int k = 0; k < N(); ++k) writeEffort(k, multipliers.weight, values);
  writeProducts(multipliers, values);
  if (durationVariable >= 0) writeDuration(multipliers, values);
  if (unitVariable < 0) return;
  const double cube = unit * unit * unit;
  values[unitUnit.offset] = 2 * multipliers.weight * totalCost() / cube;
}

/// All that a node shares with itself, its controls, velocities and impulses, and with the node before.
void ControlledPath::Impl::writeNode(int k, const ProgramMultipliers& multipliers, VectorX& values) {
  Node& node = nodes[std::size_t(k)];
  KP.noalias() = node.H * node.P;
  dense.noalias() = node.P.transpose() * KP;
  for (const int i : node.balances) {
    const Balance& b = balances[std::size_t(i)];
    KP.noalias() = b.W * node.P;
    block.noalias() = b.E.transpose() * KP;
    dense -= block;
    dense -= block.transpose();
    dense -= b.ER.topRows(r);
  }
  const auto addProducts = [&](const PlacedCondition& p, double weight) {
    for (const PathRow::Term& term : p.condition->row.products) {
      if (term.i.part != PathPart::Node || term.j.part != PathPart::Node || nodeOf(term.i, p) != k || nodeOf(term.j, p) != k) continue;
      block.noalias() = (weight * term.value) * (node.P.row(term.i.index).transpose() * node.P.row(term.j.index));
      dense += block;
      dense += block.transpose();
    }
  };
  for (const PlacedCondition& p : placed)
    if (!p.condition->row.products.empty() && (p.node == k || p.other == k)) addProducts(p, weightOf(p, multipliers));
  for (std::size_t i = 0; i < objectives.size(); ++i) addProducts(objectives[i], multipliers.weight * problem.objectives[i].weight);
  node.nodeNode.write(dense, values);

  for (const int i : node.balances) {
    const Balance& b = balances[std::size_t(i)];
    if (b.takesAfter) {
      node.controlNode.of(values).noalias() = (h() / 2) * (b.power.transpose() * node.P);
      node.controlNode.of(values).noalias() -= (h() / 2) * (columns(k, k).transpose() * b.E);
    }
    if (b.takesBefore) {
      node.nodeControlBefore.of(values).noalias() = (h() / 2) * (node.P.transpose() * b.power);
      node.nodeControlBefore.of(values).noalias() -= (h() / 2) * (b.E.transpose() * columns(k, k - 1));
    }
    if (b.velocitySign != 0) node.velocityNode.of(values).noalias() -= double(b.velocitySign) * (system.mass() * b.E);
  }
  if (!muscles.empty()) {
    if (k < N()) node.controlNode.of(values).noalias() += spans[std::size_t(k)].beginPower.transpose() * node.P;
    if (k > 0) node.nodeControlBefore.of(values).noalias() += node.P.transpose() * spans[std::size_t(k) - 1].endPower;
  }
  if (node.velocityVariable >= 0) {
    nu_.setZero(system.constraints());
    for (std::size_t i = 0; i < rows.size(); ++i) nu_[rows[i]] = multipliers.equality[node.velocityRow + Eigen::Index(i)];
    setZero(scratch);
    system.addConstraintHessian(nu_, time(k), 1, scratch);
    node.velocityNode.of(values).noalias() += scratch * node.P;
  }
  for (const int i : node.impulses) {
    const Impulse& impulse = impulses[std::size_t(i)];
    impulse.impulseNode.of(values).noalias() = -positionOf[std::size_t(impulse.contact)] * balances[std::size_t(impulse.balance)].E;
  }
  if (k == 0) return;
  const Node& before = nodes[std::size_t(k) - 1];
  const Interval& span = spans[std::size_t(k) - 1];
  KP.noalias() = span.curvature * before.P;
  dense.noalias() = node.P.transpose() * KP;
  if (span.endBalance >= 0) {
    KP.noalias() = span.endByBegin * before.P;
    dense.noalias() -= balances[std::size_t(span.endBalance)].E.transpose() * KP;
  }
  if (span.beginBalance >= 0) {
    KP.noalias() = span.beginByEnd * node.P;
    block.noalias() = balances[std::size_t(span.beginBalance)].E.transpose() * KP;
    dense -= block.transpose();
  }
  node.nodeNodeBefore.of(values) = dense;
}

void ControlledPath::Impl::writeEffort(int k, double weight, VectorX& values) {
  if (problem.effort.empty()) return;
  const double scale = weight * h() / unit;
  effortHessian.setZero();
  const double l = effort(k);
  for (int i = 0; i < nu; ++i) {
    const double wi = problem.effort[std::size_t(i)];
    effortHessian(i, i) = scale * (problem.effortNorm ? wi / l : 2 * wi);
    if (!problem.effortNorm) continue;
    for (int j = 0; j < nu; ++j)
      effortHessian(i, j) -= scale * wi * problem.effort[std::size_t(j)] * controls(i, k) * controls(j, k) / (l * l * l);
  }
  spans[std::size_t(k)].effort.write(effortHessian, values);
  for (int i = 0; i < nu && unitVariable >= 0; ++i) {
    const double slope = problem.effort[std::size_t(i)] * controls(i, k);
    values[spans[std::size_t(k)].effortByUnit + i] = -weight * h() / (unit * unit) * (problem.effortNorm ? slope / l : 2 * slope);
  }
}

void ControlledPath::Impl::writeProducts(const ProgramMultipliers& multipliers, VectorX& values) {
  const auto write = [&](const PlacedCondition& p, double weight) {
    const auto& products = p.condition->row.products;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const PathRow::Term& term = products[i];
      const bool isNodeI = term.i.part == PathPart::Node, isNodeJ = term.j.part == PathPart::Node;
      const double value = weight * term.value;
      if (isNodeI && isNodeJ) {
        const int a = nodeOf(term.i, p), b = nodeOf(term.j, p);
        if (a == b) continue;
        Node& later = nodes[std::size_t(std::max(a, b))];
        const Node& earlier = nodes[std::size_t(std::min(a, b))];
        const int ofLater = a > b ? term.i.index : term.j.index, ofEarlier = a > b ? term.j.index : term.i.index;
        later.nodeNodeBefore.of(values).noalias() += value * (later.P.row(ofLater).transpose() * earlier.P.row(ofEarlier));
        continue;
      }
      const PlacedCondition::Coupling& coupling = p.couplings[i];
      if (isNodeI || isNodeJ) {
        const PathPlace& place = isNodeI ? term.i : term.j;
        const auto row = nodes[std::size_t(nodeOf(place, p))].P.row(place.index);
        if (coupling.isNodeRow)
          coupling.block.of(values) += value * row.transpose();
        else
          coupling.block.of(values) += value * row;
      } else {
        values[coupling.block.offset] += (variableOf(term.i, p) == variableOf(term.j, p) ? 2 : 1) * value;
      }
    }
  };
  for (const PlacedCondition& p : placed)
    if (!p.condition->row.products.empty()) write(p, weightOf(p, multipliers));
  for (std::size_t i = 0; i < objectives.size(); ++i) write(objectives[i], multipliers.weight * problem.objectives[i].weight);
}

void ControlledPath::Impl::writeDuration(const ProgramMultipliers& multipliers, VectorX& values) {
  double twice = 0;
  for (const Balance& b : balances) twice += 2 * b.a.dot(b.kinetic) / (h() * h());
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.durationNode.of(values).noalias() = node.actionByStep.transpose() * node.P / N();
    for (const int i : node.balances) {
      const Balance& b = balances[std::size_t(i)];
      node.durationNode.of(values).noalias() -= b.dwdh.transpose() * b.E / N();
    }
    if (k == N()) continue;
    const Interval& span = spans[std::size_t(k)];
    auto byControl = node.durationControl.of(values);
    byControl.setZero();
    if (span.beginBalance >= 0) byControl.noalias() += (0.5 / N()) * (balances[std::size_t(span.beginBalance)].a.transpose() * node.Bt);
    if (span.endBalance >= 0)
      byControl.noalias() += (0.5 / N()) * (balances[std::size_t(span.endBalance)].a.transpose() * nodes[std::size_t(k) + 1].Bt);
    const double l = effort(k);
    for (int i = 0; i < nu && !problem.effort.empty(); ++i) {
      const double slope = problem.effort[std::size_t(i)] * controls(i, k);
      byControl(0, i) += multipliers.weight * (problem.effortNorm ? slope / l : 2 * slope) / (N() * unit);
    }
  }
  values[durationDuration.offset] = twice / (double(N()) * N());
  if (unitVariable < 0) return;
  double efforts = 0;
  for (int k = 0; k < N(); ++k) efforts += effort(k);
  values[unitDuration] = -multipliers.weight * (problem.durationWeight + efforts / N()) / (unit * unit);
}

}
