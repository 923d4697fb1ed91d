#include "tendril/analysis/concentration_control.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tendril {
namespace {

/// Y = (u1 - 1)^2 + 0.2 + X1 (1 + u2^2) + 0.5 X2, X in [0, 1]: mean and diameter are known,
///
///     E Y = (u1 - 1)^2 + 0.2 + (1 + u2^2)/2 + 0.25,      D^2 = (1 + u2^2)^2 + 0.25,
///
/// and the best controls are (1, 0).
Performance known() {
  return {[](const MatrixX& points) {
    VectorX values(points.cols());
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const auto p = points.col(i);
      values[i] = (p[0] - 1) * (p[0] - 1) + 0.2 + p[2] * (1 + p[1] * p[1]) + 0.5 * p[3];
    }
    return values;
  }};
}
double meanOf(const VectorX& u) { return (u[0] - 1) * (u[0] - 1) + 0.95 + u[1] * u[1] / 2; }
double diameterOf(const VectorX& u) { return std::hypot(1 + u[1] * u[1], 0.5); }

const UncertainInputs inputs{{{"X1", Distribution::uniform(0, 1)}, {"X2", Distribution::uniform(0, 1)}}};

ConcentrationControlOptions optionsOf(ControlSearch search) {
  ConcentrationControlOptions options;
  options.search = search;
  options.certificate = {.threshold = 3, .samples = 400};
  options.controls = {VectorX::Constant(2, -0.5), VectorX::Constant(2, 1.5)};
  options.start = (VectorX(2) << 0.1, 0.8).finished();
  return options;
}

TEST(ConcentrationControl, BothSearchesFindTheBestControls) {
  for (const ControlSearch search : {ControlSearch::Annealing, ControlSearch::Gradient}) {
    ConcentrationControlOptions options = optionsOf(search);
    options.annealing.maxEvaluations = 600;
    const ConcentrationControlResult result = concentrate(known(), inputs, options);
    EXPECT_NEAR(result.begin.diameter.value(), diameterOf(options.start), 1e-6);
    EXPECT_NEAR(result.best.mean, meanOf(result.controls), 5 * 0.35 / std::sqrt(400.0));
    EXPECT_NEAR(result.best.diameter.value(), diameterOf(result.controls), 1e-6);
    EXPECT_LT(result.best.bound, 0.2 * result.begin.bound);
    EXPECT_GT((3 - meanOf(result.controls)) / diameterOf(result.controls), 0.99 * (3 - 0.95) / std::hypot(1, 0.5)) << nameOf(search);
    EXPECT_NEAR(result.best.bound, std::exp(-2 * result.best.confidenceFactor * result.best.confidenceFactor), 1e-15);
  }
}

TEST(ConcentrationControl, GradientsTakeFewerRuns) {
  const auto annealed = concentrate(known(), inputs, optionsOf(ControlSearch::Annealing));
  const auto followed = concentrate(known(), inputs, optionsOf(ControlSearch::Gradient));
  EXPECT_LT(100 * followed.count.values, annealed.count.values);
  EXPECT_GE(followed.best.confidenceFactor, annealed.best.confidenceFactor);
}

TEST(ConcentrationControl, GradientsLeaveThePlainOfZeroConfidence) {
  ConcentrationControlOptions options = optionsOf(ControlSearch::Gradient);
  options.certificate.threshold = 1.4, options.start = (VectorX(2) << -0.4, 1.2).finished();
  const auto result = concentrate(known(), inputs, options);
  EXPECT_EQ(result.begin.bound, 1);
  EXPECT_LT(result.best.bound, 0.9);
}

TEST(ConcentrationControl, KeepsTheGivenControlsWhereNoneAreBetter) {
  ConcentrationControlOptions options = optionsOf(ControlSearch::Gradient);
  options.start = (VectorX(2) << 1, 0).finished();
  const auto result = concentrate(known(), inputs, options);
  EXPECT_GE(result.best.confidenceFactor, result.begin.confidenceFactor);
  EXPECT_NEAR((result.controls - options.start).norm(), 0, 0.05);
}

/// |e|, e = (1 - u1 + x (2 - u2), 0, 0), x in [-1, 1]: best is u = (1, 2). Beyond u2 = 1.5 it does not exist near x = 0.9.
Performance withHole() {
  const auto exists = [](const auto& p) { return !(p[1] > 1.5 && std::abs(p[2] - 0.9) < 2e-3); };
  const auto e = [](const auto& p) { return 1 - p[0] + p[2] * (2 - p[1]); };
  Performance performance{[=](const MatrixX& points) {
    VectorX values(points.cols());
    for (Eigen::Index i = 0; i < points.cols(); ++i) values[i] = exists(points.col(i)) ? std::abs(e(points.col(i))) : std::nan("");
    return values;
  }};
  performance.residuals = [=](const MatrixX& points) {
    MatrixX found = MatrixX::Zero(12, points.cols());
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const auto p = points.col(i);
      found(0, i) = exists(p) ? e(p) : std::nan(""), found(3, i) = -1, found(6, i) = -p[2];
    }
    return found;
  };
  return performance;
}

