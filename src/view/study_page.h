#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace tendril {

/// A study made ready for its page: JSON as viewer/src/study/data.ts lays down (the two change together), in an element of HTML.
struct StudyElement {
  std::string html;
  std::size_t runs = 0, finished = 0; ///< shown, and all
};

/// All finished runs, or as many, taken evenly, as fit into so many bytes. Throws InputError if the folder holds no study.
StudyElement makeStudyElement(const std::filesystem::path& folder, std::uint64_t maxBytes);

}
