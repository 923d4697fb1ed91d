#include "dynamics/wedging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tendril {

namespace {

/// A contact as the wedged body sees it.
struct Support {
  int body = 0, other = 0; ///< parts
  Vector3 point, normal;   ///< normal into the body
  const ContactLaw* law = nullptr;
};

std::vector<Support> supportsOf(std::span<const ContactBlock> contacts, const ContactModel& model) {
  const auto isFixed = [&](int part) { return model.parts()[std::size_t(part)].marker->blocks().empty(); };
  std::vector<Support> supports;
  for (const ContactBlock& block : contacts) {
    const Contact& c = block.contact;
    if (isFixed(c.second))
      supports.push_back({c.first, c.second, c.point.position, c.point.normal, c.law});
    else if (isFixed(c.first))
      supports.push_back({c.second, c.first, c.point.position, -c.point.normal, c.law});
  }
  std::stable_sort(supports.begin(), supports.end(), [](const Support& a, const Support& b) { return a.body < b.body; });
  return supports;
}

/// Friction that a force along d needs; none helps if it pulls.
std::optional<double> frictionNeeded(const Vector3& d, const Vector3& normal) {
  const double pressing = d.dot(normal);
  if (pressing <= 1e-9) return std::nullopt;
  return (d - pressing * normal).norm() / pressing;
}

/// The friction from which on the two hold the body between them, if they do.
std::optional<double> wedgingFriction(const Support& a, const Support& b) {
  const Vector3 line = b.point - a.point;
  if (!(line.norm() > 0)) return std::nullopt;
  const Vector3 d = line.normalized();
  const auto atA = frictionNeeded(d, a.normal), atB = frictionNeeded(-d, b.normal);
  const auto holds = [](const std::optional<double>& needed, const Support& s) {
    return needed && *needed <= s.law->friction * (1 + 1e-6);
  };
  if (!holds(atA, a) || !holds(atB, b)) return std::nullopt;
  return std::max(*atA, *atB);
}

}

std::string describeWedge(std::span<const ContactBlock> contacts, const ContactDetection& detection) {
  const auto& parts = detection.model().parts();
  const std::vector<Support> supports = supportsOf(contacts, detection.model());
  const Support *first = nullptr, *second = nullptr;
  double least = 0;
  for (std::size_t i = 0; i < supports.size(); ++i) {
    for (std::size_t j = i + 1; j < supports.size() && supports[j].body == supports[i].body; ++j) {
      const auto friction = wedgingFriction(supports[i], supports[j]);
      if (!friction || (first && *friction >= least)) continue;
      first = &supports[i], second = &supports[j], least = *friction;
    }
  }
  if (!first) return "";
  const auto name = [&](int part) { return "'" + parts[std::size_t(part)].name + "'"; };
  const std::string walls =
      first->other == second->other ? "two contacts with " + name(first->other) : name(first->other) + " and " + name(second->other);
  const std::string restitution = std::max(first->law->restitution, second->law->restitution) > 0
                                      ? ", and with restitution there may be no impulse that satisfies them"
                                      : "";
  return fmt::format("{} is wedged between {}: from a coefficient of friction of {:.4g} on the laws let it be pressed without bounds{}; "
                     "take less friction there, or no restitution",
                     name(first->body), walls, least, restitution);
}

}
