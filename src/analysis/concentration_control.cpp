#include "tendril/analysis/concentration_control.h"

#include "tendril/model/error.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tendril {

namespace {

/// Stream of the samples by which controls are compared; certificates have stream 0.
constexpr std::uint32_t searchStream = 1u << 30;

/// Points of controls and inputs: the same controls for all inputs.
MatrixX withControls(const VectorX& controls, const MatrixX& inputs) {
  MatrixX points(controls.size() + inputs.rows(), inputs.cols());
  points.topRows(controls.size()).colwise() = controls;
  points.bottomRows(inputs.rows()) = inputs;
  return points;
}

/// The performance under given controls, as one of the inputs alone.
Performance underControls(const Performance& performance, const VectorX& controls) {
  const auto whole = [controls](const MatrixX& points) { return withControls(controls, points); };
  Performance restricted{[=](const MatrixX& points) { return performance.values(whole(points)); }};
  if (performance.gradients) {
    restricted.gradients = [=](const MatrixX& points, std::vector<Eigen::Index> wanted, MatrixX& gradients) {
      for (Eigen::Index& i : wanted) i += controls.size();
      MatrixX all;
      const VectorX values = performance.gradients(whole(points), wanted, all);
      gradients = all.bottomRows(points.rows());
      return values;
    };
  }
  return restricted;
}

class Concentration {
 public:
  Concentration(const Performance& performance, const UncertainInputs& inputs, const ConcentrationControlOptions& options,
                const StopQuestion& stop)
      : performance_(performance), inputs_(inputs), options_(options), stop_(stop), box_{inputs.lower(), inputs.upper()} {}

  ConcentrationControlResult certifyStart() {
    result_.controls = options_.start;
    result_.begin = result_.best = certified(options_.start, options_.certificate);
    return result_;
  }

  ConcentrationControlResult solve() {
    certifyStart();
    if (options_.search == ControlSearch::Annealing)
      anneal();
    else
      climb();
    if (way_.empty()) return std::move(result_);
    const auto [at, best] = lastDefined(way_, [&](const VectorX& trial) { return judged(trial, options_.certificate); });
    if (best.missing.empty() && best.certificate.confidenceFactor > result_.begin.confidenceFactor)
      result_.controls = way_[at], result_.best = best.certificate;
    return std::move(result_);
  }

 private:
  Certificate certified(const VectorX& controls, const CertificateOptions& options) {
    CountedPerformance performance(underControls(performance_, controls), box_);
    Certificate c = certify(performance, inputs_, options, stop_);
    result_.count += performance.count();
    return c;
  }

  /// A certificate, and some of the inputs, samples or places where its diameter was looked for, at which there is no performance.
  struct Judgement {
    Certificate certificate;
    std::vector<VectorX> missing;
  };

  Judgement judged(const VectorX& controls, const CertificateOptions& options) {
    Judgement found;
    const auto watch = [&found](const MatrixX& points, const VectorX& values) {
      constexpr std::size_t most = 4;
      for (Eigen::Index i = 0; i < values.size() && found.missing.size() < most; ++i)
        if (!std::isfinite(values[i])) found.missing.emplace_back(points.col(i));
      return values;
    };
    Performance watched = underControls(performance_, controls);
    watched.values = [watch, values = watched.values](const MatrixX& points) { return watch(points, values(points)); };
    if (watched.gradients) {
      watched.gradients = [watch, gradients = watched.gradients](const MatrixX& points, const std::vector<Eigen::Index>& wanted,
                                                                 MatrixX& slopes) {
        return watch(points, gradients(points, wanted, slopes));
      };
    }
    CountedPerformance performance(watched, box_);
    try {
      found.certificate = certify(performance, inputs_, options, stop_);
    } catch (const NumericalFailure&) {
      if (found.missing.empty()) throw;
    }
    result_.count += performance.count();
    return found;
  }

  /// The same by samples of the search, the diameter looked for where those before were found, too.
  Judgement compared(const VectorX& controls) {
    constexpr long most = 1000; // more samples change the margin, and not which controls are better
    CertificateOptions options = options_.certificate;
    options.samples = std::min(options.samples, most);
    options.seed ^= searchSeed;
    options.diameter.known = present_.diameter.inputs;
    return judged(controls, options);
  }

  /// The confidence factor, which is not flat where the mean is above the threshold.
  double score(const Certificate& c) const { return (options_.certificate.threshold - c.mean - c.alpha) / c.diameter.value(); }

  /// Goes on to controls that are better.
  void take(const VectorX& controls, const Certificate& c) {
    way_.push_back(controls), present_ = c;
    result_.history.push_back({c.mean, c.diameter.value(), c.confidenceFactor, c.bound, result_.count});
  }
  const VectorX& controls() const { return way_.empty() ? options_.start : way_.back(); }

