#include "tendril/contact/mesh.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace tendril {

namespace {

std::string readAll(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw InputError("cannot open the mesh file " + file.string() + "; check its name, which counts from the folder of the scene");
  }
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view blank = " \t\r\v\f";
  std::vector<std::string_view> result;
  for (std::size_t begin = line.find_first_not_of(blank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blank, begin), line.size());
    result.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blank, end);
  }
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return char(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return result;
}

/// Lines of a text file, with errors that name the file and the line.
class LineReader {
 public:
  LineReader(const std::filesystem::path& file, std::string_view text) : file_(file), text_(text) {}

  /// The words of the next line that has any; none at the end.
  std::vector<std::string_view> next() {
    while (position_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', position_), text_.size());
      const std::string_view line = text_.substr(position_, end - position_);
      position_ = end + 1;
      ++line_;
      if (auto result = words(line); !result.empty()) return result;
    }
    return {};
  }

  [[noreturn]] void fail(const std::string& message, const std::string& remedy = "") const {
    throw InputError({file_.string(), line_, 0}, "", message, remedy);
  }

  double number(std::string_view word) const {
    double value = 0;
    if (word.starts_with('+')) word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      fail("a number was expected, not '" + std::string(word) + "'");
    return value;
  }

  Vector3 vector(const std::vector<std::string_view>& line, std::size_t first) const {
    if (line.size() < first + 3) fail("three coordinates were expected, only " + std::to_string(line.size() - first) + " given");
    return {number(line[first]), number(line[first + 1]), number(line[first + 2])};
  }

 private:
  std::filesystem::path file_;
  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 0;
};

/// Vertices that are equal become one.
class Merger {
 public:
  explicit Merger(TriangleMesh& mesh) : mesh_(mesh) {}

  int add(const Vector3& v) {
    const auto [known, isNew] = index_.try_emplace({v[0], v[1], v[2]}, int(mesh_.vertices.size()));
    if (isNew) mesh_.vertices.push_back(v);
    return known->second;
  }

 private:
  using Place = std::array<double, 3>; // -0 and 0 are the same one
  struct Hash {
    std::size_t operator()(const Place& x) const {
      std::size_t hash = 0;
      for (const double number : x) hash = hash * 0x9e3779b97f4a7c15u + std::hash<double>{}(number);
      return hash ^ hash >> 29;
    }
  };

  TriangleMesh& mesh_;
  std::unordered_map<Place, int, Hash> index_;
};

/// "7", "7/1", "7//3" or "-1" (counted from the last vertex).
int objIndex(std::string_view word, int count, const LineReader& in) {
  const std::string_view first = word.substr(0, word.find('/'));
  int index = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), index);
  if (error != std::errc() || end != first.data() + first.size())
    in.fail("the number of a vertex was expected, not '" + std::string(word) + "'");
  const int position = index < 0 ? count + index : index - 1;
  if (position < 0 || position >= count) {
    in.fail("a face names vertex " + std::to_string(index) + ", but " + std::to_string(count) + " vertices stand before it",
            "vertices count from 1");
  }
  return position;
}

TriangleMesh readObj(LineReader in) {
  TriangleMesh mesh;
  Merger merger(mesh);
  std::vector<int> merged; // number of each vertex of the file
  for (auto line = in.next(); !line.empty(); line = in.next()) {
    if (line[0] == "v") merged.push_back(merger.add(in.vector(line, 1)));
    if (line[0] != "f") continue; // normals, textures, groups and materials do not matter
    if (line.size() < 4) in.fail("a face has at least three vertices");
    std::vector<int> corners;
    for (std::size_t i = 1; i < line.size(); ++i) corners.push_back(merged[std::size_t(objIndex(line[i], int(merged.size()), in))]);
    for (std::size_t i = 1; i + 1 < corners.size(); ++i) mesh.triangles.push_back({corners[0], corners[i], corners[i + 1]});
  }
  if (mesh.triangles.empty()) in.fail("the file holds no faces", "an OBJ file has lines 'v x y z' and 'f i j k'");
  return mesh;
}

