#include "tendril/control/joint_path.h"

#include "control/joint_lagrangian.h"
#include "control/plain_problem.h"
#include "tendril/model/error.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values of a dense block among those of a sparse matrix, column after column.
struct DenseBlock {
  Eigen::Index offset = -1, rows = 0, columns = 0;
  Eigen::Map<MatrixX> of(VectorX& values) const { return {values.data() + offset, rows, columns}; }
};

DenseBlock declare(std::vector<MatrixEntry>& entries, int row, int column, int rows, int columns) {
  const DenseBlock block{Eigen::Index(entries.size()), rows, columns};
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) entries.push_back({row + r, column + c});
  return block;
}

}

struct JointPath::Impl {
  /// What an interval adds to its two groups of rows and to the Hessian; z = (u, p or v) of its ends.
  struct Interval {
    std::array<int, 2> rows{-1, -1};
    std::array<std::array<DenseBlock, 3>, 2> blocks; ///< by z of the first node, controls, z of the second
    DenseBlock cross;                                ///< second derivatives by u, or z, of the second and first node
    std::vector<Eigen::Index> effort;
  };
  struct PlacedRow {
    FlatRow row;
    int condition = -1; ///< or -1: part of the objective
    int node = 0, place = 0;
    double weight = 0; ///< of the objective
    bool isEquality = false;
    std::array<DenseBlock, 2> blocks; ///< by u of the node and the next
  };

  Impl(TranscriptionMethod method_, const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess,
       const MatrixX& controls_);
  void check(const std::vector<VectorX>& guess, const MatrixX& controls_) const;
  void findMotors();
  void layOut();
  void layOutRows();
  void layOutHessian();
  void start(const std::vector<VectorX>& guess, const MatrixX& controls_, VectorX& x);
  void placeNodes(const VectorX& x);
  void findInterval(int k, const VectorX& x, bool withJacobian, const VectorX* multipliers);
  void findByLegendre(bool withJacobian, bool withHessian);
  void findByRates(bool withJacobian, bool withHessian);
  void findMiddle(int k, const VectorX& x);
  void stack(const PlacedRow& p, VectorX& y) const;
  void writeConditions(ProgramDerivatives& derivatives);
  void addRowCurvatures(const ProgramMultipliers& multipliers, const VectorX& x);
  void writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& derivatives);
  double weightOf(const PlacedRow& p, const ProgramMultipliers& multipliers) const;

  int N() const { return problem.intervals; }
  double h() const { return problem.duration / problem.intervals; }
  int variable(int k) const { return k * (z + nu); }
  int controlVariable(int k) const { return variable(k) + z; }
  bool isCollocation() const { return method != TranscriptionMethod::Dmoc; }
  bool hasRates() const { return method == TranscriptionMethod::CollocationQv; }

  const TranscriptionMethod method;
  const DirectorSystem& system;
  ControlProblem problem;
  Actuation actuation;
  JointLagrangian lagrangian;
  DiscreteLagrangian directors; ///< for the forces of constraints
  int n, d, z, nu, curved;      ///< redundant coordinates, u, (u, p or v), controls; those with second derivatives, the first of z
  MatrixX B;                    ///< generalized forces of the controls
  VectorX begin, end;           ///< momenta, or rates, given at the ends
  std::vector<Interval> spans;
  std::vector<Eigen::Index> nodeNode; ///< first value of the lower triangle of a node
  std::vector<int> balance;           ///< Dmoc: first row of a node
  int firstBegin = -1, firstEnd = -1;
  DenseBlock byBegin, byEnd;
  std::vector<PlacedRow> placed;
  std::vector<bool> isRead; ///< nodes that conditions or objectives read
  std::vector<VectorX> q;
  std::vector<MatrixX> J, H; ///< dq/du; Hessian of a node
  std::vector<MatrixX> crossOf;
  std::vector<int> boundedControls;
  int firstControlRow = -1;
  std::vector<DenseBlock> boundsOfControls;
  ProgramStructure structure;
  mutable MatrixX controls;
  mutable VectorX shown; ///< a configuration
  // Of the interval at hand:
  VectorX u0, u1, x0, x1, tau, U, V, W, mu0, mu1, force, residual;
  double now = 0;
  MatrixX J0, Jt, J1, H00, H10, H11, byU, byV, UU, UV, UW, VV, VW, Vuu, dVuu, work;
  VectorX Vu, Lu, stacked, gradient, total;
  std::array<LagrangianDerivatives, 1> one;
  std::array<LagrangianDerivatives, 2> two, bent;
  std::array<LagrangianDerivatives, 4> four;
  std::array<VectorX, 1> atU, atV;
  std::array<VectorX, 2> alongU, alongV;
  std::array<VectorX, 4> twiceU, twiceV;
};

JointPath::Impl::Impl(TranscriptionMethod method_, const DirectorSystem& system_, ControlProblem problem_,
                      const std::vector<VectorX>& guess, const MatrixX& controls_)
    : method(method_), system(system_), problem(std::move(problem_)), actuation(system_, problem.actuators),
      lagrangian(system_, guess.at(0)), directors(system_, Quadrature::Midpoint), n(system_.size()), d(lagrangian.size()),
      z(isCollocation() ? 2 * d : d), nu(actuation.size()), curved(hasRates() ? z : d) {
  check(guess, controls_);
  findMotors();
  controls.setZero(nu, N());
  layOut();
}

