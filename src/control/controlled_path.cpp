#include "tendril/control/controlled_path.h"

#include "control/node_space.h"
#include "tendril/discrete/null_space.h"
#include "tendril/model/error.h"
#include "tendril/model/increment.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

/// Values of a dense block among those of a sparse matrix, column after column.
struct DenseBlock {
  Eigen::Index offset = -1, rows = 0, columns = 0;
  bool exists() const { return offset >= 0; }
  Eigen::Map<MatrixX> of(VectorX& values) const { return {values.data() + offset, rows, columns}; }
};

DenseBlock declare(std::vector<MatrixEntry>& entries, int row, int column, int rows, int columns) {
  const DenseBlock block{Eigen::Index(entries.size()), rows, columns};
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) entries.push_back({row + r, column + c});
  return block;
}

/// The lower triangle of a symmetric block.
struct SymmetricBlock {
  Eigen::Index offset = -1, size = 0;
  void write(const MatrixX& H, VectorX& values) const {
    Eigen::Index at = offset;
    for (Eigen::Index c = 0; c < size; ++c)
      for (Eigen::Index r = c; r < size; ++r) values[at++] = 0.5 * (H(r, c) + H(c, r));
  }
};

SymmetricBlock declareSymmetric(std::vector<MatrixEntry>& entries, int first, int size) {
  const SymmetricBlock block{Eigen::Index(entries.size()), size};
  for (int c = 0; c < size; ++c)
    for (int r = c; r < size; ++r) entries.push_back({first + r, first + c});
  return block;
}

void setZero(SparseMatrix& K) { std::fill_n(K.valuePtr(), K.nonZeros(), 0.0); }

}

struct ControlledPath::Impl {
  /// One node, with what belongs to the balance of momenta there.
  struct Node {
    explicit Node(NodeSpace space_) : space(std::move(space_)) {}
    NodeSpace space;
    MatrixX P;             ///< basis in the units of q
    VectorX w, lambda;     ///< the bracket; its multipliers
    VectorX a, gradient;   ///< P mu; of the Lagrangian
    MatrixX E, ER;         ///< in the units of q; scaled, for the part of the residual
    MatrixX Bt, power;     ///< B^T; d(a^T B^T)/dq
    SparseMatrix W;        ///< dw_n/dq_n without the constraints' part
    SparseMatrix H;        ///< of the Lagrangian in q_n
    VectorX dwdh, kinetic; ///< by the size of the interval; the part of w that is mass times velocity
    VectorX actionByStep;  ///< derivative by h of the part of `gradient` that comes from a . w
    VectorX controlSum;    ///< tau_{n-1} + tau_n
    bool hasBalance = true;
    int row = -1; ///< first of its balance
    DenseBlock byBefore, byNode, byAfter, byControlBefore, byControl, byDuration;
    SymmetricBlock nodeNode;
    DenseBlock controlNode, nodeControlBefore, nodeNodeBefore, durationNode, durationControl;
  };
  struct Interval {
    SparseMatrix beginByEnd, endByBegin; ///< dw_n/dq_{n+1}, dw_{n+1}/dq_n
    SparseMatrix curvature;              ///< d2(a . w)/dq_n dq_{n+1} (and its transpose)
    std::vector<Eigen::Index> effort;    ///< of the diagonal of the controls among the values of the Hessian
  };
  struct PlacedCondition {
    const PathCondition* condition;
    int node = 0, row = 0;
    bool isEquality = false, spansInterval = false;
    DenseBlock byNode, byAfter;
  };

  Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess, const MatrixX& controls_);
  void check(const std::vector<VectorX>& guess) const;
  void layOut();
  void layOutNode(int n);
  void layOutConditions();
  bool findBalances();
  void findMatrices();
  void findMultipliers(const ProgramMultipliers& multipliers);
  void findActionByStep();
  void addCurvatures();
  void writeDuration(const ProgramMultipliers& multipliers, ProgramDerivatives& d);
  void writeJacobians(ProgramDerivatives& d);
  void writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& d);
  void stack(const PlacedCondition& placed);
  double time(int k) const { return k * problem.duration / problem.intervals; }
  double h() const { return duration / problem.intervals; }
  int N() const { return problem.intervals; }
  int variable(int k) const { return k * (r + nu); }
  int controlVariable(int k) const { return variable(k) + r; }

  const DirectorSystem& system;
  ControlProblem problem;
  Actuation actuation;
  DiscreteLagrangian lagrangian;
  int n, r = 0, nu;
  std::vector<Node> nodes;
  std::vector<Interval> spans;
  MatrixX controls;
  double duration;
  int durationVariable = -1, durationRow = -1;
  SymmetricBlock durationDuration;
  std::vector<DenseBlock> boundsOfControls; ///< one per interval
  DenseBlock boundOfDuration;
  int firstControlRow = -1;
  std::vector<int> boundedControls;
  std::vector<PlacedCondition> placed;
  ProgramStructure structure;
  bool isReached = true;
  SparseMatrix scratch;
  VectorX work, sum, middle, reduced, moved, turn, nu_, stacked, stackedGradient;
  MatrixX KP, block, stackedBasis, stackedHessian, dense;
};

