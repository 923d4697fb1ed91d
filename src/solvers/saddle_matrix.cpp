#include "tendril/solvers/saddle_matrix.h"

#include <algorithm>

namespace tendril {

namespace {

template <class F> void each(const SaddleMatrix::Sparse& A, F visit) {
  for (int j = 0; j < A.outerSize(); ++j)
    for (SaddleMatrix::Sparse::InnerIterator entry(A, j); entry; ++entry) visit(int(entry.row()), j);
}

}

SaddleMatrix::SaddleMatrix(const Sparse& K, const Sparse& H, Eigen::VectorXd unit, double compliance)
    : n_(K.rows()), m_(H.rows()), unit_(std::move(unit)), compliance_(compliance), lu_({.ordering = SparseLuOptions::Ordering::Columns}) {
  const int n = int(n_), m = int(m_);
  std::vector<Eigen::Triplet<double>> entries;
  each(K, [&](int i, int j) { entries.emplace_back(i, j, 0.0); });
  each(H, [&](int i, int j) { entries.emplace_back(n + i, j, 0.0), entries.emplace_back(j, n + i, 0.0); });
  for (int i = 0; i < m; ++i) entries.emplace_back(n + i, n + i, 0.0);
  A_.resize(n + m, n + m);
  A_.setFromTriplets(entries.begin(), entries.end());
  each(K, [&](int i, int j) { stiffness_.push_back(place(i, j)); });
  each(H, [&](int i, int j) { rows_.push_back(place(n + i, j)), columns_.push_back(place(j, n + i)); });
  for (int i = 0; i < m; ++i) diagonal_.push_back(place(n + i, n + i));
}

bool SaddleMatrix::factorise(const Sparse& K, const Sparse& H0, const Sparse& H1, double s) {
  s_ = s;
  const int n = int(n_);
  double* a = A_.valuePtr();
  std::size_t e = 0;
  each(K, [&](int i, int j) { a[stiffness_[e]] = -K.valuePtr()[e] * unit_[i] * unit_[j], ++e; });
  e = 0;
  each(H0, [&](int i, int j) {
    const double weight = s * unit_[n + i] * unit_[j];
    a[rows_[e]] = weight * H1.valuePtr()[e];
    a[columns_[e]] = weight * H0.valuePtr()[e];
    ++e;
  });
  for (int d : diagonal_) a[d] = -compliance_ * s;
  return lu_.factorise(A_);
}

void SaddleMatrix::scale(Eigen::VectorXd& rhs) const {
  rhs.array() *= unit_.array();
  rhs.tail(m_) *= s_;
}

void SaddleMatrix::solve(Eigen::VectorXd& rhs) const {
  scale(rhs);
  lu_.solve(rhs);
  scale(rhs);
}

void SaddleMatrix::solveTransposed(Eigen::VectorXd& rhs) const {
  scale(rhs);
  lu_.solveTransposed(rhs);
  scale(rhs);
}

void SaddleMatrix::share(const Eigen::VectorXd& y0, Eigen::VectorXd& rhs) const {
  rhs.tail(m_).array() += compliance_ / s_ * y0.array() / unit_.tail(m_).array().square();
}

int SaddleMatrix::place(int row, int column) const {
  const int* first = A_.innerIndexPtr() + A_.outerIndexPtr()[column];
  const int* last = A_.innerIndexPtr() + A_.outerIndexPtr()[column + 1];
  return int(std::lower_bound(first, last, row) - A_.innerIndexPtr());
}

}
