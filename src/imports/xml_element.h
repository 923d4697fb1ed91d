#pragma once
#include "imports/remarks.h"
#include "tendril/lie/types.h"
#include "tendril/model/error.h"

#include <Eigen/Core>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril::imports {

/// An element of an XML file that remembers what of it was read: what nobody asked for is not carried over, and listed.
///
/// Numbers are finite, or refused with their line. The text between elements is no part of the formats that are read, but for comments.
class XmlElement {
 public:
  /// The root of a file. Throws InputError with the line where it is malformed.
  static std::unique_ptr<const XmlElement> fromFile(const std::filesystem::path& file);

  const std::string& tag() const { return tag_; }
  int line() const { return line_; }
  /// "joint 'elbow'", or "<limit>" of an element without name.
  std::string label() const;
  [[noreturn]] void refuse(const std::string& message, const std::string& remedy) const;

  bool has(const char* attribute) const;
  std::optional<std::string> text(const char* attribute) const;
  std::string required(const char* attribute) const;
  std::optional<double> number(const char* attribute) const;
  std::optional<Eigen::VectorXd> numbers(const char* attribute, int least, int most) const;
  Vector3 vector3(const char* attribute, const Vector3& fallback) const;
  /// Counts as read, because it makes no difference.
  void ignore(const char* attribute) const;
  void read() const { isRead_ = true; }

  /// The first element of a kind inside; null if there is none. Counts as read.
  const XmlElement* child(const char* tag) const;
  std::vector<const XmlElement*> children(const char* tag) const;
  const std::vector<XmlElement>& elements() const { return elements_; }

  /// What was not read, in here and inside.
  void listUnread(Remarks& remarks, const std::string& inside = "") const;

 private:
  struct Attribute {
    std::string name, value;
    mutable bool isRead = false;
  };
  friend struct XmlParser;
  const Attribute* find(const char* attribute) const;
  std::string start(bool unreadOnly) const;

  std::string tag_;
  std::shared_ptr<const std::string> file_;
  int line_ = 0;
  std::vector<Attribute> attributes_;
  std::vector<XmlElement> elements_;
  mutable bool isRead_ = false;
};

}
