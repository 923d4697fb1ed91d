#include "tendril/analysis/concentration_control.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tendril {

namespace {

/// Stream of the samples by which controls are compared; certificates have stream 0.
constexpr std::uint32_t searchStream = 1u << 30;

/// The performance under given controls, as one of the inputs alone.
Performance underControls(const Performance& performance, const VectorX& controls) {
  const auto whole = [controls](const MatrixX& points) {
    MatrixX all(controls.size() + points.rows(), points.cols());
    all.topRows(controls.size()).colwise() = controls;
    all.bottomRows(points.rows()) = points;
    return all;
  };
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
  bool improve(const VectorX& controls) {
    const Certificate c = certified(controls);
    if (!(c.undefined == 0 && c.confidenceFactor > result_.best.confidenceFactor)) return false;
    result_.controls = controls, result_.best = c;
    note(c);
    return true;
  }

  void anneal() {
    Annealer search(options_.controls.unit(options_.start), options_.annealing, RandomStream(options_.certificate.seed, searchStream + 1));
    CertificateOptions inner = options_.certificate;
    inner.seed = options_.certificate.seed ^ searchSeed;
    double best = 0;
    while (!search.finished()) {
      const VectorX controls = options_.controls.point(search.trial());
      const Certificate c = certified(controls, inner);
      if (c.diameter.inputs.size() > 0) inner.diameter.known = c.diameter.inputs;
      search.take(c.undefined > 0 ? std::numeric_limits<double>::infinity() : -c.confidenceFactor);
      if (c.confidenceFactor > best) best = c.confidenceFactor, note(c);
    }
    improve(options_.controls.point(search.best()));
  }

  void climb() {
    for (int round = 0; round < options_.rounds; ++round) {
      ProjectedGradient search(options_.controls.unit(result_.controls), options_.gradient);
      const Cases cases = chooseCases();
      VectorX gradient;
      while (!search.finished()) {
        if (stop_ && stop_()) throw Interrupted("the search for controls was stopped");
        const double value = descent(search.trial(), cases, gradient);
        search.take(value, gradient);
      }
      if (!improve(options_.controls.point(search.best()))) return;
    }
  }

  /// Inputs for which the search evaluates controls: samples of the mean, then for every input that counts in the diameter those of a line
  /// along it, through where its largest difference was found.
  struct Cases {
    MatrixX inputs;
    std::vector<std::pair<Eigen::Index, Eigen::Index>> lines; ///< first column, number of columns
  };

  /// An input whose largest difference is less than a thousandth of the largest does not count; one above a tenth has points in between,
  /// since the least value of a valley moves with the controls.
  Cases chooseCases() const {
    const auto& pairs = result_.best.diameter.inputs;
    double largest = 0;
    for (const InputDiameter& one : pairs) largest = std::max(largest, one.value);
    std::vector<VectorX> columns;
    Cases cases;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[k].value < 1e-3 * largest) continue;
      constexpr int between = 9;
      const Eigen::Index first = options_.gradientSamples + Eigen::Index(columns.size());
      const auto add = [&](double value) { columns.push_back(pairs[k].at), columns.back()[Eigen::Index(k)] = value; };
      add(pairs[k].at[Eigen::Index(k)]), add(pairs[k].other);
      for (int i = 0; pairs[k].value > 0.1 * largest && i < between; ++i)
        add(box_.lower[Eigen::Index(k)] + box_.width()[Eigen::Index(k)] * i / (between - 1));
      cases.lines.emplace_back(first, options_.gradientSamples + Eigen::Index(columns.size()) - first);
    }
    cases.inputs.resize(inputs_.size(), options_.gradientSamples + Eigen::Index(columns.size()));
    cases.inputs.leftCols(options_.gradientSamples) =
        inputs_.samples(RandomStream(options_.certificate.seed, searchStream), options_.gradientSamples);
    for (std::size_t i = 0; i < columns.size(); ++i) cases.inputs.col(options_.gradientSamples + Eigen::Index(i)) = columns[i];
    return cases;
  }

  /// -(a - <Y>)/D and its gradient in the unit cube of controls; above the threshold D is held at that of the best controls.
  double descent(const VectorX& unit, const Cases& cases, VectorX& gradient) {
    const Eigen::Index size = unit.size(), inputs = cases.inputs.rows(), m = options_.gradientSamples;
    Box box{VectorX::Zero(size + inputs), VectorX::Zero(size + inputs)}; // inputs stay as they are
    box.lower.head(size) = options_.controls.lower, box.upper.head(size) = options_.controls.upper;
    MatrixX points(size + inputs, cases.inputs.cols()), gradients;
    points.topRows(size).colwise() = options_.controls.point(unit);
    points.bottomRows(inputs) = cases.inputs;
    CountedPerformance performance(performance_, box, options_.share);
    const VectorX values = performance.gradients(points, gradients);
    result_.count += performance.count();
    const double mean = values.head(m).mean(), margin = options_.certificate.threshold - mean;
    double square = 0;
    VectorX slope = VectorX::Zero(size); // of D^2 / 2
    for (const auto& [first, count] : cases.lines) {
      Eigen::Index most = 0, least = 0;
      const double d = values.segment(first, count).maxCoeff(&most) - values.segment(first, count).minCoeff(&least);
      square += d * d;
      slope += d * (gradients.col(first + most) - gradients.col(first + least)).head(size);
    }
    const VectorX ofMean = gradients.topLeftCorner(size, m).rowwise().mean();
    const double D = margin > 0 ? std::sqrt(square) : result_.best.diameter.value();
    gradient = ofMean / D;
    if (margin > 0) gradient += margin / (D * D * D) * slope;
    gradient = gradient.cwiseProduct(options_.controls.width());
    return values.allFinite() ? -margin / D : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr std::uint64_t searchSeed = 0x9E3779B97F4A7C15;

  const Performance& performance_;
  const UncertainInputs& inputs_;
  const ConcentrationControlOptions& options_;
  const StopQuestion& stop_;
  Box box_;
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
