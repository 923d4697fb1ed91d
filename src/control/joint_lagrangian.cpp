#include "control/joint_lagrangian.h"

#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

constexpr const char* remedy = "; method: dmocc takes it";

Matrix4 homogeneous(const VectorX& q, int first) {
  Matrix4 Q = Matrix4::Zero();
  Q(0, 0) = 1;
  Q.bottomRows<3>() = Eigen::Map<const Matrix34>(q.data() + first);
  return Q;
}

Matrix4 inverse(const Matrix4& Q) {
  Matrix4 inverse = Matrix4::Zero();
  inverse(0, 0) = 1;
  inverse.bottomRightCorner<3, 3>() = Q.bottomRightCorner<3, 3>().transpose();
  inverse.col(0).tail<3>() = -(inverse.bottomRightCorner<3, 3>() * Q.col(0).tail<3>());
  return inverse;
}

Matrix4 hat(const Vector6& twist) {
  Matrix4 S = Matrix4::Zero();
  S.col(0).tail<3>() = twist.head<3>();
  S.bottomRightCorner<3, 3>() = so3::hat(twist.tail<3>());
  return S;
}

Vector3 axis(const Matrix4& screw) { return so3::vee(screw.bottomRightCorner<3, 3>()); }
bool isTranslation(const Matrix4& screw) { return axis(screw).isZero(1e-12); }

const auto times = [](const auto& a, const auto& b) -> Matrix4 { return a * b; };
const auto dot = [](const Matrix4& a, const Matrix4& b) { return a.cwiseProduct(b).sum(); };

template <std::size_t K> MultiJet<Matrix4, K> zero() {
  MultiJet<Matrix4, K> jet;
  for (Matrix4& part : jet.part) part.setZero();
  return jet;
}

template <std::size_t K> MultiJet<Matrix4, K> product(const MultiJet<Matrix4, K>& a, const MultiJet<Matrix4, K>& b) {
  MultiJet<Matrix4, K> result = zero<K>();
  addProduct(a, b, result, times);
  return result;
}

template <std::size_t K> MultiJet<Matrix4, K> product(const MultiJet<Matrix4, K>& a, const Matrix4& b) {
  MultiJet<Matrix4, K> result;
  for (std::size_t k = 0; k < K; ++k) result.part[k].noalias() = a.part[k] * b;
  return result;
}

template <std::size_t K> MultiJet<Matrix4, K> difference(const MultiJet<Matrix4, K>& a, const MultiJet<Matrix4, K>& b) {
  MultiJet<Matrix4, K> result;
  for (std::size_t k = 0; k < K; ++k) result.part[k] = a.part[k] - b.part[k];
  return result;
}

template <std::size_t K> MultiJet<Matrix4, K> transposed(const MultiJet<Matrix4, K>& a) {
  MultiJet<Matrix4, K> result;
  for (std::size_t k = 0; k < K; ++k) result.part[k] = a.part[k].transpose();
  return result;
}

template <std::size_t K> MultiJet<double, K> inner(const MultiJet<Matrix4, K>& a, const MultiJet<Matrix4, K>& b) {
  MultiJet<double, K> result{};
  addProduct(a, b, result, dot);
  return result;
}

template <std::size_t K> MultiJet<double, K> component(const std::array<VectorX, K>& x, int i) {
  MultiJet<double, K> jet;
  for (std::size_t k = 0; k < K; ++k) jet.part[k] = x[std::size_t(k)][i];
  return jet;
}

template <std::size_t K> MultiJet<double, K> component(const std::array<const VectorX*, K>& x, int i) {
  MultiJet<double, K> jet;
  for (std::size_t k = 0; k < K; ++k) jet.part[k] = (*x[std::size_t(k)])[i];
  return jet;
}

