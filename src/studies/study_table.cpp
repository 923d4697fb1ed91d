#include "tendril/studies/study_table.h"

#include "studies/journal.h"
#include "studies/study_files.h"
#include "tendril/model/error.h"
#include "tendril/studies/design.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

namespace tendril {

namespace {

using Json = nlohmann::ordered_json;

std::string readText(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

[[noreturn]] void refuse(const std::filesystem::path& folder) {
  throw InputError({folder.string()}, "folder of a study", "it holds no study that can be read",
                   "name the folder in which `tendril sweep` left its study.json");
}

double numberOf(const Json& value) { return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN(); }

}

struct StudyTable::Impl {
  Impl(std::string text, const std::filesystem::path& folder, std::size_t count)
      : description(std::move(text)), points(count), journal(study::journalFile(folder), count) {}

  /// False if the journal is that of another study.
  bool findColumns();

  std::string description;
  std::size_t points;
  Journal journal;
  std::vector<std::string> inputs;
  std::vector<Column> columns;
};

/// All that any run has, by name and unit: a value that has another unit is not put under the same head.
bool StudyTable::Impl::findColumns() {
  std::map<std::pair<std::string, std::string>, int> widths; // elements of an array, or -1
  for (std::size_t run = 0; run < points; ++run) {
    if (!journal.has(run)) continue;
    const Json record = Json::parse(journal.read(run));
    if (record.at("values").size() != inputs.size()) return false;
    for (const auto& [name, output] : record.at("outputs").items()) {
      int& width = widths.try_emplace({name, output.at("unit")}, -1).first->second;
      if (output.at("value").is_array()) width = std::max(width, int(output.at("value").size()));
    }
  }
  for (const auto& [key, width] : widths) {
    const std::string unit = key.second == "1" ? "" : key.second;
    if (width < 0) columns.push_back({key.first, unit, key.first});
    for (int i = 0; i < width; ++i) columns.push_back({fmt::format("{}_{}", key.first, i + 1), unit, key.first, i});
  }
  return true;
}

StudyTable::StudyTable(const std::filesystem::path& folder) {
  std::string text = readText(study::descriptionFile(folder));
  const Json json = Json::parse(text, nullptr, false);
  try {
    const Json& points = json.at("design").at("points");
    if (!points.is_number_unsigned() || points > Design::most) refuse(folder);
    impl_ = std::make_unique<Impl>(std::move(text), folder, points.get<std::size_t>());
    json.at("design").at("names").get_to(impl_->inputs);
    if (!impl_->findColumns()) refuse(folder);
  } catch (const Json::exception&) {
    refuse(folder);
  }
}

StudyTable::StudyTable(StudyTable&&) noexcept = default;
StudyTable& StudyTable::operator=(StudyTable&&) noexcept = default;
StudyTable::~StudyTable() = default;

std::size_t StudyTable::points() const { return impl_->points; }
std::size_t StudyTable::finished() const { return impl_->journal.size(); }
const std::vector<std::string>& StudyTable::inputs() const { return impl_->inputs; }
const std::vector<StudyTable::Column>& StudyTable::outputs() const { return impl_->columns; }
std::vector<std::string> StudyTable::heads() const {
  std::vector<std::string> heads{"run", "status", "message"};
  const auto add = [&heads](std::string head, const char* kind) {
    while (std::find(heads.begin(), heads.end(), head) != heads.end()) head += kind;
    heads.push_back(std::move(head));
  };
  for (const std::string& input : impl_->inputs) add(input, " (parameter)");
  for (const Column& column : impl_->columns) add(column.header(), " (output)");
  std::rotate(heads.begin() + 2, heads.begin() + 3, heads.end()); // the message stands last
  return heads;
}
bool StudyTable::has(std::size_t run) const { return impl_->journal.has(run); }
std::string StudyTable::label(std::size_t run) const { return study::label(run, impl_->points); }
const std::string& StudyTable::description() const { return impl_->description; }

StudyTable::Row StudyTable::row(std::size_t run) const {
  const Json record = Json::parse(impl_->journal.read(run));
  Row row{run, record.at("status"), record.at("message"), record.at("values"), {}};
  const Json& outputs = record.at("outputs");
  for (const Column& column : impl_->columns) {
    std::optional<double>& number = row.outputs.emplace_back();
    const auto output = outputs.find(column.output);
    if (output == outputs.end() || (column.unit.empty() ? "1" : column.unit) != output->at("unit")) continue;
    const Json& value = output->at("value");
    if (column.index < 0 && !value.is_array()) number = numberOf(value);
    if (column.index >= 0 && value.is_array() && std::size_t(column.index) < value.size())
      number = numberOf(value[std::size_t(column.index)]);
  }
  return row;
}

}
