#include "tendril/control/multiplier_path.h"

#include "control/plain_problem.h"
#include "tendril/discrete/legendre.h"
#include "tendril/discrete/null_space.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void setZero(SparseMatrix& K) { std::fill_n(K.valuePtr(), K.nonZeros(), 0.0); }

void addValues(const SparseMatrix& from, SparseMatrix& to, double scale = 1) {
  for (Eigen::Index i = 0; i < to.nonZeros(); ++i) to.valuePtr()[i] += scale * from.valuePtr()[i];
}

/// Claims an entry for every value of a sparse matrix, in the order of its storage.
Eigen::Index declare(std::vector<MatrixEntry>& entries, int row, int column, const SparseMatrix& K) {
  const auto first = Eigen::Index(entries.size());
  for (int j = 0; j < K.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(K, j); entry; ++entry) entries.push_back({row + int(entry.row()), column + j});
  return first;
}

Eigen::Index declare(std::vector<MatrixEntry>& entries, int row, int column, int rows, int columns) {
  const auto first = Eigen::Index(entries.size());
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) entries.push_back({row + i, column + j});
  return first;
}

void write(const SparseMatrix& K, VectorX& values, Eigen::Index first) {
  values.segment(first, K.nonZeros()) = Eigen::Map<const VectorX>(K.valuePtr(), K.nonZeros());
}

Eigen::Map<MatrixX> dense(VectorX& values, Eigen::Index first, Eigen::Index rows, Eigen::Index columns) {
  return {values.data() + first, rows, columns};
}

}

struct MultiplierPath::Impl {
  /// Where the variables and rows of a node are, -1 without; first values of blocks of the Jacobian and of the Hessian.
  struct Node {
    int q = 0, lambda = -1, tau = -1, balance = -1, closure = 0;
    Eigen::Index byBefore = -1, byNode = -1, byAfter = -1, byMultiplier = -1, byControlBefore = -1, byControl = -1, closureByNode = -1;
    Eigen::Index nodeNode = -1, nodeBefore = -1, multiplierNode = -1, controlNode = -1, nodeControlBefore = -1, effort = -1;
    VectorX w; ///< the bracket
  };
  struct PlacedRow {
    FlatRow row;
    int condition = -1; ///< or -1: part of the objective
    int node = 0, place = 0;
    double weight = 0; ///< of the objective
    bool isEquality = false;
    Eigen::Index first = -1, curvature = -1; ///< values of the Jacobian (two for a product, one for a linear term) and the Hessian
  };

  Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess, const MatrixX& controls_);
  void placeVariables();
  void layOutBalance(int k);
  void layOutConditions();
  void layOutHessian();
  void start(const std::vector<VectorX>& guess, const MatrixX& controls_, VectorX& x);
  void take(const VectorX& x);
  void findBracket(int k);
  void writeBalance(int k, VectorX& values);
  void writeConditions(ProgramDerivatives& derivatives);
  void writeNode(int k, const ProgramMultipliers& multipliers, VectorX& values);
  void addPotentialCurvature(const VectorX& at, const VectorX& along, double t, double scale, SparseMatrix& K);
  void stack(const PlacedRow& p);
  double effort() const;

  int N() const { return problem.intervals; }
  double h() const { return problem.duration / problem.intervals; }
  double time(int k) const { return k * h(); }
  int variableOf(const PlacedRow& p, int place) const {
    const int node = p.node + (place < n ? 0 : 1);
    return nodes[std::size_t(node)].q + (place < n ? place : place - n);
  }
  Node& at(int k) { return nodes[std::size_t(k)]; }
  const VectorX& q(int k) const { return configurations[std::size_t(k)]; }
  double weightOf(const PlacedRow& p, const ProgramMultipliers& multipliers) const {
    if (p.condition < 0) return multipliers.weight * p.weight;
    return p.isEquality ? multipliers.equality[p.place] : multipliers.inequality[p.place];
  }
  /// mu of a balance, zero without.
  VectorX multiplierOf(int k, const ProgramMultipliers& multipliers) const {
    const int row = k >= 0 && k <= N() ? nodes[std::size_t(k)].balance : -1;
    return row < 0 ? VectorX(VectorX::Zero(n)) : VectorX(multipliers.equality.segment(row, n));
  }
  VectorX controlSum(int k) const {
    VectorX sum = VectorX::Zero(nu);
    if (k > 0) sum += controls.col(k - 1);
    if (k < N()) sum += controls.col(k);
    return sum;
  }

  const DirectorSystem& system;
  ControlProblem problem;
  Actuation actuation;
  DiscreteLagrangian lagrangian;
  int n, m = 0, nu;
  std::vector<int> kept;                                      ///< constraints
  std::vector<std::pair<Eigen::Index, MatrixEntry>> keptOfG_; ///< values of G in kept rows: number, (place among kept rows, coordinate)
  VectorX unit;                                               ///< of the coordinates
  std::vector<Node> nodes;
  std::vector<PlacedRow> placed;
  std::vector<int> bounded;
  int firstControlRow = -1;
  std::vector<Eigen::Index> boundsOfControls;
  ProgramStructure structure;
  std::vector<VectorX> configurations, lambdas; ///< lambdas: of all constraints
  MatrixX controls;
  SparseMatrix K, H, cross, G, G0;
  std::vector<std::pair<Eigen::Index, MatrixEntry>> lower; ///< values of K in its lower triangle
  VectorX work, middle, halfway, y, gradient, g;
  MatrixX Bt, power;
};

