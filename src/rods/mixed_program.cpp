#include "rods/rod_program.h"
#include "tendril/model/state.h"

#include <algorithm>

namespace tendril {

MixedProgram::MixedProgram(const StrainRod& rod, const RodEnds& ends) : RodProgram(rod, ends), twist_(rod_.element()) {
  const int N = rod_.elements(), stride = twist_.stride(), stagesOfStrains = rod_.size() / stride;
  for (int k = 0; k <= N; ++k)
    for (int i = 0; i < (k > 0 ? 6 : 0) + (k < stagesOfStrains ? stride : 0); ++i) structure_.addVariable(k);
  for (int i = 0; i < N; ++i) declareElement(i);
  for (int i = 0; i < rod_.size(); ++i) structure_.hessian.push_back({strainAt(i), strainAt(i)});
  const int first = nodeAt(N);
  for (int k = 0; k < ends_.rows(); ++k) {
    const int row = structure_.addEquality(N);
    if (k < ends_.positions())
      structure_.equalityJacobian.push_back({row, first + k});
    else
      for (int j = 3; j < 6; ++j) structure_.equalityJacobian.push_back({row, first + j});
  }
  for (int j = 3; j < 6; ++j)
    for (int i = j; i < 6; ++i) structure_.hessian.push_back({first + i, first + j});
  nodes_.resize(std::size_t(N) + 1);
  start(rod_.strains());
}

int MixedProgram::strainAt(int strain) const {
  const int stride = twist_.stride(), node = strain / stride;
  return (node > 0 ? nodeAt(node) + 6 : 0) + strain % stride;
}

/// (omega_i, w, omega_{i+1}); the first node does not move.
std::vector<int> MixedProgram::localVariables(int i) const {
  std::vector<int> variables;
  for (int k = 3; k < 6 && i > 0; ++k) variables.push_back(nodeAt(i) + k);
  for (int k = 0; k < twist_.size(); ++k) variables.push_back(strainAt(twist_.stride() * i + k));
  for (int k = 3; k < 6; ++k) variables.push_back(nodeAt(i + 1) + k);
  return variables;
}

/// Entries in the order of differentiate().
void MixedProgram::declareElement(int i) {
  const std::vector<int> local = localVariables(i);
  int row = 0;
  for (int k = 0; k < 6; ++k) row = structure_.addEquality(i);
  const int first = row - 5;
  for (int k = 0; k < 3; ++k) {
    structure_.equalityJacobian.push_back({first + k, nodeAt(i + 1) + k});
    if (i > 0) structure_.equalityJacobian.push_back({first + k, nodeAt(i) + k});
  }
  for (const int variable : local)
    for (int k = 0; k < 6; ++k) structure_.equalityJacobian.push_back({first + k, variable});
  for (std::size_t b = 0; b < local.size(); ++b)
    for (std::size_t a = b; a < local.size(); ++a)
      structure_.hessian.push_back({std::max(local[a], local[b]), std::min(local[a], local[b])});
}

StrainRod& MixedProgram::rod() {
  if (rod_.strains() != strains_) rod_.place(ends_.begin(), strains_);
  return rod_;
}

void MixedProgram::start(const VectorX& strains) {
  strains_ = strains;
  rod_.place(ends_.begin(), strains);
  for (int k = 0; k <= rod_.elements(); ++k) nodes_[std::size_t(k)] = rod_.frame(k);
}

void MixedProgram::getPoint(Eigen::Ref<VectorX> numbers) const {
  for (int k = 1; k <= rod_.elements(); ++k) storePose(node(k), numbers.data() + 12 * (k - 1));
  numbers.tail(rod_.size()) = strains_;
}

void MixedProgram::setPoint(const Eigen::Ref<const VectorX>& numbers) {
  for (int k = 1; k <= rod_.elements(); ++k) nodes_[std::size_t(k)] = loadPose(numbers.data() + 12 * (k - 1));
  strains_ = numbers.tail(rod_.size());
}

void MixedProgram::retract(const Eigen::Ref<const VectorX>& increment) {
  for (int k = 1; k <= rod_.elements(); ++k) {
    Pose& H = nodes_[std::size_t(k)];
    H.x += increment.segment<3>(nodeAt(k));
    H.R = H.R * so3::exp(increment.segment<3>(nodeAt(k) + 3));
  }
  for (int i = 0; i < rod_.size(); ++i) strains_[i] += increment[strainAt(i)];
}

/// No node turns by more than a radian at once.
double MixedProgram::longestFactor(const Eigen::Ref<const VectorX>& increment) const {
  double turn = 1;
  for (int k = 1; k <= rod_.elements(); ++k) turn = std::max(turn, increment.segment<3>(nodeAt(k) + 3).norm());
  return 1 / turn;
}

bool MixedProgram::evaluate(ProgramValues& values) {
  if (!strains_.allFinite()) return false;
  const RodProperties& properties = rod_.properties();
  values.objective = 0.5 * rod_.elasticity().dot((strains_ - rod_.natural()).cwiseAbs2());
  for (int k = 0; k <= rod_.elements(); ++k) values.objective -= rod_.shares()[std::size_t(k)] * properties.weight.dot(node(k).x);
  for (int i = 0; i < rod_.elements(); ++i) {
    const Pose tau = se3::step(rod_.map(), twist_(strainsOf(i)));
    values.equality.segment<3>(6 * i) = node(i + 1).x - node(i).x - node(i).R * tau.x;
    values.equality.segment<3>(6 * i + 3) = so3::log(tau.R.transpose() * node(i).R.transpose() * node(i + 1).R);
  }
  ends_.evaluate(node(rod_.elements()), values.equality.tail(ends_.rows()));
  return std::isfinite(values.objective) && values.equality.allFinite();
}

void MixedProgram::find(int i, Element& e) const {
  const Vector6 x = twist_(strainsOf(i));
  e.tau = se3::step(rod_.map(), x);
  e.T = se3::stepTangent(rod_.map(), x);
  e.E = e.tau.R.transpose() * node(i).R.transpose() * node(i + 1).R;
  e.c = so3::log(e.E);
  twist_.jacobian(strainsOf(i), e.X);
  e.S.noalias() = e.T * e.X;
}

/// Turned by exp(a) exp(b) exp(d) from the left, a = -S_w dw, b = -Q^T omega_i, d = E omega_{i+1}: E of an element whose ends and strains
/// move. So the second derivatives of  moment . log(E) - force . R_i exp(omega_i) t(w)  are products of these with its curvature, and what
/// the step's own second derivatives leave.
void MixedProgram::localHessian(int i, const Element& e, const Vector3& force, const Vector3& moment, LocalHessian& H) const {
  const int n = twist_.size(), first = i > 0 ? 3 : 0, size = first + n + 3;
  const StrainRod::EndFunction turn = logarithmOf(e.E, e.c, moment);
  const Matrix3& Q = e.tau.R;
  const Vector3 g = node(i).R.transpose() * force, h = Q.transpose() * g, &t = e.tau.x;
  const auto Su = e.S.topRows<3>(), Sw = e.S.bottomRows<3>();

  H.setZero(size, size);
  Vector6 f;
  f << h, turn.couple;
  const Vector6 x = twist_(strainsOf(i));
  ElementTwist::Block own = -e.X.transpose() * se3::stepTangentTransposeDerivative(rod_.map(), x, f) * e.X;
  own.noalias() -= Su.transpose() * so3::hat(h) * Sw;
  own.noalias() += Sw.transpose() * turn.curvature * Sw;
  H.block(first, first, n, n) = 0.5 * (own + own.transpose());
  ElementTwist::Block curved = ElementTwist::Block::Zero(n, n);
  twist_.addHessian(strainsOf(i), e.T.transpose() * f, curved);
  H.block(first, first, n, n) -= curved;

  const Matrix3 C = e.E.transpose() * turn.curvature * e.E;
  H.bottomRightCorner<3, 3>() = 0.5 * (C + C.transpose());
  H.block(first, size - 3, n, 3).noalias() = -Sw.transpose() * turn.curvature * e.E;
  H.block(size - 3, first, 3, n) = H.block(first, size - 3, n, 3).transpose();
  if (first == 0) return;
  const Matrix3 B = Q * turn.curvature * Q.transpose() - 0.5 * (g * t.transpose() + t * g.transpose());
  H.topLeftCorner<3, 3>() = 0.5 * (B + B.transpose()) + g.dot(t) * Matrix3::Identity();
  H.block(0, first, 3, n).noalias() = (Sw.transpose() * turn.curvature * Q.transpose()).transpose() + so3::hat(g) * Q * Su;
  H.block(first, 0, n, 3) = H.block(0, first, 3, n).transpose();
  H.topRightCorner<3, 3>().noalias() = -Q * turn.curvature * e.E;
  H.bottomLeftCorner<3, 3>() = H.topRightCorner<3, 3>().transpose();
}

bool MixedProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) {
  if (!strains_.allFinite()) return false;
  const int N = rod_.elements(), n = twist_.size();
  derivatives.gradient.setZero();
  for (int i = 0; i < rod_.size(); ++i) derivatives.gradient[strainAt(i)] = rod_.elasticity()[i] * (strains_[i] - rod_.natural()[i]);
  for (int k = 1; k <= N; ++k) derivatives.gradient.segment<3>(nodeAt(k)) = -rod_.shares()[std::size_t(k)] * rod_.properties().weight;
  double* J = derivatives.equalityJacobian.data();
  double* second = derivatives.hessian.data();
  Element e;
  LocalHessian H;
  const auto put = [&](const Matrix3& position, const Matrix3& rotation) {
    for (int k = 0; k < 3; ++k, J += 6) Eigen::Map<Vector3>{J} = position.col(k), Eigen::Map<Vector3>{J + 3} = rotation.col(k);
  };
  for (int i = 0; i < N; ++i) {
    find(i, e);
    const Matrix3 inverse = so3::tangentInverse(e.c).transpose();
    const Matrix3& R = node(i).R;
    for (int k = 0; k < 3; ++k) {
      *J++ = 1;
      if (i > 0) *J++ = -1;
    }
    if (i > 0) put(R * so3::hat(e.tau.x), -inverse * e.tau.R.transpose());
    const Matrix3 RQ = R * e.tau.R;
    for (int k = 0; k < n; ++k, J += 6)
      Eigen::Map<Vector3>{J} = -RQ * e.S.col(k).head<3>(), Eigen::Map<Vector3>{J + 3} = -inverse * e.S.col(k).tail<3>();
    put(Matrix3::Zero(), inverse * e.E);
    if (!multipliers) continue;
    localHessian(i, e, multipliers->equality.segment<3>(6 * i), multipliers->equality.segment<3>(6 * i + 3), H);
    for (int b = 0; b < H.cols(); ++b)
      for (int a = b; a < H.cols(); ++a) *second++ = H(a, b);
  }
  const Pose& end = node(N);
  if (ends_.positions() > 0) J = std::fill_n(J, 3, 1.0);
  if (ends_.rows() > ends_.positions()) {
    const Matrix3 turn = so3::tangentInverse(ends_.turn(end));
    for (int k = 0; k < 3; ++k, J += 3) Eigen::Map<Vector3>{J} = turn.row(k).transpose();
  }
  if (!multipliers) return true;
  for (int i = 0; i < rod_.size(); ++i) *second++ = multipliers->weight * rod_.elasticity()[i];
  const Matrix3 C = end.R.transpose() * ends_.weighted(end, multipliers->equality.tail(ends_.rows())).curvature * end.R;
  for (int j = 0; j < 3; ++j)
    for (int i = j; i < 3; ++i) *second++ = 0.5 * (C(i, j) + C(j, i));
  return derivatives.hessian.allFinite();
}

std::string MixedProgram::nameOfEquality(int i) const {
  const int elements = 6 * rod_.elements();
  if (i >= elements) return ends_.name(i - elements);
  return (i % 6 < 3 ? "position" : "orientation") + std::string(" at the end of element ") + std::to_string(i / 6) + ", component " +
         std::string(1, "123"[i % 3]);
}

std::string MixedProgram::nameOfVariable(int i) const {
  const int stride = twist_.stride(), stage = 6 + stride;
  if (i < stride) return nameOfStrain(i);
  const int node = 1 + (i - stride) / stage, k = (i - stride) % stage;
  if (k >= 6) return nameOfStrain(stride * node + k - 6);
  return (k < 3 ? "position" : "rotation") + std::string(" of node ") + std::to_string(node) + ", component " +
         std::string(1, "123"[k % 3]);
}

}
