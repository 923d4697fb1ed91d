#pragma once
#include <Eigen/Core>

#include <filesystem>
#include <vector>

namespace tendril {

/// Points of a CSV file with columns x, y, z in metres, separated by commas, semicolons or blanks, with or without a line of names; lines
/// that begin with # are comments. InputError, with the line, for what is no such point.
std::vector<Eigen::Vector3d> readPoints(const std::filesystem::path& file);

}