  /// The last controls of a way that fail nowhere, as far as is seen, looked for from its end by growing steps; and their certificate.
  template <typename Judge> static std::pair<std::size_t, Judgement> lastDefined(const std::vector<VectorX>& way, const Judge& judge) {
    std::size_t at = way.size() - 1, step = 1;
    Judgement found = judge(way[at]);
    for (; !found.missing.empty() && at > 0; step *= 2) at -= std::min(step, at), found = judge(way[at]);
    return {at, found};
  }

  /// Goes on along a way if that is better. Where controls fail, the search knows of it in the next round.
  void improve(const std::vector<VectorX>& way) {
    const auto [at, found] = lastDefined(way, [&](const VectorX& trial) {
      Judgement one = compared(trial);
      failed_.insert(failed_.end(), one.missing.begin(), one.missing.end());
      return one;
    });
    const Certificate& c = found.certificate;
    if (!found.missing.empty()) return;
    seen_.push_back(c.diameter.inputs);
    if (!(score(c) > score(present_))) return;
    way_.insert(way_.end(), way.begin(), way.begin() + std::ptrdiff_t(at));
    take(way[at], c);
  }

  void anneal() {
    Annealer search(options_.controls.unit(options_.start), options_.annealing, RandomStream(options_.certificate.seed, searchStream + 1));
    while (!search.finished()) {
      const VectorX controls = options_.controls.point(search.trial());
      const auto [c, missing] = compared(controls);
      search.take(missing.empty() ? -c.confidenceFactor : std::numeric_limits<double>::infinity());
      if (missing.empty() && c.confidenceFactor > present_.confidenceFactor) take(controls, c);
    }
  }

  /// Inputs for which the search evaluates controls: samples of the mean, then for every input that counts in the diameter those of lines
  /// along it, through where largest differences were found, then those at which other controls failed.
  struct Cases {
    MatrixX inputs;
    std::vector<std::vector<std::pair<Eigen::Index, Eigen::Index>>> lines; ///< by input: first column, number of columns
  };

  /// What the search sees of controls: -(a - <Y>)/D with its gradient, and performances of all cases with theirs, in the unit cube.
  struct Look {
    double value = 0;
    VectorX gradient, performances;
    MatrixX slopes;
  };

  void climb() {
    present_ = compared(options_.start).certificate;
    if (present_.diameter.inputs.empty()) return; // some samples fail
    seen_ = {present_.diameter.inputs};
    for (int round = 0; round < options_.rounds; ++round) {
      const Cases cases = chooseCases();
      const VectorX from = options_.controls.unit(controls());
      std::vector<VectorX> way = performance_.residuals ? closeIn(from, cases.inputs) : descend(from, cases);
      if (way.empty()) return;
      for (VectorX& unit : way) unit = options_.controls.point(unit);
      improve(way);
    }
  }

  /// To controls of larger (a - <Y>)/D, if there are any.
  std::vector<VectorX> descend(const VectorX& from, const Cases& cases) {
    const double before = lookAt(from, cases).value;
    ProjectedGradient search(from, options_.gradient);
    while (!search.finished()) {
      const Look look = lookAt(search.trial(), cases);
      search.take(look.value, look.gradient);
    }
    if (!(before - search.value() > options_.gradient.tolerance * std::abs(before))) return {};
    return {search.best()};
  }

  /// Vectors e_i of all cases, one below the other, and their derivatives in the unit cube.
  struct Residuals {
    VectorX values;
    MatrixX slopes;
    double square() const { return values.allFinite() ? values.squaredNorm() : std::numeric_limits<double>::infinity(); }
  };

  /// Where performances are lengths of vectors, min_u sum_i |e_i(u)|^2 by the method of Levenberg and Marquardt within the cube,
  ///
  ///     (J^T J + lambda I) d = -J^T e      (analysis.15),
  ///
  /// controls held that would leave it. With vectors that (nearly) vanish for all cases mean and differences are of second order in the
  /// inputs.
  std::vector<VectorX> closeIn(VectorX unit, const MatrixX& others) {
    MatrixX inputs(others.rows(), others.cols() + 1);
    inputs << inputs_.mean(), others;
    constexpr double mostDamping = 1e3;
    Residuals here = residualsAt(unit, inputs);
    std::vector<VectorX> way;
    double damping = 1e-3;
    for (int step = 1; std::isfinite(here.square()) && step < options_.gradient.maxEvaluations && damping < mostDamping; ++step) {
      const VectorX move = stepWithin(here, damping, unit);
      const VectorX trial =
          returned(unit + move, here.values.head<3>() + here.slopes.topRows(3) * move, here.square() / double(inputs.cols()));
      const Residuals there = residualsAt(trial, inputs);
      const double gain = 1 - there.square() / here.square();
      damping *= gain > 0 ? 0.3 : 4;
      if (!(gain > 0)) continue;
      unit = trial, here = there;
      way.push_back(unit);
      if (gain < options_.gradient.tolerance) break;
    }
    return way;
  }

