#include "tendril/io/run_folder.h"
#include "tendril/io/checkpoint.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace tendril {

namespace {

namespace fs = std::filesystem;

/// What runs and exports leave in a folder.
constexpr std::array ownNames{
    "results.h5",         "summary.json", "log.txt", "scene.yaml", "checkpoint", "checkpoint.previous", "summary.json.partial",
    "checkpoint.partial", "vtk",          "csv",     "friction",   "meshes",     "samples.csv",         "samples"};

/// Folders are told from others by the log alone: anybody may have one named `meshes`.
bool holdsOnlyOwnFiles(const fs::path& folder) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(), [](const fs::directory_entry& entry) {
    return !entry.is_directory() && std::find(ownNames.begin(), ownNames.end(), entry.path().filename()) != ownNames.end();
  });
}

/// The first line of a run's log names the program.
bool hasLogOfRun(const fs::path& folder) {
  std::ifstream log(folder / "log.txt");
  std::string line;
  return std::getline(log, line) && line.find("] info: tendril ") != std::string::npos;
}

}

RunFolder::RunFolder(fs::path folder) : path_(std::move(folder)) {
  std::error_code status;
  if (!fs::exists(path_, status)) {
    fs::create_directories(path_, status);
    if (status) {
      throw MachineFailure("cannot create the result folder " + path_.string() + ": " + status.message() +
                           "; check the permissions, or choose another folder with -o");
    }
  } else if (!fs::is_directory(path_, status)) {
    throw InputError({path_.string()}, "result folder", "this is a file, not a folder", "choose another folder with -o");
  } else if (!holdsOnlyOwnFiles(path_) && !hasLogOfRun(path_)) {
    throw InputError({path_.string()}, "result folder", "it holds files that are not the results of a run, and is left as it is",
                     "choose another folder with -o");
  }
  lock_.emplace(path_);
}

void RunFolder::clear() const {
  // The log, by which the folder is known, goes last.
  for (const fs::path& file : {results(), summary(), scene(), checkpoint(), Checkpoint::previous(checkpoint()), friction(),
                               path_ / "meshes", samples(), path_ / "samples", log()}) {
    std::error_code status;
    fs::remove_all(file, status);
    if (status) {
      throw MachineFailure("cannot replace " + file.string() + ": " + status.message() +
                           "; check the permissions, or choose another folder with -o");
    }
  }
}

}
