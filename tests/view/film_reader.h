#pragma once
#include "support/files.h"
#include "tendril/io/run.h"
#include "tendril/view/film.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tendril::testing {

/// Numbers of a channel over all frames, read by the letter of viewer/src/film/header.ts.
struct ReadChannel {
  std::vector<float> positions, values;
  std::vector<std::int16_t> rotations;
  std::vector<std::uint32_t> counts;
};

inline std::string inflated(const std::string& stored) {
  std::string plain(std::size_t(64) << 20, '\0');
  uLongf size = plain.size();
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &size, reinterpret_cast<const Bytef*>(stored.data()), stored.size()) != Z_OK)
    throw std::runtime_error("not deflated");
  plain.resize(size);
  return plain;
}

/// Takes `count` numbers, stored byte plane by byte plane, from the front.
template <class T> void takePlanes(std::string& plain, std::size_t count, std::vector<T>& numbers) {
  if (plain.size() < count * sizeof(T)) throw std::runtime_error("the chunk is too short");
  for (std::size_t i = 0; i < count; ++i) {
    char bytes[sizeof(T)];
    for (std::size_t k = 0; k < sizeof(T); ++k) bytes[k] = plain[k * count + i];
    numbers.emplace_back();
    std::memcpy(&numbers.back(), bytes, sizeof(T));
  }
  plain.erase(0, count * sizeof(T));
}

inline void readChunk(const nlohmann::json& info, std::size_t frames, std::string plain, ReadChannel& channel) {
  const std::size_t items = info["items"], columns = info["columns"].size();
  if (info["layout"] == "pose") {
    takePlanes(plain, frames * items * 3, channel.positions);
    takePlanes(plain, frames * items * 4, channel.rotations);
  } else if (info["layout"] == "dense") {
    takePlanes(plain, frames * items * columns, channel.values);
  } else {
    const std::size_t before = channel.counts.size();
    takePlanes(plain, frames, channel.counts);
    std::size_t lines = 0;
    for (std::size_t i = before; i < channel.counts.size(); ++i) lines += channel.counts[i];
    takePlanes(plain, lines * columns, channel.values);
  }
  if (!plain.empty()) throw std::runtime_error("the chunk is too long");
}

inline ReadChannel readChannel(Film& film, const nlohmann::json& header, const std::string& name) {
  ReadChannel channel;
  const std::size_t perChunk = header["framesPerChunk"], frames = header["times"].size();
  for (std::size_t c = 0; c * perChunk < frames; ++c) {
    readChunk(header["channels"][name], std::min(perChunk, frames - c * perChunk), inflated(film.chunk(name, c)), channel);
  }
  return channel;
}

/// Runs a scene into the folder `out`.
inline std::filesystem::path runScene(const TemporaryFolder& folder, const std::string& text) {
  writeAll(folder / "scene.yaml", text);
  RunOptions options;
  options.scene = folder / "scene.yaml";
  options.folder = folder / "out";
  options.terminalLevel = LogLevel::Error;
  const RunOutcome outcome = run(options);
  if (outcome.status != RunStatus::Success) throw std::runtime_error(outcome.message);
  return options.folder;
}

}
