#include "tendril/io/summary.h"
#include "tendril/documents/atomic_file.h"

#include <nlohmann/json.hpp>

namespace tendril {

void Summary::output(const std::string& name, double value, const std::string& unit, const std::string& description) {
  outputs[name] = {{value}, unit, description, false};
}

void Summary::output(const std::string& name, std::span<const double> values, const std::string& unit, const std::string& description) {
  outputs[name] = {{values.begin(), values.end()}, unit, description, true};
}

std::string Summary::json() const {
  using Json = nlohmann::ordered_json;
  Json document{{"status", status}, {"scene", scene}};
  document["parameters"] = parameters;
  for (const auto& [name, choice] : choices) document["parameters"][name] = choice;
  document["outputs"] = Json::object();
  for (const auto& [name, output] : outputs) {
    Json& entry = document["outputs"][name];
    const bool isNumber = !output.isArray && output.values.size() == 1;
    entry["value"] = isNumber ? Json(output.values.front()) : Json(output.values);
    entry["unit"] = output.unit;
    if (!output.description.empty()) entry["description"] = output.description;
  }
  document["steps"] = steps;
  document["newton"] = {{"iterations", newton.iterations}, {"average", newton.average}, {"worst", newton.worst}};
  document["residual"] = residual;
  document["penetration"] = penetration;
  if (contact) {
    document["contact"] = {{"penetration", contact->penetration},
                           {"residual", contact->residual},
                           {"sweeps", {{"average", contact->averageSweeps}, {"worst", contact->worstSweeps}}},
                           {"newton", {{"average", contact->averageNewtonSteps}, {"worst", contact->worstNewtonSteps}}},
                           {"contacts", contact->mostContacts},
                           {"ambiguous_steps", contact->ambiguousSteps}};
  }
  document["energy"] = energy;
  document["time"] = time;
  document["versions"] = versions;
  document["messages"] = messages;
  // Text that is not valid UTF-8 (a file name in a message) is replaced rather than losing the summary.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Summary::write(const std::filesystem::path& file) const { replaceFile(file, json()); }

}
