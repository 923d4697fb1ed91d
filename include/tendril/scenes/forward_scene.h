#pragma once
#include "tendril/control/forward_function.h"
#include "tendril/scenes/scene.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tendril {

/// Steps of a scene of optimal control: its intervals and its duration. InputError for other scenes.
ForwardOptions forwardOptions(const Scene& scene);

/// Forward runs of a scene of optimal control: its mechanism and its actuators as named parameters of the scene make them, judged by a
/// function of the scene (of its markers). The file is read anew for every set of values; a run solves nothing.
///
///     const Scene scene = Scene::fromFile("scenes/control/robot-arm.yaml");
///     ForwardFunction miss(forwardFamily("scenes/control/robot-arm.yaml", {"l1", "l2"}, [](const Scene& s) {
///       return distanceOf("miss", s.mechanism().model->marker("tip"), {0, -1.131, 0.283}, s.manoeuvre()->intervals);
///     }), forwardOptions(scene), VectorX::Map(...));
///
/// `common`: overrides that all runs share. The family throws InputError, with file and line, for values that the scene refuses.
ForwardFamily forwardFamily(std::filesystem::path file, std::vector<std::string> parameters,
                            std::function<PathFunction(const Scene&)> function, std::vector<std::string> common = {});

}
