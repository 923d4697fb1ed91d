#include "app/commands.h"
#include "app/stop_request.h"
#include "io/folder_lock.h"
#include "io/run_folder.h"
#include "io/split.h"
#include "tendril/io/run.h"
#include "tendril/io/scene.h"
#include "tendril/model/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const char* const tableName = "sweep.csv";

struct Options {
  fs::path scene;
  fs::path folder;
  std::vector<std::string> over;
  std::vector<std::string> overrides;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
};

/// One parameter of the grid and its values, as they are written in an override.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};

/// One run of the grid.
struct Case {
  std::vector<std::string> values; ///< one per axis
  fs::path folder;
  std::string status = "not run";
  std::string message;
  Json outputs = Json::object();
};

[[noreturn]] void refuseAxis(const std::string& text) {
  throw InputError("--over " + text + ": expected NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,...");
}

double toNumber(const std::string& text, const std::string& whole) {
  std::size_t used = 0;
  try {
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {
  }
  refuseAxis(whole);
}

Axis parseAxis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) refuseAxis(text);
  Axis axis{text.substr(0, equals), {}};
  const std::vector<std::string> range = split(text.substr(equals + 1), ':');
  if (range.size() == 1) {
    axis.values = split(range[0], ',');
    return axis;
  }
  if (range.size() != 3) refuseAxis(text);
  const double from = toNumber(range[0], text), to = toNumber(range[1], text), count = toNumber(range[2], text);
  if (!(count >= 1 && count <= 1e6) || count != double(long(count))) refuseAxis(text);
  for (long i = 0; i < long(count); ++i) {
    // Weights rather than steps, so that both ends are met exactly.
    const double s = count > 1 ? double(i) / (count - 1) : 0;
    axis.values.push_back(fmt::format("{}", (1 - s) * from + s * to));
  }
  return axis;
}

/// The whole grid, the last axis running fastest.
std::vector<Case> makeGrid(const std::vector<Axis>& axes, const fs::path& folder) {
  std::vector<Case> grid(1);
  for (const Axis& axis : axes) {
    std::vector<Case> finer;
    for (const Case& coarse : grid) {
      for (const std::string& value : axis.values) {
        finer.push_back(coarse);
        finer.back().values.push_back(value);
      }
    }
    grid = std::move(finer);
  }
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i].folder = folder / fmt::format("{:04}", i + 1);
  return grid;
}

std::vector<std::string> overridesOf(const Options& options, const std::vector<Axis>& axes, const Case& one) {
  std::vector<std::string> overrides = options.overrides;
  for (std::size_t i = 0; i < axes.size(); ++i) overrides.push_back(axes[i].name + "=" + one.values[i]);
  return overrides;
}

/// "a=1, b=2"
std::string describe(const std::vector<Axis>& axes, const Case& one) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) text += (i > 0 ? ", " : "") + axes[i].name + "=" + one.values[i];
  return text;
}

/// Each name is set once: of two values for the same name one would be lost without a word.
void refuseTwice(const Options& options, const std::vector<Axis>& axes) {
  std::set<std::string> names;
  for (const std::string& text : options.overrides) names.insert(text.substr(0, text.find('=')));
  for (const Axis& axis : axes) {
    if (!names.insert(axis.name).second)
      throw InputError("--over " + axis.name + ": the name is set twice; give it one --over, or one --set");
  }
}

/// A mistake that spoils every run is told once, before anything runs; one that comes with a value belongs to its run.
void refuseCommonMistake(const Options& options, const std::vector<Axis>& axes, const std::vector<Case>& grid) {
  std::optional<InputError> first;
  for (const Case& one : grid) {
    try {
      Scene::fromFile(options.scene, overridesOf(options, axes, one));
      return;
    } catch (const InputError& error) {
      if (!first) first = error;
    }
  }
  if (first) throw InputError(*first);
}

bool isMember(const fs::path& entry) {
  const std::string name = entry.filename().string();
  return name.size() >= 4 && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Prepares the folder of a sweep: that of somebody else is refused, and what an earlier sweep left is removed, so that nothing of it can
/// be taken for this one's.
void clearFolder(const fs::path& folder) {
  std::vector<fs::path> members;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (isMember(entry.path()) && entry.is_directory()) {
      members.push_back(entry.path());
    } else if (entry.path().filename() != tableName) {
      throw InputError({folder.string()}, "folder of the sweep", "it holds files that are not those of a sweep, and is left as it is",
                       "choose another folder with -o");
    }
  }
  std::vector<std::unique_ptr<RunFolder>> folders; // all of them are runs' before the first is touched
  for (const fs::path& member : members) folders.push_back(std::make_unique<RunFolder>(member));
  for (const auto& member : folders) {
    member->clear();
    std::error_code status;
    fs::remove(member->path(), status); // stays if something else, such as an export, lies in it
  }
  fs::remove(folder / tableName);
}

