#include "app/gallery_build.h"

#include "app/commands.h"
#include "app/gallery_study.h"
#include "app/progress_bar.h"
#include "app/stop_request.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/documents/scratch_folder.h"
#include "tendril/io/run.h"
#include "tendril/scenes/scene.h"
#include "tendril/view/render.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The first paragraph of the comment at the head of a scene, without a last sentence that leads to what stands below it.
std::string headOf(const std::string& text) {
  std::istringstream lines(text);
  std::string head;
  for (std::string line; std::getline(lines, line) && line.size() > 2 && line[0] == '#';)
    head += (head.empty() ? "" : " ") + line.substr(2);
  if (head.ends_with(':')) head.resize(head.rfind(". ") == std::string::npos ? 0 : head.rfind(". ") + 1);
  return head;
}

/// Numbers that do not exist are null in JSON.
std::string numbersText(const Json& numbers) {
  std::string text;
  for (const Json& number : numbers) {
    const bool exists = number.is_number() && !std::isnan(number.get<double>());
    text += (text.empty() ? "" : ", ") + (exists ? fmt::format("{:.7g}", number.get<double>()) : "none");
  }
  return numbers.size() == 1 ? text : "(" + text + ")";
}

/// A scene's entry in gallery.json. `failures` says in words what is wrong.
Json newEntry(const Scene& scene) {
  Json expected = Json::array();
  for (const ExpectedOutput& output : scene.reference().expected) {
    expected.push_back({{"output", output.output}, {"value", output.value}, {"tolerance", output.tolerance}});
  }
  return {{"title", scene.title()},
          {"text", headOf(scene.document().text())},
          {"source", scene.reference().source},
          {"expected", expected},
          {"failures", Json::array()}};
}

/// Puts the results beside what was expected.
void judge(Json& entry, const SceneReference& reference, const Summary& summary) {
  for (std::size_t i = 0; i < reference.expected.size(); ++i) {
    const ExpectedOutput& expected = reference.expected[i];
    const Summary::Output& found = summary.outputs.at(expected.output);
    const std::size_t shown = std::min(found.values.size(), expected.value.size());
    Json& line = entry["expected"][i];
    line["obtained"] = std::vector<double>(found.values.begin(), found.values.begin() + std::ptrdiff_t(shown));
    line["unit"] = found.unit == "1" ? "" : found.unit;
    line["isMet"] = expected.isMet(found.values);
    if (!expected.isMet(found.values)) {
      entry["failures"].push_back(
          fmt::format("{} is {} instead of {}", expected.output, numbersText(line["obtained"]), numbersText(line["value"])));
    }
  }
}

RenderOptions pictureOf(const ScenePicture& wish, const fs::path& results, const fs::path& file) {
  RenderOptions options;
  options.results = results;
  options.picture = file;
  if (wish.film) options.film = fs::path(file).replace_extension(".webm");
  options.time = wish.time;
  options.camera = wish.camera;
  options.colour = wish.colour;
  options.show = wish.show;
  options.exaggerate = wish.exaggerate;
  options.width = 640, options.height = 400;
  return options;
}

class Builder {
 public:
  explicit Builder(const GalleryBuild& build) : build_(build), renderer_(stopRequested) {
    std::ifstream file(build.folder / dataName);
    if (Json before = Json::parse(file, nullptr, false); before.is_object()) entries_ = std::move(before);
  }

  /// Whether the scene did what it should.
  bool make(const std::string& name) {
    Json entry;
    try {
      const Scene scene = Scene::fromFile(fileOf(name));
      entry = newEntry(scene);
      runAndDraw(name, scene, entry);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      entry["failures"].push_back(error.what());
    }
    const bool isGood = entry["failures"].empty();
    fmt::print("{:<34} {}\n", name, isGood ? "good" : "FAILED");
    for (const Json& failure : entry["failures"]) fmt::print("{:<34} {}\n", "", failure.get<std::string>());
    std::fflush(stdout);
    entries_[name] = std::move(entry);
    write();
    return isGood;
  }

 private:
  static constexpr const char* dataName = "gallery.json";

  fs::path fileOf(const std::string& name) const { return build_.scenes / (name + ".yaml"); }

