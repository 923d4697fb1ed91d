#include "imports/mjcf_settings.h"

#include "imports/yaml_text.h"
#include "tendril/lie/so3.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tendril::imports {

const XmlElement& MjcfSettings::layer(const char* attribute) const {
  const XmlElement* first = nullptr;
  for (const XmlElement* layer : layers_) {
    if (!layer->has(attribute)) continue;
    if (first) layer->ignore(attribute); // overruled here
    if (!first) first = layer;
  }
  return first ? *first : *layers_[0];
}

bool MjcfSettings::has(const char* attribute) const {
  return std::any_of(layers_.begin(), layers_.end(), [&](const XmlElement* layer) { return layer->has(attribute); });
}

Matrix3 MjcfSettings::orientation(const MjcfConventions& c) const {
  const auto direction = [&](const char* key, const Vector3& v) {
    if (!(v.norm() > 1e-12)) layer(key).refuse(fmt::format("`{}` has no direction", key), "give vectors other than zero");
    return v.normalized().eval();
  };
  if (const auto q = numbers("quat", 4, 4)) {
    if (!(q->norm() > 1e-12)) layer("quat").refuse("the quaternion is zero", "give one of unit length");
    return Eigen::Quaterniond((*q)[0], (*q)[1], (*q)[2], (*q)[3]).normalized().toRotationMatrix();
  }
  if (const auto a = numbers("axisangle", 4, 4)) return so3::exp((*a)[3] * c.angle * direction("axisangle", a->head<3>()));
  if (const auto z = numbers("zaxis", 3, 3)) return so3::shortestRotation(Vector3::UnitZ(), direction("zaxis", z->head<3>()));
  if (const auto xy = numbers("xyaxes", 6, 6)) {
    Matrix3 R;
    R.col(0) = direction("xyaxes", xy->head<3>());
    const Vector3 y = xy->tail<3>();
    R.col(1) = direction("xyaxes", y - y.dot(R.col(0)) * R.col(0));
    R.col(2) = R.col(0).cross(R.col(1));
    return R;
  }
  Matrix3 R = Matrix3::Identity();
  const auto euler = numbers("euler", 3, 3);
  if (!euler) return R;
  for (std::size_t i = 0; i < 3; ++i) {
    const char letter = c.eulerSequence[i];
    const Matrix3 turn = so3::exp((*euler)[Eigen::Index(i)] * c.angle * Vector3::Unit(std::tolower(letter) - 'x'));
    R = std::islower(static_cast<unsigned char>(letter)) ? Matrix3(R * turn) : Matrix3(turn * R); // capital letters: fixed axes
  }
  return R;
}

MjcfDefaults::MjcfDefaults(const XmlElement& mujoco) {
  for (const XmlElement* root : mujoco.children("default")) add(*root, {}, true);
}

void MjcfDefaults::add(const XmlElement& defaults, std::vector<const XmlElement*> chain, bool isMain) {
  const std::string name = isMain ? defaults.text("class").value_or("main") : defaults.required("class");
  if (isMain) main_ = name;
  chain.insert(chain.begin(), &defaults);
  classes_[name] = chain;
  for (const XmlElement* inner : defaults.children("default")) add(*inner, chain, false);
}

MjcfSettings MjcfDefaults::of(const XmlElement& element, const std::string& childClass) const {
  const std::optional<std::string> own = element.text("class");
  const std::string name = own ? *own : childClass.empty() ? main_ : childClass;
  const auto found = classes_.find(name);
  if (found == classes_.end() && name != main_)
    element.refuse("there is no default class '" + yaml::plain(name) + "'", "define it in <default>, or correct the name");
  std::vector<const XmlElement*> layers{&element};
  if (found == classes_.end()) return MjcfSettings(layers);
  for (const XmlElement* defaults : found->second) {
    if (const XmlElement* layer = defaults->child(element.tag().c_str())) layers.push_back(layer);
  }
  return MjcfSettings(layers);
}

}
