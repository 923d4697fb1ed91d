#include "friction_newton.h"

#include <algorithm>

namespace tendril {

namespace {

using Rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 12, Eigen::RowMajor>>;

Rows leversOf(const FrictionSystem& system, int contact) {
  return {system.H.data() + std::size_t(system.first[contact]) * 12, system.laws[contact].size, 12};
}

}

void FrictionNewton::set(const FrictionSystem& system) {
  system_ = &system;
  maps_.resize(system.contacts());
  C_.resize(system.contacts());
  c_.resize(system.contacts());
  analysedBodies_ = false;
  analysedActive_.clear();
  largest_ = 0;
  for (const FrictionLaw& law : system.laws) largest_ = std::max(largest_, law.size);
}

void FrictionNewton::linearise(const Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  for (int i = 0; i < system_->contacts(); ++i) maps_[i].evaluate(system_->laws[i], &r[system_->first[i]], &u[system_->first[i]]);
}

bool FrictionNewton::step(const Eigen::VectorXd& r, const Eigen::VectorXd& u, double epsilon, Eigen::VectorXd& dr) {
  linearise(r, u);
  ++factorisations_;
  if (system_->hasBodies()) return stepOnBodies(epsilon, dr);
  return largest_ <= 3 ? stepOnContacts(small_, epsilon, dr) : stepOnContacts(large_, epsilon, dr);
}

bool FrictionNewton::stepOnBodies(double epsilon, Eigen::VectorXd& dr) {
  const FrictionSystem& system = *system_;
  const int none = system.bodyCount;
  if (!analysedBodies_) {
    couplings_.clear();
    for (const auto& [a, b] : system.touched)
      if (a != none && b != none) couplings_.emplace_back(a, b);
    bodies_.analyse(none, couplings_);
    analysedBodies_ = true;
  }
  bodies_.setZero();
  for (int b = 0; b < none; ++b) bodies_.add(b, b, BlockLu<6>::Block::Identity());
  rhs_.setZero(6 * (none + 1));
  for (int i = 0; i < system.contacts(); ++i) {
    const AlartCurnier& map = maps_[i];
    const Rows H = leversOf(system, i);
    const Eigen::PartialPivLU<ContactMatrix> inverse(map.A + epsilon * map.B);
    C_[i] = inverse.solve(map.B);
    c_[i] = -inverse.solve(map.F);
    const Eigen::Matrix<double, 12, 1> push = H.transpose() * c_[i];
    for (int side = 0; side < 2; ++side) rhs_.segment<6>(6 * system.touched[i][side]) += push.segment<6>(6 * side);
    if (map.B.isZero(0)) continue;
    const Eigen::Matrix<double, 12, 12> stiffness = H.transpose() * (C_[i] * H).eval();
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        if (system.touched[i][a] != none && system.touched[i][b] != none)
          bodies_.add(system.touched[i][a], system.touched[i][b], stiffness.block<6, 6>(6 * a, 6 * b));
  }
  if (!bodies_.factorise()) return false;
  w_ = rhs_.head(6 * none);
  bodies_.solve(w_);
  w_.conservativeResize(6 * (none + 1));
  w_.tail<6>().setZero();
  dr.resize(system.rows());
  for (int i = 0; i < system.contacts(); ++i) {
    Eigen::Matrix<double, 12, 1> motion;
    motion << w_.segment<6>(6 * system.touched[i][0]), w_.segment<6>(6 * system.touched[i][1]);
    dr.segment(system.first[i], system.laws[i].size) = c_[i] - C_[i] * (leversOf(system, i) * motion);
  }
  return dr.allFinite();
}

template <int N> bool FrictionNewton::stepOnContacts(BlockLu<N>& lu, double epsilon, Eigen::VectorXd& dr) {
  const FrictionSystem& system = *system_;
  const int n = system.contacts();
  active_.assign(n, 0);
  activeIndex_.assign(n, -1);
  int count = 0;
  dr.setZero(system.rows());
  for (int i = 0; i < n; ++i)
    if (!maps_[i].B.isZero(0)) {
      active_[i] = 1;
      activeIndex_[i] = count++;
    } else {
      dr.segment(system.first[i], system.laws[i].size) = -maps_[i].F; // A is the identity
    }
  const auto blockOf = [&](int i, int b) {
    return Eigen::Map<const Eigen::MatrixXd>(system.values.data() + system.offset[b], system.laws[i].size,
                                             system.laws[system.column[b]].size);
  };
  if (active_ != analysedActive_) {
    couplings_.clear();
    for (int i = 0; i < n; ++i)
      for (int b = system.start[i]; active_[i] && b < system.start[i + 1]; ++b)
        if (system.column[b] != i && active_[system.column[b]]) couplings_.emplace_back(activeIndex_[i], activeIndex_[system.column[b]]);
    lu.analyse(count, couplings_);
    analysedActive_ = active_;
  }
  if (count == 0) return true;
  lu.setZero();
  rhs_.setZero(N * count);
  typename BlockLu<N>::Block block;
  for (int i = 0; i < n; ++i) {
    if (!active_[i]) continue;
    const int size = system.laws[i].size;
    const AlartCurnier& map = maps_[i];
    block.setIdentity();
    block.topLeftCorner(size, size) = map.A + epsilon * map.B;
    lu.add(activeIndex_[i], activeIndex_[i], block);
    ContactVector open = ContactVector::Zero(size);
    for (int b = system.start[i]; b < system.start[i + 1]; ++b) {
      const int j = system.column[b];
      if (!active_[j]) {
        open += blockOf(i, b) * dr.segment(system.first[j], system.laws[j].size);
        continue;
      }
      block.setZero();
      block.topLeftCorner(size, system.laws[j].size) = map.B * blockOf(i, b);
      lu.add(activeIndex_[i], activeIndex_[j], block);
    }
    rhs_.segment(N * activeIndex_[i], size) = -map.F - map.B * open;
  }
  if (!lu.factorise()) return false;
  lu.solve(rhs_);
  for (int i = 0; i < n; ++i)
    if (active_[i]) dr.segment(system.first[i], system.laws[i].size) = rhs_.segment(N * activeIndex_[i], system.laws[i].size);
  return dr.allFinite();
}

}
