#include "tendril/documents/point_file.h"

#include "tendril/model/error.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>

namespace tendril {

namespace {

/// Fields between commas, semicolons or blanks; a field between two commas may be empty.
std::vector<std::string> fieldsOf(const std::string& line) {
  const bool hasCommas = line.find_first_of(",;") != std::string::npos;
  std::vector<std::string> fields;
  std::string field;
  const auto isBlank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  for (const char c : line) {
    const bool ends = hasCommas ? c == ',' || c == ';' : isBlank(c);
    if (ends && (hasCommas || !field.empty())) fields.push_back(std::exchange(field, {}));
    if (!ends && !isBlank(c)) field += c;
  }
  if (hasCommas || !field.empty()) fields.push_back(field);
  return fields;
}

bool isNumber(const std::string& field, double& value) {
  const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  return status == std::errc{} && end == field.data() + field.size() && std::isfinite(value);
}

}

std::vector<Eigen::Vector3d> readPoints(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError({file.string(), 0, 0}, "", "the file of points cannot be read", "check its path and permissions");
  std::vector<Eigen::Vector3d> points;
  std::string line;
  bool hasNames = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::vector<std::string> fields = fieldsOf(line);
    if (fields.empty() || line[line.find_first_not_of(" \t")] == '#') continue;
    const auto refuse = [&](const std::string& what, const std::string& remedy) {
      throw InputError({file.string(), number, 1}, "", what, remedy);
    };
    if (points.empty() && !hasNames && fields == std::vector<std::string>{"x", "y", "z"}) {
      hasNames = true;
      continue;
    }
    if (fields.size() != 3) refuse("expected x, y, z, found " + std::to_string(fields.size()) + " columns", "give three numbers a line");
    Eigen::Vector3d& point = points.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) {
      if (isNumber(fields[i], point[Eigen::Index(i)])) continue;
      const std::string column(1, "xyz"[i]);
      if (fields[i].empty()) refuse("the number of column " + column + " is missing", "give it, or remove the line");
      refuse("'" + fields[i] + "' in column " + column + " is no number", "write it like 0.5 or 1e-3, the names of columns as x,y,z");
    }
  }
  return points;
}

}
