#pragma once
#include "view/film_channel.h"

#include <nlohmann/json.hpp>

namespace tendril {

/// Bodies, obstacles, beams, markers, joints, parts, meshes: what is shown, without its motion.
void describeScene(const Scene& scene, nlohmann::json& header);
/// Title, parameters, axis, summary, log, and the notices that the files of the folder give rise to.
void describeRun(const RunResults& results, nlohmann::json& header);
void describeSeries(const std::vector<FilmSeries>& list, nlohmann::json& header);

/// JSON that can stand in an element of a page: nothing in it ends the element or opens another. Bytes that are no UTF-8 are replaced.
std::string pageText(const nlohmann::json& json);

}
