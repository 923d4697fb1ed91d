#include "tendril/studies/certification_study.h"

#include "studies/journal.h"
#include "studies/study_files.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/io/run.h"
#include "tendril/model/error.h"
#include "tendril/scenes/certification.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

using Json = nlohmann::ordered_json;

Json describe(const Certification& certification, const std::string& scene, const std::vector<std::string>& overrides) {
  const std::string& output = certification.options().output;
  const auto number = [&](const std::string& quantity) { return certification.numbers(quantity)[0]; };
  Json names = Json::array(), quantiles = Json::object();
  for (const UncertainInputs::Input& input : certification.inputs().inputs) names.push_back(input.name);
  for (const char* share : {"0.05", "0.5", "0.95"}) quantiles[share] = number(fmt::format("quantile {} best", share));
  return {{"tendril_study", 1},
          {"version", version()},
          {"scene", scene},
          {"set", overrides},
          {"status", "finished"},
          {"design", {{"kind", "samples"}, {"points", certification.numbers("values best").size()}, {"names", names}}},
          {"certification",
           {{"output", output.empty() ? "miss" : output},
            {"mean", number("mean best")},
            {"threshold", certification.options().certificate.threshold},
            {"bound", number("bound best")},
            {"quantiles", quantiles}}}};
}

}

void writeCertificationStudy(const std::filesystem::path& folder, const Certification& certification, const std::string& scene,
                             const std::vector<std::string>& overrides) {
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (status) throw MachineFailure("cannot create the folder " + folder.string() + ": " + status.message() + "; check the permissions");
  study::clearFolder(folder); // of a study alone: any other is refused, and left as it is
  const CertificationOptions& options = certification.options();
  const std::string name = options.output.empty() ? "miss" : options.output, unit = options.output.empty() ? "m" : "1";
  const std::vector<double> values = certification.numbers("values best");
  const RandomStream stream(options.certificate.seed);
  Journal journal(study::journalFile(folder), values.size());
  journal.open();
  for (std::size_t i = 0; i < values.size(); ++i) {
    Json inputs = Json::array();
    const VectorX x = certification.inputs().samples(stream, 1, long(i));
    for (const double input : x) inputs.push_back(fmt::format("{}", input));
    const bool isDefined = std::isfinite(values[i]);
    const Json record{{"status", isDefined ? "success" : "failed"},
                      {"message", ""},
                      {"values", inputs},
                      {"outputs", {{name, {{"value", values[i]}, {"unit", unit}}}}}};
    journal.append(i, record.dump());
  }
  journal.flush();
  replaceFile(study::descriptionFile(folder), describe(certification, scene, overrides).dump(2));
}

}
