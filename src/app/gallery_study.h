#pragma once
#include "tendril/scenes/scene_reference.h"

#include <filesystem>
#include <functional>
#include <string>

namespace tendril::app {

/// Runs a scene at every point of a study, in memory, and draws what comes out as SVG. Throws what a run throws, with the point in front;
/// Interrupted once `stop` is true.
std::string drawStudy(const std::filesystem::path& scene, const StudyPicture& study, const std::function<bool()>& stop);

}
