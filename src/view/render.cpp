#include "tendril/view/render.h"

#include "tendril/documents/base64.h"
#include "tendril/model/error.h"
#include "tendril/view/view.h"
#include "view/chromium.h"
#include "view/output_file.h"
#include "view/viewer_page.h"

#include <fmt/format.h>

#include <cmath>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
constexpr Chromium::Seconds pictureLimit{600};
constexpr std::uint64_t largestPage = 400'000'000;

void check(const RenderOptions& options) {
  if (options.picture.empty() && options.film.empty()) throw InputError("nothing to render: name a picture or a film to write");
  for (const int size : {options.width, options.height}) {
    if (size < 16 || size > 8192)
      throw InputError(fmt::format("a picture of {} x {} pixels cannot be made: 16 to 8192 can", options.width, options.height));
  }
  if (!std::isfinite(options.exaggerate) || options.exaggerate < 0)
    throw InputError(fmt::format("displacements cannot be exaggerated {} times; take a factor of 0 or more", options.exaggerate));
  if (!std::isfinite(options.seconds) || options.seconds < 0 || options.seconds > 3600)
    throw InputError(fmt::format("a film cannot last {} s: up to 3600 can be made", options.seconds));
  if (options.framesPerSecond < 1 || options.framesPerSecond > 120)
    throw InputError(fmt::format("{} frames per second: 1 to 120 can be made", options.framesPerSecond));
  if (!options.picture.empty()) checkOutput(options.picture, pictureFile);
  if (!options.film.empty()) checkOutput(options.film, filmFile);
}

void writeFile(const fs::path& path, const FileKind& kind, const std::string& bytes) {
  OutputFile file(path, kind);
  file.write(bytes);
  file.keep();
}

Json pageOptions(const RenderOptions& options) {
  Json json{{"width", options.width},           {"height", options.height},   {"camera", options.camera},
            {"colour", options.colour},         {"show", options.show},       {"dark", options.dark},
            {"exaggerate", options.exaggerate}, {"seconds", options.seconds}, {"fps", options.framesPerSecond}};
  if (options.time) json["time"] = *options.time;
  return json;
}

}

struct Renderer::Impl {
  std::function<bool()> stop;
  std::unique_ptr<Chromium> browser;

  void open(const fs::path& page);
  void checkTime(const RenderOptions& options);
  std::string make(const std::string& function, const RenderOptions& options, Chromium::Seconds limit);
  void makeFiles(const RenderOptions& options, const fs::path& page);
};

void Renderer::Impl::open(const fs::path& page) {
  if (!browser) browser = std::make_unique<Chromium>(stop);
  browser->open(page, "render", pictureLimit);
  const Json failure = browser->evaluate("window.tendril ? tendril.ready.then(() => '', (error) => String(error.message ?? error)) : "
                                         "'it holds no viewer'",
                                         pictureLimit);
  std::string text = failure.get<std::string>();
  if (text.empty()) return;
  for (const std::string& problem : browser->problems()) text += "\n  the page says: " + problem;
  throw MachineFailure("the page of the run failed in Chromium: " + text);
}

void Renderer::Impl::checkTime(const RenderOptions& options) {
  if (!options.time) return;
  const Json ends = browser->evaluate(
      "tendril.study ? null : (({times, axis}) => [times[0], times[times.length - 1], axis.kind])(tendril.film.header)", pictureLimit);
  if (ends.is_null()) throw InputError("a study has no time; leave out --time");
  const double first = ends[0].get<double>(), last = ends[1].get<double>(), slack = 1e-9 * (last - first);
  if (*options.time >= first - slack && *options.time <= last + slack) return;
  throw InputError(fmt::format("the run has no {} {}: it goes from {} to {}",
                               ends[2].get<std::string>() == "time" ? "time" : "load parameter", *options.time, first, last));
}

/// Bytes that a function of the page makes. The page names errors of the options.
std::string Renderer::Impl::make(const std::string& function, const RenderOptions& options, Chromium::Seconds limit) {
  const std::string call = fmt::format("tendril.{}({}).then((text) => ' ' + text, (error) => (error.name === 'OptionError' ? '?' : '!') + "
                                       "error.message)",
                                       function, pageOptions(options).dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string answer = browser->evaluateText(call, limit);
  const char mark = answer.empty() ? '!' : answer[0];
  if (mark == '?') throw InputError(answer.substr(1));
  if (mark != ' ') throw MachineFailure("the browser could not make the picture: " + (answer.empty() ? answer : answer.substr(1)));
  return fromBase64(answer.substr(1));
}

void Renderer::Impl::makeFiles(const RenderOptions& options, const fs::path& page) {
  open(page);
  checkTime(options);
  if (!options.picture.empty()) writeFile(options.picture, pictureFile, make("picturePng", options, pictureLimit));
  if (options.film.empty()) return;
  const double frames = (options.seconds > 0 ? options.seconds : 20) * options.framesPerSecond;
  writeFile(options.film, filmFile, make("filmWebm", options, Chromium::Seconds(120 + 5 * frames)));
}

Renderer::Renderer(std::function<bool()> stop) : impl(std::make_unique<Impl>()) {
  requireViewer(viewerPage());
  impl->stop = std::move(stop);
  impl->browser = std::make_unique<Chromium>(impl->stop);
}

Renderer::~Renderer() = default;

RenderReport Renderer::render(const RenderOptions& options) {
  check(options);
  const ScratchFolder folder;
  const ViewPage page = writeViewPage({options.results, folder.path() / "view.html", largestPage, impl->stop});
  try {
    impl->makeFiles(options, page.path);
  } catch (const InputError&) {
    throw;
  } catch (...) {
    impl->browser.reset();
    throw;
  }
  return {page.frames, page.totalFrames};
}

}