void JointPath::Impl::check(const std::vector<VectorX>& guess, const MatrixX& controls_) const {
  const std::string name(nameOf(method)), place = "method " + name + ": ";
  requirePlain(problem, name, nu, guess, controls_);
  if (problem.quadrature != Quadrature::Midpoint) throw InputError(place + "it takes quadrature: midpoint; dmocc takes others");
  VectorX g(system.constraints()), later(system.constraints());
  system.constraint(guess[0], 0, g);
  for (int k = 1; k <= N(); ++k) {
    system.constraint(guess[0], k * h(), later);
    if (!((later - g).lpNorm<Eigen::Infinity>() <= 1e-12 * system.model().characteristicLength()))
      throw InputError(place + "the ground moves, or a drive does; joint coordinates take a ground at rest; method: dmocc takes it");
  }
}

/// B, which must not depend on u: then it does not matter where an interval takes it.
void JointPath::Impl::findMotors() {
  MatrixX Bt;
  VectorX u(d);
  for (int trial = 0; trial < 3; ++trial) {
    for (int i = 0; i < d; ++i)
      u[i] = trial * std::sin(1.0 + i + 2 * trial) * (lagrangian.isLength(i) ? system.model().characteristicLength() : 1);
    lagrangian.place(u);
    actuation.columns(lagrangian.q(), 0, Bt);
    const MatrixX here = lagrangian.jacobian().transpose() * Bt;
    if (trial == 0) B = here;
    for (int i = 0; i < nu; ++i)
      if (!((here - B).col(i).lpNorm<Eigen::Infinity>() <= 1e-9 * (here.col(i).norm() + B.col(i).norm())))
        throw InputError("actuator '" + problem.actuators[std::size_t(i)].name +
                         "': its force on the joints depends on the configuration; joint coordinates take motors of joints; drive a joint, "
                         "or take method: dmocc");
  }
}

void JointPath::Impl::layOut() {
  for (int k = 0; k <= N(); ++k) {
    for (int i = 0; i < z; ++i) structure.addVariable(k);
    for (int i = 0; k < N() && i < nu; ++i) structure.addVariable(k);
  }
  spans.resize(std::size_t(N()));
  isRead.assign(std::size_t(N()) + 1, false);
  layOutRows();
  for (std::size_t c = 0; c < problem.conditions.size(); ++c) {
    const PathCondition& condition = problem.conditions[c];
    const FlatRow row(condition.row, n, std::string(nameOf(method)));
    for (int k = condition.first; k <= condition.last && k + (row.spansInterval ? 1 : 0) <= N(); ++k) {
      PlacedRow p{row, int(c), k, 0, 0, condition.lower == condition.upper, {}};
      p.place = p.isEquality ? structure.addEquality(k) : structure.addInequality(k, condition.lower, condition.upper);
      std::vector<MatrixEntry>& entries = p.isEquality ? structure.equalityJacobian : structure.inequalityJacobian;
      for (int side = 0; side <= (row.spansInterval ? 1 : 0); ++side) {
        p.blocks[std::size_t(side)] = declare(entries, p.place, variable(k + side), 1, d);
        isRead[std::size_t(k) + std::size_t(side)] = true;
      }
      placed.push_back(std::move(p));
    }
  }
  for (const NodeObjective& o : problem.objectives) {
    placed.push_back({FlatRow(o.row, n, std::string(nameOf(method))), -1, o.node, 0, o.weight, false, {}});
    isRead[std::size_t(o.node)] = true;
  }
  boundedControls = tendril::boundedControls(problem, nu);
  firstControlRow = structure.inequalities();
  for (int k = 0; k < N(); ++k)
    for (const int i : boundedControls) {
      const int row = structure.addInequality(k, problem.lower.empty() ? -infinity : problem.lower[std::size_t(i)],
                                              problem.upper.empty() ? infinity : problem.upper[std::size_t(i)]);
      boundsOfControls.push_back(declare(structure.inequalityJacobian, row, controlVariable(k) + i, 1, 1));
    }
  layOutHessian();
  q.assign(std::size_t(N()) + 1, VectorX());
  J.assign(std::size_t(N()) + 1, MatrixX());
  H.assign(std::size_t(N()) + 1, MatrixX::Zero(curved, curved));
  crossOf.assign(std::size_t(N()), MatrixX::Zero(curved, curved));
}

