#include "studies/study_files.h"

#include "tendril/io/run_folder.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace tendril::study {

namespace {

constexpr std::array<std::string_view, 5> ownNames{"study.json", "scene.yaml", "journal.txt", "sweep.csv", "view.html"};
/// Of a file that was being replaced when the process was killed.
constexpr std::string_view unfinished = ".partial";

bool isOwn(std::string_view name) {
  if (name.ends_with(unfinished)) name.remove_suffix(unfinished.size());
  return std::find(ownNames.begin(), ownNames.end(), name) != ownNames.end();
}

bool isRun(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return name.size() >= 4 && name.find_first_not_of("0123456789") == std::string::npos && entry.is_directory();
}

/// Those of a study, and nothing else.
void removeFiles(const fs::path& folder) {
  for (const std::string_view name : ownNames) {
    fs::remove(folder / name);
    fs::remove(folder / (std::string(name) + std::string(unfinished)));
  }
}

}

std::string label(std::size_t run, std::size_t points) {
  return fmt::format("{:0{}}", run + 1, std::max<std::size_t>(4, std::to_string(points).size()));
}

void clearFolder(const fs::path& folder) {
  std::vector<std::unique_ptr<RunFolder>> runs; // all of them are runs' before the first is touched
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (isRun(entry)) {
      runs.push_back(std::make_unique<RunFolder>(entry.path()));
    } else if (!isOwn(entry.path().filename().string())) {
      throw InputError({folder.string()}, "folder of the sweep", "it holds files that are not those of a sweep, and is left as it is",
                       "choose another folder with -o");
    }
  }
  for (const auto& run : runs) {
    run->clear();
    std::error_code status;
    fs::remove(run->path(), status); // stays if something else, such as an export, lies in it
  }
  removeFiles(folder);
}

}
