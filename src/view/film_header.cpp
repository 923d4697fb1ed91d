#include "view/film_header.h"
#include "tendril/contact/contact_model.h"
#include "tendril/documents/base64.h"
#include "tendril/io/run.h"
#include "tendril/shells/sheet_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>

namespace tendril {

namespace {

using Json = nlohmann::json;

template <class T, class Numbers> std::string base64Of(const Numbers& triples) {
  std::vector<T> numbers;
  for (const auto& triple : triples) {
    for (int i = 0; i < 3; ++i) numbers.push_back(T(triple[std::size_t(i)]));
  }
  return base64({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
}

/// Meshes are shared by shapes: each is written once.
class MeshTable {
 public:
  int number(const TriangleMesh* mesh) {
    const auto [entry, isNew] = numbers_.try_emplace(mesh, int(meshes_.size()));
    if (isNew) {
      meshes_.push_back({{"vertices", base64Of<float>(mesh->vertices)}, {"triangles", base64Of<std::uint32_t>(mesh->triangles)}});
    }
    return entry->second;
  }
  Json take() { return std::move(meshes_); }

 private:
  std::map<const TriangleMesh*, int> numbers_;
  Json meshes_ = Json::array();
};

struct KindWords {
  const char* name;
  int sizes; ///< numbers of Shape::size that it has
};

KindWords wordsOf(Shape::Kind kind) {
  switch (kind) {
  case Shape::Kind::Sphere:
    return {"sphere", 1};
  case Shape::Kind::Box:
    return {"box", 3};
  case Shape::Kind::Cylinder:
    return {"cylinder", 2};
  case Shape::Kind::Capsule:
    return {"capsule", 2};
  case Shape::Kind::Tube:
    return {"tube", 3};
  case Shape::Kind::Cone:
    return {"cone", 2};
  case Shape::Kind::Ellipsoid:
    return {"ellipsoid", 3};
  case Shape::Kind::HalfSpace:
    return {"half-space", 0};
  case Shape::Kind::Disc:
    return {"disc", 1};
  case Shape::Kind::Polygon:
    return {"polygon", 0};
  default:
    return {"mesh", 0};
  }
}

Json describe(const Shape& shape, MeshTable& meshes) {
  const KindWords words = wordsOf(shape.kind);
  const Eigen::Quaterniond q(shape.pose.R);
  const Vector3& x = shape.pose.x;
  return {{"kind", words.name},
          {"size", std::vector<double>(shape.size.data(), shape.size.data() + words.sizes)},
          {"hollow", shape.hollow},
          {"position", {x[0], x[1], x[2]}},
          {"rotation", {q.w(), q.x(), q.y(), q.z()}},
          {"mesh", shape.mesh ? meshes.number(shape.mesh.get()) : -1}};
}

Json describe(const std::string& name, const std::vector<Shape>& shapes, MeshTable& meshes) {
  Json list = Json::array();
  for (const Shape& shape : shapes) list.push_back(describe(shape, meshes));
  return {{"name", name}, {"shapes", std::move(list)}};
}

/// A general section has no outline: a circle with a fiftieth of the beam's length as diameter stands for it.
Json describeSection(const BeamPart& beam) {
  const Section& section = beam.section.outline;
  const bool isAssumed = section.shape == Section::Shape::General && !(section.width > 0);
  const double width = isAssumed ? beam.length() / 50 : section.width;
  const char* shape = section.shape == Section::Shape::Rectangle ? "rectangle" : section.shape == Section::Shape::Tube ? "tube" : "circle";
  const bool isRound = section.shape != Section::Shape::Rectangle;
  return {{"shape", shape},
          {"width", width},
          {"height", isRound ? width : section.height},
          {"innerRadius", section.shape == Section::Shape::Tube ? section.innerRadius : 0},
          {"assumed", isAssumed}};
}

Json describeBeams(const Mechanism& mechanism) {
  Json beams = Json::array();
  std::size_t node = 0, element = 0;
  for (const BeamPart& beam : mechanism.beams) {
    beams.push_back({{"name", beam.name},
                     {"nodes", beam.nodes.size()},
                     {"firstNode", node},
                     {"firstElement", element},
                     {"arclength", beam.arclength},
                     {"section", describeSection(beam)}});
    node += beam.nodes.size();
    element += std::size_t(beam.elements());
  }
  return beams;
}

Json describeShells(const std::vector<ShellPart>& shells) {
  Json list = Json::array();
  std::size_t vertex = 0;
  for (const ShellPart& shell : shells) {
    list.push_back({{"name", shell.name}, {"rows", shell.rows}, {"columns", shell.columns}, {"firstVertex", vertex}});
    vertex += shell.vertices();
  }
  return list;
}

Json describeJoints(const Model& model) {
  Json list = Json::array();
  const Joints* joints = model.term<Joints>();
  for (int i = 0; joints && i < joints->size(); ++i) {
    list.push_back({{"name", joints->name(i)},
                    {"kind", std::string(nameOf(joints->kind(i)))},
                    {"first", joints->firstMarker(i).label()},
                    {"second", joints->marker(i).label()}});
  }
  return list;
}

Json describeLinks(const Scene& scene) {
  Json list = Json::array();
  for (const FilmLink& link : filmLinks(scene)) list.push_back({{"name", link.name}, {"kind", link.kind}});
  return list;
}

/// The last lines of a text file.
Json lastLines(const std::filesystem::path& path) {
  constexpr std::size_t most = 200;
  std::deque<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > most) lines.pop_front();
  }
  return Json(std::vector<std::string>(lines.begin(), lines.end()));
}

Json parametersOf(const Document& document) {
  Json parameters = Json::object();
  for (const std::string& name : document.parameterNames()) {
    const Scope::Symbol* symbol = document.parameters().find(name);
    if (const double* number = symbol ? std::get_if<double>(symbol) : nullptr) parameters[name] = *number;
    if (const std::string* text = symbol ? std::get_if<std::string>(symbol) : nullptr) parameters[name] = *text;
  }
  return parameters;
}

/// Null if there is none that can be read.
Json summaryOf(const std::filesystem::path& folder) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(folder / "summary.json", status)) return nullptr;
  std::ifstream file(folder / "summary.json");
  Json summary = Json::parse(file, nullptr, false);
  return summary.is_object() ? summary : Json(nullptr);
}