void JointPath::Impl::layOutRows() {
  const auto group = [&](int stage) {
    const int first = structure.equalities();
    for (int i = 0; i < d; ++i) structure.addEquality(stage);
    return first;
  };
  if (isCollocation()) {
    if (problem.beginMomentum) {
      firstBegin = group(0);
      byBegin = declare(structure.equalityJacobian, firstBegin, variable(0) + d, d, d);
    }
    for (int k = 0; k < N(); ++k)
      for (int& row : spans[std::size_t(k)].rows) row = group(k);
    if (problem.endMomentum) {
      firstEnd = group(N());
      byEnd = declare(structure.equalityJacobian, firstEnd, variable(N()) + d, d, d);
    }
  } else {
    for (int k = 0; k <= N(); ++k) {
      const bool hasBalance = (k > 0 || problem.beginMomentum) && (k < N() || problem.endMomentum);
      balance.push_back(hasBalance ? group(k) : -1);
      if (k < N()) spans[std::size_t(k)].rows[0] = balance.back();
      if (k > 0) spans[std::size_t(k) - 1].rows[1] = balance.back();
    }
    firstBegin = balance.front(), firstEnd = balance.back();
  }
  for (int k = 0; k < N(); ++k) {
    Interval& span = spans[std::size_t(k)];
    for (std::size_t side = 0; side < 2; ++side) {
      if (span.rows[side] < 0) continue;
      std::vector<MatrixEntry>& entries = structure.equalityJacobian;
      span.blocks[side] = {declare(entries, span.rows[side], variable(k), d, z),
                           declare(entries, span.rows[side], controlVariable(k), d, nu),
                           declare(entries, span.rows[side], variable(k + 1), d, z)};
    }
  }
}

void JointPath::Impl::layOutHessian() {
  std::vector<MatrixEntry>& entries = structure.hessian;
  for (int k = 0; k <= N(); ++k) {
    nodeNode.push_back(Eigen::Index(entries.size()));
    for (int c = 0; c < curved; ++c)
      for (int r = c; r < curved; ++r) entries.push_back({variable(k) + r, variable(k) + c});
    if (k == N()) continue;
    spans[std::size_t(k)].cross = declare(entries, variable(k + 1), variable(k), curved, curved);
    for (int i = 0; i < nu; ++i) {
      spans[std::size_t(k)].effort.push_back(Eigen::Index(entries.size()));
      entries.push_back({controlVariable(k) + i, controlVariable(k) + i});
    }
  }
}

/// The first guess: u of its configurations; rates as differences, and momenta of these.
void JointPath::Impl::start(const std::vector<VectorX>& guess, const MatrixX& controls_, VectorX& x) {
  x.setZero(structure.variables());
  VectorX near = VectorX::Zero(d);
  for (int k = 0; k <= N(); ++k) {
    near = lagrangian.coordinates(guess[std::size_t(k)], near);
    x.segment(variable(k), d) = near;
    if (k < N() && controls_.size() > 0) x.segment(controlVariable(k), nu) = controls_.col(k);
  }
  const auto mass = [&](const VectorX& u) {
    lagrangian.kinetic<1>({u}, {VectorX::Zero(d)}, one);
    return one[0].vv;
  };
  const auto given = [&](const VectorX& covector, const VectorX& u) -> VectorX {
    lagrangian.place(u);
    const VectorX p = lagrangian.jacobian().transpose() * covector;
    return hasRates() ? VectorX(mass(u).ldlt().solve(p)) : p;
  };
  if (problem.beginMomentum) begin = given(*problem.beginMomentum, x.segment(variable(0), d));
  if (problem.endMomentum) end = given(*problem.endMomentum, x.segment(variable(N()), d));
  for (int k = 0; k <= N() && isCollocation(); ++k) {
    auto own = x.segment(variable(k) + d, d);
    const int before = std::max(k - 1, 0), after = std::min(k + 1, N());
    const VectorX u = x.segment(variable(k), d);
    own = (x.segment(variable(after), d) - x.segment(variable(before), d)) / ((after - before) * h());
    if (!hasRates()) own = (mass(u) * own).eval();
    if (k == 0 && problem.beginMomentum) own = begin;
    if (k == N() && problem.endMomentum) own = end;
  }
}

void JointPath::Impl::placeNodes(const VectorX& x) {
  for (int k = 0; k <= N(); ++k) {
    if (!isRead[std::size_t(k)]) continue;
    U = x.segment(variable(k), d);
    lagrangian.place(U);
    q[std::size_t(k)] = lagrangian.q();
    J[std::size_t(k)] = lagrangian.jacobian();
  }
}

void JointPath::Impl::findMiddle(int k, const VectorX& x) {
  u0 = x.segment(variable(k), d), u1 = x.segment(variable(k + 1), d);
  if (isCollocation()) x0 = x.segment(variable(k) + d, d), x1 = x.segment(variable(k + 1) + d, d);
  tau = x.segment(controlVariable(k), nu);
  U = 0.5 * (u0 + u1);
  if (hasRates()) {
    V = 0.5 * (x0 + x1);
    W = (x1 - x0) / h();
  } else {
    V = (u1 - u0) / h();
  }
  force.noalias() = B * tau;
  now = (k + 0.5) * h();
}