MultiplierPath::Impl::Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess,
                           const MatrixX& controls_)
    : system(system_), problem(std::move(problem_)), actuation(system_, problem.actuators), lagrangian(system_, problem.quadrature),
      n(system_.size()), nu(actuation.size()), K(system_.matrix()), H(K), cross(K), G(system_.gradient()), G0(G) {
  requirePlain(problem, "multipliers", nu, guess, controls_);
  kept = NullSpace(system, guess[0], 0).keptConstraints();
  m = int(kept.size());
  std::vector<int> placeOf(std::size_t(system.constraints()), -1);
  for (int i = 0; i < m; ++i) placeOf[std::size_t(kept[std::size_t(i)])] = i;
  for (int j = 0; j < G.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(G, j); entry; ++entry)
      if (placeOf[std::size_t(entry.row())] >= 0)
        keptOfG_.push_back({&entry.valueRef() - G.valuePtr(), {placeOf[std::size_t(entry.row())], j}});
  for (int j = 0; j < K.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(K, j); entry; ++entry)
      if (entry.row() >= j) lower.push_back({&entry.valueRef() - K.valuePtr(), {int(entry.row()), j}});
  for (VectorX* v : {&work, &middle, &halfway}) v->setZero(n);
  g.setZero(system.constraints());
  const VectorX zero = VectorX::Zero(n);
  setZero(G0);
  system.constraintGradient(zero, 0, G0);
  unit.setOnes(n);
  for (const Block& block : system.model().blocks())
    if (block.kind == Block::Kind::Pose) unit.segment<3>(block.q).setConstant(system.model().characteristicLength());
  configurations.assign(std::size_t(N()) + 1, VectorX::Zero(n));
  lambdas.assign(std::size_t(N()) + 1, VectorX::Zero(system.constraints()));
  controls.setZero(nu, N());
  placeVariables();
  for (int k = 0; k <= N(); ++k) layOutBalance(k);
  layOutConditions();
  layOutHessian();
}

void MultiplierPath::Impl::placeVariables() {
  nodes.resize(std::size_t(N()) + 1);
  const auto claim = [&](int count, int stage) {
    const int first = structure.variables();
    for (int i = 0; i < count; ++i) structure.addVariable(stage);
    return first;
  };
  const auto claimRows = [&](int count, int stage) {
    const int first = structure.equalities();
    for (int i = 0; i < count; ++i) structure.addEquality(stage);
    return first;
  };
  for (int k = 0; k <= N(); ++k) {
    Node& node = at(k);
    node.w.setZero(n);
    const bool isBalanced = (k > 0 || problem.beginMomentum) && (k < N() || problem.endMomentum);
    node.q = claim(n, k);
    if (isBalanced) node.lambda = claim(m, k), node.balance = claimRows(n, k);
    if (k < N()) node.tau = claim(nu, k);
    node.closure = claimRows(m, k);
  }
}

