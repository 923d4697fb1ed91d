#include "tendril/solvers/nearest_point.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

constexpr double rounding = 1e-13, shift = 1e-12, dependence = 1e-10;
constexpr int refinements = 2;  ///< of multipliers, so that the shift chooses among them alone
constexpr double broken = 1e-7; ///< of rows that hold only by multipliers beyond bounds

}

bool NearestPoint::solve(const Vector& w0, const Matrix& A, const Vector& a, const Matrix& B, const Vector& b,
                         const std::vector<int>& guess) {
  Eigen::CompleteOrthogonalDecomposition<Matrix> equations; // of the columns A^T
  nearest_ = w0;
  rows_ = B;
  if (A.rows() > 0) {
    equations.compute(A.transpose());
    const Matrix basis = equations.householderQ() * Matrix::Identity(w0.size(), equations.rank());
    const Vector miss = a - A * w0, way = equations.transpose().solve(miss);
    nearest_ += way;
    rows_ -= (B * basis) * basis.transpose();
  }
  demand_ = b - B * nearest_;
  sizes_ = rows_.rowwise().norm();
  for (Eigen::Index j = 0; j < B.rows(); ++j)
    if (sizes_[j] < dependence * B.row(j).norm()) sizes_[j] = 0;
  mu_.setZero(B.rows());
  active_.clear();
  for (const int j : guess)
    if (sizes_[j] > 0) active_.push_back(j);
  bool isSettled = settle();
  int joins = 10 * int(B.rows()) + 50; // more than there should be: rows that contradict one another
  for (int worst = mostViolated(); isSettled && worst >= 0 && joins > 0; worst = mostViolated(), --joins) {
    active_.push_back(worst);
    isSettled = settle();
  }
  lambda_.setZero(A.rows());
  if (A.rows() > 0) lambda_ = equations.solve(w_ - w0 - B.transpose() * mu_);
  const auto holds = [&](int j) { return demand_[j] - rows_.row(j).dot(w_ - nearest_) <= broken * (1 + w_.norm()) * sizes_[j]; };
  return isSettled && joins > 0 && w_.allFinite() && std::all_of(active_.begin(), active_.end(), holds);
}

void NearestPoint::move() {
  w_ = nearest_;
  for (const int j : active_) w_ += mu_[j] * rows_.row(j).transpose();
}

/// Relative to the lengths of rows; active ones are as well fulfilled as they can be.
int NearestPoint::mostViolated() const {
  int worst = -1;
  double most = 10 * rounding * (1 + w_.norm());
  const Vector slack = rows_ * (w_ - nearest_) - demand_;
  for (int j = 0; j < int(slack.size()); ++j) {
    if (-slack[j] <= most * sizes_[j] || sizes_[j] == 0) continue;
    if (std::find(active_.begin(), active_.end(), j) == active_.end()) worst = j, most = -slack[j] / sizes_[j];
  }
  return worst;
}

/// Multipliers of the active rows. Those that would turn negative on the way leave.
bool NearestPoint::settle() {
  for (std::size_t left = active_.size() + 1; left > 0; --left) {
    if (active_.empty()) break;
    const Matrix C = rows_(active_, Eigen::all);
    Matrix S = C * C.transpose();
    S.diagonal() *= 1 + shift;
    const Eigen::LDLT<Matrix> factor(S);
    const Vector demand = demand_(active_);
    Vector wanted = factor.solve(demand);
    for (int k = 0; k < refinements; ++k) {
      const Vector missing = demand - C * (C.transpose() * wanted);
      wanted += factor.solve(missing);
    }
    if (!wanted.allFinite()) return false;
    double share = 1;
    for (std::size_t k = 0; k < active_.size(); ++k) {
      const double now = mu_[active_[k]], then = wanted[Eigen::Index(k)];
      if (then <= 0) share = std::min(share, now > 0 ? now / (now - then) : 0);
    }
    std::vector<int> stay;
    for (std::size_t k = 0; k < active_.size(); ++k) {
      double& mu = mu_[active_[k]];
      const double then = wanted[Eigen::Index(k)];
      const bool leaves = then <= 0 && mu + share * (then - mu) <= rounding * mu;
      mu = leaves ? 0 : mu + share * (then - mu);
      if (!leaves) stay.push_back(active_[k]);
    }
    const bool isSettled = stay.size() == active_.size();
    active_ = std::move(stay);
    if (isSettled) break;
  }
  move();
  return true;
}

}
