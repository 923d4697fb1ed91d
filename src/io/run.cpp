#include "tendril/io/run.h"
#include "io/run_totals.h"
#include "io/step_series.h"
#include "tendril/contact/contact_model.h"
#include "tendril/documents/fingerprint.h"
#include "tendril/elements/mechanism.h"
#include "tendril/equations/analysis.h"
#include "tendril/io/checkpoint.h"
#include "tendril/io/friction_file.h"
#include "tendril/io/results.h"
#include "tendril/io/run_failure.h"
#include "tendril/io/run_folder.h"
#include "tendril/model/error.h"
#include "tendril/scenes/certification.h"
#include "tendril/scenes/outputs.h"
#include "tendril/scenes/scene.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <optional>
#include <variant>

namespace tendril {

namespace {

namespace fs = std::filesystem;

/// By this a checkpoint knows that it belongs to the scene with these overrides.
std::uint64_t fingerprintOf(const Document& document) {
  std::string all = document.text();
  for (const std::string& entry : document.overrides()) all += '\0' + entry;
  return fingerprint(all);
}

std::map<std::string, std::string> versions() {
  return {{"tendril", version()},
          {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"compiler", __VERSION__}};
}

void writeText(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  if (!(stream << text << std::flush)) throw MachineFailure("cannot write " + file.string() + "; check the disk and the permissions");
}

/// The newest checkpoint that is whole, or none if there is no file. A damaged one gives way to the one before it, with a warning.
std::optional<Checkpoint> readCheckpoint(const fs::path& file, std::uint64_t scene, Log& log) {
  const fs::path older = Checkpoint::previous(file);
  if (!fs::exists(file) && !fs::exists(older)) return {};
  bool damaged = false;
  try {
    Checkpoint::read(file);
  } catch (const InputError& error) {
    if (!fs::exists(older)) throw;
    log.warning(fmt::format("{}; continuing from the checkpoint before it", error.what()));
    damaged = true;
  }
  return Checkpoint::read(damaged ? older : file, scene);
}

/// Whether the results in the folder are those of this scene with these overrides.
bool hasSettingsOf(const RunFolder& folder, const Document& document) {
  const RunMetadata made = ResultReader(folder.results()).metadata();
  return made.scene == document.text() && made.arguments == document.overrides();
}

/// Whether the folder holds the whole of this run: its summary tells of success, and scene and overrides are the same.
bool isComplete(const RunFolder& folder, const Document& document) {
  std::error_code status;
  if (!fs::exists(folder.summary(), status) || !fs::exists(folder.results(), status)) return false;
  std::ifstream file(folder.summary());
  const nlohmann::json summary = nlohmann::json::parse(file, nullptr, false);
  return summary.is_object() && summary.value("status", "") == "success" && hasSettingsOf(folder, document);
}

/// The results of another scene are not replaced; nor, where a run is to go on, those that no checkpoint continues.
void refuseToReplace(const RunFolder& folder, const Document& document, bool resume) {
  std::ifstream file(folder.summary());
  const nlohmann::json summary = nlohmann::json::parse(file, nullptr, false);
  if (!summary.is_object()) return;
  const fs::path own = document.fileName(), other = summary.value("scene", document.fileName());
  std::error_code missing;
  const bool isElsewhere = fs::exists(other, missing) && !fs::equivalent(own, other, missing);
  if (other.filename() != own.filename() || isElsewhere) {
    throw InputError({folder.path().string()}, "result folder", "it holds the results of another scene, " + other.string(),
                     "choose another folder with -o, or remove this one");
  }
  std::error_code status;
  const bool hasCheckpoint = fs::exists(folder.checkpoint(), status);
  if (resume && !hasCheckpoint && fs::exists(folder.results(), status) && !hasSettingsOf(folder, document)) {
    throw InputError({folder.path().string()}, "result folder",
                     "it holds a run of this scene with other settings, which no checkpoint continues",
                     "leave out --resume to replace it, or choose another folder with -o");
  }
}

fs::path folderOf(const RunOptions& options) { return options.folder.empty() ? defaultResultFolder(options.scene) : options.folder; }

Scene readScene(const RunOptions& options, PhaseClock& clock) {
  clock.enter(PhaseClock::Building);
  return Scene::fromFile(options.scene, options.overrides);
}

/// Options whose scene and overrides are those of a scene that was read already.
RunOptions optionsFor(const Scene& scene, RunOptions options) {
  options.scene = scene.document().fileName();
  options.overrides = scene.document().overrides();
  return options;
}

/// One run: a scene, its analysis, and the files that are written.
class Run {
 public:
  /// Reads the scene of the options if none is given.
  explicit Run(RunOptions options, std::optional<Scene> scene = {});
  RunOutcome execute();

