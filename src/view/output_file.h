#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace tendril {

/// What a file of some kind begins with, and the name of the kind.
struct FileKind {
  std::string_view beginning, name;
};
inline constexpr FileKind pageFile{"<!doctype html", "page"};
inline constexpr FileKind pictureFile{"\x89PNG", "PNG picture"};
inline constexpr FileKind filmFile{"\x1a\x45\xdf\xa3", "WebM film"};

/// Throws InputError if something is at `path` that a file of this kind shall not replace: a folder, a device, or a file that is neither
/// empty nor of this kind, such as results; MachineFailure if there is no folder for it. For whoever works long before writing.
void checkOutput(const std::filesystem::path& path, const FileKind& kind);

/// A file that is written beside its place, under a name that nothing has, and takes its place when it is whole; what is not finished is
/// removed. A symbolic link stays, the file that it points to is replaced. Throws what checkOutput throws, and MachineFailure if the file
/// cannot be written.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, const FileKind& kind);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view text);
  std::uint64_t bytes() const { return bytes_; }
  void keep();

 private:
  [[noreturn]] void fail(int cause) const;
  std::filesystem::path path_, part_;
  std::ofstream stream_;
  std::uint64_t bytes_ = 0;
  bool isKept_ = false;
};

}
