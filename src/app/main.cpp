#include "app/commands.h"
#include "tendril/io/run.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <filesystem>
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

}

int main(int argc, char** argv) { return tendril::app::main(argc, argv); }
