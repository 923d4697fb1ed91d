#pragma once
#include "tendril/lie/types.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// Points, cells of one kind and values on both, as VTK's PolyData holds them.
class PolyData {
 public:
  enum class Cells { Vertices, Lines, Polygons };
  explicit PolyData(Cells kind) : kind_(kind) {}

  bool empty() const { return offsets_.empty(); }
  std::int64_t points() const { return std::int64_t(points_.size() / 3); }
  std::int64_t cells() const { return std::int64_t(offsets_.size()); }
  /// Returns the number of the point.
  std::int64_t addPoint(const Vector3& x);
  void addCell(std::span<const std::int64_t> points);
  void addCell(std::initializer_list<std::int64_t> points) { addCell(std::span(points.begin(), points.size())); }

  /// Appends to a field of points or cells, which begins to exist with its first value.
  void setPoint(const char* field, std::span<const double> value) { append(pointFields_, field, value); }
  void setCell(const char* field, std::span<const double> value) { append(cellFields_, field, value); }

  /// XML PolyData (.vtp): coordinates in single precision, values in double, in base64.
  void write(const std::filesystem::path& file) const;

 private:
  struct Field {
    std::string name;
    std::size_t components;
    std::vector<double> values;
  };
  static void append(std::vector<Field>& fields, const char* name, std::span<const double> value);

  Cells kind_;
  std::vector<float> points_;
  std::vector<std::int64_t> connectivity_, offsets_;
  std::vector<Field> pointFields_, cellFields_;
};

}
