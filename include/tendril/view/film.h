#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// How the bytes of a chunk are deflated: to be small, in a file; or without the search for what repeats, which takes ten times as long as
/// all else, for a reader on this machine.
enum class ChunkPacking { Small, Quick };

/// The data of a run made ready for showing: a header (JSON) and channels cut into chunks, as viewer/src/film/header.ts lays down; the two
/// files describe one format and change together.
///
/// Chunks are made when they are asked for, from rows that are read for that; besides the series of the charts, the frames of one chunk are
/// held in memory. Not safe to use from several threads at once.
class Film {
 public:
  /// All rows of the results, or at most `maxFrames` (at least 2) that lie evenly among them, the first and the last always. Results
  /// without rows give one frame: the initial state of the scene. Throws InputError if the folder holds no results that can be read.
  explicit Film(const std::filesystem::path& results, std::size_t maxFrames = std::size_t(-1));
  Film(Film&&) noexcept;
  Film& operator=(Film&&) noexcept;
  ~Film();

  std::size_t frames() const;
  /// Rows that the results have.
  std::size_t totalRows() const;
  std::size_t framesPerChunk() const;
  std::size_t chunks() const;
  std::vector<std::string> channels() const;

  /// The stored bytes (deflated). Throws InputError if there is no such chunk.
  std::string chunk(const std::string& channel, std::size_t number, ChunkPacking packing = ChunkPacking::Small);
  /// Box, ranges of the fields and sizes of the channels are those of the chunks made so far; where none was made of a channel, a few
  /// frames are looked at. No letter of it can end or open an element of a page: < > & are written by their code points.
  std::string header();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}
