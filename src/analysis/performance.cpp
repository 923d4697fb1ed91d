#include "tendril/analysis/performance.h"

#include <algorithm>

namespace tendril {

VectorX Box::unit(const VectorX& point) const {
  const VectorX w = width();
  return (w.array() > 0).select((point - lower).array() / w.array(), 0.5);
}

CountedPerformance::CountedPerformance(Performance performance, Box box, double share)
    : performance_(std::move(performance)), box_(std::move(box)), share_(share) {}

VectorX CountedPerformance::values(const MatrixX& points) {
  count_.values += long(points.cols());
  return performance_.values(points);
}

VectorX CountedPerformance::gradients(const MatrixX& points, MatrixX& gradients) {
  std::vector<Eigen::Index> free;
  for (Eigen::Index i = 0; i < box_.size(); ++i)
    if (box_.width()[i] > 0) free.push_back(i);
  if (performance_.gradients) {
    count_.values += long(points.cols()), count_.gradients += long(points.cols());
    return performance_.gradients(points, free, gradients);
  }
  gradients.setZero(points.rows(), points.cols());
  VectorX values(points.cols());
  // Points go together as far as their neighbours do not fill the memory.
  constexpr Eigen::Index most = 8192;
  const Eigen::Index together = std::max<Eigen::Index>(1, most / (2 * Eigen::Index(free.size()) + 1));
  for (Eigen::Index first = 0; first < points.cols(); first += together) {
    const Eigen::Index count = std::min(together, points.cols() - first);
    MatrixX part;
    values.segment(first, count) = differences(points.middleCols(first, count), free, part);
    gradients.middleCols(first, count) = part;
  }
  return values;
}

VectorX CountedPerformance::differences(const MatrixX& points, const std::vector<Eigen::Index>& free, MatrixX& gradients) {
  const Eigen::Index stride = 2 * Eigen::Index(free.size()) + 1; // a point and its neighbours, below and above along every free direction
  MatrixX all(points.rows(), stride * points.cols());
  for (Eigen::Index p = 0; p < points.cols(); ++p) {
    all.middleCols(p * stride, stride).colwise() = points.col(p);
    Eigen::Index at = p * stride + 1;
    for (Eigen::Index i : free) {
      const double x = points(i, p), step = share_ * box_.width()[i];
      all(i, at++) = std::max(x - step, box_.lower[i]);
      all(i, at++) = std::min(x + step, box_.upper[i]);
    }
  }
  const VectorX found = values(all);
  gradients.setZero(points.rows(), points.cols());
  VectorX result(points.cols());
  for (Eigen::Index p = 0; p < points.cols(); ++p) {
    Eigen::Index at = p * stride;
    result[p] = found[at++];
    for (Eigen::Index i : free) {
      gradients(i, p) = (found[at + 1] - found[at]) / (all(i, at + 1) - all(i, at));
      at += 2;
    }
  }
  return result;
}

}