/// Residual of an interval, and where wanted its derivatives.
void JointPath::Impl::findInterval(int k, const VectorX& x, bool withJacobian, const VectorX* multipliers) {
  findMiddle(k, x);
  if (multipliers) {
    const Interval& span = spans[std::size_t(k)];
    mu0.setZero(d), mu1.setZero(d);
    if (span.rows[0] >= 0) mu0 = multipliers->segment(span.rows[0], d);
    if (span.rows[1] >= 0) mu1 = multipliers->segment(span.rows[1], d);
  }
  residual.resize(2 * d);
  if (withJacobian) {
    J0.setZero(2 * d, z), J1.setZero(2 * d, z), Jt.setZero(2 * d, nu);
    if (isCollocation()) {
      Jt.bottomRows(d) = -h() * B;
    } else {
      Jt.topRows(d) = Jt.bottomRows(d) = (h() / 2) * B;
    }
  }
  const bool withHessian = multipliers != nullptr;
  if (withHessian) H00.setZero(curved, curved), H10.setZero(curved, curved), H11.setZero(curved, curved);
  if (hasRates()) {
    findByRates(withJacobian, withHessian);
  } else {
    findByLegendre(withJacobian, withHessian);
  }
}

/// The two groups of rows are sums cu L_u + cv L_v of the derivatives of L at (U, V), and of what is linear.
void JointPath::Impl::findByLegendre(bool withJacobian, bool withHessian) {
  const double h_ = h();
  const std::array<double, 2> cu = isCollocation() ? std::array{0.0, -h_} : std::array{h_ / 2, h_ / 2};
  const std::array<double, 2> cv = isCollocation() ? std::array{-1.0, 0.0} : std::array{-1.0, 1.0};
  const LagrangianDerivatives* L = &one[0];
  if (withHessian) {
    alongU[0] = U, alongV[0] = V;
    alongU[1] = cu[0] * mu0 + cu[1] * mu1;
    alongV[1] = cv[0] * mu0 + cv[1] * mu1;
    lagrangian.kinetic<2>(alongU, alongV, two);
    lagrangian.potential(U, now, Vu, Vuu, &alongU[1], &dVuu);
    L = &two[0];
  } else {
    atU[0] = U, atV[0] = V;
    lagrangian.kinetic<1>(atU, atV, one);
    lagrangian.potential(U, now, Vu, Vuu);
  }
  Lu = L->u - Vu;
  for (int side = 0; side < 2; ++side) residual.segment(side * d, d) = cu[std::size_t(side)] * Lu + cv[std::size_t(side)] * L->v;
  if (isCollocation()) {
    residual.head(d) += 0.5 * (x0 + x1);
    residual.tail(d) += x1 - x0 - h_ * force;
  } else {
    residual.head(d) += (h_ / 2) * force;
    residual.tail(d) += (h_ / 2) * force;
  }
  if (withJacobian) {
    for (int side = 0; side < 2; ++side) {
      byU = cu[std::size_t(side)] * (L->uu - Vuu) + cv[std::size_t(side)] * L->uv.transpose();
      byV = cu[std::size_t(side)] * L->uv + cv[std::size_t(side)] * L->vv;
      J0.block(side * d, 0, d, d) = 0.5 * byU - byV / h_;
      J1.block(side * d, 0, d, d) = 0.5 * byU + byV / h_;
    }
    if (isCollocation()) {
      J0.topRightCorner(d, d).diagonal().setConstant(0.5), J1.topRightCorner(d, d).diagonal().setConstant(0.5);
      J0.bottomRightCorner(d, d).diagonal().setConstant(-1), J1.bottomRightCorner(d, d).diagonal().setConstant(1);
    }
  }
  if (!withHessian) return;
  UU = two[1].uu - dVuu;
  const MatrixX &UV_ = two[1].uv, &VV_ = two[1].vv;
  work = (UV_ + UV_.transpose()) / (2 * h_);
  H00 = 0.25 * UU - work + VV_ / (h_ * h_);
  H11 = 0.25 * UU + work + VV_ / (h_ * h_);
  H10 = 0.25 * UU - VV_ / (h_ * h_) + (UV_.transpose() - UV_) / (2 * h_);
}