TriangleMesh readStlText(LineReader in) {
  TriangleMesh mesh;
  Merger merger(mesh);
  std::vector<int> corners;
  bool isInFacet = false;
  for (auto line = in.next(); !line.empty(); line = in.next()) {
    const std::string key = lower(line[0]);
    if (key == "facet") {
      if (isInFacet) in.fail("a facet begins before the last one ended", "'endfacet' ends a facet");
      isInFacet = true;
      corners.clear();
    } else if (key == "vertex") {
      if (!isInFacet) in.fail("a vertex stands outside of a facet");
      corners.push_back(merger.add(in.vector(line, 1)));
    } else if (key == "endfacet") {
      if (corners.size() != 3) in.fail("a facet has three vertices, not " + std::to_string(corners.size()));
      mesh.triangles.push_back({corners[0], corners[1], corners[2]});
      isInFacet = false;
    } else if (key != "solid" && key != "outer" && key != "endloop" && key != "endsolid") {
      in.fail("'" + std::string(line[0]) + "' is no word of an STL file");
    }
  }
  if (isInFacet) in.fail("the file ends within a facet; it is cut off");
  if (mesh.triangles.empty()) in.fail("the file holds no facets");
  return mesh;
}

template <class T> T littleEndian(const char* bytes) {
  std::array<char, sizeof(T)> raw{};
  std::memcpy(raw.data(), bytes, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

constexpr std::size_t stlHeader = 84, stlFacet = 50;

TriangleMesh readStlBinary(const std::filesystem::path& file, std::string_view bytes) {
  const auto count = littleEndian<std::uint32_t>(bytes.data() + 80);
  TriangleMesh mesh;
  Merger merger(mesh);
  for (std::size_t t = 0; t < count; ++t) {
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      Vector3 v;
      for (std::size_t i = 0; i < 3; ++i)
        v[Eigen::Index(i)] = littleEndian<float>(bytes.data() + stlHeader + stlFacet * t + 12 + 12 * k + 4 * i);
      if (!v.allFinite()) throw InputError({file.string(), 0, 0}, "", "a vertex of facet " + std::to_string(t + 1) + " is not finite");
      corners[k] = merger.add(v);
    }
    mesh.triangles.push_back(corners);
  }
  if (mesh.triangles.empty()) throw InputError({file.string(), 0, 0}, "", "the file holds no facets");
  return mesh;
}

/// The size tells a binary file: text may not begin with "solid", and a binary header may.
TriangleMesh readStl(const std::filesystem::path& file, std::string_view bytes) {
  const std::uint64_t expected =
      bytes.size() < stlHeader ? 0 : stlHeader + stlFacet * std::uint64_t(littleEndian<std::uint32_t>(bytes.data() + 80));
  if (bytes.size() >= stlHeader && expected == bytes.size()) return readStlBinary(file, bytes);
  const std::string start = lower(bytes.substr(0, 5));
  const bool isText = start == "solid" && bytes.find('\0') == std::string_view::npos;
  if (isText) return readStlText({file, bytes});
  if (bytes.size() < stlHeader) throw InputError({file.string(), 0, 0}, "", "neither a text nor a binary STL file: it is too short");
  throw InputError({file.string(), 0, 0}, "",
                   "the file has " + std::to_string(bytes.size()) + " bytes where its number of facets asks for " +
                       std::to_string(expected),
                   "it is cut off or no STL file");
}

}

std::shared_ptr<const TriangleMesh> readMesh(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  if (extension != ".obj" && extension != ".stl")
    throw InputError("the mesh file " + file.string() + " has no known form; give an .obj or an .stl file");
  const std::string bytes = readAll(file);
  return std::make_shared<const TriangleMesh>(extension == ".obj" ? readObj({file, bytes}) : readStl(file, bytes));
}

}