/// The body of a child process: one run; why it failed goes into the pipe.
int runCase(const RunOptions& options, int pipe) {
  std::string message;
  int code = MachineFailed;
  try {
    const RunOutcome outcome = run(options);
    message = outcome.message;
    code = outcome.status == RunStatus::Success ? Success : outcome.status == RunStatus::Failed ? NumericsFailed : Stopped;
  } catch (const InputError& error) {
    message = error.what(), code = WrongInput;
  } catch (const std::exception& error) {
    message = error.what();
  }
  // A message longer than a pipe holds would block the child.
  const std::string shortened = message.substr(0, 4096);
  return ::write(pipe, shortened.data(), shortened.size()) < 0 ? int(MachineFailed) : code;
}

/// Runs the grid in processes of their own, so that a run that is killed or exhausts the memory costs its own line of the table only.
class Pool {
 public:
  Pool(std::vector<Case>& grid, unsigned jobs) : grid_(grid), jobs_(jobs) {}

  template <class OptionsOfCase> void runAll(const OptionsOfCase& optionsOf) {
    for (std::size_t i = 0; i < grid_.size() && !stopRequested(); ++i) {
      while (children_.size() >= jobs_) collectOne();
      start(i, optionsOf(grid_[i]));
    }
    while (!children_.empty()) collectOne();
  }

 private:
  struct Child {
    std::size_t index;
    int pipe;
  };

  void start(std::size_t index, const RunOptions& options) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw MachineFailure(std::string("cannot start a run: ") + std::strerror(errno));
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw MachineFailure(std::string("cannot start a run: ") + std::strerror(errno));
    if (child == 0) {
      ::close(ends[0]);
      std::_Exit(runCase(options, ends[1]));
    }
    ::close(ends[1]);
    children_[child] = {index, ends[0]};
  }

  void collectOne() {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WNOHANG);
    if (child <= 0) {
      if (stopRequested() && !stopPassedOn_) passStopOn();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    const auto entry = children_.find(child);
    if (entry == children_.end()) return;
    finish(grid_[entry->second.index], entry->second.pipe, status);
    children_.erase(entry);
  }

  /// A stop that reached this process alone ends its runs, too.
  void passStopOn() {
    for (const auto& [process, entry] : children_) ::kill(process, SIGTERM);
    stopPassedOn_ = true;
  }

  static void finish(Case& done, int pipe, int status) {
    std::array<char, 4096> text{};
    const ssize_t length = ::read(pipe, text.data(), text.size());
    ::close(pipe);
    if (length > 0) done.message.assign(text.data(), std::size_t(length));
    if (!WIFEXITED(status)) {
      done.status = "killed";
      done.message = fmt::format("ended by signal {}", WTERMSIG(status));
      return;
    }
    const std::map<int, std::string> names{
        {Success, "success"}, {WrongInput, "wrong input"}, {NumericsFailed, "failed"}, {Stopped, "interrupted"}};
    const auto name = names.find(WEXITSTATUS(status));
    done.status = name == names.end() ? "error" : name->second;
    if (done.status != "success") return; // the last values of a run that broke off are not its results
    std::ifstream summary(done.folder / "summary.json");
    if (const Json json = Json::parse(summary, nullptr, false); json.is_object() && json.contains("outputs"))
      done.outputs = json["outputs"];
  }

  std::vector<Case>& grid_;
  std::size_t jobs_;
  std::map<pid_t, Child> children_;
  bool stopPassedOn_ = false;
};

std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Columns of the outputs, "NAME [unit]" or, of arrays, "NAME_1 [unit]", ...: the name and, for arrays, the index.
struct Column {
  std::string name;
  std::string header;
  int index = -1;
};