/// exp(S u): S^3 = -S of a rotation about a line, S^2 = 0 of a translation.
template <std::size_t K> MultiJet<Matrix4, K> exponential(const Matrix4& S, const MultiJet<double, K>& u) {
  MultiJet<Matrix4, K> E;
  if (isTranslation(S)) {
    for (std::size_t k = 0; k < K; ++k) E.part[k] = u.part[k] * S;
  } else {
    const double s = std::sin(u.part[0]), c = std::cos(u.part[0]);
    const MultiJet<double, K> sine = compose(u, s, c, -s), versine = compose(u, 1 - c, s, c);
    const Matrix4 square = S * S;
    for (std::size_t k = 0; k < K; ++k) E.part[k] = sine.part[k] * S + versine.part[k] * square;
  }
  E.part[0] += Matrix4::Identity();
  return E;
}

/// T S T^-1 of a rigid motion T, whose inverse is bilinear in it.
template <std::size_t K> MultiJet<Matrix4, K> adjoint(const MultiJet<Matrix4, K>& T, const Matrix4& S) {
  MultiJet<Matrix4, K> inverse = zero<K>();
  inverse.part[0](0, 0) = 1;
  for (std::size_t k = 0; k < K; ++k)
    inverse.part[k].template bottomRightCorner<3, 3>() = T.part[k].template bottomRightCorner<3, 3>().transpose();
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t i = 0; i <= k; ++i)
      if ((i & k) == i)
        inverse.part[k].col(0).template tail<3>() -=
            inverse.part[i].template bottomRightCorner<3, 3>() * T.part[k ^ i].col(0).template tail<3>();
  return product(product(T, S), inverse);
}

}

void LagrangianDerivatives::setZero(int d) {
  u.setZero(d), v.setZero(d);
  uu.setZero(d, d), uv.setZero(d, d), vv.setZero(d, d);
}

template <std::size_t K> void JointLagrangian::Motion<K>::resize(int d) {
  for (auto* jets : {&pose, &screw, &before, &bracket, &turned, &inertial, &turnedInertial, &force, &turnedForce})
    jets->resize(std::size_t(d));
}

template <> JointLagrangian::Motion<1>& JointLagrangian::motion() { return motion1_; }
template <> JointLagrangian::Motion<2>& JointLagrangian::motion() { return motion2_; }
template <> JointLagrangian::Motion<4>& JointLagrangian::motion() { return motion4_; }

JointLagrangian::JointLagrangian(const DirectorSystem& system, const VectorX& q0)
    : system_(system), tree_(system), d_(tree_.dimension()), q0_(q0), unit_(VectorX::Ones(d_)), q_(q0), work_(VectorX::Zero(system.size())),
      J_(MatrixX::Zero(system.size(), d_)), H_(system.matrix()), dH_(H_) {
  layOut();
  check();
  motion1_.resize(d_), motion2_.resize(d_), motion4_.resize(d_);
  for (int i = 0; i < d_; ++i)
    if (isLength(i)) unit_[i] = system.model().characteristicLength();
}

void JointLagrangian::layOut() {
  const Model& model = system_.model();
  MatrixX A;
  tree_.matrix(q0_, 0, A);
  screws_.resize(std::size_t(d_)), previous_.assign(std::size_t(d_), -1), block_.assign(std::size_t(d_), -1);
  for (int b = 0; b < int(model.blocks().size()); ++b) {
    const Block& block = model.blocks()[std::size_t(b)];
    if (block.kind != Block::Kind::Pose)
      throw InputError("joint coordinates: " + model.nameOfBlock(b) + " is no rigid body of a tree of joints" + remedy);
    int turns = 0;
    for (int i = tree_.first(b); i < tree_.first(b) + tree_.freedom(b); ++i) turns += isLength(i) ? 0 : 1;
    if (turns > 1)
      throw InputError("joint coordinates: " + tree_.nameOfCoordinate(tree_.first(b)) +
                       " turns about more than one axis; they describe revolute, prismatic and cylindrical joints" + remedy);
    Body body{.q = block.q, .chain = {}, .begin = homogeneous(q0_, block.q), .inertia = {}};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) body.inertia(i, j) = system_.mass().coeff(block.q + 3 * i, block.q + 3 * j);
    body.inertia = (body.begin * body.inertia * body.begin.transpose()).eval();
    for (int ancestor = b; ancestor >= 0; ancestor = tree_.parent(ancestor))
      for (int i = tree_.first(ancestor) + tree_.freedom(ancestor) - 1; i >= tree_.first(ancestor); --i) body.chain.push_back(i);
    std::reverse(body.chain.begin(), body.chain.end());
    for (int i = tree_.first(b); i < tree_.first(b) + tree_.freedom(b); ++i) {
      screws_[std::size_t(i)] = body.begin * hat(A.col(i).segment<6>(block.v)) * inverse(body.begin);
      block_[std::size_t(i)] = b;
    }
    for (std::size_t k = 1; k < body.chain.size(); ++k) previous_[std::size_t(body.chain[k])] = body.chain[k - 1];
    bodies_.push_back(std::move(body));
  }
}

