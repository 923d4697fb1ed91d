#include "tendril/analysis/diameter.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>

namespace tendril {

namespace {

/// The difference that the change of one input makes, as a function of M + 1 coordinates from 0 to 1: all inputs, with A in the place of
/// the changed one, then B. Looked for is its maximum; the sign needs no care, since A and B may change places.
struct Difference {
  int input;
  const Box* box;

  VectorX unit(const InputDiameter& known) const {
    VectorX z(box->size() + 1);
    VectorX b = known.at;
    b[input] = known.other;
    z << box->unit(known.at), box->unit(b)[input];
    return z;
  }
  /// The points of A and B, into two columns.
  void place(const VectorX& z, Eigen::Ref<MatrixX> points) const {
    points.col(0) = points.col(1) = box->point(z.head(box->size()));
    points(input, 1) = box->lower[input] + z[box->size()] * box->width()[input];
  }
  /// d/dz of F(A) - F(B).
  VectorX gradient(const Eigen::Ref<const MatrixX>& gradients) const {
    VectorX g(box->size() + 1);
    g.head(box->size()) = (gradients.col(0) - gradients.col(1)).cwiseProduct(box->width());
    g[input] = gradients(input, 0) * box->width()[input];
    g[box->size()] = -gradients(input, 1) * box->width()[input];
    return g;
  }
  InputDiameter result(const VectorX& z, double value) const {
    MatrixX points(box->size(), 2);
    place(z, points);
    return {value, value, points.col(0), points(input, 1)};
  }
};

/// Searches for the maxima of differences, side by side: what all of them ask for is one batch.
template <typename Search> struct Searcher {
  Difference difference;
  Search search;
  bool isGivenUp = false;
};

template <typename Search, typename Take> void searchTogether(std::vector<Searcher<Search>>& all, Eigen::Index inputs, const Take& take) {
  std::vector<Searcher<Search>*> active;
  while (true) {
    active.clear();
    for (auto& one : all)
      if (!one.search.finished() && !one.isGivenUp) active.push_back(&one);
    if (active.empty()) return;
    MatrixX points(inputs, 2 * Eigen::Index(active.size()));
    for (std::size_t i = 0; i < active.size(); ++i)
      active[i]->difference.place(active[i]->search.trial(), points.middleCols(2 * Eigen::Index(i), 2));
    take(active, points);
  }
}

/// Keeps the largest difference of every input; a search minimises its negative.
template <typename Search> void collect(const std::vector<Searcher<Search>>& all, Diameter& diameter) {
  for (const auto& [difference, search, isGivenUp] : all) {
    InputDiameter& best = diameter.inputs[std::size_t(difference.input)];
    const bool isBetter = best.at.size() == 0 || -search.value() > best.value;
    if (std::isfinite(search.value()) && isBetter) best = difference.result(search.best(), std::max(0.0, -search.value()));
  }
  for (std::size_t k = 0; k < diameter.inputs.size(); ++k) {
    if (diameter.inputs[k].at.size() == 0)
      throw NumericalFailure(fmt::format("the performance exists nowhere where the diameter of input {} was looked for", k + 1));
  }
}

/// A far up, B far down, all else in the middle.
VectorX acrossTheMiddle(int inputs, int k) {
  VectorX z = VectorX::Constant(inputs + 1, 0.5);
  z[k] = 1, z[inputs] = 0;
  return z;
}

void anneal(CountedPerformance& performance, const DiameterOptions& options, Diameter& diameter) {
  const int inputs = int(performance.box().size());
  std::vector<Searcher<Annealer>> all;
  for (int k = 0; k < inputs; ++k) {
    const RandomStream random(options.seed, std::uint32_t(k) + 1);
    all.push_back({{k, &performance.box()}, Annealer(VectorX::Constant(inputs + 1, 0.5), options.annealing, random)});
  }
  searchTogether(all, inputs, [&](const auto& active, const MatrixX& points) {
    const VectorX values = performance.values(points);
    for (std::size_t i = 0; i < active.size(); ++i)
      active[i]->search.take(-std::abs(values[2 * Eigen::Index(i)] - values[2 * Eigen::Index(i) + 1]));
  });
  collect(all, diameter);
}

/// Gives up what does not matter: searches by which, as far as slopes tell, D^2 would not grow by their share of the tolerance.
void giveUp(std::vector<Searcher<ProjectedGradient>>& all, int inputs, double tolerance) {
  VectorX largest = VectorX::Zero(inputs);
  for (const auto& one : all) largest[one.difference.input] = std::max(largest[one.difference.input], -one.search.value());
  const double least = tolerance * largest.squaredNorm() / inputs;
  for (auto& one : all) {
    const double found = std::max(0.0, -one.search.value()), promise = one.search.promise();
    one.isGivenUp = promise * (2 * found + promise) <= least;
  }
}

void climb(CountedPerformance& performance, const DiameterOptions& options, Diameter& diameter) {
  const int inputs = int(performance.box().size());
  std::vector<Searcher<ProjectedGradient>> all;
  // Where a performance is monotone, and where it has a valley or a hill.
  constexpr double pairs[][2]{{1, 0}, {0, 1}, {1, 0.5}, {0, 0.5}};
  constexpr int firsts = 4;
  const auto add = [&](const Difference& difference, const VectorX& start) {
    all.push_back({difference, ProjectedGradient(start, options.gradient)});
  };
  for (int k = 0; k < inputs; ++k) {
    const Difference difference{k, &performance.box()};
    if (!options.known.empty()) add(difference, difference.unit(options.known[std::size_t(k)]));
    for (int start = 0; start < options.starts; ++start) {
      VectorX z = acrossTheMiddle(inputs, k);
      for (int i = 0; start >= firsts && i < inputs; ++i)
        z[i] = RandomStream(options.seed, std::uint32_t(k) + 1).uniform(std::uint64_t(start), std::uint32_t(i)) < 0.5 ? 0 : 1;
      z[k] = pairs[start % firsts][0], z[inputs] = pairs[start % firsts][1];
      add(difference, z);
    }
  }
  searchTogether(all, inputs, [&](const auto& active, const MatrixX& points) {
    MatrixX gradients;
    const VectorX values = performance.gradients(points, gradients);
    for (std::size_t i = 0; i < active.size(); ++i) {
      const Eigen::Index at = 2 * Eigen::Index(i);
      active[i]->search.take(values[at + 1] - values[at], -active[i]->difference.gradient(gradients.middleCols(at, 2)));
    }
    giveUp(all, inputs, options.gradient.tolerance);
  });
  collect(all, diameter);
}

/// Branch and bound for one input.
class BranchAndBound {
 public:
  BranchAndBound(CountedPerformance& performance, const DiameterOptions& options, int input)
      : performance_(performance), options_(options), difference_{input, &performance.box()} {}

