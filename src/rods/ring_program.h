#pragma once
#include "tendril/rods/packed_ring.h"
#include "tendril/solvers/nonlinear_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace tendril {

/// s(x) = 2 sin(x/2)/x and its derivatives.
struct ArcChord {
  double s, first, second;
  explicit ArcChord(double angle) {
    const double x = angle / 2;
    double d, dd; // of sin(x)/x
    if (std::abs(x) < 1e-2) {
      const double y = x * x;
      s = 1 - y / 6 * (1 - y / 20 * (1 - y / 42));
      d = -x / 3 * (1 - y / 10 * (1 - y / 28));
      dd = -1.0 / 3 + y / 10 * (1 - 5 * y / 84);
    } else {
      s = std::sin(x) / x;
      d = (std::cos(x) - s) / x;
      dd = -s - 2 * d / x;
    }
    first = d / 2, second = dd / 4;
  }
};

/// Variables by node: x, y, theta, and kappa of the element that begins there.
class RingProgram final : public VectorProgram {
 public:
  explicit RingProgram(const PackedRingOptions& options) : N_(options.elements), h_(1.0 / options.elements), index_(options.index) {
    for (int k = 0; k <= N_; ++k) {
      for (int i = 0; i < (k < N_ ? 4 : 3); ++i) structure_.addVariable(k);
      structure_.addInequality(k, -std::numeric_limits<double>::infinity(), options.radius * options.radius);
      for (int i = 0; i < 2; ++i) structure_.inequalityJacobian.push_back({k, at(k) + i});
      for (int i = 0; i < 2; ++i) structure_.hessian.push_back({at(k) + i, at(k) + i});
      if (k == N_) break;
      structure_.hessian.push_back({at(k) + 2, at(k) + 2});
      structure_.hessian.push_back({at(k) + 3, at(k) + 2});
      structure_.hessian.push_back({at(k) + 3, at(k) + 3});
      for (int i = 0; i < 3; ++i) structure_.addEquality(k);
      for (int i = 0; i < 2; ++i) {
        structure_.equalityJacobian.push_back({3 * k + i, at(k + 1) + i});
        for (const int j : {i, 2, 3}) structure_.equalityJacobian.push_back({3 * k + i, at(k) + j});
      }
      for (const int j : {at(k + 1) + 2, at(k) + 2, at(k) + 3}) structure_.equalityJacobian.push_back({3 * k + 2, j});
    }
    // Closed, and the frame at the begin along x.
    for (int i = 0; i < 3; ++i) {
      const int row = structure_.addEquality(ProgramStructure::global);
      structure_.equalityJacobian.push_back({row, at(N_) + i});
      structure_.equalityJacobian.push_back({row, i});
    }
    structure_.addEquality(0);
    structure_.equalityJacobian.push_back({3 * N_ + 3, 2});
    tangle(options.seed);
  }

  const ProgramStructure& structure() const override { return structure_; }

