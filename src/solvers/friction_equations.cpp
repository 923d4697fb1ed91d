#include "friction_equations.h"

#include <algorithm>

namespace tendril {

namespace {

using Rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 12, Eigen::RowMajor, FrictionLaw::maxSize, 12>>;

Rows leversOf(const FrictionSystem& system, int contact) {
  return {system.H.data() + std::size_t(system.first[contact]) * 12, system.laws[contact].size, 12};
}

}

void FrictionEquations::set(const FrictionSystem& system) {
  system_ = &system;
  maps_.resize(system.contacts());
  inverse_.resize(system.contacts());
  C_.resize(system.contacts());
  c_.resize(system.contacts());
  analysed_ = false;
  analysedActive_.clear();
  largest_ = 0;
  for (const FrictionLaw& law : system.laws) largest_ = std::max(largest_, law.size);
}

bool FrictionEquations::factorise(double epsilon) {
  if (system_->hasBodies()) return factoriseBodies(epsilon);
  return largest_ <= 3 ? factoriseContacts(small_, epsilon) : factoriseContacts(large_, epsilon);
}

double FrictionEquations::cost() {
  if (system_->hasBodies()) {
    analyseBodies();
    return bodies_.cost();
  }
  return largest_ <= 3 ? small_.cost() : large_.cost();
}

/// det(A + B W) = det(A) det(1 + H^T A^-1 B H), likewise with A + epsilon B for A.
int FrictionEquations::determinantSign() const {
  int sign = system_->hasBodies() ? bodies_.determinantSign() : largest_ <= 3 ? small_.determinantSign() : large_.determinantSign();
  for (int i = 0; i < system_->contacts(); ++i)
    if ((system_->hasBodies() || active_[i] < 0) && inverse_[i].determinant() < 0) sign = -sign;
  return sign;
}

bool FrictionEquations::solve(Eigen::VectorXd& dr) {
  dr.setZero(system_->rows());
  if (system_->hasBodies())
    solveBodies(dr);
  else if (largest_ <= 3)
    solveContacts(small_, dr);
  else
    solveContacts(large_, dr);
  return dr.allFinite();
}

void FrictionEquations::analyseBodies() {
  if (analysed_) return;
  couplings_.clear();
  for (const auto& [a, b] : system_->touched)
    if (a != system_->bodyCount && b != system_->bodyCount) couplings_.emplace_back(a, b);
  bodies_.analyse(system_->bodyCount, couplings_);
  analysed_ = true;
}

bool FrictionEquations::factoriseBodies(double epsilon) {
  const FrictionSystem& system = *system_;
  const int none = system.bodyCount;
  analyseBodies();
  bodies_.setZero();
  for (int b = 0; b < none; ++b) bodies_.add(b, b, BlockLu<6>::Block::Identity());
  for (int i = 0; i < system.contacts(); ++i) {
    inverse_[i] = ContactMatrix(maps_[i].A + epsilon * maps_[i].B).inverse();
    C_[i] = inverse_[i] * maps_[i].B;
    if (maps_[i].B.isZero(0)) continue;
    const Rows H = leversOf(system, i);
    const Eigen::Matrix<double, Eigen::Dynamic, 12, 0, FrictionLaw::maxSize, 12> CH = C_[i] * H;
    const auto& body = system.touched[i];
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        if (body[a] != none && body[b] != none)
          bodies_.add(body[a], body[b], H.middleCols<6>(6 * a).transpose().lazyProduct(CH.middleCols<6>(6 * b)));
  }
  return bodies_.factorise();
}

void FrictionEquations::solveBodies(Eigen::VectorXd& dr) {
  const FrictionSystem& system = *system_;
  const int none = system.bodyCount;
  unknowns_.setZero(6 * (none + 1));
  for (int i = 0; i < system.contacts(); ++i) {
    c_[i] = -inverse_[i] * maps_[i].F;
    const Eigen::Matrix<double, 12, 1> push = leversOf(system, i).transpose() * c_[i];
    for (int side = 0; side < 2; ++side) unknowns_.segment<6>(6 * system.touched[i][side]) += push.segment<6>(6 * side);
  }
  bodies_.solve(unknowns_);
  unknowns_.tail<6>().setZero();
  for (int i = 0; i < system.contacts(); ++i) {
    Eigen::Matrix<double, 12, 1> motion;
    motion << unknowns_.segment<6>(6 * system.touched[i][0]), unknowns_.segment<6>(6 * system.touched[i][1]);
    const ContactVector slip = leversOf(system, i) * motion;
    dr.segment(system.first[i], system.laws[i].size) = c_[i] - C_[i] * slip;
  }
}

Eigen::Map<const Eigen::MatrixXd> FrictionEquations::blockAt(int contact, int block) const {
  return {system_->values.data() + system_->offset[block], system_->laws[contact].size, system_->laws[system_->column[block]].size};
}

template <int N> bool FrictionEquations::factoriseContacts(BlockLu<N>& lu, double epsilon) {
  const FrictionSystem& system = *system_;
  const int n = system.contacts();
  active_.assign(n, -1);
  activeCount_ = 0;
  for (int i = 0; i < n; ++i)
    if (!maps_[i].B.isZero(0)) active_[i] = activeCount_++;
  if (active_ != analysedActive_) {
    couplings_.clear();
    for (int i = 0; i < n; ++i)
      for (int b = system.start[i]; active_[i] >= 0 && b < system.start[i + 1]; ++b)
        if (system.column[b] > i && active_[system.column[b]] >= 0) couplings_.emplace_back(active_[i], active_[system.column[b]]);
    lu.analyse(activeCount_, couplings_);
    analysedActive_ = active_;
  }
  lu.setZero();
  typename BlockLu<N>::Block block;
  for (int i = 0; i < n; ++i) {
    const int size = system.laws[i].size;
    if (active_[i] < 0) {
      inverse_[i] = maps_[i].A.inverse();
      continue;
    }
    block.setIdentity();
    block.topLeftCorner(size, size) = maps_[i].A + epsilon * maps_[i].B;
    lu.add(active_[i], active_[i], block);
    for (int b = system.start[i]; b < system.start[i + 1]; ++b) {
      const int j = system.column[b];
      if (active_[j] < 0) continue;
      block.setZero();
      block.topLeftCorner(size, system.laws[j].size) = maps_[i].B.lazyProduct(blockAt(i, b));
      lu.add(active_[i], active_[j], block);
    }
  }
  return lu.factorise();
}

template <int N> void FrictionEquations::solveContacts(BlockLu<N>& lu, Eigen::VectorXd& dr) {
  const FrictionSystem& system = *system_;
  const int n = system.contacts();
  for (int i = 0; i < n; ++i)
    if (active_[i] < 0) dr.segment(system.first[i], system.laws[i].size) = -inverse_[i] * maps_[i].F;
  unknowns_.setZero(N * activeCount_);
  for (int i = 0; i < n; ++i) {
    if (active_[i] < 0) continue;
    ContactVector known = ContactVector::Zero(system.laws[i].size);
    for (int b = system.start[i]; b < system.start[i + 1]; ++b)
      if (const int j = system.column[b]; active_[j] < 0) known += blockAt(i, b) * dr.segment(system.first[j], system.laws[j].size);
    unknowns_.segment(N * active_[i], system.laws[i].size) = -maps_[i].F - maps_[i].B * known;
  }
  lu.solve(unknowns_);
  for (int i = 0; i < n; ++i)
    if (active_[i] >= 0) dr.segment(system.first[i], system.laws[i].size) = unknowns_.segment(N * active_[i], system.laws[i].size);
}

}
