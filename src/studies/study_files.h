#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace tendril::study {

namespace fs = std::filesystem;

inline fs::path descriptionFile(const fs::path& folder) { return folder / "study.json"; }
inline fs::path sceneFile(const fs::path& folder) { return folder / "scene.yaml"; }
inline fs::path journalFile(const fs::path& folder) { return folder / "journal.txt"; }
inline fs::path tableFile(const fs::path& folder) { return folder / "sweep.csv"; }

/// The number of run `run` of `points`, from 1, with zeros in front so that names sort.
std::string label(std::size_t run, std::size_t points);

/// Prepares a folder that holds no study: what an earlier sweep left in it is removed, so that nothing of it can be taken for the new
/// one's. Throws InputError, and touches nothing, if anything else is there.
void clearFolder(const fs::path& folder);

}
