#pragma once
#include "imports/xml_element.h"
#include "tendril/lie/types.h"

#include <map>
#include <string>
#include <vector>

namespace tendril::imports {

/// Angles and orientations as the `compiler` element says.
struct MjcfConventions {
  double angle = 1; ///< radians that the number 1 stands for
  std::string eulerSequence = "xyz";
};

/// An element of MJCF and the defaults of its class, of the class that this is in, ...: an attribute is that of the first that has it.
class MjcfSettings {
 public:
  explicit MjcfSettings(std::vector<const XmlElement*> layers) : layers_(std::move(layers)) {}

  const XmlElement& element() const { return *layers_[0]; }
  bool has(const char* attribute) const;
  std::optional<std::string> text(const char* attribute) const { return layer(attribute).text(attribute); }
  std::optional<double> number(const char* attribute) const { return layer(attribute).number(attribute); }
  std::optional<Eigen::VectorXd> numbers(const char* attribute, int least, int most) const {
    return layer(attribute).numbers(attribute, least, most);
  }
  Vector3 vector3(const char* attribute, const Vector3& fallback) const { return layer(attribute).vector3(attribute, fallback); }
  /// By quat, axisangle, xyaxes, zaxis or euler.
  Matrix3 orientation(const MjcfConventions& conventions) const;
  Pose pose(const MjcfConventions& conventions) const { return {orientation(conventions), vector3("pos", Vector3::Zero())}; }

 private:
  /// The layer that has the attribute; the element itself if none has.
  const XmlElement& layer(const char* attribute) const;

  std::vector<const XmlElement*> layers_;
};

/// The classes of a file.
class MjcfDefaults {
 public:
  explicit MjcfDefaults(const XmlElement& mujoco);

  /// `childClass` is that of the bodies around; an element may name its own.
  MjcfSettings of(const XmlElement& element, const std::string& childClass) const;

 private:
  void add(const XmlElement& defaults, std::vector<const XmlElement*> chain, bool isMain);

  std::map<std::string, std::vector<const XmlElement*>> classes_; ///< elements of defaults, the narrowest first
  std::string main_ = "main";
};

}