void MultiplierPath::Impl::layOutBalance(int k) {
  Node& node = at(k);
  std::vector<MatrixEntry>& entries = structure.equalityJacobian;
  node.closureByNode = Eigen::Index(entries.size());
  for (const auto& [number, place] : keptOfG_) entries.push_back({node.closure + place.row, node.q + place.column});
  if (node.balance < 0) return;
  node.byNode = declare(entries, node.balance, node.q, K);
  node.byMultiplier = Eigen::Index(entries.size());
  for (const auto& [number, place] : keptOfG_) entries.push_back({node.balance + place.column, node.lambda + place.row});
  if (k > 0) {
    node.byBefore = declare(entries, node.balance, at(k - 1).q, K);
    node.byControlBefore = declare(entries, node.balance, at(k - 1).tau, n, nu);
  }
  if (k < N()) {
    node.byAfter = declare(entries, node.balance, at(k + 1).q, K);
    node.byControl = declare(entries, node.balance, node.tau, n, nu);
  }
}

void MultiplierPath::Impl::layOutConditions() {
  for (std::size_t c = 0; c < problem.conditions.size(); ++c) {
    const PathCondition& condition = problem.conditions[c];
    const FlatRow row(condition.row, n, "multipliers");
    for (int k = condition.first; k <= condition.last && k + (row.spansInterval ? 1 : 0) <= N(); ++k) {
      PlacedRow p{row, int(c), k, 0, 0, condition.lower == condition.upper};
      p.place = p.isEquality ? structure.addEquality(k) : structure.addInequality(k, condition.lower, condition.upper);
      std::vector<MatrixEntry>& entries = p.isEquality ? structure.equalityJacobian : structure.inequalityJacobian;
      p.first = Eigen::Index(entries.size());
      for (const auto& term : row.products)
        for (const int place : {term.i, term.j}) entries.push_back({p.place, variableOf(p, place)});
      for (const auto& [place, factor] : row.linear) entries.push_back({p.place, variableOf(p, place)});
      placed.push_back(std::move(p));
    }
  }
  for (const NodeObjective& o : problem.objectives) placed.push_back({FlatRow(o.row, n, "multipliers"), -1, o.node, 0, o.weight});
  bounded = boundedControls(problem, nu);
  firstControlRow = structure.inequalities();
  for (int k = 0; k < N(); ++k)
    for (const int i : bounded) {
      const int row = structure.addInequality(k, problem.lower.empty() ? -infinity : problem.lower[std::size_t(i)],
                                              problem.upper.empty() ? infinity : problem.upper[std::size_t(i)]);
      boundsOfControls.push_back(declare(structure.inequalityJacobian, row, at(k).tau + i, 1, 1));
    }
}

void MultiplierPath::Impl::layOutHessian() {
  std::vector<MatrixEntry>& entries = structure.hessian;
  for (int k = 0; k <= N(); ++k) {
    Node& node = at(k);
    node.nodeNode = Eigen::Index(entries.size());
    for (const auto& [number, place] : lower) entries.push_back({node.q + place.row, node.q + place.column});
    if (node.lambda >= 0) {
      node.multiplierNode = Eigen::Index(entries.size());
      for (const auto& [number, place] : keptOfG_) entries.push_back({node.lambda + place.row, node.q + place.column});
    }
    if (k > 0) {
      node.nodeBefore = declare(entries, node.q, at(k - 1).q, K);
      if (node.balance >= 0) node.nodeControlBefore = declare(entries, node.q, at(k - 1).tau, n, nu);
    }
    if (k < N()) {
      if (node.balance >= 0) node.controlNode = declare(entries, node.tau, node.q, nu, n);
      node.effort = Eigen::Index(entries.size());
      for (int i = 0; i < nu; ++i) entries.push_back({node.tau + i, node.tau + i});
    }
  }
  for (PlacedRow& p : placed) {
    p.curvature = Eigen::Index(entries.size());
    for (const auto& term : p.row.products) {
      const int i = variableOf(p, term.i), j = variableOf(p, term.j);
      entries.push_back({std::max(i, j), std::min(i, j)});
    }
  }
}

