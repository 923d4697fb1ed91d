#include "tendril/documents/csv.h"

#include "tendril/model/error.h"

namespace tendril {

std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::vector<std::vector<std::string>> readCsv(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record{""};
  bool isQuoted = false;
  const auto endRecord = [&] {
    if (record.size() > 1 || !record[0].empty()) records.push_back(record);
    record = {""};
  };
  constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";
  for (std::size_t i = text.starts_with(byteOrderMark) ? byteOrderMark.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isQuoted && c == '"' && text.substr(i + 1, 1) == "\"")
      record.back() += text[++i];
    else if (c == '"')
      isQuoted = !isQuoted;
    else if (isQuoted || (c != ',' && c != '\n' && c != '\r'))
      record.back() += c;
    else if (c == ',')
      record.emplace_back();
    else if (c == '\n')
      endRecord();
  }
  if (isQuoted) throw InputError("a quotation mark is not closed; close it, or double it where it belongs to the text");
  endRecord();
  return records;
}

}
