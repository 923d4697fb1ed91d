#include "tendril/scenes/certification.h"

#include "scenes/scene_function.h"
#include "tendril/control/optimal_control.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/documents/csv.h"
#include "tendril/documents/overrides.h"
#include "tendril/scenes/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace tendril {

namespace {

using Input = CertificationOptions::Input;

std::vector<double> listed(const VectorX& numbers) { return {numbers.data(), numbers.data() + numbers.size()}; }

/// Where, from an end of the range that the scene refuses, it begins to accept; the middle is accepted.
double edge(const Input& input, double refused, const std::function<bool(double)>& accepts) {
  double accepted = input.distribution.mean();
  for (int halving = 0; halving < 30; ++halving) {
    const double middle = accepted + (refused - accepted) / 2;
    (accepts(middle) ? accepted : refused) = middle;
  }
  return refused;
}

/// Every input and every control has a place of its own in the scene.
void checkPlaces(const Certification::SceneMaker& scenes, const CertificationOptions& options, const std::vector<std::string>& inputs) {
  std::vector<std::string> all = inputs;
  for (const CertificationOptions::Control& control : options.controls) all.push_back(assignment(control.path, control.lower));
  const Scene scene = scenes(all); // what is refused here is no matter of ranges
  try {
    refuseLostOverrides(DocumentSource::fromText(scene.document().text(), scene.document().fileName()), all);
  } catch (const InputError& error) {
    const Input& first = options.inputs.front();
    throw InputError(first.where, first.key, std::string("inputs and controls set the same value: ") + error.what());
  }
}

/// Evaluates the points of a batch side by side, each thread with a worker of its own.
class ThreadedEvaluator {
 public:
  ThreadedEvaluator(const WorkerMaker& make, int threads) : make_(make), workers_(std::size_t(threads)) {}

