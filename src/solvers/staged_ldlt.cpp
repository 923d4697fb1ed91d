#include "tendril/solvers/staged_ldlt.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "solvers/front_kernels.h"

namespace tendril {

StagedMatrix::StagedMatrix(std::vector<int> sizes, int border) : size_(std::move(sizes)) {
  if (border < 0 || std::any_of(size_.begin(), size_.end(), [](int n) { return n < 0; }))
    throw std::invalid_argument("StagedMatrix: stages and border cannot have less than no rows");
  size_.push_back(border);
  offset_.assign(1, 0);
  for (int n : size_) offset_.push_back(offset_.back() + n);
  start_.assign(1, 0);
  for (int k = 0; k <= stages(); ++k) start_.push_back(start_.back() + std::size_t(height(k)) * std::size_t(size_[k]));
  values_.assign(start_.back(), 0.0);
}

int StagedMatrix::stageOf(int row) const { return int(std::upper_bound(offset_.begin(), offset_.end() - 1, row) - offset_.begin()) - 1; }

std::size_t StagedMatrix::position(int row, int column) const {
  if (row < column) std::swap(row, column);
  if (column < 0 || row >= order())
    throw std::invalid_argument(fmt::format("StagedMatrix: no place ({}, {}) in a matrix of order {}", row, column, order()));
  const int k = stageOf(column), rowStage = stageOf(row);
  int below = row - offset_[k];
  if (rowStage == stages() && k < stages())
    below = size_[k] + nextSize(k) + row - offset_[rowStage];
  else if (rowStage > k + 1)
    throw std::invalid_argument(
        fmt::format("StagedMatrix: ({}, {}) couples stage {} with stage {}, which is no neighbour", row, column, rowStage, k));
  return start_[k] + std::size_t(column - offset_[k]) * std::size_t(height(k)) + std::size_t(below);
}

double StagedMatrix::norm() const { return largest(values_.data(), values_.size()); }

void StagedMatrix::multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y) const {
  y.setZero();
  const int borderStart = offset_[stages()];
  for (int k = 0; k <= stages(); ++k) {
    const int n = size_[k], inner = n + nextSize(k), b = borderRows(k), o = offset_[k];
    const double* column = panel(k);
    for (int j = 0; j < n; ++j, column += height(k)) {
      y[o + j] += column[j] * x[o + j];
      y[o + j] += multiplyColumn(inner - j - 1, column + j + 1, x[o + j], x.data() + o + j + 1, y.data() + o + j + 1);
      y[o + j] += multiplyColumn(b, column + inner, x[o + j], x.data() + borderStart, y.data() + borderStart);
    }
  }
}

StagedLdlt::StagedLdlt(const StagedLdltOptions& options) : options_(options) {}

void StagedLdlt::analyse(const StagedMatrix& A) {
  const int K = A.stages();
  fronts_.assign(std::size_t(K) + 1, Front{});
  std::size_t panels = 0, summed = 0;
  int tallest = 0;
  for (int k = 0; k <= K; ++k) {
    Front& front = fronts_[k];
    front.size = A.size(k);
    front.next = A.nextSize(k);
    front.border = A.borderRows(k);
    front.firstNext = k + 1 < K ? A.offset(k + 1) : 0;
    front.firstBorder = A.offset(K);
    const int delayed = k == 0 ? 0 : A.size(k - 1); // what is reserved
    panels += std::size_t(front.height() + delayed) * std::size_t(front.size + delayed);
    summed += std::size_t(front.size + delayed);
    tallest = std::max(tallest, front.height() + delayed);
  }
  panels_.resize(panels);
  rows_.resize(summed);
  inverse_.resize(2 * summed);
  magnitude_.resize(std::size_t(A.order()));
  corner_.resize(std::size_t(A.border()) * std::size_t(A.border()));
  weighted_.resize(std::size_t(tallest) * std::size_t(tallest));
  work_.resize(std::size_t(tallest));
  residual_.resize(A.order());
  correction_.resize(A.order());
  analysed_ = true;
}

