#pragma once
#include "imports/remarks.h"
#include "tendril/lie/types.h"

#include <string>

/// Values as a scene writes them.
namespace tendril::imports::yaml {

/// Fifteen digits, so that sums of round numbers look round.
std::string number(double value);
/// [x, y, z]; components that are round-off beside the others, or beside `scale`, are zero.
std::string vector(const Vector3& v, double scale = 0);
/// Rotation vector in degrees.
std::string rotation(const Matrix3& R);
/// Three principal moments, or the matrix.
std::string inertia(const Matrix3& J);
/// "position: ..., orientation: ...", what is zero left out; each preceded by `separator`.
std::string pose(const Pose& pose, const std::string& separator, const char* positionKey = "position");
/// In double quotes.
std::string inQuotes(const std::string& text);
/// On one line of printable characters and shortened if long, for comments and messages.
std::string plain(const std::string& text);
/// The head of a scene: where it comes from, what was lost, what else to know; version and title.
std::string head(const std::string& fileName, const std::string& title, const Remarks& remarks);

}