/// With K the kinetic energy and x(s, r) = (U + s V, V + s W + r mu), V and W here mean value and slope of the rates,
///
///     c = K_vv W + K_vu V - K_u + V_u - B tau = d/ds K_v(x) - K_u + ...,      mu . c = d2/ds dr K(x) - d/dr K(U + r mu, V) + ...,
///
/// so that jets of the Hessian of K give the derivatives of c, too.
void JointPath::Impl::findByRates(bool withJacobian, bool withHessian) {
  const double h_ = h();
  const LagrangianDerivatives *K = nullptr, *slope = nullptr;
  if (withHessian) {
    twiceU[0] = U, twiceU[1] = V, twiceU[2].setZero(d), twiceU[3].setZero(d);
    twiceV[0] = V, twiceV[1] = W, twiceV[2] = mu1, twiceV[3].setZero(d);
    lagrangian.kinetic<4>(twiceU, twiceV, four);
    alongU[0] = U, alongU[1] = mu1, alongV[0] = V, alongV[1].setZero(d);
    lagrangian.kinetic<2>(alongU, alongV, bent);
    lagrangian.potential(U, now, Vu, Vuu, &mu1, &dVuu);
    K = &four[0], slope = &four[1];
  } else {
    alongU[0] = U, alongU[1] = V, alongV[0] = V, alongV[1] = W;
    lagrangian.kinetic<2>(alongU, alongV, two);
    lagrangian.potential(U, now, Vu, Vuu);
    K = &two[0], slope = &two[1];
  }
  residual.head(d) = (u1 - u0) / h_ - V;
  residual.tail(d) = h_ * (slope->v - K->u + Vu - force);
  if (withJacobian) {
    J0.topLeftCorner(d, d).diagonal().setConstant(-1 / h_), J1.topLeftCorner(d, d).diagonal().setConstant(1 / h_);
    J0.topRightCorner(d, d).diagonal().setConstant(-0.5), J1.topRightCorner(d, d).diagonal().setConstant(-0.5);
    byU = slope->uv.transpose() - K->uu + Vuu;
    byV = K->uv.transpose() - K->uv + slope->vv;
    J0.bottomLeftCorner(d, d) = J1.bottomLeftCorner(d, d) = (h_ / 2) * byU;
    J0.bottomRightCorner(d, d) = (h_ / 2) * byV - K->vv;
    J1.bottomRightCorner(d, d) = (h_ / 2) * byV + K->vv;
  }
  if (!withHessian) return;
  const LagrangianDerivatives &r = four[2], &sr = four[3], &b = bent[1];
  UU = sr.uu - b.uu + dVuu;
  UV = r.uu + sr.uv - b.uv;
  UW = r.uv;
  VV = r.uv + r.uv.transpose() + sr.vv - b.vv;
  VW = r.vv;
  // U, V are means and W is the slope of the ends, a = 1/2 and +-1/h; all times h.
  const auto block = [&](MatrixX& second, double row, double column) {
    second.topLeftCorner(d, d) = (h_ / 4) * UU;
    second.topRightCorner(d, d) = (h_ / 4) * UV + (column / 2) * UW;
    second.bottomLeftCorner(d, d) = (h_ / 4) * UV.transpose() + (row / 2) * UW.transpose();
    second.bottomRightCorner(d, d) = (h_ / 4) * VV + (column / 2) * VW + (row / 2) * VW.transpose();
  };
  block(H00, -1, -1);
  block(H10, 1, -1);
  block(H11, 1, 1);
}

/// y of a row.
void JointPath::Impl::stack(const PlacedRow& p, VectorX& y) const {
  y.setZero(2 * n);
  y.head(n) = q[std::size_t(p.node)];
  if (p.row.spansInterval) y.tail(n) = q[std::size_t(p.node) + 1];
}

double JointPath::Impl::weightOf(const PlacedRow& p, const ProgramMultipliers& multipliers) const {
  if (p.condition < 0) return multipliers.weight * p.weight;
  return p.isEquality ? multipliers.equality[p.place] : multipliers.inequality[p.place];
}

void JointPath::Impl::writeConditions(ProgramDerivatives& derivatives) {
  for (const PlacedRow& p : placed) {
    stack(p, stacked);
    gradient.setZero(2 * n);
    p.row.addGradient(stacked, p.condition < 0 ? p.weight : 1, gradient);
    if (p.condition < 0) {
      derivatives.gradient.segment(variable(p.node), d).noalias() += J[std::size_t(p.node)].transpose() * gradient.head(n);
      continue;
    }
    VectorX& values = p.isEquality ? derivatives.equalityJacobian : derivatives.inequalityJacobian;
    p.blocks[0].of(values).noalias() = gradient.head(n).transpose() * J[std::size_t(p.node)];
    if (p.row.spansInterval) p.blocks[1].of(values).noalias() = gradient.tail(n).transpose() * J[std::size_t(p.node) + 1];
  }
  for (const DenseBlock& bound : boundsOfControls) derivatives.inequalityJacobian[bound.offset] = 1;
}

/// phi(q(u)):  J^T phi'' J + q'' . phi'.
void JointPath::Impl::addRowCurvatures(const ProgramMultipliers& multipliers, const VectorX& x) {
  for (int k = 0; k <= N(); ++k) {
    if (!isRead[std::size_t(k)]) continue;
    total.setZero(n);
    for (const PlacedRow& p : placed) {
      const bool isBegin = p.node == k, isEnd = p.row.spansInterval && p.node + 1 == k;
      if (!isBegin && !isEnd) continue;
      const double weight = weightOf(p, multipliers);
      stack(p, stacked);
      gradient.setZero(2 * n);
      p.row.addGradient(stacked, weight, gradient);
      total += isBegin ? gradient.head(n) : gradient.tail(n);
      for (const auto& term : p.row.products) {
        const bool ofBegin = term.i < n, alsoBegin = term.j < n;
        const auto row = J[std::size_t(p.node) + (ofBegin ? 0 : 1)].row(term.i % n),
                   column = J[std::size_t(p.node) + (alsoBegin ? 0 : 1)].row(term.j % n);
        if (ofBegin == alsoBegin) {
          if (ofBegin != isBegin) continue;
          H[std::size_t(k)].topLeftCorner(d, d).noalias() += weight * term.value * row.transpose() * column;
          H[std::size_t(k)].topLeftCorner(d, d).noalias() += weight * term.value * column.transpose() * row;
        } else if (isEnd) {
          auto block = crossOf[std::size_t(p.node)].topLeftCorner(d, d);
          if (ofBegin)
            block.noalias() += weight * term.value * column.transpose() * row;
          else
            block.noalias() += weight * term.value * row.transpose() * column;
        }
      }
    }
    U = x.segment(variable(k), d);
    lagrangian.place(U);
    lagrangian.curvature(total, work);
    H[std::size_t(k)].topLeftCorner(d, d) += work;
  }
}

