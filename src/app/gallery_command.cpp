#include "app/commands.h"
#include "app/gallery_build.h"
#include "tendril/documents/document.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;

/// The folder with the shipped scenes: installed beside the program (PREFIX/bin, PREFIX/share/tendril/scenes), or in the checkout in which
/// the program was built.
fs::path galleryFolder() {
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  std::vector<fs::path> candidates{program.parent_path().parent_path() / "share" / "tendril" / "scenes"};
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / "include" / "tendril", status)) candidates.push_back(folder / "scenes");
  }
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate, status)) return candidate;
  }
  throw MachineFailure("the gallery of scenes was not found in " + candidates.front().string() + "; install Tendril again");
}

/// Names (path without ending, relative to the gallery) in alphabetic order.
std::vector<std::string> sceneNames(const fs::path& gallery) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(gallery)) {
    if (entry.path().extension() != ".yaml") continue;
    names.push_back(entry.path().lexically_relative(gallery).replace_extension().generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int list(const fs::path& gallery) {
  for (const std::string& name : sceneNames(gallery)) {
    const Document document = Document::fromFile(gallery / (name + ".yaml"));
    const std::optional<Node> reference = document.root().optionalMap("reference");
    fmt::print("{:<34} {}\n{:<34} Reference: {}.\n", name, document.root().text("title", ""), "",
               reference ? reference->text("source", "none") : "none");
  }
  fmt::print("\nCopy one with: tendril gallery NAME\n");
  return Success;
}

void refuseUnknown(const std::vector<std::string>& known, const std::string& name) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw InputError("there is no scene '" + name + "' in the gallery; list the names with: tendril gallery");
}

int copy(const fs::path& gallery, const std::string& name) {
  const fs::path source = gallery / (name + ".yaml");
  refuseUnknown(sceneNames(gallery), name);
  const fs::path target = source.filename();
  std::error_code status;
  if (fs::exists(target, status)) {
    throw InputError({target.string()}, "gallery", "the file exists and is left as it is", "move it away first");
  }
  fs::copy_file(source, target, status);
  if (status) throw MachineFailure("cannot write " + target.string() + ": " + status.message());
  fmt::print("{}\nRun it with: tendril run {}\n", target.string(), target.string());
  return Success;
}

struct Options {
  std::string name;
  fs::path build;
  std::vector<std::string> only;
};

int runGallery(const Options& options) {
  const fs::path folder = galleryFolder();
  if (!options.name.empty()) return copy(folder, options.name);
  if (options.build.empty()) return list(folder);
  const GalleryBuild build{folder, sceneNames(folder), options.only, options.build};
  for (const std::string& name : options.only) refuseUnknown(build.known, name);
  return buildGallery(build);
}

}

void addGallery(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("gallery", "List the scenes that come with Tendril, copy one, or run and draw them (needs Chromium)");
  const auto options = std::make_shared<Options>();
  CLI::Option* name = command->add_option("name", options->name, "Scene to copy into the current folder");
  CLI::Option* build =
      command->add_option("--build", options->build, "Run the scenes and write a page with pictures and results into this folder");
  build->excludes(name);
  command->add_option("--only", options->only, "With --build: this scene alone; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->needs(build);
  command->callback([options, &action] { action = [options] { return runGallery(*options); }; });
}

}
