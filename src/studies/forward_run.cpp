#include "tendril/studies/forward_run.h"

#include "tendril/documents/overrides.h"
#include "tendril/io/run.h"
#include "tendril/io/run_failure.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"

#include <fmt/format.h>

#include <limits>
#include <new>

namespace tendril {

namespace {

/// The analysis of a scene on its way, with the outputs that watch it.
class Passage {
 public:
  Passage(const Scene& scene, const std::function<bool()>& stop)
      : scene_(scene), stop_(stop), analysis_(scene.makeAnalysis()), outputs_(scene.makeOutputs()) {
    analysis_->stopWhen(stop);
  }

  void execute() {
    start();
    outputs_.observe(*analysis_, {});
    hasBegun_ = true;
    while (!analysis_->finished()) {
      advance();
      if (!analysis_->finished() && stop_ && stop_()) throw Interrupted(fmt::format("interrupted after step {}, t = {:.9g}", step_, t_));
    }
  }

  std::map<std::string, Summary::Output> results() const {
    std::map<std::string, Summary::Output> results;
    for (int i = 0; i < outputs_.size(); ++i) {
      const Outputs::Info& info = outputs_.infos()[std::size_t(i)];
      const auto values = outputs_.result(i);
      results[info.name] = {{values.begin(), values.end()}, info.unit, info.description, outputs_.isArray(i)};
    }
    return results;
  }

  long steps() const { return step_; }
  std::string place(const char* message) const { return placeFailure(message, hasBegun_, step_, t_); }

 private:
  void start() try { analysis_->start(); } catch (const InputError& error) {
    throw scene_.locate(error);
  }

  void advance() {
    const StepReport& report = analysis_->advance();
    outputs_.observe(*analysis_, report);
    step_ = report.step, t_ = report.t;
    // A checkpoint makes the analysis forget its factorisations, so the steps at which `run` takes one belong to the result.
    if (!analysis_->finished() && step_ % RunOptions{}.checkpointEvery == 0) analysis_->save();
  }

  const Scene& scene_;
  const std::function<bool()>& stop_;
  std::unique_ptr<Analysis> analysis_;
  Outputs outputs_;
  bool hasBegun_ = false;
  long step_ = 0;
  double t_ = 0;
};

ForwardResult execute(const Scene& scene, const std::function<bool()>& stop) {
  ForwardResult result;
  Passage passage(scene, stop);
  try {
    passage.execute();
    result.outputs = passage.results();
  } catch (const NumericalFailure& failure) {
    result.end = RunEnd::Failed;
    result.message = passage.place(failure.what());
  }
  result.steps = passage.steps();
  return result;
}

ForwardResult broken(RunEnd end, const char* message) { return {end, message, {}, 0}; }

}

std::string_view nameOf(RunEnd end) {
  constexpr std::string_view names[]{"success", "wrong input", "failed", "interrupted", "error"};
  return names[std::size_t(end)];
}

double ForwardResult::value(const std::string& output, std::size_t index) const {
  const auto found = outputs.find(output);
  if (found == outputs.end() || index >= found->second.values.size()) return std::numeric_limits<double>::quiet_NaN();
  return found->second.values[index];
}

ForwardRun ForwardRun::fromFile(const std::filesystem::path& file, std::vector<std::string> common) {
  return {DocumentSource::fromFile(file), std::move(common)};
}

ForwardRun ForwardRun::fromText(std::string_view text, std::string_view name, std::vector<std::string> common) {
  return {DocumentSource::fromText(text, name), std::move(common)};
}

ForwardResult ForwardRun::operator()(std::span<const std::string> overrides, const std::function<bool()>& stop) const {
  try {
    return execute(Scene::fromSource(source_, all(overrides)), stop);
  } catch (const InputError& error) {
    return broken(RunEnd::WrongInput, error.what());
  } catch (const Interrupted& interruption) {
    return broken(RunEnd::Interrupted, interruption.what());
  } catch (const NumericalFailure& failure) { // while the scene is built
    return broken(RunEnd::Failed, failure.what());
  } catch (const std::bad_alloc&) {
    return broken(RunEnd::Error, "out of memory; use fewer elements, fewer runs at a time, or a machine with more memory");
  } catch (const std::exception& error) {
    return broken(RunEnd::Error, error.what());
  }
}

std::string ForwardRun::assign(std::string_view name, double value) { return assignment(name, value); }

void ForwardRun::check(std::span<const std::string> overrides) const {
  const std::vector<std::string> together = all(overrides);
  refuseLostOverrides(source_, together);
  Scene::fromSource(source_, together);
}

std::vector<std::string> ForwardRun::all(std::span<const std::string> overrides) const {
  std::vector<std::string> list = common_;
  list.insert(list.end(), overrides.begin(), overrides.end());
  return list;
}

}
