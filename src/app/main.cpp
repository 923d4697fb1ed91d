#include "app/commands.h"
#include "tendril/io/run.h"
#include "tendril/model/error.h"
#include "tendril/studies/ranks.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <unistd.h>

namespace tendril::app {

namespace {

int fail(ExitCode code, const char* message) {
  fmt::print(stderr, "error: {}\n", message);
  return code;
}

/// The one place where errors become messages and exit codes.
int perform(const Action& action) {
  try {
    const int code = action();
    // Output that did not arrive (a full disk behind a redirection) is a failure, too.
    return std::fflush(stdout) == 0 ? code : fail(MachineFailed, "cannot write the output");
  } catch (const InputError& error) {
    return fail(WrongInput, error.what());
  } catch (const NumericalFailure& error) {
    return fail(NumericsFailed, error.what());
  } catch (const MachineFailure& error) {
    return fail(MachineFailed, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(MachineFailed, error.what());
  } catch (const std::bad_alloc&) {
    return fail(MachineFailed, "out of memory; use fewer elements, or a machine with more memory");
  } catch (const Interrupted& error) {
    return fail(Stopped, error.what());
  } catch (const Error& error) {
    return fail(WrongInput, error.what());
  } catch (const std::exception& error) {
    return fail(MachineFailed, fmt::format("{} (a mistake in the program; please report it)", error.what()).c_str());
  }
}

int main(int argc, char** argv) {
  // Exceeding the limit of the size of files shall be an error with a message, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App program("Tendril: slender structures and multibody systems", "tendril");
  program.set_version_flag("--version", "tendril " + version());
  program.require_subcommand(1);
  Action action;
  for (const auto add :
       {addRun, addCheck, addView, addRender, addExport, addSweep, addCertify, addContact, addImport, addGallery, addSchema})
    add(program, action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return program.exit(request);
  } catch (const CLI::ParseError& error) {
    const CLI::App* command = program.get_subcommands().empty() ? &program : program.get_subcommands().front();
    fmt::print(stderr, "error: {}\n\n{}", error.what(), command->help());
    return WrongInput;
  }
  return perform(action);
}

}

CLI::Option* addRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& description) {
  return command.add_option(name, values, description)->allow_extra_args(false)->type_name("NAME=VALUE");
}

bool isLeftToRoot(const Ranks& ranks, int jobs, bool isQuiet) {
  if (ranks.unjoined() > 1 && ranks.isRoot() && !isQuiet)
    fmt::print(stderr,
               "note: this build of tendril has no MPI, so the first of the {} processes does the work, with {} workers; install "
               "libopenmpi-dev and configure again with TENDRIL_WITH_MPI=ON for more machines than one\n",
               ranks.unjoined(), jobs > 0 ? jobs : ranks.unjoined());
  return ranks.unjoined() > 1 && !ranks.isRoot();
}

CLI::Validator wholeNumber() {
  const auto refuse = [](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status == std::errc{} && end == text.data() + text.size()) return {};
    return fmt::format("'{}' is not a whole number from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
  };
  return {refuse, "WHOLE"};
}

}

int main(int argc, char** argv) { return tendril::app::main(argc, argv); }
