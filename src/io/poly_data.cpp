#include "io/poly_data.h"
#include "io/export_source.h"
#include "tendril/documents/base64.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>

namespace tendril {

namespace {

template <class T>
void writeArray(std::ostream& out, const char* type, std::string_view name, std::size_t components, const std::vector<T>& values) {
  // The number of bytes goes before the values, both in one piece of base64.
  const std::uint64_t size = values.size() * sizeof(T);
  std::string bytes(sizeof(size) + size, '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  if (size > 0) std::memcpy(bytes.data() + sizeof(size), values.data(), size);
  out << fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">{}</DataArray>\n", type, name,
                     components, base64(bytes));
}

}

std::int64_t PolyData::addPoint(const Vector3& x) {
  for (const double component : x) points_.push_back(float(component));
  return points() - 1;
}

void PolyData::addCell(std::span<const std::int64_t> cell) {
  connectivity_.insert(connectivity_.end(), cell.begin(), cell.end());
  offsets_.push_back(std::int64_t(connectivity_.size()));
}

void PolyData::append(std::vector<Field>& fields, const char* name, std::span<const double> value) {
  auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  if (field == fields.end()) field = fields.insert(fields.end(), {name, value.size(), {}});
  field->values.insert(field->values.end(), value.begin(), value.end());
}

void PolyData::write(const std::filesystem::path& path) const {
  ExportFile file(path);
  std::ostream& out = file.stream();
  constexpr std::array<const char*, 4> sections{"Verts", "Lines", "Strips", "Polys"};
  const std::size_t own = kind_ == Cells::Vertices ? 0 : kind_ == Cells::Lines ? 1 : 3;
  out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
         "header_type=\"UInt64\">\n<PolyData>\n";
  out << fmt::format("<Piece NumberOfPoints=\"{}\"", points());
  for (std::size_t i = 0; i < sections.size(); ++i) out << fmt::format(" NumberOf{}=\"{}\"", sections[i], i == own ? cells() : 0);
  out << ">\n<Points>\n";
  writeArray(out, "Float32", "points", 3, points_);
  out << fmt::format("</Points>\n<{}>\n", sections[own]);
  writeArray(out, "Int64", "connectivity", 1, connectivity_);
  writeArray(out, "Int64", "offsets", 1, offsets_);
  out << fmt::format("</{}>\n", sections[own]);
  for (const auto& [section, fields] : {std::pair("PointData", &pointFields_), std::pair("CellData", &cellFields_)}) {
    out << '<' << section << ">\n";
    for (const Field& field : *fields) writeArray(out, "Float64", field.name, field.components, field.values);
    out << "</" << section << ">\n";
  }
  out << "</Piece>\n</PolyData>\n</VTKFile>\n";
  file.close();
}

}