  void runAndDraw(const std::string& name, const Scene& scene, Json& entry) {
    const ScratchFolder folder; // results take much space and are not part of the gallery
    const fs::path results = folder.path() / "results";
    ProgressBar bar;
    RunOptions options;
    options.scene = fileOf(name), options.folder = results;
    options.terminalLevel = LogLevel::Error;
    options.stop = stopRequested;
    options.progress = [&bar](const RunProgress& progress) { bar.show(progress); };
    const RunOutcome outcome = run(options);
    bar.wipe();
    if (outcome.status == RunStatus::Interrupted) throw Interrupted("stopped while " + name + " was running; what was made before is kept");
    if (outcome.status == RunStatus::Success)
      judge(entry, scene.reference(), outcome.summary);
    else
      entry["failures"].push_back(outcome.message);
    const fs::path picture = build_.folder / (name + ".png");
    fs::create_directories(picture.parent_path());
    renderer_.render(pictureOf(scene.picture(), results, picture));
    drawStudies(name, scene.picture().studies, entry);
  }

  void drawStudies(const std::string& name, const std::vector<StudyPicture>& studies, Json& entry) const {
    for (std::size_t i = 0; i < studies.size(); ++i) {
      const std::string file = fmt::format("{}-study-{}.svg", name, i + 1);
      replaceFile(build_.folder / file, drawStudy(fileOf(name), studies[i], stopRequested));
      entry["studies"].push_back({{"title", studies[i].title}, {"file", file}});
    }
  }

  void write() const {
    replaceFile(build_.folder / dataName, entries_.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
    replaceFile(build_.folder / "README.md", page());
  }

  std::string page() const {
    std::string text = "# Gallery\n\nThe scenes that come with Tendril, with the parameters of their files. Written by `make gallery`.\n";
    std::string topic;
    for (const std::string& name : build_.known) {
      if (!entries_.contains(name)) continue;
      const std::string folder = name.substr(0, name.find('/'));
      if (folder != topic) text += fmt::format("\n## {}{}\n", char(std::toupper(static_cast<unsigned char>(folder[0]))), folder.substr(1));
      topic = folder;
      text += section(name, entries_[name]);
    }
    return text;
  }

  std::string section(const std::string& name, const Json& entry) const {
    std::string text = fmt::format("\n### {}\n\n", entry.value("title", name));
    if (fs::exists(build_.folder / (name + ".png"))) text += fmt::format("![{}]({}.png)\n\n", entry.value("title", name), name);
    if (fs::exists(build_.folder / (name + ".webm"))) text += fmt::format("[The motion as a film]({}.webm)\n\n", name);
    text += entry.value("text", "") + "\n\n";
    for (const Json& study : entry.value("studies", Json::array()))
      text += fmt::format("{0}:\n\n![{0}]({1})\n\n", study.value("title", ""), study.value("file", ""));
    for (const Json& failure : entry.value("failures", Json::array()))
      text += fmt::format("**Failed:** {}\n\n", failure.get<std::string>());
    if (entry.contains("expected") && !entry["expected"].empty()) text += table(entry["expected"]);
    if (const std::string source = entry.value("source", ""); !source.empty()) text += fmt::format("Reference: {}.\n\n", source);
    return text + fmt::format("    tendril run scenes/{}.yaml\n", name);
  }

  static std::string table(const Json& expected) {
    std::string text = "| result | expected | obtained | allowed | |\n|---|---|---|---|---|\n";
    for (const Json& line : expected) {
      const bool isRun = line.contains("obtained");
      text += fmt::format("| {} | {} | {} | {:.2g} | {} |\n", line.at("output").get<std::string>(), numbersText(line.at("value")),
                          isRun ? numbersText(line.at("obtained")) : "none", line.at("tolerance").get<double>(), line.value("unit", ""));
    }
    return text + '\n';
  }

  const GalleryBuild& build_;
  Renderer renderer_;
  Json entries_ = Json::object();
};

}

int buildGallery(const GalleryBuild& build) {
  catchStopSignals();
  std::error_code status;
  fs::create_directories(build.folder, status);
  if (status) throw MachineFailure("cannot create the folder " + build.folder.string() + ": " + status.message());
  Builder builder(build);
  std::size_t failed = 0;
  const std::vector<std::string>& names = build.only.empty() ? build.known : build.only;
  for (const std::string& name : names) failed += builder.make(name) ? 0 : 1;
  fmt::print("{} of {} scenes are good. {}\n", names.size() - failed, names.size(), (build.folder / "README.md").string());
  return failed == 0 ? Success : NumericsFailed;
}

}