ControlledPath::Impl::Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess,
                           const MatrixX& controls_)
    : system(system_), problem(std::move(problem_)), actuation(system_, problem.actuators), lagrangian(system_, problem.quadrature),
      n(system_.size()), nu(actuation.size()), controls(controls_), duration(problem.duration), scratch(system_.matrix()) {
  check(guess);
  if (controls.size() == 0) controls.setZero(nu, N());
  const NullSpace constraints(system, guess[0], 0);
  const std::vector<int> rows = constraints.keptConstraints();
  nodes.reserve(std::size_t(N()) + 1);
  for (int k = 0; k <= N(); ++k) {
    nodes.emplace_back(NodeSpace(system, rows, guess[std::size_t(k)], time(k)));
    if (nodes.back().space.closure() > 1e-9)
      throw InputError("optimal control: node " + std::to_string(k) +
                       " of the first guess violates the constraints; start from configurations that joints allow");
  }
  r = nodes[0].space.dimension();
  for (Node& node : nodes) {
    for (VectorX* v : {&node.w, &node.a, &node.gradient, &node.dwdh, &node.kinetic, &node.actionByStep}) v->setZero(n);
    node.controlSum.setZero(nu);
    node.W = node.H = system.matrix();
    node.P.setZero(n, r), node.E.setZero(n, r), node.ER.setZero(n, r);
  }
  spans.resize(std::size_t(N()));
  for (Interval& span : spans) span.beginByEnd = span.endByBegin = span.curvature = system.matrix();
  for (VectorX* v : {&work, &sum, &middle}) v->setZero(n);
  reduced.setZero(r), moved.setZero(n), turn.setZero(system.model().nv());
  stacked.setZero(2 * n), stackedGradient.setZero(2 * n);
  stackedBasis.setZero(2 * n, 2 * r), stackedHessian.setZero(2 * n, 2 * r);
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
    if (c.first < 0 || c.last < c.first || c.last > N())
      throw InputError("condition '" + c.row.name + "': it names nodes that do not exist");
  }
  if (problem.durationBounds) {
    const auto [least, most] = *problem.durationBounds;
    if (!(least > 0 && least < most)) throw InputError("optimal control: the bounds of the duration must be positive and in order");
    if (system.hasForces())
      throw InputError("optimal control: a free duration does not go with dampers or loads yet; fix the duration, or remove them");
  }
}

void ControlledPath::Impl::layOutNode(int k) {
  Node& node = nodes[std::size_t(k)];
  std::vector<MatrixEntry>& J = structure.equalityJacobian;
  if (!node.hasBalance) return;
  node.row = structure.equalities();
  for (int i = 0; i < r; ++i) structure.addEquality(k);
  node.byNode = declare(J, node.row, variable(k), r, r);
  if (k > 0) {
    node.byBefore = declare(J, node.row, variable(k - 1), r, r);
    node.byControlBefore = declare(J, node.row, controlVariable(k - 1), r, nu);
  }
  if (k < N()) {
    node.byAfter = declare(J, node.row, variable(k + 1), r, r);
    node.byControl = declare(J, node.row, controlVariable(k), r, nu);
  }
  if (durationVariable >= 0) node.byDuration = declare(J, node.row, durationVariable, r, 1);
}

