#include "tendril/documents/base64.h"
#include "tendril/model/error.h"
#include "tendril/studies/study.h"
#include "tendril/view/film.h"
#include "tendril/view/view.h"
#include "view/output_file.h"
#include "view/page_writer.h"
#include "view/study_page.h"
#include "view/viewer_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril {

namespace {

namespace fs = std::filesystem;

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
std::size_t writePage(Film& film, std::string_view viewer, OutputFile& file, const ViewOptions& options) {
  const std::uint64_t maxBytes = options.maxBytes;
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
    if (options.stop && options.stop()) throw Interrupted("stopped while the page was written; nothing is left of it");
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

namespace {

ViewPage writeStudyPage(const ViewOptions& options, std::string_view viewer, const fs::path& path) {
  const StudyElement study = makeStudyElement(options.results, options.maxBytes - std::min<std::uint64_t>(options.maxBytes, viewer.size()));
  const std::size_t mark = viewer.find(filmMark);
  OutputFile file(path, pageFile);
  file.write(viewer.substr(0, mark));
  file.write(study.html);
  file.write(viewer.substr(mark + filmMark.size()));
  file.keep();
  return {path, file.bytes(), study.runs, study.finished, true};
}

}

ViewPage writeViewPage(const ViewOptions& options, std::string_view viewer) {
  requireViewer(viewer);
  const fs::path path = options.page.empty() ? options.results / "view.html" : options.page;
  if (isStudyFolder(options.results)) return writeStudyPage(options, viewer, path);
  ViewPage page;
  page.path = path;
  Film film(options.results);
  checkOutput(path, pageFile);
  const std::size_t fit = framesThatFit(film, viewer.size(), options.maxBytes);
  if (fit < film.frames()) film = Film(options.results, fit);
  while (true) {
    OutputFile file(path, pageFile);
    const std::size_t fewer = writePage(film, viewer, file, options);
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