/// What the summary says of how the run ended, and what is missing.
void noteState(const RunResults& results, const Json& summary, Json& notices) {
  const std::string version = results.reader().metadata().version;
  if (version != tendril::version())
    notices.push_back(fmt::format("The results are those of version {}, shown by version {}.", version, tendril::version()));
  if (results.rows() == 0) notices.push_back("The results have no rows yet. What is shown is the initial state of the scene.");
  const double end = results.rows() > 0 ? results.time(results.rows() - 1) : 0;
  if (summary.is_null()) {
    notices.push_back(
        fmt::format("There is no summary that can be read: the run is going on, or was broken off. Its results reach to {} = {:.6g}.",
                    results.scene().isDynamic() ? "t" : "load parameter", end));
    return;
  }
  const auto status = summary.find("status");
  const std::string word = status != summary.end() && status->is_string() ? status->get<std::string>() : "not known";
  if (word == "success") return;
  std::string notice = fmt::format("The status of the run is: {}.", word);
  const auto messages = summary.find("messages");
  if (messages != summary.end() && messages->is_array() && !messages->empty() && messages->back().is_string())
    notice += " " + messages->back().get<std::string>();
  notices.push_back(notice);
}

}

void describeScene(const Scene& scene, Json& header) {
  const Mechanism& mechanism = scene.mechanism();
  MeshTable meshes;
  header["bodies"] = header["obstacles"] = header["markers"] = header["parts"] = Json::array();
  for (const BodyPart& body : mechanism.bodies) header["bodies"].push_back(describe(body.name, body.shapes, meshes));
  for (const Obstacle& obstacle : scene.obstacles()) header["obstacles"].push_back(describe(obstacle.name, obstacle.shapes, meshes));
  for (const Marker* marker : namedMarkers(*mechanism.model)) header["markers"].push_back({{"name", marker->name()}});
  for (const FilmPart& part : filmParts(scene))
    header["parts"].push_back({{"name", part.name}, {"body", part.body}, {"obstacle", part.obstacle}});
  header["beams"] = describeBeams(mechanism);
  header["shells"] = describeShells(scene.shells());
  header["joints"] = describeJoints(*mechanism.model);
  header["links"] = describeLinks(scene);
  header["meshes"] = meshes.take();
}

void describeRun(const RunResults& results, Json& header) {
  const Scene& scene = results.scene();
  Json summary = summaryOf(results.folder());
  header["version"] = tendril::version();
  header["title"] = scene.title();
  header["description"] = scene.document().root().text("description", "");
  header["scene"] = summary.is_object() && summary.contains("scene") ? summary["scene"] : Json("scene.yaml");
  header["parameters"] = parametersOf(scene.document());
  header["axis"] = scene.isDynamic() ? Json{{"kind", "time"}, {"label", "time"}, {"unit", "s"}}
                                     : Json{{"kind", "load"}, {"label", "load parameter"}, {"unit", "1"}};
  noteState(results, summary, header["notices"]);
  header["summary"] = std::move(summary);
  header["log"] = lastLines(results.folder() / "log.txt");
}

void describeSeries(const std::vector<FilmSeries>& list, Json& header) {
  header["series"] = Json::array();
  for (const FilmSeries& series : list) {
    Json entry{{"name", series.name},        {"unit", series.info.unit}, {"description", series.info.description},
               {"frame", series.info.frame}, {"group", series.group},    {"columns", series.columns}};
    if (series.isArray) entry["value"] = std::vector<double>(series.values.data(), series.values.data() + series.values.size());
    header["series"].push_back(std::move(entry));
  }
}

std::string pageText(const Json& json) {
  const std::string plain = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i, 3);
    if (rest[0] == '<' || rest[0] == '>' || rest[0] == '&')
      text += fmt::format("\\u{:04x}", int(rest[0]));
    else if (rest == "\u2028" || rest == "\u2029") { // ends a line for some readers
      text += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else
      text += rest[0];
  }
  return text;
}

}
