#include "module.h"

#include "tendril/control/forward_function.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/study.h"

#include <array>
#include <csignal>
#include <mutex>

namespace tendril::python {

namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void noteStopSignal(int signal) { noted = signal; }

/// While a study runs, Ctrl-C and SIGTERM are noted and do no more. Its workers are forked with these handlers: those of the interpreter
/// would have nobody to tell there, since workers never enter it.
class StopSignals {
 public:
  StopSignals() {
    noted = 0;
    struct sigaction action {};
    action.sa_handler = noteStopSignal;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &before_[i]);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_{};
};

/// There may be one object in a process's life.
Ranks& allRanks() {
  static Ranks ranks;
  return ranks;
}

/// One study after the other: signals belong to the process. The progress alone is a matter of Python, and called in this process alone.
/// A signal that comes when nothing is left to stop goes to whom it would have gone without the study.
StudyOutcome runStudyUntilSignal(StudyOptions options) {
  static std::mutex mutex;
  const nb::gil_scoped_release released;
  const std::lock_guard lock(mutex);
  StudyOutcome outcome;
  {
    const StopSignals signals;
    options.stop = [] { return noted != 0; };
    outcome = runStudy(allRanks(), options);
  }
  if (noted != 0 && outcome.count("not run") == 0) ::raise(noted);
  return outcome;
}

}

void defineStudies(nb::module_& m) {
  m.def(
      "run_study",
      [](const std::filesystem::path& scene, const Design& design, const std::vector<std::string>& overrides,
         const std::filesystem::path& folder, bool keepsRuns, bool replaces, int workers,
         const std::function<void(std::size_t, std::size_t)>& progress) {
        return runStudyUntilSignal({.scene = scene,
                                    .overrides = overrides,
                                    .design = design,
                                    .folder = folder,
                                    .keepsRuns = keepsRuns,
                                    .replaces = replaces,
                                    .workers = workers,
                                    .progress = progress});
      },
      nb::arg("scene"), nb::arg("design"), nb::arg("overrides") = std::vector<std::string>{}, nb::arg("folder") = std::filesystem::path{},
      nb::arg("keeps_runs") = false, nb::arg("replaces") = false, nb::arg("workers") = 0, nb::arg("progress").none() = nb::none(),
      "What sweep() calls. Ctrl-C ends it in good order, with runs that are \"not run\".");
  classOf<ForwardFunction>()
      .def(
          "__call__",
          [](ForwardFunction& self, const VectorX& x) {
            requireSize("x", x.size(), self.size());
            return self(x);
          },
          nb::arg("x"), "The value at x = (parameters, controls of step 0, controls of step 1, ...).")
      .def(
          "gradient",
          [](ForwardFunction& self, const VectorX& x, bool byParameters) {
            requireSize("x", x.size(), self.size());
            VectorX gradient;
            const double value = self(x, &gradient, byParameters);
            return std::make_pair(value, gradient);
          },
          nb::arg("x"), nb::arg("by_parameters") = true, "The value and its gradient, by the controls alone or by all.");
}

}