 private:
  void open();
  void addSeries();
  std::unique_ptr<Analysis> makeAnalysis();
  std::exception_ptr startAnalysis();
  void begin(const std::exception_ptr& failure);
  void resumeFrom(const Checkpoint& checkpoint);
  void loop();
  void step();
  void account(const StepReport& report);
  void observe(const StepReport& report);
  void writeRow();
  void writeContacts();
  void writeArrays();
  FrictionObserver frictionObserver();
  void dump(long step, const FrictionProblem& problem, const VectorX& impulses);
  void takeCheckpoint();
  void writeCheckpoint();
  void watch();
  void finish(const std::string& status);
  void gatherSummary();
  void tellOfError(const char* message) noexcept;

  const RunOptions options_;
  PhaseClock clock_;
  Log log_;
  Scene scene_;
  std::unique_ptr<Analysis> analysis_;
  Outputs outputs_;
  RunFolder folder_;
  std::uint64_t fingerprint_;
  long checkpointEvery_;
  std::optional<ResultWriter> writer_;
  std::optional<Checkpoint> pending_; ///< not yet written
  std::chrono::steady_clock::time_point checkpointWritten_ = std::chrono::steady_clock::now();
  RunTotals totals_;
  StepSeries steps_;
  RunOutcome outcome_;
  double secondsAtStart_ = 0, progressAtStart_ = 0;
  bool opened_ = false;     ///< the files of the folder are those of this run
  bool observed_ = false;   ///< the outputs have seen a state
  bool rowWritten_ = false; ///< of the present state