void ControlledPath::Impl::layOut() {
  nodes.front().hasBalance = problem.beginMomentum.has_value();
  nodes.back().hasBalance = problem.endMomentum.has_value();
  for (int k = 0; k <= N(); ++k) {
    for (int i = 0; i < r; ++i) structure.addVariable(k);
    for (int i = 0; k < N() && i < nu; ++i) structure.addVariable(k);
  }
  if (problem.durationBounds) durationVariable = structure.addVariable(ProgramStructure::global);
  for (int k = 0; k <= N(); ++k) layOutNode(k);
  layOutConditions();

  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int i = 0; i < nu; ++i) {
    const bool isBounded = (!problem.lower.empty() && problem.lower[std::size_t(i)] > -infinity) ||
                           (!problem.upper.empty() && problem.upper[std::size_t(i)] < infinity);
    if (isBounded) boundedControls.push_back(i);
  }
  if (!boundedControls.empty()) {
    firstControlRow = structure.inequalities();
    for (int k = 0; k < N(); ++k) {
      for (const int i : boundedControls) {
        const int row = structure.addInequality(k, problem.lower.empty() ? -infinity : problem.lower[std::size_t(i)],
                                                problem.upper.empty() ? infinity : problem.upper[std::size_t(i)]);
        boundsOfControls.push_back(declare(structure.inequalityJacobian, row, controlVariable(k) + i, 1, 1));
      }
    }
  }
  if (problem.durationBounds) {
    durationRow = structure.addInequality(ProgramStructure::global, (*problem.durationBounds)[0], (*problem.durationBounds)[1]);
    boundOfDuration = declare(structure.inequalityJacobian, durationRow, durationVariable, 1, 1);
  }

  std::vector<MatrixEntry>& H = structure.hessian;
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.nodeNode = declareSymmetric(H, variable(k), r);
    if (k > 0) {
      node.nodeNodeBefore = declare(H, variable(k), variable(k - 1), r, r);
      node.nodeControlBefore = declare(H, variable(k), controlVariable(k - 1), r, nu);
    }
    if (durationVariable >= 0) node.durationNode = declare(H, durationVariable, variable(k), 1, r);
    if (k == N()) continue;
    node.controlNode = declare(H, controlVariable(k), variable(k), nu, r);
    for (int i = 0; i < nu; ++i) {
      spans[std::size_t(k)].effort.push_back(Eigen::Index(H.size()));
      H.push_back({controlVariable(k) + i, controlVariable(k) + i});
    }
    if (durationVariable >= 0) node.durationControl = declare(H, durationVariable, controlVariable(k), 1, nu);
  }
  if (durationVariable >= 0) durationDuration = declareSymmetric(H, durationVariable, 1);
}

void ControlledPath::Impl::layOutConditions() {
  for (const PathCondition& condition : problem.conditions) {
    bool spansInterval = false;
    for (const PathRow::Term& term : condition.row.products) spansInterval = spansInterval || std::max(term.i, term.j) >= n;
    for (const auto& [i, factor] : condition.row.linear) spansInterval = spansInterval || i >= n;
    for (int k = condition.first; k <= condition.last && k + (spansInterval ? 1 : 0) <= N(); ++k) {
      PlacedCondition p{&condition, k, 0, condition.lower == condition.upper, spansInterval, {}, {}};
      p.row = p.isEquality ? structure.addEquality(k) : structure.addInequality(k, condition.lower, condition.upper);
      std::vector<MatrixEntry>& J = p.isEquality ? structure.equalityJacobian : structure.inequalityJacobian;
      p.byNode = declare(J, p.row, variable(k), 1, r);
      if (spansInterval) p.byAfter = declare(J, p.row, variable(k + 1), 1, r);
      placed.push_back(p);
    }
  }
}

/// y of a condition.
void ControlledPath::Impl::stack(const PlacedCondition& p) {
  stacked.head(n) = nodes[std::size_t(p.node)].space.q();
  if (p.spansInterval) stacked.tail(n) = nodes[std::size_t(p.node) + 1].space.q();
}