void JointLagrangian::check() const {
  if (!tree_.closure().empty())
    throw InputError("joint coordinates: " + system_.nameOfConstraint(system_.internalConstraints() + tree_.closure()[0]) +
                     " closes a loop, or is no joint that a tree holds" + remedy);
  if (system_.hasForces()) throw InputError(std::string("joint coordinates: dampers and loads are not known to them") + remedy);
  const SparseMatrix& M = system_.mass();
  for (int j = 0; j < M.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(M, j); it; ++it)
      if (it.row() / 12 != j / 12 && it.value() != 0)
        throw InputError("joint coordinates: inertia couples " + system_.nameOfCoordinate(j) + " with " +
                         system_.nameOfCoordinate(int(it.row())) + ", as that of a beam does" + remedy);
}

template <std::size_t K>
void JointLagrangian::move(const std::array<const VectorX*, K>& u, const std::array<VectorX, K>* v, Motion<K>& m) const {
  for (int i = 0; i < d_; ++i) {
    const std::size_t at = std::size_t(i);
    const MultiJet<Matrix4, K> E = exponential(screws_[at], component(u, i));
    if (previous_[at] < 0) {
      m.pose[at] = E;
      m.screw[at] = zero<K>();
      m.screw[at].part[0] = screws_[at];
      m.before[at] = m.bracket[at] = zero<K>();
      continue;
    }
    const std::size_t p = std::size_t(previous_[at]);
    m.pose[at] = product(m.pose[p], E);
    m.screw[at] = adjoint(m.pose[p], screws_[at]);
    if (!v) continue;
    m.before[at] = m.before[p];
    addProduct(component(*v, previous_[at]), m.screw[p], m.before[at], [](double a, const Matrix4& S) -> Matrix4 { return a * S; });
    m.bracket[at] = difference(product(m.before[at], m.screw[at]), product(m.screw[at], m.before[at]));
  }
}

template <std::size_t K>
void JointLagrangian::kinetic(const std::array<VectorX, K>& u, const std::array<VectorX, K>& v,
                              std::array<LagrangianDerivatives, K>& result) {
  Motion<K>& m = motion<K>();
  std::array<const VectorX*, K> places;
  for (std::size_t k = 0; k < K; ++k) places[k] = &u[k];
  move<K>(places, &v, m);
  for (LagrangianDerivatives& part : result) part.setZero(d_);
  for (const Body& body : bodies_)
    if (!body.chain.empty()) addKinetic(body, v, m, result);
  for (LagrangianDerivatives& part : result) {
    part.uu.template triangularView<Eigen::StrictlyLower>() = part.uu.transpose();
    part.vv.template triangularView<Eigen::StrictlyLower>() = part.vv.transpose();
  }
}