// A hole that few samples see: controls beyond it are no use, however good they look to all others.
TEST(ConcentrationControl, StopsWhereSamplesFail) {
  ConcentrationControlOptions options;
  options.certificate = {.threshold = 4, .samples = 3000};
  options.controls = {VectorX::Constant(2, -3), VectorX::Constant(2, 3)};
  options.start = VectorX::Zero(2);
  const auto result = concentrate(withHole(), {{{"x", Distribution::uniform(-1, 1)}}}, options);
  EXPECT_EQ(result.best.undefined, 0);
  EXPECT_GT(result.begin.bound, 0.1);
  EXPECT_LT(result.best.bound, 0.1 * result.begin.bound);
  EXPECT_LE(result.controls[1], 1.5);
}

// Where all others fail in some samples, the given controls stay, however many rounds are made.
TEST(ConcentrationControl, KeepsTheGivenControlsWhereAllOthersFail) {
  Performance performance = withHole();
  performance.values = [values = performance.values](const MatrixX& points) {
    VectorX found = values(points);
    for (Eigen::Index i = 0; i < points.cols(); ++i)
      if (!points.col(i).head(2).isZero(0) && points(2, i) > 0.5) found[i] = std::nan("");
    return found;
  };
  ConcentrationControlOptions options;
  options.certificate = {.threshold = 4, .samples = 100};
  options.controls = {VectorX::Constant(2, -3), VectorX::Constant(2, 3)};
  options.start = VectorX::Zero(2);
  const auto result = concentrate(performance, {{{"x", Distribution::uniform(-1, 1)}}}, options);
  EXPECT_TRUE(result.controls.isZero(0));
  EXPECT_EQ(result.best.bound, result.begin.bound);
  EXPECT_TRUE(result.history.empty());
}

TEST(Certificate, WhatDoesNotExistIsCountedAndNothingIsCertified) {
  const Performance broken{[](const MatrixX& points) {
    VectorX values = points.row(0).transpose();
    for (double& value : values)
      if (value > 0.75) value = std::nan("");
    return values;
  }};
  CountedPerformance performance(broken, {VectorX::Zero(1), VectorX::Ones(1)});
  const Certificate c = certify(performance, {{{"X", Distribution::uniform(0, 1)}}}, {.threshold = 0.5, .samples = 1000});
  EXPECT_NEAR(double(c.undefined), 250, 70);
  EXPECT_NEAR(double(c.failures), 250, 70);
  EXPECT_EQ(c.bound, 1);
  EXPECT_TRUE(c.observed.contains(0.5));
}

// One that is infinite does not exist: it is not a failure besides.
TEST(Certificate, WhatIsInfiniteIsCountedOnce) {
  const Performance infinite{[](const MatrixX& points) { return VectorX::Constant(points.cols(), HUGE_VAL); }};
  CountedPerformance performance(infinite, {VectorX::Zero(1), VectorX::Ones(1)});
  const Certificate c = certify(performance, {{{"X", Distribution::uniform(0, 1)}}}, {.threshold = 0.5, .samples = 100});
  EXPECT_EQ(c.undefined, 100);
  EXPECT_EQ(c.failures, 0);
  EXPECT_EQ(c.observed.upper, 1);
  EXPECT_GT(c.observed.lower, 0.9);
}

// Every bound lies above what is observed; the sampled one at its confidence, for linear functions of uniforms with D^2 = sum c^2.
TEST(Certificate, BoundsAreNeverBelowTheObservedFailures) {
  const VectorX c = (VectorX(4) << 1, -0.5, 2, 0.25).finished();
  UncertainInputs uniforms;
  for (int k = 0; k < 4; ++k) uniforms.inputs.push_back({"X" + std::to_string(k), Distribution::uniform(0, 1)});
  const Performance linear{[&](const MatrixX& points) { return VectorX(points.transpose() * c); }};
  for (const double threshold : {1.5, 2.0, 2.5, 3.0}) {
    CountedPerformance performance(linear, {uniforms.lower(), uniforms.upper()});
    const Certificate few = certify(performance, uniforms, {.threshold = threshold, .samples = 100});
    EXPECT_NEAR(few.diameter.value(), c.norm(), 1e-12);
    const Certificate many = certify(performance, uniforms, {.threshold = threshold, .samples = 20000, .seed = 5});
    EXPECT_GE(few.bound, many.observed.upper);
    EXPECT_GE(many.exactMeanBound, many.observed.upper);
    EXPECT_LE(many.exactMeanBound, many.bound);
    EXPECT_GE(many.hoeffding, many.observed.lower);
  }
}

}
}