  InputDiameter solve() {
    const int coordinates = int(performance_.box().size()) + 1;
    const long before = performance_.count().values;
    evaluate({acrossTheMiddle(coordinates - 1, difference_.input)}); // the best guess there is
    add({VectorX::Constant(coordinates, 0.5)}, VectorX::Constant(coordinates, 0.5));
    while (!boxes_.empty() && boxes_.top().bound > best_.found * (1 + options_.tolerance) &&
           performance_.count().values - before < options_.maxRuns) {
      split();
    }
    best_.value = boxes_.empty() ? best_.found : std::max(best_.found, boxes_.top().bound);
    return best_;
  }

 private:
  struct SubBox {
    VectorX centre, half;
    double bound;
    bool operator<(const SubBox& other) const { return bound < other.bound; }
  };

  /// Most that the difference may grow by from the centre, coordinate by coordinate.
  VectorX growth(const VectorX& centre, const VectorX& half) const {
    const int k = difference_.input;
    const Eigen::Index last = centre.size() - 1;
    const VectorX width = performance_.box().width();
    const double apart = (std::abs(centre[k] - centre[last]) + half[k] + half[last]) * width[k];
    VectorX parts(centre.size());
    for (Eigen::Index j = 0; j < last; ++j) {
      double slope = 2 * options_.slopes[j];
      if (options_.curvatures.size() > 0) slope = std::min(slope, options_.curvatures(j, k) * apart);
      parts[j] = slope * half[j] * width[j];
    }
    parts[k] = options_.slopes[k] * half[k] * width[k];
    parts[last] = options_.slopes[k] * half[last] * width[k];
    return parts;
  }