  MatrixX operator()(const MatrixX& points, Wanted wanted) {
    MatrixX results(rowsOf(wanted, points.rows()), points.cols());
    std::atomic<Eigen::Index> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    const auto work = [&](PointEvaluator& worker) {
      try {
        if (!worker) worker = make_();
        for (Eigen::Index i = next++; i < points.cols(); i = next++) results.col(i) = worker(points.col(i), wanted);
      } catch (...) {
        const std::lock_guard guard(lock);
        failure = std::current_exception();
      }
    };
    const auto count = std::min<std::size_t>(workers_.size(), std::size_t(points.cols()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work, std::ref(workers_[i]));
    if (count > 0) work(workers_[0]);
    threads.clear();
    if (failure) std::rethrow_exception(failure);
    return results;
  }

 private:
  WorkerMaker make_;
  std::vector<PointEvaluator> workers_;
};

}

WorkSharing onThreads(int workers) {
  const int threads = workers > 0 ? workers : std::max(1, int(std::thread::hardware_concurrency()));
  return [threads](const WorkerMaker& make) -> PointEvaluator {
    const auto evaluator = std::make_shared<ThreadedEvaluator>(make, threads);
    return [evaluator](const MatrixX& points, Wanted wanted) { return (*evaluator)(points, wanted); };
  };
}

Certification::Certification(std::unique_ptr<Analysis> nominal, CertificationOptions options, SceneMaker scenes)
    : nominal_(std::move(nominal)), options_(std::move(options)), scenes_(std::move(scenes)), sharing_(onThreads()) {
  for (const Input& input : options_.inputs) inputs_.inputs.push_back({input.name, input.distribution});
  checkRanges();
}

Certification::~Certification() = default;

void Certification::share(WorkSharing sharing) { sharing_ = std::move(sharing); }
const CertificationOptions& Certification::options() const { return options_; }

void Certification::checkRanges() const {
  std::vector<std::string> means;
  for (const Input& input : options_.inputs)
    if (!input.on) means.push_back(assignment(input.path, input.distribution.mean()));
  checkPlaces(scenes_, options_, means);
  std::size_t at = 0;
  for (const Input& input : options_.inputs) {
    if (input.on) continue;
    const std::size_t own = at++;
    std::string refusal;
    const auto accepts = [&](double value) {
      std::vector<std::string> overrides = means;
      overrides[own] = assignment(input.path, value);
      try {
        scenes_(overrides);
        return true;
      } catch (const InputError& error) {
        refusal = error.what();
        return false;
      }
    };
    const Distribution& d = input.distribution;
    for (const double end : {d.lower(), d.upper()}) {
      if (accepts(end)) continue;
      const std::string reason = std::exchange(refusal, {}); // the search for the edge is refused, too
      const double from = edge(input, end, accepts), below = d.probability(from), share = end < d.mean() ? below : 1 - below;
      throw InputError(input.where, input.key,
                       fmt::format("with the probability {:.3g} {} is {} {:.6g}, which the scene refuses: {}", share, input.name,
                                   end < d.mean() ? "below" : "above", from, reason),
                       "let its range end where the scene makes sense");
    }
  }
}

WorkerMaker Certification::worker() const {
  return [options = options_, scenes = scenes_]() -> PointEvaluator {
    const std::shared_ptr<SceneFunction> function = sceneFunction(options, scenes);
    return [function](const MatrixX& points, Wanted wanted) {
      MatrixX results(rowsOf(wanted, points.rows()), points.cols());
      for (Eigen::Index i = 0; i < points.cols(); ++i) (*function)(points.col(i), wanted, results.col(i));
      return results;
    };
  };
}

Performance Certification::performance(const PointEvaluator& evaluator) const {
  Performance performance{[evaluator](const MatrixX& points) { return VectorX(evaluator(points, Wanted::Values).row(0).transpose()); }};
  if (options_.miss) {
    const Eigen::Index inputs = inputs_.size();
    performance.gradients = [evaluator, inputs](const MatrixX& points, const std::vector<Eigen::Index>& wanted, MatrixX& gradients) {
      const bool byInputs = !wanted.empty() && wanted.back() >= points.rows() - inputs;
      const MatrixX all = evaluator(points, byInputs ? Wanted::Gradients : Wanted::ByControls);
      gradients = all.bottomRows(points.rows());
      return VectorX(all.row(0).transpose());
    };
    performance.residuals = [evaluator](const MatrixX& points) { return evaluator(points, Wanted::Residuals); };
  }
  return performance;
}

VectorX Certification::givenControls() const {
  if (const auto* manoeuvre = dynamic_cast<const OptimalControl*>(nominal_.get())) return manoeuvre->path().controls().reshaped();
  VectorX middle(Eigen::Index(options_.controls.size()));
  for (Eigen::Index i = 0; i < middle.size(); ++i) {
    const CertificationOptions::Control& control = options_.controls[std::size_t(i)];
    middle[i] = control.lower + (control.upper - control.lower) / 2;
  }
  return middle;
}

/// Of parameters their ranges; of actuators the neighbourhood of the optimum that lies within their limits.
Box Certification::neighbourhood(const VectorX& given) const {
  Box box{given, given};
  for (std::size_t i = 0; i < options_.controls.size(); ++i)
    box.lower[Eigen::Index(i)] = options_.controls[i].lower, box.upper[Eigen::Index(i)] = options_.controls[i].upper;
  const auto* manoeuvre = dynamic_cast<const OptimalControl*>(nominal_.get());
  if (!manoeuvre) return box;
  const ControlProblem& problem = manoeuvre->path().problem();
  for (Eigen::Index i = 0; i < given.size(); ++i) {
    const std::size_t actuator = std::size_t(i) % options_.reaches.size();
    const auto& [share, least] = options_.reaches[actuator];
    const double reach = std::max(share * std::abs(given[i]), least);
    box.lower[i] = std::min(given[i], std::max(given[i] - reach, problem.lower[actuator]));
    box.upper[i] = std::max(given[i], std::min(given[i] + reach, problem.upper[actuator]));
  }
  return box;
}

void Certification::start() {
  nominal_->start();
  messages_ = nominal_->messages();
  if (const auto* manoeuvre = dynamic_cast<const OptimalControl*>(nominal_.get()); manoeuvre && !manoeuvre->hasSolution()) return;
  const Performance whole = performance(sharing_(worker()));
  ConcentrationControlOptions options = options_.control;
  options.certificate = options_.certificate;
  options.start = givenControls();
  const StopQuestion stop = [this] { return isStopAsked(); };
  ConcentrationControlResult found;
  if (options_.search) {
    options.search = *options_.search;
    options.controls = neighbourhood(options.start);
    found = concentrate(whole, inputs_, options, stop);
  } else {
    found = certifyControls(whole, inputs_, options.start, options.certificate, stop);
  }
  keep("begin", found.begin);
  keep("best", found.best);
  numbers_["runs"] = {double(found.count.values)}, numbers_["gradients"] = {double(found.count.gradients)};
  describe(found.begin, options.start);
  if (found.best.failures == found.best.samples)
    throw InputError(
        options_.where, "certify.threshold",
        fmt::format("every one of the {} samples is above the threshold {:.6g}, the least of them {:.6g}: nothing can be certified",
                    found.best.samples, options_.certificate.threshold, found.best.values.minCoeff()),
        "raise the threshold");
}

void Certification::keep(const std::string& which, const Certificate& c) {
  const auto set = [&](const std::string& quantity, std::vector<double> values) { numbers_[quantity + " " + which] = std::move(values); };
  set("bound", {c.bound});
  set("exact mean bound", {c.exactMeanBound});
  set("confidence", {c.confidenceFactor});
  set("diameter", {c.undefined > 0 ? std::numeric_limits<double>::quiet_NaN() : c.diameter.value()});
  set("mean", {c.mean});
  set("deviation", {c.deviation});
  set("margin", {c.alpha});
  set("failures", {double(c.failures + c.undefined) / double(c.samples)});
  set("failure interval", {c.observed.lower, c.observed.upper});
  set("hoeffding bound", {c.hoeffding});
  set("undefined", {double(c.undefined)});
  set("certified", {c.diameter.isCertified ? 1.0 : 0.0});
  std::vector<double> diameters(options_.inputs.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < c.diameter.inputs.size(); ++k) diameters[k] = c.diameter.inputs[k].value;
  set("diameters", diameters);
  set("values", listed(c.values));
}

void Certification::describe(const Certificate& c, const VectorX& controls) {
  if (c.undefined > 0) {
    const auto first = std::find_if(c.values.begin(), c.values.end(), [](double value) { return !std::isfinite(value); });
    const long sample = long(first - c.values.begin());
    const VectorX x = inputs_.samples(RandomStream(options_.certificate.seed), 1, sample);
    VectorX point(controls.size() + x.size());
    point << controls, x;
    const std::unique_ptr<SceneFunction> function = sceneFunction(options_, scenes_);
    VectorX value(1);
    (*function)(point, Wanted::Values, value);
    messages_.push_back(fmt::format("{} of {} samples have no performance, so that nothing is certified; the first is sample {}: {}",
                                    c.undefined, c.samples, sample + 1,
                                    function->reason().empty() ? "it is not defined" : function->reason()));
    return;
  }
  messages_.push_back(fmt::format("diameter of given controls by {}, {}, from {} runs", nameOf(options_.certificate.diameter.method),
                                  c.diameter.isCertified ? "certified by the slopes that the scene states" : "an estimate from below",
                                  c.diameter.count.values));
}

bool Certification::monitor(std::string_view name, const Marker* on, double* values) {
  constexpr std::string_view own = "certification ";
  if (!name.starts_with(own)) return nominal_->monitor(name, on, values);
  const std::vector<double> found = numbers(std::string(name.substr(own.size())));
  std::copy(found.begin(), found.end(), values);
  return true;
}

std::vector<double> Certification::numbers(const std::string& quantity) const {
  constexpr std::string_view quantile = "quantile ";
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::size_t space = quantity.rfind(' ');
  const bool isQuantile = quantity.starts_with(quantile);
  const auto found = numbers_.find(isQuantile ? "values" + quantity.substr(space) : quantity);
  if (found == numbers_.end()) return std::vector<double>(isQuantile ? 3 : 1, none);
  if (!isQuantile) return found->second;
  double share = none;
  std::from_chars(quantity.data() + quantile.size(), quantity.data() + space, share);
  VectorX rising = VectorX::Map(found->second.data(), Eigen::Index(found->second.size()));
  for (double& value : rising)
    if (!std::isfinite(value)) value = std::numeric_limits<double>::infinity(); // what does not exist is worse than anything
  std::sort(rising.begin(), rising.end());
  const SampledQuantile q = sampledQuantile(rising, share, 1 - options_.certificate.epsilon);
  return {q.value, q.interval.lower, q.interval.upper};
}

Snapshot Certification::save() {
  Snapshot snapshot = nominal_->save();
  for (const auto& [name, values] : numbers_) snapshot["certification/" + name] = values;
  return snapshot;
}

void Certification::restore(const Snapshot& snapshot) {
  nominal_->restore(snapshot);
  constexpr std::string_view own = "certification/";
  for (const auto& [name, values] : snapshot)
    if (name.starts_with(own)) numbers_[name.substr(own.size())] = values;
}

void Certification::writeSamples(const std::filesystem::path& file) const {
  const auto begin = numbers_.find("values begin"), best = numbers_.find("values best");
  if (begin == numbers_.end()) return;
  AtomicFile table(file);
  table.write("sample");
  for (const Input& input : options_.inputs) table.write("," + csvField(input.name));
  table.write(options_.search ? ",performance,performance_of_best\n" : ",performance\n");
  const RandomStream stream(options_.certificate.seed);
  for (std::size_t i = 0; i < begin->second.size(); ++i) {
    std::string text = fmt::format("{}", i + 1);
    const VectorX x = inputs_.samples(stream, 1, long(i));
    for (const double number : x) text += fmt::format(",{}", number);
    text += fmt::format(",{}", begin->second[i]);
    if (options_.search) text += fmt::format(",{}", best->second[i]);
    table.write(text + '\n');
  }
  table.commit();
}

}