  struct SeriesNumbers {
    ResultWriter::Series q, v, lambda, stable;
    std::vector<ResultWriter::Series> outputs;
    ResultWriter::List contacts = -1;
  } series_{};
};

Run::Run(RunOptions options, std::optional<Scene> scene)
    : options_(std::move(options)), log_(options_.terminalLevel), scene_(scene ? std::move(*scene) : readScene(options_, clock_)),
      analysis_(makeAnalysis()), outputs_(scene_.makeOutputs()), folder_(folderOf(options_)),
      fingerprint_(fingerprintOf(scene_.document())), checkpointEvery_(std::max(options_.checkpointEvery, 1L)) {
  outcome_.folder = folder_.path();
}

std::unique_ptr<Analysis> Run::makeAnalysis() {
  std::unique_ptr<Analysis> analysis = scene_.makeAnalysis(frictionObserver());
  if (auto* certification = dynamic_cast<Certification*>(analysis.get()); certification && options_.sharing)
    certification->share(options_.sharing);
  return analysis;
}

RunOutcome Run::execute() {
  if (options_.resume && isComplete(folder_, scene_.document())) {
    outcome_.wasComplete = true;
    outcome_.message = "the run in " + folder_.path().string() + " is complete and is left as it is";
    return std::move(outcome_);
  }
  refuseToReplace(folder_, scene_.document(), options_.resume);
  try {
    try {
      open();
      loop();
    } catch (const NumericalFailure& failure) {
      outcome_.status = RunStatus::Failed;
      outcome_.message = placeFailure(failure.what(), observed_, totals_.step, totals_.t);
      log_.info("failed: " + outcome_.message);
    } catch (const Interrupted& interruption) {
      outcome_.status = RunStatus::Interrupted;
      outcome_.message = std::string(interruption.what()) + ", before the first step; there is nothing to resume";
      log_.info(outcome_.message);
    }
    if (observed_ && !rowWritten_) writeRow();
    if (pending_ && outcome_.status != RunStatus::Success) writeCheckpoint();
    constexpr std::array statusNames{"success", "failed", "interrupted"};
    finish(statusNames[std::size_t(outcome_.status)]);
  } catch (const std::exception& error) {
    tellOfError(error.what());
    throw;
  }
  return std::move(outcome_);
}

/// Opens the files, and brings the analysis to where the run begins or goes on.
void Run::open() {
  std::optional<Checkpoint> checkpoint;
  if (options_.resume) checkpoint = readCheckpoint(folder_.checkpoint(), fingerprint_, log_);
  std::exception_ptr failure;
  if (!checkpoint) {
    failure = startAnalysis();
    folder_.clear();
  }
  log_.open(folder_.log());
  opened_ = true;
  // This line, the first of the file, is what marks the folder as one of a run.
  log_.info(fmt::format("tendril {}: {}{}", version(), scene_.document().fileName(), checkpoint ? ", resumed" : ""));
  if (options_.resume && !checkpoint)
    log_.warning("there is no checkpoint to resume from in " + folder_.path().string() + "; starting from the beginning");
  for (const std::string& entry : options_.overrides) log_.info("set " + entry);
  for (const std::string& warning : scene_.warnings()) log_.warning(warning);
  if (checkpoint)
    resumeFrom(*checkpoint);
  else
    begin(failure);
  for (const std::string& message : analysis_->messages()) log_.info(message);
  secondsAtStart_ = clock_.seconds(PhaseClock::Solving) + clock_.seconds(PhaseClock::Writing);
  progressAtStart_ = analysis_->progress();
}

void Run::addSeries() {
  const Model& model = *scene_.mechanism().model;
  series_.q =
      writer_->addState("q", model.nq(), {"1", "Configuration: per pose block the position [m] and the three directors.", "inertial"});
  series_.v = writer_->addState("v", model.nv(), {"1", "Velocity: per pose block the twist [m/s, rad/s].", "body"});
  series_.lambda = writer_->addState("lambda", model.nc(), {"1", "Multipliers of the constraints [N, N m], of least norm.", ""});
  if (!scene_.isDynamic()) {
    series_.stable = writer_->addState("stable", 1, {"1", "1 where the equilibrium is stable, 0 where not, NaN where not judged.", ""});
  }
  if (!scene_.contacts().empty()) {
    series_.contacts =
        writer_->addList("contacts", {{"position", 3, {"m", "Points of contact.", "inertial"}},
                                      {"normal", 3, {"1", "Normals, towards the first part.", "inertial"}},
                                      {"impulse", 3, {"N s", "Impulses of the step on the first part.", "inertial"}},
                                      {"gap", 1, {"m", "Distance; negative: overlap.", ""}},
                                      {"status", 1, {"1", "0 open, 1 sticking, 2 sliding.", ""}},
                                      {"parts", 2, {"1", "Bodies, then obstacles, then beams, in the order of the scene, from 0.", ""}}});
  }
  steps_.declare(*writer_, scene_.isDynamic(), !scene_.contacts().empty());
  for (const Outputs::Info& info : outputs_.infos()) {
    const bool isRecorded = info.series && !info.grows;
    series_.outputs.push_back(isRecorded ? writer_->addOutput(info.name, info.columns, {info.unit, info.description, info.frame}) : -1);
  }
}

/// Input that is wrong (bodies that overlap) shows here, before anything of an earlier run is removed; a failure of the numerics is
/// returned, to be told in the new folder.
std::exception_ptr Run::startAnalysis() try {
  clock_.enter(PhaseClock::Solving);
  analysis_->stopWhen(options_.stop);
  analysis_->start();
  return nullptr;
} catch (const Interrupted&) {
  return std::current_exception();
} catch (const NumericalFailure&) {
  return std::current_exception();
} catch (const InputError& error) {
  throw scene_.locate(error);
}

void Run::begin(const std::exception_ptr& failure) {
  clock_.enter(PhaseClock::Writing);
  writeText(folder_.scene(), scene_.document().text());
  scene_.copyMeshes(folder_.path());
  writer_.emplace(folder_.results(), RunMetadata{version(), scene_.document().text(), scene_.document().overrides()});
  addSeries();
  clock_.enter(PhaseClock::Solving);
  if (failure) std::rethrow_exception(failure);
  totals_.begin(*analysis_, *scene_.mechanism().model);
  StepReport initial;
  initial.t = analysis_->state().t;
  observe(initial);
  writeRow();
}

void Run::resumeFrom(const Checkpoint& checkpoint) {
  totals_.load(checkpoint);
  clock_.load(checkpoint);
  const auto position = checkpoint.integers("run/position");
  const std::size_t rows = std::size_t(position[0]);
  checkpointEvery_ = position[1];
  log_.info(fmt::format("continuing after step {}, t = {:.9g}", totals_.step, totals_.t));
  clock_.enter(PhaseClock::Writing);
  writer_ = ResultWriter::resume(folder_.results(), rows);
  addSeries();
  clock_.enter(PhaseClock::Solving);
  analysis_->restore(checkpoint.doubles());
  totals_.control = controlEnergy(*analysis_);
  outputs_.restore(checkpoint.doubles());
  observed_ = true;
  // The row of the checkpoint's step, if it has one, lies before the checkpoint.
  rowWritten_ = true;
}

void Run::loop() {
  clock_.enter(PhaseClock::Solving);
  const auto stops = [this] { return !analysis_->finished() && options_.stop && options_.stop(); };
  while (!analysis_->finished()) {
    bool isGivenUp = false;
    try {
      step();
    } catch (const Interrupted&) {
      isGivenUp = true;
    }
    if (options_.progress) watch();
    if (isGivenUp || stops()) {
      outcome_.status = RunStatus::Interrupted;
      outcome_.message = fmt::format("interrupted after step {}, t = {:.9g}; continue with --resume", totals_.step, totals_.t);
      log_.info(outcome_.message);
      return;
    }
  }
}

void Run::step() {
  const StepReport& report = analysis_->advance();
  rowWritten_ = false;
  account(report);
  observe(report);
  const bool isLast = analysis_->finished();
  if (isLast || report.step % scene_.outputEvery() == 0) writeRow();
  if (!isLast && report.step % checkpointEvery_ == 0) takeCheckpoint();
}

void Run::account(const StepReport& report) {
  steps_.note(report);
  totals_.add(report, *analysis_, *scene_.mechanism().model, scene_.isDynamic());
}

void Run::observe(const StepReport& report) {
  outputs_.observe(*analysis_, report);
  observed_ = true;
}

void Run::writeRow() {
  clock_.enter(PhaseClock::Writing);
  const State& state = analysis_->state();
  const VectorX multipliers = analysis_->reactions();
  const auto span = [](const VectorX& v) { return std::span(v.data(), std::size_t(v.size())); };
  writer_->set(series_.q, span(state.q));
  writer_->set(series_.v, span(state.v));
  writer_->set(series_.lambda, span(multipliers));
  if (!scene_.isDynamic() && totals_.stable >= 0) writer_->set(series_.stable, totals_.stable);
  for (int i = 0; i < outputs_.size(); ++i) {
    if (series_.outputs[i] >= 0) writer_->set(series_.outputs[i], outputs_.row(i));
  }
  writeContacts();
  steps_.write(*writer_, analysis_->energy(*scene_.mechanism().model), analysis_->contacts(), totals_);
  writer_->endStep(state.t);
  rowWritten_ = true;
  clock_.enter(PhaseClock::Solving);
}

void Run::writeContacts() {
  const ContactReport* report = analysis_->contacts();
  if (series_.contacts < 0 || !report) return;
  for (const ContactRecord& contact : report->contacts) {
    std::array<double, 13> line{};
    Eigen::Map<Eigen::Matrix<double, 13, 1>> values(line.data());
    values << contact.position, contact.frame.col(0).normalized(), contact.frame * contact.impulse, contact.gap, double(contact.status),
        contact.first, contact.second;
    writer_->append(series_.contacts, line);
  }
}

/// What was found over the whole run.
void Run::writeArrays() {
  for (int i = 0; observed_ && i < outputs_.size(); ++i) {
    const Outputs::Info& info = outputs_.infos()[std::size_t(i)];
    if (info.grows) writer_->writeArray(info.name, outputs_.result(i), {info.unit, info.description, info.frame});
  }
}

FrictionObserver Run::frictionObserver() {
  if (!scene_.dumpsFriction()) return {};
  return [this](long step, const FrictionProblem& problem, const VectorX& impulses) {
    if (scene_.dumpsFriction(step)) dump(step, problem, impulses);
  };
}

void Run::dump(long step, const FrictionProblem& problem, const VectorX& impulses) {
  fs::create_directories(folder_.friction());
  FrictionFile file;
  file.title = scene_.title().empty() ? scene_.document().fileName() : scene_.title();
  file.description = fmt::format("step {} of {}", step, scene_.document().fileName());
  file.local = problem;
  file.solution = impulses;
  writeFrictionFile(folder_.friction() / fmt::format("step-{:06}.hdf5", step), file, {.overwrite = true});
}

void Run::takeCheckpoint() {
  clock_.enter(PhaseClock::Writing);
  Snapshot snapshot = analysis_->save();
  outputs_.save(snapshot);
  pending_.emplace(fingerprint_);
  for (const auto& [name, values] : snapshot) pending_->set(name, values);
  totals_.store(*pending_);
  clock_.store(*pending_);
  pending_->setIntegers("run/position", std::array<std::int64_t, 2>{std::int64_t(writer_->rows()), checkpointEvery_});
  if (std::chrono::steady_clock::now() - checkpointWritten_ >= std::chrono::duration<double>(options_.checkpointSeconds)) writeCheckpoint();
  clock_.enter(PhaseClock::Solving);
}

/// The rows before the checkpoint come to the disk first.
void Run::writeCheckpoint() {
  writer_->flush();
  pending_->write(folder_.checkpoint());
  log_.info(fmt::format("checkpoint of step {} written", pending_->integers("run/counters")[0]));
  pending_.reset();
  checkpointWritten_ = std::chrono::steady_clock::now();
}

void Run::watch() {
  RunProgress progress;
  progress.fraction = std::clamp(analysis_->progress(), 0.0, 1.0);
  progress.step = totals_.step;
  progress.t = totals_.t;
  progress.elapsed = clock_.seconds(PhaseClock::Solving) + clock_.seconds(PhaseClock::Writing) - secondsAtStart_;
  const double done = progress.fraction - progressAtStart_;
  progress.remaining = done > 0 ? progress.elapsed * (1 - progress.fraction) / done : -1;
  options_.progress(progress);
}

void Run::finish(const std::string& status) {
  clock_.enter(PhaseClock::Writing);
  if (writer_) {
    writeArrays();
    writer_->close();
  }
  if (const auto* certification = dynamic_cast<const Certification*>(analysis_.get())) {
    certification->writeSamples(folder_.samples());
    if (options_.certified) options_.certified(*certification);
  }
  outcome_.summary.status = status;
  gatherSummary();
  outcome_.summary.write(folder_.summary());
  log_.info(fmt::format("{} after {} steps", status, totals_.step));
}

void Run::gatherSummary() {
  Summary& summary = outcome_.summary;
  const Document& document = scene_.document();
  summary.scene = document.fileName();
  for (const std::string& name : document.parameterNames()) {
    const Scope::Symbol* symbol = document.parameters().find(name);
    if (const double* number = symbol ? std::get_if<double>(symbol) : nullptr) summary.parameters[name] = *number;
    if (const std::string* text = symbol ? std::get_if<std::string>(symbol) : nullptr) summary.choices[name] = *text;
  }
  if (observed_) tellOutputs(outputs_, summary);
  totals_.tellSteps(summary);
  if (observed_) totals_.tellEnergy(*analysis_, *scene_.mechanism().model, scene_.isDynamic(), summary);
  double total = 0;
  for (int phase = 0; phase < PhaseClock::Count; ++phase) {
    const double seconds = clock_.seconds(PhaseClock::Phase(phase));
    summary.time[PhaseClock::names[phase]] = seconds;
    total += seconds;
  }
  summary.time["total"] = total;
  summary.versions = versions();
  for (const auto& list : {scene_.warnings(), analysis_->messages(), totals_.notes, outputs_.messages()}) {
    summary.messages.insert(summary.messages.end(), list.begin(), list.end());
  }
  if (totals_.notesDropped > 0) summary.messages.push_back(fmt::format("{} more notes of steps", totals_.notesDropped));
  if (!outcome_.message.empty()) summary.messages.push_back(outcome_.message);
}

/// The last word of a run that an exception ends; the exception itself goes on to the caller, whatever the disk says to this.
void Run::tellOfError(const char* message) noexcept {
  // A resumption that is refused leaves everything as it was.
  if (!opened_) return;
  try {
    log_.info(std::string("error: ") + message);
    Summary& summary = outcome_.summary;
    summary = {};
    outcome_.message = message;
    summary.status = "error";
    gatherSummary();
    summary.write(folder_.summary());
  } catch (...) { // NOLINT: nothing is left to be done
  }
}

}

RunOutcome run(const RunOptions& options) { return Run(options).execute(); }
RunOutcome run(Scene scene, const RunOptions& options) {
  RunOptions own = optionsFor(scene, options);
  return Run(std::move(own), std::move(scene)).execute();
}

std::filesystem::path defaultResultFolder(const std::filesystem::path& scene) { return scene.stem().string() + ".result"; }

std::string version() { return TENDRIL_VERSION; }

}