  /// Open loops magnify what is of second order in a step, for all cases alike: a few steps of Newton's method, the shortest ones, bring
  /// the vector of the mean inputs to where it was to be, one run each. Without them steps would have to be short.
  VectorX returned(VectorX unit, const Vector3& target, double square) {
    constexpr int most = 3;
    constexpr double enough = 1e-4, damping = 1e-9;
    for (int i = 0; i < most; ++i) {
      Residuals mean = residualsAt(unit, inputs_.mean());
      mean.values -= target;
      if (!std::isfinite(mean.square()) || mean.square() <= enough * square) break;
      unit += stepWithin(mean, damping, unit);
    }
    return unit;
  }

  /// The step, with the controls that would leave the cube held at its faces, and the others found anew.
  static VectorX stepWithin(const Residuals& here, double damping, const VectorX& unit) {
    MatrixX slopes = here.slopes;
    VectorX values = here.values, step = VectorX::Zero(unit.size());
    const double lambda = damping * slopes.squaredNorm() / double(unit.size());
    std::vector<Eigen::Index> leaving;
    do {
      MatrixX normal = slopes.transpose() * slopes;
      normal.diagonal().array() += lambda;
      const VectorX free = normal.ldlt().solve(slopes.transpose() * -values);
      leaving.clear();
      for (Eigen::Index i = 0; i < unit.size(); ++i) {
        if (slopes.col(i).isZero(0)) continue; // held, or of no effect
        step[i] = std::clamp(unit[i] + free[i], 0.0, 1.0) - unit[i];
        if (unit[i] + free[i] < 0 || unit[i] + free[i] > 1) leaving.push_back(i);
      }
      for (const Eigen::Index i : leaving) values += slopes.col(i) * step[i], slopes.col(i).setZero();
    } while (!leaving.empty());
    return step;
  }

  Residuals residualsAt(const VectorX& unit, const MatrixX& inputs) {
    if (stop_ && stop_()) throw Interrupted("the search for controls was stopped");
    const Eigen::Index size = unit.size(), count = inputs.cols();
    const MatrixX found = performance_.residuals(withControls(options_.controls.point(unit), inputs));
    result_.count += {count, count};
    Residuals residuals{found.topRows(3).reshaped(), MatrixX(3 * count, size)};
    for (Eigen::Index i = 0; i < count; ++i) residuals.slopes.middleRows(3 * i, 3) = found.col(i).segment(3, 3 * size).reshaped(3, size);
    residuals.slopes *= options_.controls.width().asDiagonal();
    return residuals;
  }

  /// Few samples, one in every stratum of every input in random order (Latin hypercube): their mean is much closer than that of others.
  MatrixX evenSamples() const {
    const RandomStream random(options_.certificate.seed, searchStream);
    const std::size_t m = std::size_t(options_.gradientSamples);
    MatrixX points(inputs_.size(), options_.gradientSamples);
    std::vector<std::size_t> order(m);
    for (int k = 0; k < inputs_.size(); ++k) {
      std::iota(order.begin(), order.end(), std::size_t(0));
      std::sort(order.begin(), order.end(),
                [&](std::size_t i, std::size_t j) { return random.uniform(i, std::uint32_t(k)) < random.uniform(j, std::uint32_t(k)); });
      for (std::size_t i = 0; i < m; ++i)
        points(k, Eigen::Index(i)) = inputs_.inputs[std::size_t(k)].distribution.quantile((double(order[i]) + 0.5) / double(m));
    }
    return points;
  }