/// w of all nodes.
bool ControlledPath::Impl::findBalances() {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.controlSum.setZero();
    if (k > 0) node.controlSum += controls.col(k - 1);
    if (k < N()) node.controlSum += controls.col(k);
    node.w.setZero();
    if (k == 0 && problem.beginMomentum) node.w += *problem.beginMomentum;
    if (k == N() && problem.endMomentum) node.w -= *problem.endMomentum;
    actuation.addForce(node.space.q(), time(k), node.controlSum, h() / 2, node.w);
  }
  for (int k = 0; k < N(); ++k) {
    Node &begin = nodes[std::size_t(k)], &end = nodes[std::size_t(k) + 1];
    lagrangian.left(begin.space.q(), end.space.q(), time(k), h(), work);
    begin.w += work;
    lagrangian.right(begin.space.q(), end.space.q(), time(k), h(), work);
    end.w += work;
  }
  for (const Node& node : nodes)
    if (!node.w.allFinite()) return false;
  return true;
}

/// Derivatives of w, and what constraints take from it.
void ControlledPath::Impl::findMatrices() {
  for (Node& node : nodes) {
    setZero(node.W);
    node.P = node.space.unit().asDiagonal() * node.space.basis();
    actuation.columns(node.space.q(), 0, node.Bt);
  }
  for (int k = 0; k < N(); ++k) {
    Node &begin = nodes[std::size_t(k)], &end = nodes[std::size_t(k) + 1];
    Interval& span = spans[std::size_t(k)];
    const VectorX &q0 = begin.space.q(), &q1 = end.space.q();
    const auto addTo = [&](SparseMatrix& W) {
      for (Eigen::Index i = 0; i < W.nonZeros(); ++i) W.valuePtr()[i] += scratch.valuePtr()[i];
    };
    lagrangian.leftByEnd(q0, q1, time(k), h(), span.beginByEnd);
    lagrangian.rightByBegin(q0, q1, time(k), h(), span.endByBegin);
    lagrangian.leftByBegin(q0, q1, time(k), h(), scratch);
    addTo(begin.W);
    lagrangian.rightByEnd(q0, q1, time(k), h(), scratch);
    addTo(end.W);
  }
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    actuation.addGradient(node.space.q(), time(k), node.controlSum, h() / 2, node.W);
    work = node.space.unit().cwiseProduct(node.w);
    node.space.multipliers(work, node.lambda);
    system.addConstraintHessian(node.lambda, time(k), -1, node.W);
  }
  if (durationVariable < 0) return;
  // left = -M d/h - h p, right = M d/h - h p: their derivatives by h from themselves and from M d/h.
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    node.kinetic.setZero();
    if (k > 0) node.kinetic.noalias() += system.mass() * (node.space.q() - nodes[std::size_t(k) - 1].space.q());
    if (k < N()) node.kinetic.noalias() -= system.mass() * (nodes[std::size_t(k) + 1].space.q() - node.space.q());
    node.kinetic /= h();
    work = node.w; // kinetic + h (...), but for prescribed momenta
    if (k == 0 && problem.beginMomentum) work -= *problem.beginMomentum;
    if (k == N() && problem.endMomentum) work += *problem.endMomentum;
    node.dwdh = (work - 2 * node.kinetic) / h();
  }
}

void ControlledPath::Impl::writeJacobians(ProgramDerivatives& d) {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    if (!node.hasBalance) continue;
    VectorX& J = d.equalityJacobian;
    KP.noalias() = node.W * node.P;
    node.byNode.of(J).noalias() = node.P.transpose() * KP;
    if (k > 0) {
      KP.noalias() = spans[std::size_t(k) - 1].endByBegin * nodes[std::size_t(k) - 1].P;
      node.byBefore.of(J).noalias() = node.P.transpose() * KP;
      node.byControlBefore.of(J).noalias() = (h() / 2) * (node.P.transpose() * node.Bt);
    }
    if (k < N()) {
      KP.noalias() = spans[std::size_t(k)].beginByEnd * nodes[std::size_t(k) + 1].P;
      node.byAfter.of(J).noalias() = node.P.transpose() * KP;
      node.byControl.of(J).noalias() = (h() / 2) * (node.P.transpose() * node.Bt);
    }
    if (durationVariable >= 0) node.byDuration.of(J).noalias() = node.P.transpose() * node.dwdh / N();
  }
  for (const PlacedCondition& p : placed) {
    stack(p);
    stackedGradient.setZero();
    p.condition->row.addGradient(stacked, 1, stackedGradient);
    VectorX& J = p.isEquality ? d.equalityJacobian : d.inequalityJacobian;
    p.byNode.of(J).noalias() = stackedGradient.head(n).transpose() * nodes[std::size_t(p.node)].P;
    if (p.spansInterval) p.byAfter.of(J).noalias() = stackedGradient.tail(n).transpose() * nodes[std::size_t(p.node) + 1].P;
  }
  for (const DenseBlock& bound : boundsOfControls) d.inequalityJacobian[bound.offset] = 1;
  if (boundOfDuration.exists()) d.inequalityJacobian[boundOfDuration.offset] = 1;
}