void JointPath::Impl::writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& derivatives) {
  for (int k = 0; k <= N(); ++k) {
    Eigen::Index at = nodeNode[std::size_t(k)];
    for (int c = 0; c < curved; ++c)
      for (int r = c; r < curved; ++r) derivatives.hessian[at++] = H[std::size_t(k)](r, c);
    if (k == N()) continue;
    spans[std::size_t(k)].cross.of(derivatives.hessian) = crossOf[std::size_t(k)];
    for (int i = 0; i < nu; ++i)
      derivatives.hessian[spans[std::size_t(k)].effort[std::size_t(i)]] =
          problem.effort.empty() ? 0 : 2 * multipliers.weight * h() * problem.effort[std::size_t(i)];
  }
}

// ---- the program -----------------------------------------------------------------------------------------------------------------------

JointPath::JointPath(TranscriptionMethod method, const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess,
                     const MatrixX& controls)
    : impl_(std::make_unique<Impl>(method, system, std::move(problem), guess, controls)) {
  impl_->start(guess, controls, x);
}
JointPath::~JointPath() = default;

int JointPath::freedom() const { return impl_->d; }
Eigen::Ref<const VectorX> JointPath::coordinates(int n) const { return x.segment(impl_->variable(n), impl_->d); }
int JointPath::firstRow(int n) const {
  return impl_->isCollocation() ? impl_->spans[std::size_t(n)].rows[1] : impl_->balance[std::size_t(n)];
}
const ProgramStructure& JointPath::structure() const { return impl_->structure; }
const ControlProblem& JointPath::problem() const { return impl_->problem; }
double JointPath::duration() const { return impl_->problem.duration; }

const VectorX& JointPath::node(int n) const {
  impl_->lagrangian.configuration(coordinates(n), impl_->shown);
  return impl_->shown;
}

const MatrixX& JointPath::controls() const {
  for (int k = 0; k < impl_->N(); ++k) impl_->controls.col(k) = x.segment(impl_->controlVariable(k), impl_->nu);
  return impl_->controls;
}

Eigen::Ref<const VectorX> JointPath::control(int interval) const { return x.segment(impl_->controlVariable(interval), impl_->nu); }

bool JointPath::evaluate(ProgramValues& values) {
  Impl& m = *impl_;
  if (!x.allFinite()) return false;
  m.placeNodes(x);
  values.objective = m.problem.durationWeight * m.problem.duration;
  values.equality.setZero();
  for (int k = 0; k < m.N(); ++k) {
    m.findInterval(k, x, false, nullptr);
    for (int side = 0; side < 2; ++side) {
      const int row = m.spans[std::size_t(k)].rows[std::size_t(side)];
      if (row >= 0) values.equality.segment(row, m.d) += m.residual.segment(side * m.d, m.d);
    }
    for (int i = 0; i < m.nu && !m.problem.effort.empty(); ++i)
      values.objective += m.h() * m.problem.effort[std::size_t(i)] * m.tau[i] * m.tau[i];
  }
  const auto addEnd = [&](int first, int node, double sign, const VectorX& given) {
    if (first < 0) return;
    auto rows = values.equality.segment(first, m.d);
    if (m.isCollocation()) {
      rows = x.segment(m.variable(node) + m.d, m.d) - given;
    } else {
      rows += sign * given;
    }
  };
  addEnd(m.firstBegin, 0, 1, m.begin);
  addEnd(m.firstEnd, m.N(), -1, m.end);
  for (const Impl::PlacedRow& p : m.placed) {
    m.stack(p, m.stacked);
    const double phi = p.row.value(m.stacked);
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
    for (const int i : m.boundedControls) values.inequality[row++] = x[m.controlVariable(k) + i];
  return std::isfinite(values.objective) && values.equality.allFinite();
}

bool JointPath::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  Impl& m = *impl_;
  if (!x.allFinite()) return false;
  m.placeNodes(x);
  derivatives.gradient.setZero();
  if (multipliers) {
    for (MatrixX& H : m.H) H.setZero();
    for (MatrixX& H : m.crossOf) H.setZero();
  }
  for (int k = 0; k < m.N(); ++k) {
    m.findInterval(k, x, true, multipliers ? &multipliers->equality : nullptr);
    const Impl::Interval& span = m.spans[std::size_t(k)];
    for (int side = 0; side < 2; ++side) {
      if (span.rows[std::size_t(side)] < 0) continue;
      const auto& blocks = span.blocks[std::size_t(side)];
      blocks[0].of(derivatives.equalityJacobian) = m.J0.middleRows(side * m.d, m.d);
      blocks[1].of(derivatives.equalityJacobian) = m.Jt.middleRows(side * m.d, m.d);
      blocks[2].of(derivatives.equalityJacobian) = m.J1.middleRows(side * m.d, m.d);
    }
    for (int i = 0; i < m.nu && !m.problem.effort.empty(); ++i)
      derivatives.gradient[m.controlVariable(k) + i] = 2 * m.h() * m.problem.effort[std::size_t(i)] * m.tau[i];
    if (!multipliers) continue;
    m.H[std::size_t(k)] += m.H00, m.H[std::size_t(k) + 1] += m.H11, m.crossOf[std::size_t(k)] += m.H10;
  }
  if (m.isCollocation()) {
    if (m.firstBegin >= 0) m.byBegin.of(derivatives.equalityJacobian).setIdentity();
    if (m.firstEnd >= 0) m.byEnd.of(derivatives.equalityJacobian).setIdentity();
  }
  m.writeConditions(derivatives);
  if (!derivatives.equalityJacobian.allFinite()) return false;
  if (!multipliers) return true;
  m.addRowCurvatures(*multipliers, x);
  m.writeHessian(*multipliers, derivatives);
  return derivatives.hessian.allFinite();
}

