#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tendril::app {

struct GalleryBuild {
  std::filesystem::path scenes;   ///< folder of the scenes
  std::vector<std::string> known; ///< names of all scenes: paths in that folder without ending
  std::vector<std::string> only;  ///< those to be made anew; empty: all
  std::filesystem::path folder;   ///< where the gallery is written
};

/// Runs scenes with the parameters of their files, compares their results with their references, draws each, and leaves
///   README.md      all scenes by topic: picture, what it shows, expected and obtained results, command
///   TOPIC/NAME.png
///   gallery.json   the same as data, from which README.md takes the scenes that were not made anew
/// A scene that fails is told on the terminal and in README.md, and the others are made all the same. Returns the exit code: NumericsFailed
/// if any failed. Throws MachineFailure if nothing can be drawn or written, Interrupted on the user's request, with what was made kept.
int buildGallery(const GalleryBuild& build);

}