/// Makes room for the front and fills its columns: those delayed by the front before, then those of the stage.
void StagedLdlt::begin(const StagedMatrix& A, int k) {
  Front& front = fronts_[k];
  const Front* before = k > 0 ? &fronts_[k - 1] : nullptr;
  front.delayed = before ? before->summed() - before->eliminated : 0;
  front.panel = before ? before->panel + std::size_t(before->height()) * std::size_t(before->summed()) : 0;
  front.rows = before ? before->rows + std::size_t(before->summed()) : 0;
  front.inverse = 2 * front.rows;
  front.eliminated = 0;

  const int m = front.height(), p = front.summed();
  growTo(panels_, front.panel + std::size_t(m) * std::size_t(p));
  growTo(rows_, front.rows + std::size_t(p));
  growTo(inverse_, front.inverse + 2 * std::size_t(p));
  growTo(weighted_, std::size_t(p) * std::size_t(m));
  growTo(work_, std::size_t(m));

  double* panel = panels_.data() + front.panel;
  int* rows = rows_.data() + front.rows;
  if (before) {
    const int from = before->height();
    const double* source = panels_.data() + before->panel + std::size_t(before->eliminated) * std::size_t(from);
    for (int j = 0; j < front.delayed; ++j, source += from) {
      double* target = panel + std::size_t(j) * std::size_t(m);
      // The rows that the front before has eliminated are left out, those of the stage after this one are new.
      const int kept = front.delayed + (k < A.stages() ? front.size : 0);
      std::copy_n(source + before->eliminated, kept, target);
      std::fill_n(target + kept, m - kept, 0.0);
      std::copy_n(source + from - before->border, before->border, target + m - before->border);
      rows[j] = rows_[before->rows + std::size_t(before->eliminated + j)];
    }
    delayedPivots_ += front.delayed;
  }
  const double* source = k < A.stages() ? A.panel(k) : corner_.data();
  const int height = A.height(k);
  for (int j = 0; j < front.size; ++j) {
    double* target = panel + std::size_t(front.delayed + j) * std::size_t(m) + front.delayed;
    std::copy_n(source + std::size_t(j) * std::size_t(height) + j, height - j, target + j);
    rows[front.delayed + j] = A.offset(k) + j;
    if (k < A.stages()) magnitude_[std::size_t(A.offset(k)) + std::size_t(j)] = std::abs(target[j]);
  }
}

void StagedLdlt::eliminate(const StagedMatrix& A, int k) {
  Front& front = fronts_[k];
  const FrontView view{panels_.data() + front.panel,
                       rows_.data() + front.rows,
                       inverse_.data() + front.inverse,
                       magnitude_.data(),
                       front.height(),
                       front.summed()};
  const int mayWait = k < A.stages() ? (front.size + 1) / 2 : front.summed();
  front.eliminated = eliminateFront(view, {options_.pivotThreshold, options_.leastPivotThreshold, options_.zeroTolerance}, mayWait);
  takeRows(view, front.eliminated, weighted_.data());
  divideByPivots(view, front.eliminated);
  if (k < A.stages()) begin(A, k + 1);
}

/// Subtracts L D L^T of the pivots just eliminated from the columns of the next stage and from the border.
void StagedLdlt::updateNext(const StagedMatrix& A, int k) {
  const Front& front = fronts_[k];
  const Front& after = fronts_[k + 1];
  const int e = front.eliminated, m = front.height();
  double* next = panels_.data() + after.panel + std::size_t(after.delayed) * std::size_t(after.height()) + after.delayed; // its own block
  const double* inNext = panels_.data() + front.panel + front.summed();
  const double* inBorder = inNext + front.next;
  const double *nextRows = weighted_.data(), *borderRows = nextRows + std::size_t(front.next) * std::size_t(e);
  if (front.next > 0) {
    subtractTriangle(next, after.height(), inNext, m, nextRows, e, front.next, magnitude_.data() + front.firstNext);
    if (front.border > 0)
      subtractProduct(next + after.size + after.next, after.height(), inBorder, m, nextRows, e, front.next, front.border);
  }
  if (front.border == 0) return;
  const bool last = k + 1 == A.stages(); // the border is then the next front
  subtractTriangle(last ? next : corner_.data(), last ? after.height() : front.border, inBorder, m, borderRows, e, front.border,
                   magnitude_.data() + front.firstBorder);
}