std::vector<Column> columnsOf(const std::vector<Case>& grid) {
  std::map<std::string, std::pair<std::string, int>> widths; // unit, and elements of an array or -1
  for (const Case& one : grid) {
    for (const auto& [name, output] : one.outputs.items()) {
      auto& [unit, width] = widths.try_emplace(name, "", -1).first->second;
      unit = output.value("unit", "1");
      if (output["value"].is_array()) width = std::max(width, int(output["value"].size()));
    }
  }
  std::vector<Column> columns;
  for (const auto& [name, shape] : widths) {
    const std::string unit = shape.first == "1" ? "" : " [" + shape.first + "]";
    if (shape.second < 0) columns.push_back({name, name + unit});
    for (int i = 0; i < shape.second; ++i) columns.push_back({name, fmt::format("{}_{}{}", name, i + 1, unit), i});
  }
  return columns;
}

std::string valueOf(const Case& one, const Column& column) {
  if (!one.outputs.contains(column.name)) return "";
  const Json& value = one.outputs[column.name]["value"];
  const bool isArray = value.is_array();
  if (isArray && (column.index < 0 || std::size_t(column.index) >= value.size())) return "";
  const Json& number = isArray ? value[std::size_t(column.index)] : value;
  return number.is_null() ? "nan" : number.dump();
}

void writeTable(const fs::path& file, const std::vector<Axis>& axes, const std::vector<Case>& grid) {
  std::ofstream table(file);
  const std::vector<Column> columns = columnsOf(grid);
  table << "run,status";
  for (const Axis& axis : axes) table << ',' << csvField(axis.name);
  for (const Column& column : columns) table << ',' << csvField(column.header);
  table << ",message\n";
  for (const Case& one : grid) {
    table << one.folder.filename().string() << ',' << one.status;
    for (const std::string& value : one.values) table << ',' << csvField(value);
    for (const Column& column : columns) table << ',' << valueOf(one, column);
    table << ',' << csvField(one.message) << '\n';
  }
  if (!table.flush()) throw MachineFailure("cannot write " + file.string() + "; check the disk and the permissions");
}

int report(const std::vector<Case>& grid, const std::vector<Axis>& axes, const fs::path& table) {
  std::size_t succeeded = 0;
  for (const Case& one : grid) {
    if (one.status == "success")
      ++succeeded;
    else
      fmt::print("  {} ({})  {}: {}\n", one.folder.string(), describe(axes, one), one.status, one.message);
  }
  fmt::print("{} of {} runs succeeded. Table in {}\n", succeeded, grid.size(), table.string());
  if (stopRequested()) return Stopped;
  return succeeded == grid.size() ? Success : NumericsFailed;
}

int sweep(const Options& options) {
  std::vector<Axis> axes;
  for (const std::string& text : options.over) axes.push_back(parseAxis(text));
  refuseTwice(options, axes);
  const fs::path folder = options.folder.empty() ? fs::path(options.scene.stem().string() + ".sweep") : options.folder;
  std::vector<Case> grid = makeGrid(axes, folder);
  refuseCommonMistake(options, axes, grid);
  std::error_code status;
  fs::create_directories(folder, status);
  if (status) throw MachineFailure("cannot create the folder " + folder.string() + ": " + status.message() + "; choose another with -o");
  const FolderLock lock(folder);
  clearFolder(folder);

  catchStopSignals();
  Pool(grid, options.jobs).runAll([&](const Case& one) {
    RunOptions run;
    run.scene = options.scene;
    run.overrides = overridesOf(options, axes, one);
    run.folder = one.folder;
    run.terminalLevel = LogLevel::Error;
    run.stop = stopRequested;
    return run;
  });
  const fs::path table = folder / tableName;
  writeTable(table, axes, grid);
  return report(grid, axes, table);
}

}

void addSweep(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("sweep", "Run a scene over a grid of parameters, several runs at a time; writes sweep.csv");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->scene, "Scene file (YAML)")->required();
  addRepeated(*command, "--over", options->over, "Values of a parameter, NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,...; more make a grid")
      ->required()
      ->type_name("NAME=RANGE");
  addRepeated(*command, "--set", options->overrides, "Set a parameter for all runs, NAME=VALUE; may be repeated");
  command->add_option("-o,--output", options->folder, "Folder of the runs and the table (default: NAME.sweep)");
  command->add_option("-j,--jobs", options->jobs, "Runs at a time")->capture_default_str()->check(CLI::PositiveNumber);
  command->callback([options, &action] { action = [options] { return sweep(*options); }; });
}

}