/// a_n, E_n, and the gradient of the Lagrangian in q_n.
void ControlledPath::Impl::findMultipliers(const ProgramMultipliers& multipliers) {
  for (Node& node : nodes) {
    node.gradient.setZero();
    setZero(node.H);
    if (!node.hasBalance) {
      node.a.setZero();
      node.E.setZero(), node.ER.setZero();
      node.power.setZero(n, nu);
      continue;
    }
    work.noalias() = node.space.basis() * multipliers.equality.segment(node.row, r);
    node.a = node.space.unit().cwiseProduct(work);
    node.space.bend(work, node.E);
    reduced.noalias() = node.P.transpose() * node.w;
    work.noalias() = node.space.basis() * reduced;
    node.space.bend(work, node.ER);
    block.noalias() = node.E.transpose() * node.ER;
    node.ER.topRows(r) = 0.5 * (block + block.transpose());
    node.E = node.space.unit().asDiagonal() * node.E;
  }
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    if (node.hasBalance) {
      actuation.powerGradient(node.space.q(), time(k), node.a, node.power);
      node.gradient.noalias() += node.W.transpose() * node.a;
      if (k > 0) nodes[std::size_t(k) - 1].gradient.noalias() += spans[std::size_t(k) - 1].endByBegin.transpose() * node.a;
      if (k < N()) nodes[std::size_t(k) + 1].gradient.noalias() += spans[std::size_t(k)].beginByEnd.transpose() * node.a;
    }
  }
  if (durationVariable >= 0) findActionByStep();
  for (const PlacedCondition& p : placed) {
    const double weight = p.isEquality ? multipliers.equality[p.row] : multipliers.inequality[p.row];
    stack(p);
    stackedGradient.setZero();
    p.condition->row.addGradient(stacked, weight, stackedGradient);
    nodes[std::size_t(p.node)].gradient += stackedGradient.head(n);
    if (p.spansInterval) nodes[std::size_t(p.node) + 1].gradient += stackedGradient.tail(n);
  }
  for (const NodeObjective& objective : problem.objectives) {
    Node& node = nodes[std::size_t(objective.node)];
    objective.row.addGradient(node.space.q(), multipliers.weight * objective.weight, node.gradient);
  }
}

/// The gradient of sum a . w is K/h + h (...) as w is.
void ControlledPath::Impl::findActionByStep() {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    setZero(scratch);
    system.addConstraintHessian(node.lambda, time(k), 1, scratch);
    node.actionByStep = node.gradient;
    if (node.hasBalance) node.actionByStep.noalias() += scratch * node.a;
    const int intervals = (k > 0 ? 1 : 0) + (k < N() ? 1 : 0);
    sum = double(intervals) * node.a;
    if (k > 0) sum -= nodes[std::size_t(k) - 1].a;
    if (k < N()) sum -= nodes[std::size_t(k) + 1].a;
    node.actionByStep.noalias() -= (2 / h()) * (system.mass() * sum);
    node.actionByStep /= h();
  }
}

