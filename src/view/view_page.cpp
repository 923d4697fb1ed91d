#include "tendril/io/base64.h"
#include "tendril/model/error.h"
#include "tendril/view/film.h"
#include "tendril/view/view.h"
#include "view/page_writer.h"
#include "view/viewer_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace tendril {

namespace {

namespace fs = std::filesystem;

/// A page that is being written beside its place and takes it when it is whole; what is not finished is removed.
class PageFile {
 public:
  explicit PageFile(const fs::path& path)
      : path_(path), part_(path.string() + ".part"), stream_(part_, std::ios::binary | std::ios::trunc) {
    if (!stream_) fail();
  }
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile() {
    if (isKept_) return;
    stream_.close();
    std::error_code status;
    fs::remove(part_, status);
  }

  void write(std::string_view text) {
    stream_.write(text.data(), std::streamsize(text.size()));
    if (!stream_) fail();
    bytes_ += text.size();
  }
  std::uint64_t bytes() const { return bytes_; }
  void keep() {
    stream_.close();
    if (!stream_) fail();
    std::error_code status;
    fs::rename(part_, path_, status);
    if (status) throw MachineFailure("cannot write " + path_.string() + ": " + status.message() + "; choose another file with -o");
    isKept_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    throw MachineFailure("cannot write " + path_.string() + ": " + std::strerror(errno) + "; free space, or choose another file with -o");
  }
  fs::path path_, part_;
  std::ofstream stream_;
  std::uint64_t bytes_ = 0;
  bool isKept_ = false;
};

/// A name as the value of an attribute.
std::string attribute(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '"' || letter == '&' || letter == '<' || letter == '>')
      escaped += fmt::format("&#{};", int(letter));
    else
      escaped += letter;
  }
  return escaped;
}

std::string chunkElement(const std::string& channel, std::size_t number, const std::string& bytes) {
  return fmt::format("<script type=\"text/plain\" id=\"chunk/{}/{}\">{}</script>\n", attribute(channel), number, base64(bytes));
}

/// Writes the page; returns 0, or the number of frames that should fit if it grows beyond `maxBytes`. The header comes last: only then are
/// the ranges known.
std::size_t writePage(Film& film, std::string_view viewer, PageFile& file, std::uint64_t maxBytes) {
  const std::uint64_t fixed = viewer.size() + film.header().size();
  const auto fewerFrames = [&](std::uint64_t chunkBytes, std::size_t chunks) -> std::size_t {
    if (fixed + chunkBytes <= maxBytes || film.frames() <= 2) return 0;
    const double room = double(maxBytes) - double(std::min(fixed, maxBytes)), written = double(chunks) / double(film.chunks());
    const double fit = 0.97 * room / double(chunkBytes) * written * double(film.frames());
    return std::clamp(std::size_t(fit), std::size_t(2), film.frames() - 1);
  };
  const std::size_t mark = viewer.find(filmMark);
  file.write(viewer.substr(0, mark));
  const std::vector<std::string> channels = film.channels();
  for (std::size_t c = 0; c < film.chunks(); ++c) {
    for (const std::string& channel : channels) file.write(chunkElement(channel, c, film.chunk(channel, c)));
    if (const std::size_t fewer = fewerFrames(file.bytes() - mark, c + 1)) return fewer;
  }
  file.write("<script type=\"application/json\" id=\"film\">" + film.header() + "</script>");
  file.write(viewer.substr(mark + filmMark.size()));
  return fewerFrames(file.bytes() - fixed, film.chunks());
}

/// Frames of which a page of `maxBytes` can hold, judged by three chunks.
std::size_t framesThatFit(Film& film, std::uint64_t fixedBytes, std::uint64_t maxBytes) {
  double bytes = 0, frames = 0;
  std::size_t last = std::size_t(-1);
  for (const std::size_t c : {std::size_t(0), film.chunks() / 2, film.chunks() - 1}) {
    if (c == last) continue;
    last = c;
    for (const std::string& channel : film.channels()) bytes += double(chunkElement(channel, c, film.chunk(channel, c)).size());
    frames += double(std::min(film.framesPerChunk(), film.frames() - c * film.framesPerChunk()));
  }
  const double room = double(maxBytes) - double(std::min(fixedBytes, maxBytes));
  return std::size_t(std::clamp(room / (bytes / frames), std::min(2., double(film.frames())), double(film.frames())));
}

}

ViewPage writeViewPage(const ViewOptions& options, std::string_view viewer) {
  requireViewer(viewer);
  const fs::path path = options.page.empty() ? options.results / "view.html" : options.page;
  ViewPage page;
  page.path = path;
  Film film(options.results);
  const std::size_t fit = framesThatFit(film, viewer.size(), options.maxBytes);
  if (fit < film.frames()) film = Film(options.results, fit);
  while (true) {
    PageFile file(path);
    const std::size_t fewer = writePage(film, viewer, file, options.maxBytes);
    if (fewer == 0) {
      file.keep();
      page.bytes = file.bytes();
      page.frames = film.frames();
      page.totalFrames = std::max(film.totalRows(), film.frames());
      return page;
    }
    film = Film(options.results, fewer);
  }
}

ViewPage writeViewPage(const ViewOptions& options) { return writeViewPage(options, viewerPage()); }

}
