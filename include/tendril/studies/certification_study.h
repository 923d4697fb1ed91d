#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tendril {

class Certification;

/// Leaves the samples of a certification as a study that `tendril view` and `tendril render` show, with mean, threshold, bound and
/// quantiles. What an earlier study left in the folder is removed; InputError, and nothing is touched, if anything else is there. Throws
/// MachineFailure.
void writeCertificationStudy(const std::filesystem::path& folder, const Certification& certification, const std::string& scene,
                             const std::vector<std::string>& overrides);

}