/// Second derivatives of a . w, and of the constraints' part of the Lagrangian.
void ControlledPath::Impl::addCurvatures() {
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    if (node.hasBalance) actuation.addCurvature(node.a, node.controlSum, h() / 2, node.H);
    work = node.space.unit().cwiseProduct(node.gradient);
    node.space.multipliers(work, nu_);
    system.addConstraintHessian(nu_, time(k), -1, node.H);
  }
  // The potential: V''(q) a along q, as the central difference of V'' along a, exact where V is of degree four.
  const auto difference = [&](const VectorX& q, const VectorX& a, double t, double scale, SparseMatrix& K) {
    const double size = a.cwiseQuotient(nodes[0].space.unit()).norm();
    if (size == 0) return;
    const double eps = 1e-3 / size;
    work = q + eps * a;
    system.addPotentialHessian(work, t, scale / (2 * eps), K);
    work = q - eps * a;
    system.addPotentialHessian(work, t, -scale / (2 * eps), K);
  };
  for (int k = 0; k < N(); ++k) {
    Node &begin = nodes[std::size_t(k)], &end = nodes[std::size_t(k) + 1];
    Interval& span = spans[std::size_t(k)];
    setZero(span.curvature);
    if (problem.quadrature == Quadrature::Trapezoidal) {
      difference(begin.space.q(), begin.a, time(k), -h() / 2, begin.H);
      difference(end.space.q(), end.a, time(k + 1), -h() / 2, end.H);
      continue;
    }
    sum = begin.a + end.a;
    middle = 0.5 * (begin.space.q() + end.space.q());
    difference(middle, sum, time(k) + h() / 2, -h() / 8, span.curvature);
    for (SparseMatrix* H : {&begin.H, &end.H})
      for (Eigen::Index i = 0; i < H->nonZeros(); ++i) H->valuePtr()[i] += span.curvature.valuePtr()[i];
  }
}

void ControlledPath::Impl::writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& d) {
  VectorX& values = d.hessian;
  values.setZero();
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    KP.noalias() = node.H * node.P;
    dense.noalias() = node.P.transpose() * KP;
    KP.noalias() = node.W * node.P;
    block.noalias() = node.E.transpose() * KP;
    dense -= block;
    dense -= block.transpose();
    if (node.hasBalance) dense -= node.ER.topRows(r);
    for (const NodeObjective& objective : problem.objectives) {
      if (objective.node != k) continue;
      KP.setZero();
      objective.row.addHessian(multipliers.weight * objective.weight, node.P, KP);
      dense.noalias() += node.P.transpose() * KP;
    }
    for (const PlacedCondition& p : placed) {
      const bool isBegin = p.node == k, isEnd = p.spansInterval && p.node + 1 == k;
      if ((!isBegin && !isEnd) || p.condition->row.products.empty()) continue;
      const double weight = p.isEquality ? multipliers.equality[p.row] : multipliers.inequality[p.row];
      stackedBasis.setZero(), stackedHessian.setZero();
      if (isBegin) stackedBasis.topLeftCorner(n, r) = node.P;
      if (isEnd) stackedBasis.bottomRightCorner(n, r) = node.P;
      p.condition->row.addHessian(weight, stackedBasis, stackedHessian);
      if (isBegin) dense.noalias() += node.P.transpose() * stackedHessian.topLeftCorner(n, r);
      if (isEnd) dense.noalias() += node.P.transpose() * stackedHessian.bottomRightCorner(n, r);
    }
    node.nodeNode.write(dense, values);

    if (k < N()) {
      if (node.hasBalance) {
        node.controlNode.of(values).noalias() = (h() / 2) * (node.power.transpose() * node.P);
        node.controlNode.of(values).noalias() -= (h() / 2) * (node.Bt.transpose() * node.E);
      }
      for (int i = 0; i < nu; ++i)
        values[spans[std::size_t(k)].effort[std::size_t(i)]] =
            problem.effort.empty() ? 0 : 2 * multipliers.weight * h() * problem.effort[std::size_t(i)];
    }
    if (k > 0) {
      Node& before = nodes[std::size_t(k) - 1];
      const Interval& span = spans[std::size_t(k) - 1];
      KP.noalias() = span.curvature * before.P;
      dense.noalias() = node.P.transpose() * KP;
      KP.noalias() = span.endByBegin * before.P;
      dense.noalias() -= node.E.transpose() * KP;
      KP.noalias() = span.beginByEnd * node.P;
      block.noalias() = before.E.transpose() * KP;
      dense -= block.transpose();
      node.nodeNodeBefore.of(values) = dense;
      if (node.hasBalance) {
        node.nodeControlBefore.of(values).noalias() = (h() / 2) * (node.P.transpose() * node.power);
        node.nodeControlBefore.of(values).noalias() -= (h() / 2) * (node.E.transpose() * node.Bt);
      }
    }
  }
  for (const PlacedCondition& p : placed) {
    if (!p.spansInterval || p.condition->row.products.empty()) continue;
    const double weight = p.isEquality ? multipliers.equality[p.row] : multipliers.inequality[p.row];
    stackedBasis.setZero(), stackedHessian.setZero();
    stackedBasis.topLeftCorner(n, r) = nodes[std::size_t(p.node)].P;
    p.condition->row.addHessian(weight, stackedBasis, stackedHessian);
    Node& end = nodes[std::size_t(p.node) + 1];
    end.nodeNodeBefore.of(values).noalias() += end.P.transpose() * stackedHessian.bottomLeftCorner(n, r);
  }
  if (durationVariable >= 0) writeDuration(multipliers, d);
}

