#pragma once
#include <filesystem>

namespace tendril::app {

/// Writes a job script for Slurm that runs the command of this process on many machines, without its --slurm. Throws InputError if the file
/// exists, MachineFailure if it cannot be written.
void writeSlurmScript(const std::filesystem::path& file, const std::filesystem::path& scene);

}
