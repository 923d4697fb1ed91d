#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// The numbers from which a run resumes, bit for bit: named arrays of doubles and integers.
///
/// File, little-endian: magic "TNDRLCKP", format version (u32), number of entries (u32), scene fingerprint (u64), size of the file (u64);
/// per entry: kind (u32: 0 doubles, 1 integers), length of the name (u32), count (u64), name, 8 bytes per value; CRC-32 of all before it
/// (u32).
class Checkpoint {
 public:
  Checkpoint() = default;
  explicit Checkpoint(std::uint64_t fingerprintOfScene) : scene(fingerprintOfScene) {}

  void set(const std::string& name, std::span<const double> values);
  void setIntegers(const std::string& name, std::span<const std::int64_t> values);
  bool has(const std::string& name) const;
  /// Throws InputError if the checkpoint has no such array (it was written by another version or analysis).
  std::span<const double> get(const std::string& name) const;
  std::span<const std::int64_t> integers(const std::string& name) const;
  const std::map<std::string, std::vector<double>>& doubles() const { return doubleArrays; }
  std::uint64_t sceneFingerprint() const { return scene; }

  /// Replaces the file in one step and keeps the one before it as FILE.previous. Throws MachineFailure naming the path and what is kept.
  void write(const std::filesystem::path& file) const;
  /// Throws InputError saying which file is damaged, how, and from what to resume instead.
  static Checkpoint read(const std::filesystem::path& file);
  /// As read(), and refuses a checkpoint of another scene.
  static Checkpoint read(const std::filesystem::path& file, std::uint64_t expectedScene);
  static std::filesystem::path previous(const std::filesystem::path& file);

 private:
  std::string source;
  std::uint64_t scene = 0;
  std::map<std::string, std::vector<double>> doubleArrays;
  std::map<std::string, std::vector<std::int64_t>> integerArrays;
};

}
