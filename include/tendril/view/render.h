#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tendril {

struct RenderOptions {
  std::filesystem::path results{}; ///< result folder of a run
  std::filesystem::path picture{}; ///< PNG to write
  std::filesystem::path film{};    ///< WebM to write; either or both
  std::optional<double> time{};    ///< time or load parameter of the picture; default: the last
  std::string camera = "home";     ///< a name, or "px,py,pz/tx,ty,tz[/fov]"
  std::string colour{};            ///< name of a field; empty: by part
  std::string show{};              ///< layers to switch on or off: "forces,-grid"
  int width = 1280, height = 720;
  bool dark = false;
  double exaggerate = 1; ///< of displacements
  double seconds = 0;    ///< length of the film; 0: that of the run, between 2 and 20 s
  int framesPerSecond = 30;
};

/// What a picture was made from: a run of more than 400 MB as a film is thinned evenly.
struct RenderReport {
  std::size_t frames = 0, totalFrames = 0;
};

/// Makes pictures of runs without a screen: the viewer's page in a headless Chromium, driven through its debugging pipe. The same run,
/// options, Chromium and machine give the same picture, byte for byte. One browser serves all pictures of the object.
class Renderer {
 public:
  /// `stop` is asked ten times a second; when it says so, `render` throws Interrupted. Throws MachineFailure if there is no Chromium (set
  /// TENDRIL_CHROMIUM to its path) or this build has no viewer.
  explicit Renderer(std::function<bool()> stop = {});
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  ~Renderer();

  /// Throws InputError for options that do not fit the run, MachineFailure if the page fails (with the browser's message), takes longer
  /// than ten minutes for a picture or two minutes and five seconds a frame for a film, or if the file cannot be written. After a
  /// MachineFailure of the browser the next picture starts another one.
  RenderReport render(const RenderOptions& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}