void ControlledPath::Impl::writeDuration(const ProgramMultipliers& multipliers, ProgramDerivatives& d) {
  VectorX& values = d.hessian;
  double twice = 0;
  for (int k = 0; k <= N(); ++k) {
    Node& node = nodes[std::size_t(k)];
    if (node.hasBalance) twice += 2 * node.a.dot(node.kinetic) / (h() * h());
    node.durationNode.of(values).noalias() = node.actionByStep.transpose() * node.P / N();
    node.durationNode.of(values).noalias() -= node.dwdh.transpose() * node.E / N();
    if (k == N()) continue;
    const Node& next = nodes[std::size_t(k) + 1];
    auto byControl = node.durationControl.of(values);
    byControl.setZero();
    if (node.hasBalance) byControl.noalias() += (0.5 / N()) * (node.a.transpose() * node.Bt);
    if (next.hasBalance) byControl.noalias() += (0.5 / N()) * (next.a.transpose() * next.Bt);
    for (int i = 0; i < nu && !problem.effort.empty(); ++i)
      byControl(0, i) += 2 * multipliers.weight * problem.effort[std::size_t(i)] * controls(i, k) / N();
  }
  values[durationDuration.offset] = twice / (double(N()) * N());
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
  left = -left;
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
  std::vector<double> control;
  for (int i = 0; i < m.nu; ++i) {
    const auto& loads = m.problem.actuators[std::size_t(i)].loads;
    const bool isForce = std::any_of(loads.begin(), loads.end(), [](const ActuatorLoad& load) { return !load.wrench.head<3>().isZero(); });
    control.push_back(mass * (isForce ? L : L * L) / (T * T));
    if (!m.problem.effort.empty()) objective += T * m.problem.effort[std::size_t(i)] * control.back() * control.back();
  }
  if (objective > 0) units.objective = objective;
  for (int k = 0; k < m.N(); ++k)
    for (int i = 0; i < m.nu; ++i) units.variable[m.controlVariable(k) + i] = control[std::size_t(i)];
  for (const Impl::Node& node : m.nodes)
    if (node.hasBalance) units.equality.segment(node.row, m.r).setConstant(mass * L * L / T);
  for (const Impl::PlacedCondition& p : m.placed) (p.isEquality ? units.equality : units.inequality)[p.row] = p.condition->row.unit;
  const Eigen::Index bounded = Eigen::Index(m.boundedControls.size());
  for (Eigen::Index k = 0; k < m.N(); ++k)
    for (Eigen::Index i = 0; i < bounded; ++i)
      units.inequality[m.firstControlRow + k * bounded + i] = control[std::size_t(m.boundedControls[std::size_t(i)])];
  if (m.durationVariable >= 0) units.variable[m.durationVariable] = units.inequality[m.durationRow] = T;
  return units;
}

const ProgramStructure& ControlledPath::structure() const { return impl_->structure; }

/// q and P of every node, the controls, T.
int ControlledPath::pointSize() const {
  const Impl& m = *impl_;
  return int(m.nodes.size()) * m.n * (1 + m.r) + m.nu * m.N() + 1;
}

void ControlledPath::getPoint(Eigen::Ref<VectorX> numbers) const {
  const Impl& m = *impl_;
  Eigen::Index at = 0;
  for (const Impl::Node& node : m.nodes) {
    numbers.segment(at, m.n) = node.space.q();
    Eigen::Map<MatrixX>(numbers.data() + at + m.n, m.n, m.r) = node.space.basis();
    at += m.n * (1 + m.r);
  }
  Eigen::Map<MatrixX>(numbers.data() + at, m.nu, m.N()) = m.controls;
  numbers[numbers.size() - 1] = m.duration;
}

