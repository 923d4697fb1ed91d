#include "tendril/io/checkpoint.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/model/error.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>

namespace tendril {

static_assert(std::endian::native == std::endian::little,
              "checkpoints are written in the byte order of the machine, which must be little-endian");

namespace {

constexpr std::string_view magic = "TNDRLCKP";
constexpr std::uint32_t version = 1;
constexpr std::size_t headerSize = 8 + 4 + 4 + 8 + 8;

/// CRC-32 (polynomial 0x04C11DB7 reflected, as in Ethernet and zip): detects every error burst of up to 32 bits.
std::uint32_t crc32(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t remainder = i;
      for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? 0xEDB88320u : 0u);
      made[i] = remainder;
    }
    return made;
  }();
  std::uint32_t remainder = 0xFFFFFFFFu;
  for (const char byte : bytes) remainder = (remainder >> 8) ^ table[(remainder ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~remainder;
}

template <class T> void append(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T> void appendArray(std::string& bytes, std::uint32_t kind, const std::string& name, const std::vector<T>& values) {
  static_assert(sizeof(T) == 8);
  append(bytes, kind);
  append(bytes, static_cast<std::uint32_t>(name.size()));
  append(bytes, static_cast<std::uint64_t>(values.size()));
  bytes += name;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& message) {
  std::error_code status;
  const std::filesystem::path older = Checkpoint::previous(file);
  const bool hasOlder = file != older && std::filesystem::exists(older, status);
  throw InputError({file.string()}, "checkpoint", message,
                   hasOlder ? "resume from " + older.string() + " (copy it over this file), or run without --resume"
                            : "run without --resume");
}

/// Takes values off the front of the bytes; a checkpoint whose sum is right never runs short, one made by a faulty writer is refused.
class Cursor {
 public:
  Cursor(const std::filesystem::path& source, std::string_view content) : file(source), bytes(content) {}

  std::string_view take(std::uint64_t size) {
    if (size > bytes.size()) refuse(file, "its entries do not fit into the file");
    const std::string_view front = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return front;
  }
  template <class T> T read() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <class T> std::vector<T> readArray(std::uint64_t count) {
    if (count > bytes.size() / sizeof(T)) refuse(file, "its entries do not fit into the file");
    const std::string_view content = take(count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), content.data(), content.size());
    return values;
  }

 private:
  const std::filesystem::path& file;
  std::string_view bytes;
};

std::string readBytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(file, std::string("the file cannot be read: ") + std::strerror(errno));
  std::ostringstream content;
  content << stream.rdbuf();
  return std::move(content).str();
}

/// The checks that need no parsing, from the coarsest to the finest, so that the message names the actual fault.
void checkIntact(const std::filesystem::path& file, std::string_view bytes) {
  if (!bytes.starts_with(magic.substr(0, bytes.size())) || bytes.empty())
    refuse(file, "this is not a checkpoint of Tendril, or its beginning is damaged");
  if (bytes.size() < headerSize + 4) refuse(file, "the file is cut short (" + std::to_string(bytes.size()) + " bytes)");
  Cursor header(file, bytes.substr(magic.size()));
  const auto foundVersion = header.read<std::uint32_t>();
  header.take(4 + 8);
  const auto size = header.read<std::uint64_t>();
  std::uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - 4, 4);
  const bool sumHolds = crc32(bytes.substr(0, bytes.size() - 4)) == sum;
  if (sumHolds && foundVersion != version)
    refuse(file, "its format is version " + std::to_string(foundVersion) + ", this program reads version " + std::to_string(version));
  if (bytes.size() < size)
    refuse(file, "the file is cut short (" + std::to_string(bytes.size()) + " of " + std::to_string(size) + " bytes)");
  if (!sumHolds || bytes.size() != size) refuse(file, "the file is damaged (its checksum does not match)");
}

}

void Checkpoint::set(const std::string& name, std::span<const double> values) { doubleArrays[name].assign(values.begin(), values.end()); }

void Checkpoint::setIntegers(const std::string& name, std::span<const std::int64_t> values) {
  integerArrays[name].assign(values.begin(), values.end());
}

bool Checkpoint::has(const std::string& name) const { return doubleArrays.contains(name) || integerArrays.contains(name); }

std::span<const double> Checkpoint::get(const std::string& name) const {
  const auto entry = doubleArrays.find(name);
  if (entry == doubleArrays.end())
    refuse(source, "it does not hold the numbers '" + name + "'; it was written by another analysis or version");
  return entry->second;
}

std::span<const std::int64_t> Checkpoint::integers(const std::string& name) const {
  const auto entry = integerArrays.find(name);
  if (entry == integerArrays.end())
    refuse(source, "it does not hold the integers '" + name + "'; it was written by another analysis or version");
  return entry->second;
}

void Checkpoint::write(const std::filesystem::path& file) const {
  std::string bytes(magic);
  append(bytes, version);
  append(bytes, static_cast<std::uint32_t>(doubleArrays.size() + integerArrays.size()));
  append(bytes, scene);
  const std::size_t sizePosition = bytes.size();
  append(bytes, std::uint64_t{0});
  for (const auto& [name, values] : doubleArrays) appendArray(bytes, 0, name, values);
  for (const auto& [name, values] : integerArrays) appendArray(bytes, 1, name, values);
  const std::uint64_t size = bytes.size() + 4;
  std::memcpy(bytes.data() + sizePosition, &size, sizeof(size));
  append(bytes, crc32(bytes));
  replaceFile(file, bytes, previous(file));
}

Checkpoint Checkpoint::read(const std::filesystem::path& file) {
  const std::string bytes = readBytes(file);
  checkIntact(file, bytes);
  Cursor cursor(file, std::string_view(bytes).substr(magic.size() + 4, bytes.size() - magic.size() - 8));
  const auto entries = cursor.read<std::uint32_t>();
  Checkpoint checkpoint(cursor.read<std::uint64_t>());
  checkpoint.source = file.string();
  cursor.take(8);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto kind = cursor.read<std::uint32_t>();
    const auto nameSize = cursor.read<std::uint32_t>();
    const auto count = cursor.read<std::uint64_t>();
    const std::string name(cursor.take(nameSize));
    if (kind == 0)
      checkpoint.doubleArrays[name] = cursor.readArray<double>(count);
    else if (kind == 1)
      checkpoint.integerArrays[name] = cursor.readArray<std::int64_t>(count);
    else
      refuse(file, "it holds an entry of unknown kind " + std::to_string(kind));
  }
  return checkpoint;
}

Checkpoint Checkpoint::read(const std::filesystem::path& file, std::uint64_t expectedScene) {
  Checkpoint checkpoint = read(file);
  if (checkpoint.scene != expectedScene) refuse(file, "it belongs to another scene, or the scene or its parameters were changed since");
  return checkpoint;
}

std::filesystem::path Checkpoint::previous(const std::filesystem::path& file) { return file.string() + ".previous"; }

}
