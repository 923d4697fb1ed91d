#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace tendril {

struct RenderOptions {
  std::filesystem::path results; ///< result folder of a run
  std::filesystem::path picture; ///< PNG to write
  std::filesystem::path film;    ///< WebM to write; either or both
  std::optional<double> time{};  ///< time or load parameter of the picture; default: the last
  std::string camera = "home";   ///< a name, or "px,py,pz/tx,ty,tz[/fov]"
  std::string colour;            ///< name of a field; empty: by part
  std::string show;              ///< layers to switch on or off: "forces,-grid"
  int width = 1280, height = 720;
  bool dark = false;
  double exaggerate = 1; ///< of displacements
  double seconds = 0;    ///< length of the film; 0: that of the run, between 2 and 20 s
  int framesPerSecond = 30;
};

/// Makes pictures of a run without a screen: the viewer's page in a headless Chromium, driven through its debugging pipe. The same run,
/// options, Chromium and machine give the same picture. Throws InputError for options that do not fit the run, MachineFailure if there is
/// no Chromium (set TENDRIL_CHROMIUM to its path), if the page fails (with the browser's message), or the file cannot be written.
void render(const RenderOptions& options);

}