void ControlledPath::setPoint(const Eigen::Ref<const VectorX>& numbers) {
  Impl& m = *impl_;
  Eigen::Index at = 0;
  for (Impl::Node& node : m.nodes) {
    node.space.set(numbers.segment(at, m.n), Eigen::Map<const MatrixX>(numbers.data() + at + m.n, m.n, m.r));
    at += m.n * (1 + m.r);
  }
  m.controls = Eigen::Map<const MatrixX>(numbers.data() + at, m.nu, m.N());
  m.duration = numbers[numbers.size() - 1];
  m.isReached = true;
}

void ControlledPath::retract(const Eigen::Ref<const VectorX>& increment) {
  Impl& m = *impl_;
  for (int k = 0; k <= m.N(); ++k) {
    m.isReached = m.nodes[std::size_t(k)].space.retract(increment.segment(m.variable(k), m.r)) && m.isReached;
    if (k < m.N()) m.controls.col(k) += increment.segment(m.controlVariable(k), m.nu);
  }
  if (m.durationVariable >= 0) m.duration += increment[m.durationVariable];
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
  if (m.durationVariable >= 0) {
    const double shrink = -increment[m.durationVariable];
    if (shrink > 0) factor = std::min(factor, 0.5 * m.duration / shrink);
  }
  return factor;
}

bool ControlledPath::evaluate(ProgramValues& values) {
  Impl& m = *impl_;
  if (!m.isReached || !(m.duration > 0) || !m.findBalances()) return false;
  values.objective = m.problem.durationWeight * m.duration;
  for (int k = 0; k < m.N(); ++k)
    for (int i = 0; i < m.nu && !m.problem.effort.empty(); ++i)
      values.objective += m.h() * m.problem.effort[std::size_t(i)] * m.controls(i, k) * m.controls(i, k);
  for (const NodeObjective& o : m.problem.objectives) values.objective += o.weight * o.row.value(node(o.node));
  for (Impl::Node& node : m.nodes) {
    if (!node.hasBalance) continue;
    m.moved = node.space.unit().cwiseProduct(node.w);
    values.equality.segment(node.row, m.r).noalias() = node.space.basis().transpose() * m.moved;
  }
  for (const Impl::PlacedCondition& p : m.placed) {
    m.stack(p);
    const double phi = p.condition->row.value(m.stacked);
    if (p.isEquality)
      values.equality[p.row] = phi - p.condition->lower;
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
  d.gradient.setZero();
  double effort = 0;
  for (int k = 0; k < m.N(); ++k) {
    for (int i = 0; i < m.nu && !m.problem.effort.empty(); ++i) {
      const double weight = m.problem.effort[std::size_t(i)], tau = m.controls(i, k);
      d.gradient[m.controlVariable(k) + i] = 2 * m.h() * weight * tau;
      effort += weight * tau * tau;
    }
  }
  if (m.durationVariable >= 0) d.gradient[m.durationVariable] = m.problem.durationWeight + effort / m.N();
  for (const NodeObjective& o : m.problem.objectives) {
    Impl::Node& node = m.nodes[std::size_t(o.node)];
    m.moved.setZero();
    o.row.addGradient(node.space.q(), o.weight, m.moved);
    d.gradient.segment(m.variable(o.node), m.r).noalias() += node.P.transpose() * m.moved;
  }
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
  const int node = i / (m.r + m.nu), within = i % (m.r + m.nu);
  if (within < m.r) return "coordinate " + std::to_string(within + 1) + " of node " + std::to_string(node);
  return "control '" + m.problem.actuators[std::size_t(within - m.r)].name + "' of interval " + std::to_string(node);
}

std::string ControlledPath::nameOfEquality(int i) const {
  const Impl& m = *impl_;
  for (int k = 0; k <= m.N(); ++k) {
    const Impl::Node& node = m.nodes[std::size_t(k)];
    if (node.row < 0 || i < node.row || i >= node.row + m.r) continue;
    Eigen::Index largest = 0;
    node.space.basis().col(i - node.row).cwiseAbs().maxCoeff(&largest);
    return "balance of momentum at node " + std::to_string(k) + ", mostly of " + m.system.nameOfCoordinate(int(largest));
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
