#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// A field of a line of comma-separated values, in quotation marks where it needs them (RFC 4180).
std::string csvField(const std::string& text);
/// The records of a text; a record may go over several lines within quotation marks. Blank lines are none; a byte order mark at the begin
/// is passed over. Throws InputError if a quotation mark is not closed.
std::vector<std::vector<std::string>> readCsv(std::string_view text);

}