/// With V the twist of the body, V_a that of what carries joint a, C_a = V_a s_a - s_a V_a, W = Q S Q^T, X = V W and A_a = s_a V + C_a,
/// which is dQ'/du_a Q^-1:
///
///     K = <V, V W>/2,   dK/dv_a = <s_a, X>,   dK/du_a = <A_a, X>,   and for a before c, as d2Q/du_a du_c = s_a s_c Q,
///     K_vv = <s_a, s_c W>,   K_uv = <A_a, s_c W> + <s_a s_c, X>,   K_uu = <A_a, A_c W> + <s_a A_c + C_a s_c, X>.
template <std::size_t K>
void JointLagrangian::addKinetic(const Body& body, const std::array<VectorX, K>& v, Motion<K>& m,
                                 std::array<LagrangianDerivatives, K>& result) const {
  const std::size_t last = std::size_t(body.chain.back());
  const MultiJet<Matrix4, K> W = product(product(m.pose[last], body.inertia), transposed(m.pose[last]));
  MultiJet<Matrix4, K> V = m.before[last];
  addProduct(component(v, int(last)), m.screw[last], V, [](double a, const Matrix4& S) -> Matrix4 { return a * S; });
  const MultiJet<Matrix4, K> X = product(V, W);
  for (const int a : body.chain) {
    const std::size_t i = std::size_t(a);
    m.turned[i] = m.bracket[i];
    addProduct(m.screw[i], V, m.turned[i], times);
    m.inertial[i] = product(m.screw[i], W);
    m.turnedInertial[i] = product(m.turned[i], W);
    m.force[i] = product(transposed(m.screw[i]), X);
    m.turnedForce[i] = product(transposed(m.bracket[i]), X);
    const MultiJet<double, K> byRate = inner(m.screw[i], X), byCoordinate = inner(m.turned[i], X);
    for (std::size_t k = 0; k < K; ++k) result[k].v[a] += byRate.part[k], result[k].u[a] += byCoordinate.part[k];
  }
  for (std::size_t first = 0; first < body.chain.size(); ++first) {
    const int a = body.chain[first];
    const std::size_t i = std::size_t(a);
    for (std::size_t second = first; second < body.chain.size(); ++second) {
      const int c = body.chain[second];
      const std::size_t j = std::size_t(c);
      const MultiJet<double, K> mass = inner(m.screw[i], m.inertial[j]), bend = inner(m.screw[j], m.force[i]),
                                mixed = inner(m.turned[i], m.inertial[j]), mixedBack = inner(m.turned[j], m.inertial[i]),
                                square = inner(m.turned[i], m.turnedInertial[j]), outer = inner(m.turned[j], m.force[i]),
                                carried = inner(m.screw[j], m.turnedForce[i]);
      for (std::size_t k = 0; k < K; ++k) {
        result[k].vv(a, c) += mass.part[k];
        result[k].uv(a, c) += mixed.part[k] + bend.part[k];
        if (a != c) result[k].uv(c, a) += mixedBack.part[k] + bend.part[k];
        result[k].uu(a, c) += square.part[k] + outer.part[k] + carried.part[k];
      }
    }
  }
}

template void JointLagrangian::kinetic<1>(const std::array<VectorX, 1>&, const std::array<VectorX, 1>&,
                                          std::array<LagrangianDerivatives, 1>&);
template void JointLagrangian::kinetic<2>(const std::array<VectorX, 2>&, const std::array<VectorX, 2>&,
                                          std::array<LagrangianDerivatives, 2>&);
template void JointLagrangian::kinetic<4>(const std::array<VectorX, 4>&, const std::array<VectorX, 4>&,
                                          std::array<LagrangianDerivatives, 4>&);