  bool evaluate(ProgramValues& values) override {
    if (!x.allFinite()) return false;
    values.objective = 0;
    for (int k = 0; k <= N_; ++k) {
      values.inequality[k] = x.segment<2>(at(k)).squaredNorm();
      if (k == N_) break;
      const double theta = x[at(k) + 2], kappa = x[at(k) + 3], a = theta + h_ * kappa / 2, length = h_ * ArcChord(h_ * kappa).s;
      values.objective += h_ / 2 * kappa * kappa;
      values.equality[3 * k] = x[at(k + 1)] - x[at(k)] - length * std::cos(a);
      values.equality[3 * k + 1] = x[at(k + 1) + 1] - x[at(k) + 1] - length * std::sin(a);
      values.equality[3 * k + 2] = x[at(k + 1) + 2] - theta - h_ * kappa;
    }
    for (int i = 0; i < 3; ++i) values.equality[3 * N_ + i] = x[at(N_) + i] - x[i] - (i == 2 ? 2 * std::numbers::pi * index_ : 0);
    values.equality[3 * N_ + 3] = x[2];
    return true;
  }

  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) override {
    if (!x.allFinite()) return false;
    d.gradient.setZero();
    Eigen::Index J = 0, D = 0, H = 0;
    for (int k = 0; k <= N_; ++k) {
      d.inequalityJacobian[D++] = 2 * x[at(k)], d.inequalityJacobian[D++] = 2 * x[at(k) + 1];
      if (multipliers) d.hessian[H] = d.hessian[H + 1] = 2 * multipliers->inequality[k], H += 2;
      if (k == N_) break;
      const double kappa = x[at(k) + 3], a = x[at(k) + 2] + h_ * kappa / 2;
      const ArcChord chord(h_ * kappa);
      const Eigen::Vector2d u(std::cos(a), std::sin(a)), n(-u[1], u[0]);
      d.gradient[at(k) + 3] = h_ * kappa;
      const Eigen::Vector2d byTheta = h_ * chord.s * n, byKappa = h_ * h_ * (chord.first * u + chord.s / 2 * n);
      for (int i = 0; i < 2; ++i) {
        d.equalityJacobian[J++] = 1, d.equalityJacobian[J++] = -1;
        d.equalityJacobian[J++] = -byTheta[i], d.equalityJacobian[J++] = -byKappa[i];
      }
      d.equalityJacobian[J++] = 1, d.equalityJacobian[J++] = -1, d.equalityJacobian[J++] = -h_;
      if (!multipliers) continue;
      const Eigen::Vector2d mu = -multipliers->equality.segment<2>(3 * k);
      d.hessian[H++] = mu.dot(-h_ * chord.s * u);
      d.hessian[H++] = mu.dot(h_ * h_ * (chord.first * n - chord.s / 2 * u));
      d.hessian[H++] = multipliers->weight * h_ + mu.dot(h_ * h_ * h_ * ((chord.second - chord.s / 4) * u + chord.first * n));
    }
    for (int i = 0; i < 3; ++i) d.equalityJacobian[J++] = 1, d.equalityJacobian[J++] = -1;
    d.equalityJacobian[J++] = 1;
    return true;
  }

  std::string nameOfInequality(int i) const override { return "disc at node " + std::to_string(i); }
  std::string nameOfEquality(int i) const override {
    if (i >= 3 * N_) return i == 3 * N_ + 3 ? "tangent at the begin" : "closure of the ring";
    return "element " + std::to_string(i / 3);
  }

  double curvature(int element) const { return x[at(element) + 3]; }
  void read(PackedRing& ring) const {
    double turned = 0;
    for (int k = 0; k <= N_; ++k) {
      ring.nodes.push_back(x.segment<3>(at(k)));
      ring.largestRadius = std::max(ring.largestRadius, x.segment<2>(at(k)).norm());
      if (k < N_) turned += h_ * x[at(k) + 3];
    }
    ring.index = turned / (2 * std::numbers::pi);
    ring.closure = (x.segment<2>(at(N_)) - x.head<2>()).norm();
  }

 private:
  int at(int node) const { return 4 * node; }

  /// Random curvatures of some waves, the same turn in all.
  void tangle(unsigned seed) {
    constexpr int waves = 6;
    constexpr double strength = 15;
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> kappa(std::size_t(N_), 2 * std::numbers::pi * index_);
    for (int m = 1; m <= waves; ++m) {
      const double c = strength / m * normal(random), s = strength / m * normal(random);
      for (int k = 0; k < N_; ++k) {
        const double phase = 2 * std::numbers::pi * m * (k + 0.5) * h_;
        kappa[std::size_t(k)] += c * std::cos(phase) + s * std::sin(phase);
      }
    }
    x.setZero(structure_.variables());
    Eigen::Vector2d r = Eigen::Vector2d::Zero(), mean = r;
    double theta = 0;
    for (int k = 0; k <= N_; ++k) {
      x.segment<2>(at(k)) = r, x[at(k) + 2] = theta;
      mean += r / (N_ + 1);
      if (k == N_) break;
      const double phi = h_ * kappa[std::size_t(k)];
      x[at(k) + 3] = kappa[std::size_t(k)];
      r += h_ * ArcChord(phi).s * Eigen::Vector2d(std::cos(theta + phi / 2), std::sin(theta + phi / 2));
      theta += phi;
    }
    for (int k = 0; k <= N_; ++k) x.segment<2>(at(k)) -= mean;
  }

  int N_;
  double h_;
  int index_;
  ProgramStructure structure_;
};

}