  /// Inputs do not count that make a hundredth of D^2 together; one whose difference is above a tenth of the largest has points in between,
  /// since the least value of a valley moves with the controls.
  Cases chooseCases() const {
    const auto& pairs = present_.diameter.inputs;
    std::vector<std::size_t> rising(pairs.size());
    std::iota(rising.begin(), rising.end(), std::size_t(0));
    std::sort(rising.begin(), rising.end(), [&](std::size_t i, std::size_t j) { return pairs[i].value < pairs[j].value; });
    const double largest = pairs[rising.back()].value, whole = present_.diameter.value();
    std::vector<VectorX> columns;
    const auto add = [&](const VectorX& at) { columns.push_back(at); };
    Cases cases;
    cases.lines.resize(pairs.size());
    double square = 0;
    for (const std::size_t k : rising) {
      square += pairs[k].value * pairs[k].value;
      if (square <= 1e-2 * whole * whole) continue;
      for (const std::vector<InputDiameter>& found : seen_) {
        constexpr int between = 9;
        const Eigen::Index first = options_.gradientSamples + Eigen::Index(columns.size()), input = Eigen::Index(k);
        VectorX at = found[k].at;
        add(at);
        at[input] = found[k].other, add(at);
        for (int i = 0; pairs[k].value > 0.1 * largest && i < between; ++i)
          at[input] = box_.lower[input] + box_.width()[input] * i / (between - 1), add(at);
        cases.lines[k].emplace_back(first, options_.gradientSamples + Eigen::Index(columns.size()) - first);
      }
    }
    for (const VectorX& one : failed_) add(one);
    cases.inputs.resize(inputs_.size(), options_.gradientSamples + Eigen::Index(columns.size()));
    cases.inputs.leftCols(options_.gradientSamples) = evenSamples();
    for (std::size_t i = 0; i < columns.size(); ++i) cases.inputs.col(options_.gradientSamples + Eigen::Index(i)) = columns[i];
    return cases;
  }

  /// Above the threshold D is held at that of the best controls.
  Look lookAt(const VectorX& unit, const Cases& cases) {
    if (stop_ && stop_()) throw Interrupted("the search for controls was stopped");
    const Eigen::Index size = unit.size(), inputs = cases.inputs.rows(), m = options_.gradientSamples;
    Box box{VectorX::Zero(size + inputs), VectorX::Zero(size + inputs)}; // inputs stay as they are
    box.lower.head(size) = options_.controls.lower, box.upper.head(size) = options_.controls.upper;
    MatrixX gradients;
    CountedPerformance performance(performance_, box, options_.share);
    Look look;
    look.performances = performance.gradients(withControls(options_.controls.point(unit), cases.inputs), gradients);
    result_.count += performance.count();
    look.slopes = options_.controls.width().asDiagonal() * gradients.topRows(size);
    const VectorX& Y = look.performances;
    const double mean = Y.head(m).mean(), margin = options_.certificate.threshold - mean;
    double square = 0;
    VectorX ofDiameter = VectorX::Zero(size); // slope of D^2 / 2
    for (const auto& linesOfInput : cases.lines) {
      double largest = 0;
      Eigen::Index up = 0, down = 0;
      for (const auto& [first, count] : linesOfInput) {
        Eigen::Index most = 0, least = 0;
        const double d = Y.segment(first, count).maxCoeff(&most) - Y.segment(first, count).minCoeff(&least);
        if (d > largest) largest = d, up = first + most, down = first + least;
      }
      square += largest * largest;
      ofDiameter += largest * (look.slopes.col(up) - look.slopes.col(down));
    }
    const double D = margin > 0 ? std::sqrt(square) : present_.diameter.value();
    look.gradient = look.slopes.leftCols(m).rowwise().mean() / D;
    if (margin > 0) look.gradient += margin / (D * D * D) * ofDiameter;
    look.value = Y.allFinite() ? -margin / D : std::numeric_limits<double>::quiet_NaN();
    return look;
  }

  static constexpr std::uint64_t searchSeed = 0x9E3779B97F4A7C15;

  const Performance& performance_;
  const UncertainInputs& inputs_;
  const ConcentrationControlOptions& options_;
  const StopQuestion& stop_;
  Box box_;
  /// From the given controls to the best ones so far, by the steps that led there; and the certificate of these by the samples of the
  /// search.
  std::vector<VectorX> way_;
  Certificate present_;
  /// Where the diameters of all controls that were looked at have their differences: controls that only escape from these few are found out
  /// in the next round.
  std::vector<std::vector<InputDiameter>> seen_;
  /// Inputs at which controls that were looked at have no performance.
  std::vector<VectorX> failed_;
  ConcentrationControlResult result_;
};

}

std::string_view nameOf(ControlSearch search) { return search == ControlSearch::Annealing ? "annealing" : "gradient"; }

ConcentrationControlResult concentrate(const Performance& performance, const UncertainInputs& inputs,
                                       const ConcentrationControlOptions& options, const StopQuestion& stop) {
  return Concentration(performance, inputs, options, stop).solve();
}

ConcentrationControlResult certifyControls(const Performance& performance, const UncertainInputs& inputs, const VectorX& controls,
                                           const CertificateOptions& options, const StopQuestion& stop) {
  const ConcentrationControlOptions all{.certificate = options, .start = controls};
  return Concentration(performance, inputs, all, stop).certifyStart();
}

}
