#pragma once
#include <filesystem>

namespace tendril {

/// A folder of its own below the folder for temporary files, removed at the end. Throws MachineFailure if it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}