template <std::size_t K> void JointLagrangian::read(const Motion<K>& m, std::array<VectorX, K>& q, std::array<MatrixX, K>& J) const {
  q[0] = q0_;
  J[0].setZero(system_.size(), d_);
  for (std::size_t k = 1; k < K; ++k) q[k].setZero(system_.size()), J[k].setZero(system_.size(), d_);
  for (const Body& body : bodies_) {
    if (body.chain.empty()) continue;
    const MultiJet<Matrix4, K> Q = product(m.pose[std::size_t(body.chain.back())], body.begin);
    for (std::size_t k = 0; k < K; ++k) Eigen::Map<Matrix34>(q[k].data() + body.q) = Q.part[k].template bottomRows<3>();
    for (const int i : body.chain) {
      const MultiJet<Matrix4, K> moved = product(m.screw[std::size_t(i)], Q);
      for (std::size_t k = 0; k < K; ++k) Eigen::Map<Matrix34>(J[k].col(i).data() + body.q) = moved.part[k].template bottomRows<3>();
    }
  }
}

template <std::size_t K>
void JointLagrangian::addCurvature(const Body& body, const Motion<K>& m, const std::array<const VectorX*, K>& f,
                                   std::array<MatrixX, K>& C) const {
  if (body.chain.empty()) return;
  const MultiJet<Matrix4, K> Q = product(m.pose[std::size_t(body.chain.back())], body.begin);
  MultiJet<Matrix4, K> force;
  for (std::size_t k = 0; k < K; ++k) {
    force.part[k].row(0).setZero();
    force.part[k].template bottomRows<3>() = Eigen::Map<const Matrix34>(f[k]->data() + body.q);
  }
  const MultiJet<Matrix4, K> G = product(force, transposed(Q));
  for (std::size_t first = 0; first < body.chain.size(); ++first) {
    const int i = body.chain[first];
    const MultiJet<Matrix4, K> along = product(transposed(m.screw[std::size_t(i)]), G);
    for (std::size_t second = first; second < body.chain.size(); ++second) {
      const int j = body.chain[second];
      const MultiJet<double, K> value = inner(m.screw[std::size_t(j)], along);
      for (std::size_t k = 0; k < K; ++k) {
        C[k](i, j) += value.part[k];
        if (i != j) C[k](j, i) += value.part[k];
      }
    }
  }
}

void JointLagrangian::place(const VectorX& u) {
  std::array<VectorX, 1> q;
  std::array<MatrixX, 1> J;
  q[0].swap(q_), J[0].swap(J_);
  move<1>({&u}, nullptr, motion1_);
  read<1>(motion1_, q, J);
  q_.swap(q[0]), J_.swap(J[0]);
}

void JointLagrangian::configuration(const VectorX& u, VectorX& q) {
  place(u);
  q = q_;
}

void JointLagrangian::curvature(const VectorX& f, MatrixX& C) {
  std::array<MatrixX, 1> Cs;
  Cs[0].swap(C);
  Cs[0].setZero(d_, d_);
  for (const Body& body : bodies_) addCurvature<1>(body, motion1_, {&f}, Cs);
  C.swap(Cs[0]);
}

VectorX JointLagrangian::coordinates(const VectorX& q, const VectorX& near) {
  VectorX u = near;
  std::vector<Matrix4> pose(static_cast<std::size_t>(d_));
  for (int i = 0; i < d_;) {
    const Body& body = bodies_[std::size_t(block_[std::size_t(i)])];
    Matrix4 rest = homogeneous(q, body.q) * inverse(body.begin);
    const int end = tree_.first(block_[std::size_t(i)]) + tree_.freedom(block_[std::size_t(i)]), before = previous_[std::size_t(i)];
    if (before >= 0) rest = inverse(pose[std::size_t(before)]) * rest;
    Matrix4 turned = Matrix4::Identity();
    for (int j = i; j < end; ++j) {
      if (isLength(j)) continue;
      const Matrix3 R = rest.bottomRightCorner<3, 3>();
      const double angle = std::atan2(axis(screws_[std::size_t(j)]).dot(so3::vee(R)), 0.5 * (R.trace() - 1)), turn = 2 * std::numbers::pi;
      u[j] = angle + turn * std::round((near[j] - angle) / turn);
      turned = exponential(screws_[std::size_t(j)], MultiJet<double, 1>{{u[j]}}).part[0];
    }
    const Vector3 shift = rest.col(0).tail<3>() - turned.col(0).tail<3>();
    for (int j = i; j < end; ++j) {
      if (isLength(j)) u[j] = screws_[std::size_t(j)].col(0).tail<3>().dot(shift);
      const int p = previous_[std::size_t(j)];
      const Matrix4 E = exponential(screws_[std::size_t(j)], MultiJet<double, 1>{{u[j]}}).part[0];
      pose[std::size_t(j)] = p >= 0 ? Matrix4(pose[std::size_t(p)] * E) : E;
    }
    i = end;
  }
  place(u);
  if (!((q - q_).lpNorm<Eigen::Infinity>() <= 1e-9 * std::max(1.0, q.lpNorm<Eigen::Infinity>())))
    throw InputError("joint coordinates: a configuration of the first guess is none of the tree of joints");
  return u;
}

