#pragma once
#include <chrono>
#include <filesystem>

namespace tendril {

/// Keeps a folder for this process alone, for as long as it lives. The lock is the kernel's (flock on the folder itself): no file is left
/// behind, and it ends with the process, however that ends. File systems without locks are used without.
class FolderLock {
 public:
  /// Throws InputError if another process holds the folder, and still does after so long: processes that were forked by one which has just
  /// been killed may hold it for another moment.
  explicit FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience = {});
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

}
