#pragma once
#include "tendril/io/run.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace tendril {
class Ranks;
}

namespace tendril::app {

/// What the program returns to the shell.
enum ExitCode { Success = 0, WrongInput = 2, NumericsFailed = 3, MachineFailed = 4, Stopped = 130 };

/// Each adds its subcommand; `action` becomes what to do if it is chosen.
using Action = std::function<int()>;
void addRun(CLI::App& program, Action& action);
void addCertify(CLI::App& program, Action& action);
void addCheck(CLI::App& program, Action& action);
void addExport(CLI::App& program, Action& action);
void addSchema(CLI::App& program, Action& action);
void addGallery(CLI::App& program, Action& action);
void addSweep(CLI::App& program, Action& action);
void addView(CLI::App& program, Action& action);
void addRender(CLI::App& program, Action& action);
void addContact(CLI::App& program, Action& action);
void addImport(CLI::App& program, Action& action);

/// Runs a scene with a progress bar and a table of its outputs, or a line of JSON, or nothing but errors. The exit code.
struct RunDisplay {
  bool json = false;
  bool quiet = false;
};
int runScene(RunOptions options, const RunDisplay& display);

/// An option that may be given several times, one value each.
CLI::Option* addRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& description);

/// Of a job that this build cannot join: tells so, and whether this process has nothing to do. `jobs`: workers asked for, or 0.
bool isLeftToRoot(const Ranks& ranks, int jobs, bool isQuiet = false);

/// Of options without a sign: nothing but digits, and no more than fit. Of its own accord CLI11 wraps and cuts off what does not.
CLI::Validator wholeNumber();

}
