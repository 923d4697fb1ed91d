#pragma once
#include "tendril/documents/folder_lock.h"

#include <filesystem>
#include <optional>

namespace tendril {

/// The folder in which a run leaves its files. Whatever else lies in a folder is safe: one that holds files of others and was not made by a
/// run is refused; so is one in which another run is at work.
class RunFolder {
 public:
  /// Creates the folder, or takes over one made by an earlier run. Throws InputError for the folder of somebody else or in use,
  /// MachineFailure if it cannot be created.
  explicit RunFolder(std::filesystem::path folder);

  /// Removes what an earlier run left, so that nothing of it can be taken for the new one's.
  void clear() const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path results() const { return path_ / "results.h5"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path scene() const { return path_ / "scene.yaml"; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint"; }
  std::filesystem::path samples() const { return path_ / "samples.csv"; }
  std::filesystem::path friction() const { return path_ / "friction"; }

 private:
  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
};

}