/// As nodes on a manifold: no joint turns by more than half a radian in an iteration.
double JointPath::longestFactor(const Eigen::Ref<const VectorX>& increment) const {
  constexpr double farthest = 0.5;
  double largest = 0;
  for (int k = 0; k <= impl_->N(); ++k)
    for (int i = 0; i < impl_->d; ++i)
      if (!impl_->lagrangian.isLength(i)) largest = std::max(largest, std::abs(increment[impl_->variable(k) + i]));
  return largest > farthest ? farthest / largest : 1;
}

std::string JointPath::nameOfVariable(int i) const {
  const Impl& m = *impl_;
  const int node = i / (m.z + m.nu), within = i % (m.z + m.nu);
  if (within >= m.z) return "control '" + m.problem.actuators[std::size_t(within - m.z)].name + "' of interval " + std::to_string(node);
  const char* const kind = within < m.d ? "coordinate" : m.hasRates() ? "rate" : "momentum";
  return kind + std::string(" of ") + m.lagrangian.nameOfCoordinate(within % m.d) + " at node " + std::to_string(node);
}

std::string JointPath::nameOfEquality(int i) const {
  const Impl& m = *impl_;
  const auto within = [&](int first) { return first >= 0 && i >= first && i < first + m.d; };
  const auto of = [&](int first) { return " of " + m.lagrangian.nameOfCoordinate(i - first); };
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0 && p.isEquality && p.place == i)
      return m.problem.conditions[std::size_t(p.condition)].row.name + " at node " + std::to_string(p.node);
  if (m.isCollocation()) {
    if (within(m.firstBegin)) return "initial motion" + of(m.firstBegin);
    if (within(m.firstEnd)) return "final motion" + of(m.firstEnd);
    for (int k = 0; k < m.N(); ++k)
      for (std::size_t side = 0; side < 2; ++side)
        if (const int first = m.spans[std::size_t(k)].rows[side]; within(first))
          return (side == 0 ? "rate" : "balance of momentum") + of(first) + " in interval " + std::to_string(k);
  } else {
    for (int k = 0; k <= m.N(); ++k)
      if (const int first = m.balance[std::size_t(k)]; within(first))
        return "balance of momentum" + of(first) + " at node " + std::to_string(k);
  }
  return NonlinearProgram::nameOfEquality(i);
}

std::string JointPath::nameOfInequality(int i) const {
  const Impl& m = *impl_;
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0 && !p.isEquality && p.place == i)
      return m.problem.conditions[std::size_t(p.condition)].row.name + " at node " + std::to_string(p.node);
  const int bounded = int(m.boundedControls.size()), number = i - m.firstControlRow;
  return "bounds of control '" + m.problem.actuators[std::size_t(m.boundedControls[std::size_t(number % bounded)])].name +
         "' in interval " + std::to_string(number / bounded);
}

