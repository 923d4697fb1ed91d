#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// The file of what a study has found so far: one line per finished run, its number and a text, appended at once. A line has a checksum, so
/// that one which was half written when the machine went down is known and left out; of two lines for a run the later counts. In memory
/// there are 8 bytes per run.
///
/// A line is safe from the death of this process as soon as it is appended, and from that of the machine a second later.
class Journal {
 public:
  /// Opens the file for reading; runs are numbered from 0 to `runs` - 1. A file that is not there is empty.
  Journal(std::filesystem::path file, std::size_t runs);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  bool has(std::size_t run) const { return places_[run] != nowhere; }
  std::size_t size() const { return count_; }
  /// The text of a run that it has.
  std::string read(std::size_t run) const;

  /// From here on it can be appended to; what was left of a broken line is cut off. Throws MachineFailure.
  void open();
  /// The text must be one line. Throws MachineFailure naming what is kept.
  void append(std::size_t run, std::string_view text);
  /// Brings what was appended to the disk.
  void flush();

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t(0);
  void note(std::size_t run, std::uint64_t place);
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path file_;
  std::vector<std::uint64_t> places_;
  std::size_t count_ = 0;
  std::uint64_t end_ = 0; ///< of the last whole line
  mutable std::ifstream reader_;
  int descriptor_ = -1;
  double flushed_ = 0; ///< when, by the steady clock [s]
};

}