void StagedLdlt::countInertia(const Front& front) {
  const double* inverse = inverse_.data() + front.inverse;
  for (int t = 0; t < front.eliminated; ++t) {
    const bool pair = inverse[2 * t + 1] != 0;
    const double first = inverse[2 * t], second = pair ? inverse[2 * t + 2] : 1;
    const double determinant = first * second - inverse[2 * t + 1] * inverse[2 * t + 1];
    if (!std::isfinite(determinant)) finite_ = false;
    if (pair && determinant < 0) {
      ++inertia_.positive;
      ++inertia_.negative;
    } else {
      (first > 0 ? inertia_.positive : inertia_.negative) += pair ? 2 : 1;
    }
    if (pair) ++t;
  }
}

bool StagedLdlt::factorise(const StagedMatrix& A) {
  if (!analysed_) analyse(A);
  const int K = A.stages();
  inertia_ = {};
  delayedPivots_ = 0;
  finite_ = allFinite(A.values().data(), A.values().size());
  if (!finite_) return false;
  std::copy_n(A.panel(K), corner_.size(), corner_.data());
  for (int j = 0; j < A.border(); ++j)
    magnitude_[std::size_t(A.offset(K)) + std::size_t(j)] = std::abs(corner_[std::size_t(j) * std::size_t(A.border()) + std::size_t(j)]);
  begin(A, 0);
  for (int k = 0; k <= K; ++k) {
    eliminate(A, k);
    if (k < K) updateNext(A, k);
    countInertia(fronts_[k]);
  }
  inertia_.zero = fronts_[K].summed() - fronts_[K].eliminated;
  return finite_ && inertia_.zero == 0;
}

void StagedLdlt::solve(Eigen::VectorXd& x) const {
  if (fronts_.empty()) throw std::logic_error("StagedLdlt: there is no factorisation");
  double* w = work_.data();
  const auto gather = [&](const Front& f) {
    for (int i = 0; i < f.summed(); ++i) w[i] = x[rows_[f.rows + std::size_t(i)]];
    for (int i = 0; i < f.next; ++i) w[f.summed() + i] = x[f.firstNext + i];
    for (int i = 0; i < f.border; ++i) w[f.summed() + f.next + i] = x[f.firstBorder + i];
  };
  for (const Front& f : fronts_) {
    gather(f);
    forward(panels_.data() + f.panel, inverse_.data() + f.inverse, f.height(), f.eliminated, w);
    for (int i = 0; i < f.summed(); ++i) x[rows_[f.rows + std::size_t(i)]] = w[i];
    for (int i = 0; i < f.next; ++i) x[f.firstNext + i] = w[f.summed() + i];
    for (int i = 0; i < f.border; ++i) x[f.firstBorder + i] = w[f.summed() + f.next + i];
  }
  const Front& last = fronts_.back();
  for (int i = last.eliminated; i < last.summed(); ++i) x[rows_[last.rows + std::size_t(i)]] = 0;
  for (auto f = fronts_.rbegin(); f != fronts_.rend(); ++f) {
    gather(*f);
    backward(panels_.data() + f->panel, f->height(), f->eliminated, w);
    for (int i = 0; i < f->eliminated; ++i) x[rows_[f->rows + std::size_t(i)]] = w[i];
  }
}

double StagedLdlt::solve(const StagedMatrix& A, const Eigen::VectorXd& b, Eigen::VectorXd& x, int refinements, double tolerance) {
  x = b;
  solve(x);
  const double norm = A.norm();
  const auto measure = [&] {
    A.multiply(x, residual_);
    residual_ = b - residual_;
    const double scale = b.lpNorm<Eigen::Infinity>() + norm * x.lpNorm<Eigen::Infinity>();
    return scale > 0 ? residual_.lpNorm<Eigen::Infinity>() / scale : 0.0;
  };
  if (b.size() == 0) return 0;
  double error = measure();
  for (int i = 0; i < refinements && (i == 0 || error > tolerance); ++i) {
    correction_ = residual_;
    solve(correction_);
    x += correction_;
    const double refined = measure();
    if (!(refined < error)) {
      x -= correction_;
      return error;
    }
    error = refined;
  }
  return error;
}

}