/// The first guess: multipliers those that leave least of the balances.
void MultiplierPath::Impl::start(const std::vector<VectorX>& guess, const MatrixX& controls_, VectorX& x) {
  x.setZero(structure.variables());
  for (int k = 0; k <= N(); ++k) {
    x.segment(at(k).q, n) = guess[std::size_t(k)];
    if (k < N() && controls_.size() > 0) x.segment(at(k).tau, nu) = controls_.col(k);
  }
  take(x);
  NodalMomenta momenta(system);
  VectorX lambda(system.constraints());
  const VectorX none = VectorX::Zero(n);
  for (int k = 0; k <= N(); ++k) {
    if (at(k).lambda < 0) continue;
    findBracket(k);
    momenta.multipliers(q(k), time(k), none, at(k).w, h(), lambda);
    for (int i = 0; i < m; ++i) x[at(k).lambda + i] = lambda[kept[std::size_t(i)]];
  }
  take(x);
}

void MultiplierPath::Impl::take(const VectorX& x) {
  for (int k = 0; k <= N(); ++k) {
    configurations[std::size_t(k)] = x.segment(at(k).q, n);
    if (k < N()) controls.col(k) = x.segment(at(k).tau, nu);
    for (int i = 0; i < m && at(k).lambda >= 0; ++i) lambdas[std::size_t(k)][kept[std::size_t(i)]] = x[at(k).lambda + i];
  }
}

/// w.
void MultiplierPath::Impl::findBracket(int k) {
  VectorX& w = at(k).w;
  w.setZero();
  if (k == 0 && problem.beginMomentum) w += *problem.beginMomentum;
  if (k == N() && problem.endMomentum) w -= *problem.endMomentum;
  if (k < N()) {
    lagrangian.left(q(k), q(k + 1), time(k), h(), middle);
    w += middle;
  }
  if (k > 0) {
    lagrangian.right(q(k - 1), q(k), time(k - 1), h(), middle);
    w += middle;
  }
  actuation.addForce(q(k), time(k), controlSum(k), h() / 2, w);
}

double MultiplierPath::Impl::effort() const {
  double all = problem.durationWeight * problem.duration;
  for (int i = 0; i < nu && !problem.effort.empty(); ++i) all += h() * problem.effort[std::size_t(i)] * controls.row(i).squaredNorm();
  return all;
}

void MultiplierPath::Impl::stack(const PlacedRow& p) {
  y.setZero(2 * n);
  y.head(n) = q(p.node);
  if (p.row.spansInterval) y.tail(n) = q(p.node + 1);
}

void MultiplierPath::Impl::writeBalance(int k, VectorX& values) {
  Node& node = at(k);
  system.constraintGradient(q(k), time(k), G);
  for (std::size_t i = 0; i < keptOfG_.size(); ++i) values[node.closureByNode + Eigen::Index(i)] = G.valuePtr()[keptOfG_[i].first];
  if (node.balance < 0) return;
  for (std::size_t i = 0; i < keptOfG_.size(); ++i) values[node.byMultiplier + Eigen::Index(i)] = -h() * G.valuePtr()[keptOfG_[i].first];
  setZero(H);
  actuation.columns(q(k), time(k), Bt);
  if (k > 0) {
    lagrangian.rightByEnd(q(k - 1), q(k), time(k - 1), h(), K);
    addValues(K, H);
    lagrangian.rightByBegin(q(k - 1), q(k), time(k - 1), h(), K);
    write(K, values, node.byBefore);
    dense(values, node.byControlBefore, n, nu) = (h() / 2) * Bt;
  }
  if (k < N()) {
    lagrangian.leftByBegin(q(k), q(k + 1), time(k), h(), K);
    addValues(K, H);
    lagrangian.leftByEnd(q(k), q(k + 1), time(k), h(), K);
    write(K, values, node.byAfter);
    dense(values, node.byControl, n, nu) = (h() / 2) * Bt;
  }
  actuation.addGradient(q(k), time(k), controlSum(k), h() / 2, H);
  system.addConstraintHessian(lambdas[std::size_t(k)], time(k), -h(), H);
  write(H, values, node.byNode);
}

