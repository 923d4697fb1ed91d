#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace tendril {

struct ViewOptions {
  std::filesystem::path results; ///< result folder of a run or of a study, finished, running or broken off
  std::filesystem::path page;    ///< where to write; empty: view.html in the result folder
  /// Most bytes of the page. Frames are left out evenly until the film fits, which the page says.
  std::uint64_t maxBytes = 64u << 20;
  std::function<bool()> stop = {}; ///< asked while the page is written; when it says so, Interrupted is thrown and nothing is left
};

/// Writes one HTML page that shows the run in a browser and needs nothing else: the viewer, the film of the run and its series; or that
/// shows a study: its table and charts. Returns its path and size. A page that is there is replaced. Throws InputError if the folder holds
/// no results that can be read or if something else than a page is there, MachineFailure if the page cannot be written or this build has no
/// viewer.
struct ViewPage {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::size_t frames = 0, totalFrames = 0; ///< in the page, and all; of a study, finished runs
  bool isStudy = false;
};
ViewPage writeViewPage(const ViewOptions& options);

/// Serves the viewer and the film on 127.0.0.1, all frames, made and sent piece by piece as the browser asks for them; a page that is
/// loaded anew sees the rows that were written since. `ready` is told the address when it listens; returns when `stop` says so (asked
/// several times a second). Port 0 takes any that is free. Throws what writeViewPage throws, and MachineFailure if the port is taken.
void serveView(const std::filesystem::path& results, int port, const std::function<void(const std::string& address)>& ready,
               const std::function<bool()>& stop);

/// Whether this build contains the viewer (it needs Node to be built).
bool hasViewer();

}
