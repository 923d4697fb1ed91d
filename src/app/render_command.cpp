#include "app/commands.h"
#include "app/stop_request.h"
#include "tendril/model/error.h"
#include "tendril/view/render.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace tendril::app {

namespace {

struct Settings {
  RenderOptions options;
  std::string size = "1280x720";
};

void readSize(Settings& settings) {
  const std::string& text = settings.size;
  const char* end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, settings.options.width);
  if (width.ec == std::errc() && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, settings.options.height);
    if (height.ec == std::errc() && height.ptr == end) return;
  }
  throw InputError("--size " + text + " is not of the form WIDTHxHEIGHT, as in 1280x720");
}

int render(Settings& settings) {
  readSize(settings);
  const RenderOptions& options = settings.options;
  if (options.picture.empty() && options.film.empty())
    throw InputError("nothing to render: name a picture with -o picture.png, or a film with --film film.webm");
  catchStopSignals();
  const RenderReport report = Renderer(stopRequested).render(options);
  for (const std::filesystem::path& file : {options.picture, options.film}) {
    if (!file.empty()) fmt::print("{}\n", file.string());
  }
  if (report.frames < report.totalFrames)
    fmt::print("From {} of {} frames: the run is too large to be shown whole.\n", report.frames, report.totalFrames);
  return Success;
}

}

void addRender(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("render", "Make a picture or a film of a run, or a picture of a study, without a screen (needs Chromium)");
  const auto settings = std::make_shared<Settings>();
  RenderOptions& options = settings->options;
  command->add_option("results", options.results, "Result folder of a run, or folder of a study")->required();
  command->add_option("-o,--output", options.picture, "Picture to write (PNG)");
  command->add_option("--time", options.time, "Time or load parameter of the picture (default: the last)");
  command->add_option("--camera", options.camera, "home, front, ..., or position/target[/angle]: px,py,pz/tx,ty,tz/fov")
      ->capture_default_str();
  command->add_option("--colour", options.colour, "Field to colour by (default: each part its own colour); of a study a column");
  command->add_option("--show", options.show, "Layers to switch on or off, as in forces,-grid");
  command->add_option("--size", settings->size, "Pixels, WIDTHxHEIGHT")->capture_default_str();
  command->add_flag("--dark", options.dark, "Dark background");
  command->add_option("--exaggerate", options.exaggerate, "Factor of displacements")->capture_default_str();
  command->add_option("--film", options.film, "Film to write (WebM)");
  command->add_option("--fps", options.framesPerSecond, "Frames per second of the film")->capture_default_str();
  command->add_option("--seconds", options.seconds, "Length of the film (default: that of the run, between 2 and 20 s)");
  command->callback([settings, &action] { action = [settings] { return render(*settings); }; });
}

}