void MultiplierPath::Impl::writeConditions(ProgramDerivatives& derivatives) {
  for (const PlacedRow& p : placed) {
    stack(p);
    if (p.condition < 0) {
      gradient.setZero(2 * n);
      p.row.addGradient(y, p.weight, gradient);
      derivatives.gradient.segment(at(p.node).q, n) += gradient.head(n);
      continue;
    }
    VectorX& values = p.isEquality ? derivatives.equalityJacobian : derivatives.inequalityJacobian;
    Eigen::Index place = p.first;
    for (const auto& term : p.row.products) {
      values[place++] = term.value * y[term.j];
      values[place++] = term.value * y[term.i];
    }
    for (const auto& [i, factor] : p.row.linear) values[place++] = factor;
  }
  for (const Eigen::Index bound : boundsOfControls) derivatives.inequalityJacobian[bound] = 1;
}

/// V''(q) a along q, as the central difference of V'' along a, exact where V is of degree four.
void MultiplierPath::Impl::addPotentialCurvature(const VectorX& where, const VectorX& along, double t, double scale, SparseMatrix& to) {
  const double size = along.cwiseQuotient(unit).norm();
  if (size == 0) return;
  const double eps = 1e-3 / size;
  work = where + eps * along;
  system.addPotentialHessian(work, t, scale / (2 * eps), to);
  work = where - eps * along;
  system.addPotentialHessian(work, t, -scale / (2 * eps), to);
}

/// Second derivatives by the coordinates of a node, and by these and all that stands before them.
void MultiplierPath::Impl::writeNode(int k, const ProgramMultipliers& multipliers, VectorX& values) {
  Node& node = at(k);
  const VectorX mu = multiplierOf(k, multipliers), before = multiplierOf(k - 1, multipliers), after = multiplierOf(k + 1, multipliers);
  VectorX nu_ = VectorX::Zero(system.constraints());
  for (int i = 0; i < m; ++i) nu_[kept[std::size_t(i)]] = multipliers.equality[node.closure + i];
  setZero(H), setZero(cross);
  system.addConstraintHessian(nu_, time(k), 1, H);
  actuation.addCurvature(mu, controlSum(k), h() / 2, H);
  if (problem.quadrature == Quadrature::Trapezoidal) {
    addPotentialCurvature(q(k), mu, time(k), -h() * (k == 0 || k == N() ? 0.5 : 1.0), H);
  } else {
    const auto addInterval = [&](int first, const VectorX& along, SparseMatrix& to) {
      halfway = 0.5 * (q(first) + q(first + 1));
      addPotentialCurvature(halfway, along, time(first) + h() / 2, -h() / 8, to);
    };
    if (k > 0) {
      addInterval(k - 1, before + mu, cross);
      addValues(cross, H);
    }
    if (k < N()) addInterval(k, mu + after, H);
  }
  for (std::size_t i = 0; i < lower.size(); ++i) values[node.nodeNode + Eigen::Index(i)] = H.valuePtr()[lower[i].first];
  if (k > 0) write(cross, values, node.nodeBefore);
  if (node.balance >= 0) {
    // G is affine in q, and its change along the node does not depend on which of both comes first.
    system.constraintGradient(mu, time(k), G);
    for (std::size_t i = 0; i < keptOfG_.size(); ++i)
      values[node.multiplierNode + Eigen::Index(i)] = -h() * (G.valuePtr()[keptOfG_[i].first] - G0.valuePtr()[keptOfG_[i].first]);
    actuation.powerGradient(q(k), time(k), mu, power);
    if (k > 0) dense(values, node.nodeControlBefore, n, nu) = (h() / 2) * power;
    if (k < N()) dense(values, node.controlNode, nu, n) = (h() / 2) * power.transpose();
  }
  for (int i = 0; i < nu && k < N(); ++i)
    values[node.effort + i] = problem.effort.empty() ? 0 : 2 * multipliers.weight * h() * problem.effort[std::size_t(i)];
}