JointPath::Units JointPath::units() const {
  const Impl& m = *impl_;
  double mass = 0;
  for (const Block& block : m.system.model().blocks()) mass += m.system.mass().coeff(block.q, block.q);
  const double L = m.system.model().characteristicLength(), T = m.problem.duration;
  Units units;
  units.variable.setOnes(m.structure.variables());
  units.equality.setOnes(m.structure.equalities());
  units.inequality.setOnes(m.structure.inequalities());
  VectorX place(m.d), rate(m.d), momentum(m.d);
  for (int i = 0; i < m.d; ++i) {
    place[i] = m.lagrangian.isLength(i) ? L : 1;
    rate[i] = place[i] / T;
    momentum[i] = mass * L * L / (T * place[i]);
  }
  double objective = m.problem.durationWeight * T;
  VectorX control(m.nu);
  for (int i = 0; i < m.nu; ++i) {
    control[i] = 0;
    for (int j = 0; j < m.d; ++j)
      if (m.B(j, i) != 0) control[i] = std::max(control[i], momentum[j] / T / std::abs(m.B(j, i)));
    if (!m.problem.effort.empty()) objective += T * m.problem.effort[std::size_t(i)] * control[i] * control[i];
  }
  if (objective > 0) units.objective = objective;
  for (int k = 0; k <= m.N(); ++k) {
    units.variable.segment(m.variable(k), m.d) = place;
    if (m.isCollocation()) units.variable.segment(m.variable(k) + m.d, m.d) = m.hasRates() ? rate : momentum;
    if (k == m.N()) continue;
    units.variable.segment(m.controlVariable(k), m.nu) = control;
    for (std::size_t side = 0; side < 2; ++side)
      if (const int first = m.spans[std::size_t(k)].rows[side]; first >= 0)
        units.equality.segment(first, m.d) = m.hasRates() && side == 0 ? rate : momentum;
  }
  for (const int first : {m.firstBegin, m.firstEnd})
    if (first >= 0) units.equality.segment(first, m.d) = m.hasRates() ? rate : momentum;
  for (const Impl::PlacedRow& p : m.placed)
    if (p.condition >= 0)
      (p.isEquality ? units.equality : units.inequality)[p.place] = m.problem.conditions[std::size_t(p.condition)].row.unit;
  int row = m.firstControlRow;
  for (int k = 0; k < m.N(); ++k)
    for (const int i : m.boundedControls) units.inequality[row++] = control[i];
  return units;
}

void JointPath::jointMomenta(int interval, VectorX& left, VectorX& right) const {
  Impl& m = *impl_;
  m.findInterval(interval, x, false, nullptr);
  if (!m.isCollocation()) {
    left = -m.residual.head(m.d);
    right = m.residual.tail(m.d);
    return;
  }
  // residual: what the second end has less what the interval brings.
  VectorX residual = m.residual.tail(m.d);
  if (m.hasRates()) {
    const auto momentum = [&](int node) {
      m.atU[0] = coordinates(node), m.atV[0] = x.segment(m.variable(node) + m.d, m.d);
      m.lagrangian.kinetic<1>(m.atU, m.atV, m.one);
      return m.one[0].v;
    };
    left = momentum(interval);
    m.findMiddle(interval, x);
    m.atU[0] = m.U, m.atV[0] = m.V;
    m.lagrangian.kinetic<1>(m.atU, m.atV, m.one);
    m.lagrangian.potential(m.U, m.now, m.Vu, m.Vuu);
    right = left + m.h() * (m.one[0].u - m.Vu + m.force);
  } else {
    left = x.segment(m.variable(interval) + m.d, m.d);
    right = x.segment(m.variable(interval + 1) + m.d, m.d) - residual;
  }
}

/// Along the tangent space those of the method, across it those that discrete mechanics of directors has on the same nodes.
void JointPath::momenta(int interval, VectorX& left, VectorX& right) const {
  Impl& m = *impl_;
  VectorX p0, p1, q0, q1;
  jointMomenta(interval, p0, p1);
  m.lagrangian.configuration(coordinates(interval), q0);
  const MatrixX J0 = m.lagrangian.jacobian();
  m.lagrangian.configuration(coordinates(interval + 1), q1);
  const MatrixX J1 = m.lagrangian.jacobian();
  const VectorX tau = control(interval);
  left.resize(m.n), right.resize(m.n);
  m.directors.left(q0, q1, interval * m.h(), m.h(), left);
  m.directors.right(q0, q1, interval * m.h(), m.h(), right);
  m.actuation.addForce(q0, interval * m.h(), tau, m.h() / 2, left);
  m.actuation.addForce(q1, (interval + 1) * m.h(), tau, m.h() / 2, right);
  left = -left;
  const auto replace = [&](const MatrixX& J, const VectorX& p, VectorX& w) {
    const MatrixX MJ = m.system.mass() * J, reduced = J.transpose() * MJ;
    w -= MJ * reduced.ldlt().solve(J.transpose() * w - p);
  };
  replace(J0, p0, left);
  replace(J1, p1, right);
}

VectorX JointPath::unbalanced(int k) const {
  const ControlProblem& problem = impl_->problem;
  VectorX sum = VectorX::Zero(impl_->n), left, right;
  if ((k == 0 && !problem.beginMomentum) || (k == intervals() && !problem.endMomentum)) return sum;
  if (k == 0) sum += *problem.beginMomentum;
  if (k == intervals()) sum -= *problem.endMomentum;
  if (k > 0) {
    momenta(k - 1, left, right);
    sum += right;
  }
  if (k < intervals()) {
    momenta(k, left, right);
    sum -= left;
  }
  return sum;
}

VectorX JointPath::velocity(int k) const {
  Impl& m = *impl_;
  VectorX left, right;
  jointMomenta(std::min(k, intervals() - 1), left, right);
  m.lagrangian.place(coordinates(k));
  const MatrixX& dq = m.lagrangian.jacobian();
  if (k == intervals()) left = m.problem.endMomentum ? VectorX(dq.transpose() * *m.problem.endMomentum) : right;
  const MatrixX mass = dq.transpose() * (m.system.mass() * dq);
  return dq * mass.ldlt().solve(left);
}

double JointPath::largestTurn() const { return tendril::largestTurn(impl_->system.model(), *this); }

}
