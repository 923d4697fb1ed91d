#include "app/slurm_script.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;

/// The arguments of this process; the first is the program.
std::vector<std::string> ownArguments() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(stream, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

/// A word as the shell reads it back.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command() {
  const std::vector<std::string> arguments = ownArguments();
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  std::string text = quoted(status ? arguments[0] : program.string());
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--slurm")
      ++i;
    else if (!arguments[i].starts_with("--slurm="))
      text += " " + quoted(arguments[i]);
  }
  return text;
}

}

void writeSlurmScript(const fs::path& file, const fs::path& scene) {
  if (std::error_code status; fs::exists(file, status))
    throw InputError(fmt::format("{} exists and is left as it is: name another file with --slurm, or remove it", file.string()));
  std::ofstream script(file);
  script << fmt::format(R"(#!/bin/bash
#SBATCH --job-name={}
#SBATCH --ntasks=32              # runs at a time, on as many machines as that takes
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --requeue                # a job that is cut off goes on where it stopped, as does one that is submitted again
#SBATCH --open-mode=append
export OMP_NUM_THREADS=1
cd "$SLURM_SUBMIT_DIR"
srun --mpi=pmix {}
)",
                        quoted(scene.stem().string()), command());
  if (!script.flush()) throw MachineFailure("cannot write " + file.string() + "; check the folder, the disk and the permissions");
}

}