// ---- the program -----------------------------------------------------------------------------------------------------------------------

MultiplierPath::MultiplierPath(const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess,
                               const MatrixX& controls)
    : impl_(std::make_unique<Impl>(system, std::move(problem), guess, controls)) {
  impl_->start(guess, controls, x);
}
MultiplierPath::~MultiplierPath() = default;

const ProgramStructure& MultiplierPath::structure() const { return impl_->structure; }
const ControlProblem& MultiplierPath::problem() const { return impl_->problem; }
double MultiplierPath::duration() const { return impl_->problem.duration; }

VectorX MultiplierPath::multipliers(int n) const {
  impl_->take(x);
  return impl_->lambdas[std::size_t(n)];
}

const VectorX& MultiplierPath::node(int n) const {
  impl_->configurations[std::size_t(n)] = x.segment(impl_->at(n).q, impl_->n);
  return impl_->q(n);
}

const MatrixX& MultiplierPath::controls() const {
  impl_->take(x);
  return impl_->controls;
}

Eigen::Ref<const VectorX> MultiplierPath::control(int interval) const { return x.segment(impl_->at(interval).tau, impl_->nu); }

bool MultiplierPath::evaluate(ProgramValues& values) {
  Impl& m = *impl_;
  if (!x.allFinite()) return false;
  m.take(x);
  values.objective = m.effort();
  for (int k = 0; k <= m.N(); ++k) {
    const Impl::Node& node = m.at(k);
    m.system.constraint(m.q(k), m.time(k), m.g);
    for (int i = 0; i < m.m; ++i) values.equality[node.closure + i] = m.g[m.kept[std::size_t(i)]];
    if (node.balance < 0) continue;
    m.findBracket(k);
    m.system.constraintGradient(m.q(k), m.time(k), m.G);
    values.equality.segment(node.balance, m.n) = node.w;
    values.equality.segment(node.balance, m.n).noalias() -= m.h() * (m.G.transpose() * m.lambdas[std::size_t(k)]);
  }
  for (const Impl::PlacedRow& p : m.placed) {
    m.stack(p);
    const double phi = p.row.value(m.y);
    if (p.condition < 0) {
      values.objective += p.weight * phi;
    } else if (p.isEquality) {
      values.equality[p.place] = phi - m.problem.conditions[std::size_t(p.condition)].lower;
    } else {
      values.inequality[p.place] = phi;
    }
  }
  int row = m.firstControlRow;
  for (int k = 0; k < m.N(); ++k)
    for (const int i : m.bounded) values.inequality[row++] = m.controls(i, k);
  return std::isfinite(values.objective) && values.equality.allFinite();
}

bool MultiplierPath::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  Impl& m = *impl_;
  if (!x.allFinite()) return false;
  m.take(x);
  derivatives.gradient.setZero();
  for (int k = 0; k < m.N() && !m.problem.effort.empty(); ++k)
    for (int i = 0; i < m.nu; ++i) derivatives.gradient[m.at(k).tau + i] = 2 * m.h() * m.problem.effort[std::size_t(i)] * m.controls(i, k);
  for (int k = 0; k <= m.N(); ++k) m.writeBalance(k, derivatives.equalityJacobian);
  m.writeConditions(derivatives);
  if (!derivatives.equalityJacobian.allFinite()) return false;
  if (!multipliers) return true;
  derivatives.hessian.setZero();
  for (int k = 0; k <= m.N(); ++k) m.writeNode(k, *multipliers, derivatives.hessian);
  for (const Impl::PlacedRow& p : m.placed) {
    const double weight = m.weightOf(p, *multipliers);
    Eigen::Index place = p.curvature;
    for (const auto& term : p.row.products)
      derivatives.hessian[place++] = (m.variableOf(p, term.i) == m.variableOf(p, term.j) ? 2 : 1) * weight * term.value;
  }
  return derivatives.hessian.allFinite();
}

