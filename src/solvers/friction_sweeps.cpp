#include "friction_sweeps.h"

namespace tendril {

void FrictionSweeps::set(const FrictionSystem& system, const LocalSolvers& locals) {
  system_ = &system;
  locals_ = &locals;
}

double FrictionSweeps::sweep(Eigen::VectorXd& r, Eigen::VectorXd& w, bool backward) const {
  const int n = system_->contacts();
  double change = 0;
  const auto visit = [&](auto&& update) {
    if (backward)
      for (int i = n - 1; i >= 0; --i) change += update(i);
    else
      for (int i = 0; i < n; ++i) change += update(i);
  };
  if (!system_->hasBodies())
    visit([&](int i) { return updateInBlocks(i, r.data()); });
  else if (locals_->allCoulomb())
    visit([&](int i) { return updateCoulombOnBodies(i, r.data(), w.data()); });
  else
    visit([&](int i) { return updateOnBodies(i, r.data(), w.data()); });
  return change;
}

double FrictionSweeps::updateInBlocks(int contact, double* r) const {
  const FrictionSystem& system = *system_;
  const int size = system.laws[contact].size, row = system.first[contact];
  double b[FrictionLaw::maxSize], next[FrictionLaw::maxSize];
  for (int k = 0; k < size; ++k) {
    b[k] = system.q[row + k];
    next[k] = r[row + k];
  }
  for (int block = system.start[contact]; block < system.start[contact + 1]; ++block) {
    if (block == system.diagonal[contact]) continue;
    const int j = system.column[block];
    const double* entry = system.values.data() + system.offset[block];
    const double* x = r + system.first[j];
    if (size == 3 && system.laws[j].size == 3) {
      for (int k = 0; k < 3; ++k) b[k] += entry[k] * x[0] + entry[3 + k] * x[1] + entry[6 + k] * x[2];
      continue;
    }
    for (int l = 0; l < system.laws[j].size; ++l)
      for (int k = 0; k < size; ++k) b[k] += *entry++ * x[l];
  }
  locals_->solve(contact, b, next);
  double change = 0;
  for (int k = 0; k < size; ++k) {
    const double difference = next[k] - r[row + k];
    change += difference * difference;
    r[row + k] = next[k];
  }
  return change;
}

double FrictionSweeps::updateOnBodies(int contact, double* r, double* w) const {
  const FrictionSystem& system = *system_;
  const int size = system.laws[contact].size, row = system.first[contact];
  const double* lever = system.H.data() + std::size_t(row) * 12;
  const double* D = system.D.data() + system.diagonalOffset[contact];
  double *wa = w + 6 * system.touched[contact][0], *wb = w + 6 * system.touched[contact][1];
  double b[FrictionLaw::maxSize], next[FrictionLaw::maxSize];
  for (int k = 0; k < size; ++k) {
    double sum = system.q[row + k];
    for (int l = 0; l < 6; ++l) sum += lever[12 * k + l] * wa[l] + lever[12 * k + 6 + l] * wb[l];
    for (int l = 0; l < size; ++l) sum -= D[k + size * l] * r[row + l];
    b[k] = sum;
    next[k] = r[row + k];
  }
  locals_->solve(contact, b, next);
  double change = 0;
  for (int k = 0; k < size; ++k) {
    const double difference = next[k] - r[row + k];
    change += difference * difference;
    r[row + k] = next[k];
    for (int l = 0; l < 6; ++l) {
      wa[l] += lever[12 * k + l] * difference;
      wb[l] += lever[12 * k + 6 + l] * difference;
    }
  }
  return change;
}

double FrictionSweeps::updateCoulombOnBodies(int contact, double* r, double* w) const {
  const FrictionSystem& system = *system_;
  const double* H = system.H.data() + std::size_t(contact) * 36;
  const double* D = system.D.data() + std::size_t(contact) * 9;
  const double* q = system.q.data() + 3 * contact;
  double* x = r + 3 * contact;
  double *wa = w + 6 * system.touched[contact][0], *wb = w + 6 * system.touched[contact][1];
  double b[3], next[3];
  for (int k = 0; k < 3; ++k) {
    const double* row = H + 12 * k;
    double even = row[0] * wa[0] + row[6] * wb[0], odd = row[1] * wa[1] + row[7] * wb[1];
    for (int l = 2; l < 6; l += 2) {
      even += row[l] * wa[l] + row[6 + l] * wb[l];
      odd += row[l + 1] * wa[l + 1] + row[7 + l] * wb[l + 1];
    }
    b[k] = q[k] + (even + odd) - (D[k] * x[0] + D[3 + k] * x[1] + D[6 + k] * x[2]);
  }
  locals_->coulomb(contact).solve(b, next);
  const double d0 = next[0] - x[0], d1 = next[1] - x[1], d2 = next[2] - x[2];
  for (int l = 0; l < 6; ++l) {
    wa[l] += H[l] * d0 + H[12 + l] * d1 + H[24 + l] * d2;
    wb[l] += H[6 + l] * d0 + H[18 + l] * d1 + H[30 + l] * d2;
  }
  for (int k = 0; k < 3; ++k) x[k] = next[k];
  return d0 * d0 + d1 * d1 + d2 * d2;
}

void AcceleratedSweeps::start(const FrictionSystem& system, const FrictionSweeps& sweeps, const Eigen::VectorXd& r,
                              const Eigen::VectorXd& w) {
  system_ = &system;
  sweeps_ = &sweeps;
  x_ = y_ = before_ = r;
  motion_ = w;
  step_.setZero(r.size());
  agreement_.setZero(system.bodyCount + 1);
  t_.assign(std::size_t(system.contacts()), 1.0);
}

void AcceleratedSweeps::step(bool momentum) {
  const FrictionSystem& system = *system_;
  before_ = y_;
  sweeps_->sweep(y_, motion_);
  agreement_.setZero();
  for (int i = 0; i < system.contacts(); ++i) {
    double product = 0;
    for (int k = system.first[i]; k < system.first[i + 1]; ++k) product += (y_[k] - before_[k]) * step_[k];
    for (const int body : system.touched[i]) agreement_[body] += product;
  }
  agreement_[system.bodyCount] = 0; // what does not move
  for (int i = 0; i < system.contacts(); ++i) {
    if (!momentum || agreement_[system.touched[i][0]] < 0 || agreement_[system.touched[i][1]] < 0) t_[i] = 1;
    const double part = (t_[i] - 1) / (t_[i] + 1);
    t_[i] += 1;
    for (int k = system.first[i]; k < system.first[i + 1]; ++k) {
      step_[k] = y_[k] - x_[k];
      x_[k] = y_[k];
      y_[k] += part * step_[k];
    }
  }
  system.motion(y_, motion_);
}

}
