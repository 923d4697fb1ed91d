#include "imports/xml_element.h"

#include "imports/yaml_text.h"

#ifdef TENDRIL_HAVE_TINYXML2
#include <tinyxml2.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace tendril::imports {

#ifdef TENDRIL_HAVE_TINYXML2

struct XmlParser {
  std::shared_ptr<const std::string> file;

  XmlElement copy(const tinyxml2::XMLElement& source) const {
    XmlElement element;
    element.tag_ = source.Name();
    element.file_ = file;
    element.line_ = source.GetLineNum();
    for (const auto* a = source.FirstAttribute(); a; a = a->Next()) element.attributes_.push_back({a->Name(), a->Value()});
    for (const auto* e = source.FirstChildElement(); e; e = e->NextSiblingElement()) element.elements_.push_back(copy(*e));
    return element;
  }
};

std::unique_ptr<const XmlElement> XmlElement::fromFile(const std::filesystem::path& file) {
  tinyxml2::XMLDocument document;
  const tinyxml2::XMLError status = document.LoadFile(file.c_str());
  const auto refuse = [&](int line, const std::string& message, const std::string& remedy) {
    throw InputError({file.string(), line, 0}, "", message, remedy);
  };
  if (status == tinyxml2::XML_ERROR_FILE_NOT_FOUND || status == tinyxml2::XML_ERROR_FILE_COULD_NOT_BE_OPENED ||
      status == tinyxml2::XML_ERROR_FILE_READ_ERROR)
    refuse(0, "the file cannot be read", "check its path and permissions");
  if (status != tinyxml2::XML_SUCCESS)
    refuse(document.ErrorLineNum(), fmt::format("this is no well-formed XML ({})", tinyxml2::XMLDocument::ErrorIDToName(status)),
           "see whether every element and every quotation mark is closed, and elements are nested less than a hundred deep");
  if (!document.RootElement()) refuse(0, "the file holds no XML element", "give a URDF or MJCF file");
  return std::make_unique<const XmlElement>(XmlParser{std::make_shared<const std::string>(file.string())}.copy(*document.RootElement()));
}

#else

std::unique_ptr<const XmlElement> XmlElement::fromFile(const std::filesystem::path& file) {
  throw InputError({file.string(), 0, 0}, "", "this program was built without TinyXML-2, so it reads no XML",
                   "install libtinyxml2-dev and build again");
}

#endif

std::string XmlElement::label() const {
  const Attribute* name = find("name");
  return name ? fmt::format("{} '{}'", tag_, yaml::plain(name->value)) : fmt::format("<{}>", tag_);
}

void XmlElement::refuse(const std::string& message, const std::string& remedy) const {
  throw InputError({*file_, line_, 0}, label(), message, remedy);
}

const XmlElement::Attribute* XmlElement::find(const char* attribute) const {
  const auto found = std::find_if(attributes_.begin(), attributes_.end(), [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes_.end() ? nullptr : &*found;
}

bool XmlElement::has(const char* attribute) const { return find(attribute) != nullptr; }

std::optional<std::string> XmlElement::text(const char* attribute) const {
  const Attribute* a = find(attribute);
  if (!a) return std::nullopt;
  a->isRead = true;
  return a->value;
}

std::string XmlElement::required(const char* attribute) const {
  const std::optional<std::string> value = text(attribute);
  if (!value || value->empty()) refuse(fmt::format("the attribute `{}` is missing", attribute), "add it");
  return *value;
}

void XmlElement::ignore(const char* attribute) const { text(attribute); }

std::optional<Eigen::VectorXd> XmlElement::numbers(const char* attribute, int least, int most) const {
  const std::optional<std::string> value = text(attribute);
  if (!value) return std::nullopt;
  std::istringstream words(*value);
  std::vector<double> list;
  for (std::string word; words >> word;) {
    const char *begin = word.c_str() + (word[0] == '+' ? 1 : 0), *end = word.c_str() + word.size();
    double& x = list.emplace_back();
    const auto [stop, status] = std::from_chars(begin, end, x);
    // Beyond 1e100 squares and products overflow.
    if (status != std::errc{} || stop != end || !(std::abs(x) < 1e100))
      refuse(fmt::format("`{}` has '{}', which is no number", attribute, yaml::plain(word)), "write finite numbers, like 0.5 or 1e-3");
  }
  if (int(list.size()) < least || int(list.size()) > most) {
    const std::string expected = least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
    refuse(fmt::format("`{}` has {} numbers", attribute, list.size()), "give " + expected + ", with blanks between");
  }
  return Eigen::Map<const Eigen::VectorXd>(list.data(), Eigen::Index(list.size()));
}

std::optional<double> XmlElement::number(const char* attribute) const {
  const std::optional<Eigen::VectorXd> one = numbers(attribute, 1, 1);
  return one ? std::optional((*one)[0]) : std::nullopt;
}

Vector3 XmlElement::vector3(const char* attribute, const Vector3& fallback) const {
  const std::optional<Eigen::VectorXd> three = numbers(attribute, 3, 3);
  return three ? Vector3(*three) : fallback;
}

const XmlElement* XmlElement::child(const char* tag) const {
  const auto found = std::find_if(elements_.begin(), elements_.end(), [&](const XmlElement& e) { return e.tag_ == tag; });
  if (found == elements_.end()) return nullptr;
  found->read();
  return &*found;
}

std::vector<const XmlElement*> XmlElement::children(const char* tag) const {
  std::vector<const XmlElement*> list;
  for (const XmlElement& e : elements_) {
    if (e.tag_ != tag) continue;
    e.read();
    list.push_back(&e);
  }
  return list;
}

std::string XmlElement::start(bool unreadOnly) const {
  std::string text;
  for (const Attribute& a : attributes_) {
    if (!unreadOnly || !a.isRead) text += fmt::format(" {}=\"{}\"", a.name, yaml::plain(a.value));
  }
  return text;
}

/// An element without attributes stands for what is inside of it.
void XmlElement::listUnread(Remarks& remarks, const std::string& inside) const {
  const std::string in = inside.empty() ? "" : inside + ": ";
  if (!isRead_ && (elements_.empty() || !attributes_.empty())) {
    const std::string more = elements_.empty() ? "" : fmt::format(" with {} elements inside", elements_.size());
    return remarks.lose(line_, yaml::plain(fmt::format("{}<{}{}>{}", in, tag_, start(false), more)));
  }
  const std::string unread = start(true);
  if (!unread.empty()) remarks.lose(line_, yaml::plain(fmt::format("{}{}:{}", has("name") ? "" : in, label(), unread)));
  for (const XmlElement& e : elements_) e.listUnread(remarks, label());
}

}