/// Directors turn by no more than half a radian in an iteration.
double MultiplierPath::longestFactor(const Eigen::Ref<const VectorX>& increment) const {
  constexpr double farthest = 0.5;
  double largest = 0;
  for (int k = 0; k <= impl_->N(); ++k)
    for (const Block& block : impl_->system.model().blocks())
      if (block.kind == Block::Kind::Pose)
        largest = std::max(largest, increment.segment<9>(impl_->at(k).q + block.q + 3).lpNorm<Eigen::Infinity>());
  return largest > farthest ? farthest / largest : 1;
}

std::string MultiplierPath::nameOfVariable(int i) const {
  const Impl& m = *impl_;
  for (int k = m.N(); k >= 0; --k) {
    const Impl::Node& node = m.nodes[std::size_t(k)];
    if (i < node.q) continue;
    const std::string place = " at node " + std::to_string(k);
    if (i < node.q + m.n) {
      for (std::size_t b = 0; b < m.system.model().blocks().size(); ++b) {
        const Block& block = m.system.model().blocks()[b];
        if (i - node.q >= block.q && i - node.q < block.q + block.nq)
          return "coordinate " + std::to_string(i - node.q - block.q + 1) + " of " + m.system.model().nameOfBlock(int(b)) + place;
      }
    }
    if (node.lambda >= 0 && i < node.lambda + m.m)
      return "force of " + m.system.nameOfConstraint(m.kept[std::size_t(i - node.lambda)]) + place;
    return "control '" + m.problem.actuators[std::size_t(i - node.tau)].name + "' of interval " + std::to_string(k);
  }
  return NonlinearProgram::nameOfVariable(i);
}

std::string MultiplierPath::nameOfEquality(int i) const {
  const Impl& m = *impl_;
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0 && p.isEquality && p.place == i)
      return m.problem.conditions[std::size_t(p.condition)].row.name + " at node " + std::to_string(p.node);
  for (int k = 0; k <= m.N(); ++k) {
    const Impl::Node& node = m.nodes[std::size_t(k)];
    const std::string place = " at node " + std::to_string(k);
    if (i >= node.closure && i < node.closure + m.m) return m.system.nameOfConstraint(m.kept[std::size_t(i - node.closure)]) + place;
    if (node.balance >= 0 && i >= node.balance && i < node.balance + m.n) return "balance of momentum" + place;
  }
  return NonlinearProgram::nameOfEquality(i);
}

std::string MultiplierPath::nameOfInequality(int i) const {
  const Impl& m = *impl_;
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0 && !p.isEquality && p.place == i)
      return m.problem.conditions[std::size_t(p.condition)].row.name + " at node " + std::to_string(p.node);
  const int count = int(m.bounded.size()), number = i - m.firstControlRow;
  return "bounds of control '" + m.problem.actuators[std::size_t(m.bounded[std::size_t(number % count)])].name + "' in interval " +
         std::to_string(number / count);
}

