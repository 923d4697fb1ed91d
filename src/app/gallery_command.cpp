#include "app/commands.h"
#include "tendril/io/document.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

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
    fmt::print("{:<34} {}\n", name, document.root().text("title", ""));
    const std::string description = document.root().text("description", "");
    if (!description.empty()) fmt::print("{:<34} {}\n", "", description.substr(0, description.find('\n')));
  }
  fmt::print("\nCopy one with: tendril gallery NAME\n");
  return Success;
}

int copy(const fs::path& gallery, const std::string& name) {
  const fs::path source = gallery / (name + ".yaml");
  const std::vector<std::string> known = sceneNames(gallery);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw InputError("there is no scene '" + name + "' in the gallery; list the names with: tendril gallery");
  }
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

}

void addGallery(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("gallery", "List the scenes that come with Tendril, or copy one into the current folder");
  const auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "Scene to copy");
  command->callback([name, &action] {
    action = [name] {
      const fs::path gallery = galleryFolder();
      return name->empty() ? list(gallery) : copy(gallery, *name);
    };
  });
}

}