template <> JointLagrangian::Places<1>& JointLagrangian::places() { return places1_; }
template <> JointLagrangian::Places<2>& JointLagrangian::places() { return places2_; }

/// V' = J^T V_q,  V'' = J^T V_qq J + q'' . V_q; third derivatives of V in q, which gravity has not, are the central difference of V_qq,
/// exact where V is of degree four.
template <std::size_t K>
void JointLagrangian::findPotential(const std::array<const VectorX*, K>& u, double t, VectorX& gradient, std::array<MatrixX, K>& hessian) {
  auto& [q, f, J] = places<K>();
  Motion<K>& m = motion<K>();
  move<K>(u, nullptr, m);
  read<K>(m, q, J);
  for (std::size_t k = 0; k < K; ++k) f[k].setZero(system_.size()), hessian[k].setZero(d_, d_);
  system_.addPotentialGradient(q[0], t, 1, f[0]);
  std::fill_n(H_.valuePtr(), H_.nonZeros(), 0.0);
  system_.addPotentialHessian(q[0], t, 1, H_);
  gradient.noalias() = J[0].transpose() * f[0];
  if (!H_.coeffs().isZero(0)) { // gravity is linear
    product_.noalias() = H_ * J[0];
    hessian[0].noalias() = J[0].transpose() * product_;
    if constexpr (K == 2) {
      f[1].noalias() = H_ * q[1];
      hessian[1].noalias() = J[1].transpose() * product_;
      hessian[1].noalias() += product_.transpose() * J[1];
      const double size = u[1]->cwiseQuotient(unit_).norm();
      if (size > 0) {
        const double eps = 1e-3 / size;
        std::fill_n(dH_.valuePtr(), dH_.nonZeros(), 0.0);
        work_ = q[0] + eps * q[1];
        system_.addPotentialHessian(work_, t, 0.5 / eps, dH_);
        work_ = q[0] - eps * q[1];
        system_.addPotentialHessian(work_, t, -0.5 / eps, dH_);
        product_.noalias() = dH_ * J[0];
        hessian[1].noalias() += J[0].transpose() * product_;
      }
    }
  }
  std::array<const VectorX*, K> forces;
  for (std::size_t k = 0; k < K; ++k) forces[k] = &f[k];
  for (const Body& body : bodies_) addCurvature<K>(body, m, forces, hessian);
}

void JointLagrangian::potential(const VectorX& u, double t, VectorX& gradient, MatrixX& hessian, const VectorX* direction, MatrixX* along) {
  if (!direction) {
    std::array<MatrixX, 1> H;
    H[0].swap(hessian);
    findPotential<1>({&u}, t, gradient, H);
    hessian.swap(H[0]);
    return;
  }
  std::array<MatrixX, 2> H;
  H[0].swap(hessian), H[1].swap(*along);
  findPotential<2>({&u, direction}, t, gradient, H);
  hessian.swap(H[0]), along->swap(H[1]);
}

}