MultiplierPath::Units MultiplierPath::units() const {
  const Impl& m = *impl_;
  double mass = 0;
  for (const Block& block : m.system.model().blocks())
    if (block.kind == Block::Kind::Pose) mass += m.system.mass().coeff(block.q, block.q);
  const double L = m.system.model().characteristicLength(), T = m.problem.duration, energy = mass * L * L / (T * T);
  Units units;
  units.variable.setOnes(m.structure.variables());
  units.equality.setOnes(m.structure.equalities());
  units.inequality.setOnes(m.structure.inequalities());
  VectorX closure = VectorX::Ones(m.m);
  for (int i = 0; i < m.m; ++i) {
    const int row = m.kept[std::size_t(i)] - m.system.internalConstraints();
    if (row >= 0 && m.system.model().constraintQuantities()[row] == RowQuantity::Length) closure[i] = L;
  }
  const std::vector<double> control = unitsOfControls(m.problem, mass, L);
  double objective = m.problem.durationWeight * T;
  for (std::size_t i = 0; i < control.size() && !m.problem.effort.empty(); ++i)
    objective += T * m.problem.effort[i] * control[i] * control[i];
  for (const NodeObjective& o : m.problem.objectives) objective += std::abs(o.weight) * o.row.unit;
  if (objective > 0) units.objective = objective;
  for (int k = 0; k <= m.N(); ++k) {
    const Impl::Node& node = m.nodes[std::size_t(k)];
    units.variable.segment(node.q, m.n) = m.unit;
    units.equality.segment(node.closure, m.m) = closure;
    if (node.balance >= 0) {
      units.variable.segment(node.lambda, m.m) = energy * closure.cwiseInverse();
      units.equality.segment(node.balance, m.n) = energy * T * m.unit.cwiseInverse();
    }
    for (int i = 0; i < m.nu && k < m.N(); ++i) units.variable[node.tau + i] = control[std::size_t(i)];
  }
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0)
      (p.isEquality ? units.equality : units.inequality)[p.place] = m.problem.conditions[std::size_t(p.condition)].row.unit;
  int row = m.firstControlRow;
  for (int k = 0; k < m.N(); ++k)
    for (const int i : m.bounded) units.inequality[row++] = control[std::size_t(i)];
  return units;
}

void MultiplierPath::momenta(int interval, VectorX& left, VectorX& right) const {
  Impl& m = *impl_;
  m.take(x);
  left.resize(m.n), right.resize(m.n);
  const VectorX tau = control(interval);
  m.lagrangian.left(m.q(interval), m.q(interval + 1), m.time(interval), m.h(), left);
  m.lagrangian.right(m.q(interval), m.q(interval + 1), m.time(interval), m.h(), right);
  m.actuation.addForce(m.q(interval), m.time(interval), tau, m.h() / 2, left);
  m.actuation.addForce(m.q(interval + 1), m.time(interval + 1), tau, m.h() / 2, right);
  left = -left;
}

VectorX MultiplierPath::unbalanced(int k) const {
  Impl& m = *impl_;
  if (m.at(k).balance < 0) return VectorX::Zero(m.n);
  m.take(x);
  m.findBracket(k);
  return m.at(k).w;
}

VectorX MultiplierPath::velocity(int k) const {
  Impl& m = *impl_;
  VectorX left, right, projected(m.n), twist(m.system.model().nv()), rates(m.n);
  if (k < m.N()) {
    momenta(k, left, right);
  } else if (m.problem.endMomentum) {
    left = *m.problem.endMomentum;
  } else {
    momenta(k - 1, right, left);
  }
  NodalMomenta(m.system).project(node(k), m.time(k), left, projected, twist);
  m.system.rates(node(k), twist, rates);
  return rates;
}

double MultiplierPath::largestTurn() const { return tendril::largestTurn(impl_->system.model(), *this); }

double MultiplierPath::closure() const {
  Impl& m = *impl_;
  double largest = 0;
  for (int k = 0; k <= m.N(); ++k) {
    m.system.constraint(node(k), m.time(k), m.g);
    for (int i = 0; i < m.m; ++i) {
      const int row = m.kept[std::size_t(i)] - m.system.internalConstraints();
      const bool isLength = row >= 0 && m.system.model().constraintQuantities()[row] == RowQuantity::Length;
      largest = std::max(largest, std::abs(m.g[m.kept[std::size_t(i)]]) / (isLength ? m.system.model().characteristicLength() : 1));
    }
  }
  return largest;
}

}
