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
    result_.begin = result_.best = certified(options_.start);
    seen_ = {result_.best.diameter.inputs};
    note(result_.begin);
    return result_;
  }

  ConcentrationControlResult solve() {
    certifyStart();
    if (options_.search == ControlSearch::Annealing)
      anneal();
    else
      climb();
    return std::move(result_);
  }

 private:
  Certificate certified(const VectorX& controls) { return certified(controls, options_.certificate); }

  Certificate certified(const VectorX& controls, const CertificateOptions& options) {
    CountedPerformance performance(underControls(performance_, controls), box_);
    Certificate c = certify(performance, inputs_, options, stop_);
    result_.count += performance.count();
    return c;
  }

  void note(const Certificate& c) { result_.history.push_back({c.mean, c.diameter.value(), c.confidenceFactor, c.bound, result_.count}); }

  /// Takes controls that have a better certificate.
  void improve(const VectorX& controls) {
    const Certificate c = certified(controls);
    if (c.undefined == 0) seen_.push_back(c.diameter.inputs);
    if (!(c.undefined == 0 && c.confidenceFactor > result_.best.confidenceFactor)) return;
    result_.controls = controls, result_.best = c;
    note(c);
  }

  void anneal() {
    Annealer search(options_.controls.unit(options_.start), options_.annealing, RandomStream(options_.certificate.seed, searchStream + 1));
    CertificateOptions inner = options_.certificate;
    inner.seed = options_.certificate.seed ^ searchSeed;
    double best = 0;
    while (!search.finished()) {
      const VectorX controls = options_.controls.point(search.trial());
      const Certificate c = certified(controls, inner);
      if (!c.diameter.inputs.empty()) inner.diameter.known = c.diameter.inputs;
      search.take(c.undefined > 0 ? std::numeric_limits<double>::infinity() : -c.confidenceFactor);
      if (c.confidenceFactor > best) best = c.confidenceFactor, note(c);
    }
    improve(options_.controls.point(search.best()));
  }

  /// Inputs for which the search evaluates controls: samples of the mean, then for every input that counts in the diameter those of lines
  /// along it, through where largest differences were found.
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
    for (int round = 0; round < options_.rounds; ++round) {
      const Cases cases = chooseCases();
      const VectorX from = options_.controls.unit(result_.controls);
      if (performance_.residuals) {
        improve(options_.controls.point(closeIn(from, cases.inputs)));
        continue;
      }
      const double before = lookAt(from, cases).value;
      ProjectedGradient search(from, options_.gradient);
      while (!search.finished()) {
        const Look look = lookAt(search.trial(), cases);
        search.take(look.value, look.gradient);
      }
      if (!(before - search.value() > options_.gradient.tolerance * std::abs(before))) return;
      improve(options_.controls.point(search.best()));
    }
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
  ///
  /// Open loops magnify what is of second order in a step, which the next steps take away again: they are judged after a few.
  VectorX closeIn(const VectorX& from, const MatrixX& inputs) {
    constexpr int patience = 4;
    constexpr double mostDamping = 1e3;
    struct Place {
      VectorX unit;
      Residuals residuals;
    };
    Place best{from, residualsAt(from, inputs)}, here = best;
    double damping = 1e-3;
    for (int step = 1, since = 0; std::isfinite(best.residuals.square()) && step < options_.gradient.maxEvaluations; ++step) {
      here.unit += stepWithin(here.residuals, damping, here.unit);
      here.residuals = residualsAt(here.unit, inputs);
      if (here.residuals.square() < best.residuals.square()) {
        best = here, since = 0, damping /= 2;
      } else if (++since == patience || !std::isfinite(here.residuals.square())) {
        here = best, since = 0, damping *= 8;
        if (damping > mostDamping) break;
      }
    }
    return best.unit;
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

  /// An input whose largest difference is less than a thousandth of the largest does not count; one above a tenth has points in between,
  /// since the least value of a valley moves with the controls.
  Cases chooseCases() const {
    const auto& pairs = result_.best.diameter.inputs;
    double largest = 0;
    for (const InputDiameter& one : pairs) largest = std::max(largest, one.value);
    std::vector<VectorX> columns;
    Cases cases;
    cases.lines.resize(pairs.size());
    for (const std::vector<InputDiameter>& found : seen_) {
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (pairs[k].value < 1e-3 * largest) continue;
        constexpr int between = 9;
        const Eigen::Index first = options_.gradientSamples + Eigen::Index(columns.size());
        const auto add = [&](double value) { columns.push_back(found[k].at), columns.back()[Eigen::Index(k)] = value; };
        add(found[k].at[Eigen::Index(k)]), add(found[k].other);
        for (int i = 0; pairs[k].value > 0.1 * largest && i < between; ++i)
          add(box_.lower[Eigen::Index(k)] + box_.width()[Eigen::Index(k)] * i / (between - 1));
        cases.lines[k].emplace_back(first, options_.gradientSamples + Eigen::Index(columns.size()) - first);
      }
    }
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
    const double D = margin > 0 ? std::sqrt(square) : result_.best.diameter.value();
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
  /// Where the diameters of all controls that were certified have their differences: controls that only escape from these few are found out
  /// in the next round.
  std::vector<std::vector<InputDiameter>> seen_;
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
