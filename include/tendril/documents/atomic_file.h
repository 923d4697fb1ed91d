#pragma once
#include <filesystem>
#include <memory>
#include <string_view>

namespace tendril {

/// A file that is replaced in one step, by as much content as there is: it is written to FILE.partial beside it, brought to the disk and
/// renamed. A reader, or a process that starts after a crash, sees the old content or the new one, never a mixture. Without commit()
/// nothing is left. All throw MachineFailure naming the path, the cause and that the old file is kept.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path file);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends.
  void write(std::string_view content);
  /// With `keep`, the old content stays available under that name.
  void commit(const std::filesystem::path& keep = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same with content that is at hand.
void replaceFile(const std::filesystem::path& file, std::string_view content, const std::filesystem::path& keep = {});

}
