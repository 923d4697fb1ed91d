#include "imports/yaml_text.h"

#include "tendril/lie/so3.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <numbers>

namespace tendril::imports {

std::string Names::claim(const std::string& wanted, int line, const std::string& fallback) {
  const auto isAllowed = [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_' || c == '-'); };
  std::string name = wanted.empty() ? fallback : wanted;
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !isAllowed(static_cast<unsigned char>(c)); }, '_');
  if (!std::isalpha(static_cast<unsigned char>(name[0]))) name = fallback + "_" + name;
  const std::string stem = name;
  for (int i = wanted.empty() ? 1 : 2; wanted.empty() ? name == stem || taken_.contains(name) : taken_.contains(name); ++i)
    name = fmt::format("{}{}{}", stem, wanted.empty() ? "" : "_", i);
  taken_.insert(name);
  if (!wanted.empty() && name != wanted) remarks_.say(line, fmt::format("'{}' is named {} here", yaml::plain(wanted), name));
  return name;
}

namespace yaml {

std::string number(double value) { return fmt::format("{:.15g}", value == 0 ? 0. : value); }

std::string vector(const Vector3& v, double scale) {
  const double least = 4e-16 * std::max(scale, v.cwiseAbs().maxCoeff());
  const auto component = [&](int i) { return number(std::abs(v[i]) <= least ? 0 : v[i]); };
  return fmt::format("[{}, {}, {}]", component(0), component(1), component(2));
}

std::string rotation(const Matrix3& R) { return vector(so3::log(R) * (180 / std::numbers::pi), 90); }

std::string inertia(const Matrix3& J) {
  const double size = J.cwiseAbs().maxCoeff();
  const Matrix3 mixed = J - Matrix3(J.diagonal().asDiagonal());
  if (mixed.cwiseAbs().maxCoeff() <= 4e-16 * size) return vector(J.diagonal());
  return fmt::format("[{}, {}, {}]", vector(J.row(0).transpose(), size), vector(J.row(1).transpose(), size),
                     vector(J.row(2).transpose(), size));
}

std::string pose(const Pose& pose, const std::string& separator, const char* positionKey) {
  std::string text;
  if (!pose.x.isZero(0)) text += fmt::format("{}{}: {}", separator, positionKey, vector(pose.x));
  if (!pose.R.isIdentity(4e-16)) text += separator + "orientation: " + rotation(pose.R);
  return text;
}

std::string inQuotes(const std::string& text) { return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); }

std::string plain(const std::string& text) {
  constexpr std::size_t longest = 200;
  std::string line = text.substr(0, longest);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
  // A character of several bytes that is cut, or that is none, would make the scene unreadable.
  if (std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) >= 128; })) {
    const std::string ascii = yaml::inQuotes(line);
    line = ascii.substr(1, ascii.size() - 2);
  }
  return text.size() > longest ? line + " ..." : line;
}

namespace {

std::string list(const char* heading, std::vector<ImportRemark> remarks) {
  if (remarks.empty()) return {};
  std::stable_sort(remarks.begin(), remarks.end(), [](const ImportRemark& a, const ImportRemark& b) { return a.line < b.line; });
  std::string text = fmt::format("#\n# {}\n", heading);
  for (const ImportRemark& r : remarks)
    text += r.line > 0 ? fmt::format("#   line {}: {}\n", r.line, r.text) : fmt::format("#   {}\n", r.text);
  return text;
}

}

std::string head(const std::string& fileName, const std::string& title, const Remarks& remarks) {
  std::string text = plain(title);
  std::replace(text.begin(), text.end(), '$', '_'); // would be a parameter
  return fmt::format("# Imported from {}.\n{}{}tendril: 1\ntitle: {}\n", plain(fileName), list("Not carried over:", remarks.losses),
                     list("To know:", remarks.remarks), inQuotes(text));
}

}

}
