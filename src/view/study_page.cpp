#include "view/study_page.h"
#include "tendril/io/run.h"
#include "tendril/studies/study_table.h"
#include "view/film_header.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace tendril {

namespace {

using Json = nlohmann::json;

/// Numbers of the finished runs, at most `most` of them, evenly.
std::vector<std::size_t> chooseRuns(const StudyTable& table, std::size_t most) {
  std::vector<std::size_t> runs;
  for (std::size_t run = 0; run < table.points(); ++run) {
    if (table.has(run)) runs.push_back(run);
  }
  if (runs.size() <= most) return runs;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(runs[i * runs.size() / most]);
  return chosen;
}

/// Null where the text is no number.
Json numberIn(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// An input that is a number in all runs has numbers; any other has texts, too.
Json inputColumn(const std::string& name, const std::vector<std::string>& texts) {
  Json column{{"name", name}, {"unit", ""}, {"role", "input"}, {"values", Json::array()}};
  for (const std::string& text : texts) column["values"].push_back(numberIn(text));
  if (std::any_of(column["values"].begin(), column["values"].end(), [](const Json& value) { return value.is_null(); }))
    column["texts"] = texts;
  return column;
}

Json columnsOf(const StudyTable& table, const std::vector<StudyTable::Row>& rows) {
  Json columns = Json::array();
  for (std::size_t j = 0; j < table.inputs().size(); ++j) {
    std::vector<std::string> texts;
    for (const StudyTable::Row& row : rows) texts.push_back(row.values[j]);
    columns.push_back(inputColumn(table.inputs()[j], texts));
  }
  for (std::size_t j = 0; j < table.outputs().size(); ++j) {
    const StudyTable::Column& output = table.outputs()[j];
    Json column{{"name", output.name}, {"unit", output.unit}, {"role", "output"}, {"values", Json::array()}};
    for (const StudyTable::Row& row : rows) column["values"].push_back(row.outputs[j] ? Json(*row.outputs[j]) : Json(nullptr));
    columns.push_back(std::move(column));
  }
  return columns;
}

Json describe(const StudyTable& table, const std::vector<std::size_t>& runs) {
  const Json found = Json::parse(table.description());
  const Json& design = found.at("design");
  Json study{{"format", 1},
             {"version", found.value("version", version())},
             {"scene", found.value("scene", "scene.yaml")},
             {"set", found.value("set", Json::array())},
             {"status", found.value("status", "")},
             {"points", table.points()},
             {"finished", table.finished()},
             {"design", design.value("kind", "")},
             {"undefined", found.value("undefined", Json::object())},
             {"certification", found.value("certification", Json(nullptr))},
             {"runs", Json::array()},
             {"states", Json::array()},
             {"messages", Json::object()}};
  std::vector<StudyTable::Row> rows;
  for (const std::size_t run : runs) {
    const StudyTable::Row& row = rows.emplace_back(table.row(run));
    study["runs"].push_back(table.label(run));
    study["states"].push_back(row.status);
    if (!row.message.empty()) study["messages"][table.label(run)] = row.message;
  }
  study["columns"] = columnsOf(table, rows);
  return study;
}

}

StudyElement makeStudyElement(const std::filesystem::path& folder, std::uint64_t maxBytes) {
  constexpr std::size_t fewest = 2;
  const StudyTable table(folder);
  const auto make = [&](std::size_t most) {
    const std::vector<std::size_t> runs = chooseRuns(table, most);
    const std::string html = "<script type=\"application/json\" id=\"study\">" + pageText(describe(table, runs)) + "</script>";
    return StudyElement{html, runs.size(), table.finished()};
  };
  // How large the whole will be, a few runs tell.
  const StudyElement few = make(200);
  const double perRun = double(few.html.size()) / double(std::max<std::size_t>(few.runs, 1));
  StudyElement element = make(std::max(fewest, std::size_t(double(maxBytes) / perRun)));
  while (element.html.size() > maxBytes && element.runs > fewest) element = make(std::max(fewest, element.runs / 10 * 9));
  return element;
}

}