  VectorX evaluate(const std::vector<VectorX>& centres) {
    MatrixX points(performance_.box().size(), 2 * Eigen::Index(centres.size()));
    for (std::size_t i = 0; i < centres.size(); ++i) difference_.place(centres[i], points.middleCols(2 * Eigen::Index(i), 2));
    const VectorX values = performance_.values(points);
    VectorX differences(Eigen::Index(centres.size()));
    for (Eigen::Index i = 0; i < differences.size(); ++i) {
      differences[i] = values[2 * i] - values[2 * i + 1];
      if (!std::isfinite(differences[i]))
        throw NumericalFailure("the performance does not exist everywhere, so that no diameter is certified");
      if (best_.at.size() == 0 || std::abs(differences[i]) > best_.found)
        best_ = difference_.result(centres[std::size_t(i)], std::abs(differences[i]));
    }
    return differences;
  }

  void add(const std::vector<VectorX>& centres, const VectorX& half) {
    const VectorX differences = evaluate(centres);
    const int k = difference_.input;
    const Eigen::Index last = half.size() - 1;
    for (std::size_t i = 0; i < centres.size(); ++i) {
      const VectorX& z = centres[i];
      const double apart = (std::abs(z[k] - z[last]) + half[k] + half[last]) * performance_.box().width()[k];
      const double bound = std::min(differences[Eigen::Index(i)] + growth(z, half).sum(), options_.slopes[k] * apart);
      if (bound > best_.found) boxes_.push({z, half, bound});
    }
  }

  /// Halves the worst box where its bound has the largest part.
  void split() {
    const SubBox box = boxes_.top();
    boxes_.pop();
    Eigen::Index widest = 0;
    growth(box.centre, box.half).maxCoeff(&widest);
    VectorX half = box.half, low = box.centre, high = box.centre;
    half[widest] /= 2;
    low[widest] -= half[widest], high[widest] += half[widest];
    add({low, high}, half);
  }

  CountedPerformance& performance_;
  const DiameterOptions& options_;
  Difference difference_;
  InputDiameter best_;
  std::priority_queue<SubBox> boxes_;
};

void bound(CountedPerformance& performance, const DiameterOptions& options, Diameter& diameter) {
  const Box& box = performance.box();
  if (options.slopes.size() != box.size()) throw InputError("a certified diameter takes a bound of the slope for every input");
  for (int k = 0; k < int(box.size()); ++k) {
    InputDiameter& one = diameter.inputs[std::size_t(k)];
    one = BranchAndBound(performance, options, k).solve();
    const double most = options.slopes[k] * std::abs(one.at[k] - one.other);
    constexpr double rounding = 1e-9;
    if (one.found > most * (1 + rounding))
      throw InputError(
          fmt::format("a difference of {:.6g} was found where the bound of the slope allows {:.6g}: the bound is none", one.found, most));
  }
  diameter.isCertified = true;
}

double norm(const Diameter& diameter, double InputDiameter::*part) {
  double largest = 0, sum = 0;
  for (const InputDiameter& one : diameter.inputs) largest = std::max(largest, one.*part);
  for (const InputDiameter& one : diameter.inputs) sum += largest > 0 ? (one.*part / largest) * (one.*part / largest) : 0;
  return largest * std::sqrt(sum);
}

}

std::string_view nameOf(DiameterMethod method) {
  switch (method) {
  case DiameterMethod::Annealing:
    return "annealing";
  case DiameterMethod::Gradient:
    return "gradient";
  default:
    return "bounds";
  }
}

double Diameter::value() const { return norm(*this, &InputDiameter::value); }
double Diameter::found() const { return norm(*this, &InputDiameter::found); }

Diameter findDiameter(CountedPerformance& performance, const DiameterOptions& options) {
  const EvaluationCount before = performance.count();
  Diameter diameter;
  diameter.inputs.resize(std::size_t(performance.box().size()));
  switch (options.method) {
  case DiameterMethod::Annealing:
    anneal(performance, options, diameter);
    break;
  case DiameterMethod::Gradient:
    climb(performance, options, diameter);
    break;
  case DiameterMethod::Bounds:
    bound(performance, options, diameter);
    break;
  }
  diameter.count = {performance.count().values - before.values, performance.count().gradients - before.gradients};
  return diameter;
}

}
