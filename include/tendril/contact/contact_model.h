#pragma once
#include "tendril/contact/collision_shape.h"
#include "tendril/contact/contact_curve.h"
#include "tendril/contact/contact_law.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

class Marker;

/// What may touch what, and by which law. Constant once the model is built.
///
/// A *part* is a rigid carrier of shapes: a body, or something that does not move by itself (an obstacle, at rest or in prescribed motion).
/// It sees the system through a marker alone. Shapes of one part do not touch one another; parts on the ground do not touch one another.
/// Or it is a *curve*, the centreline of a beam with a round section, which touches all along its length and may touch itself.
class ContactModel {
 public:
  struct Part {
    std::string name;
    std::string surface; ///< name of its material in the laws of pairs; may be empty
    const Marker* marker = nullptr;
    std::vector<CollisionShape> shapes;
    std::optional<ContactCurve> curve; ///< then there is no marker and no shape
  };
  struct PairLaw {
    std::string first, second; ///< names of parts or of surfaces, or "all"
    ContactLaw law;
  };

  /// Throws InputError if the name is taken.
  int addPart(Part part);
  /// Laws added for a pair of parts go before those for a part and a surface, these before those for a part and "all", pairs of surfaces, a
  /// surface and "all", and "all". Laws that name a pair equally narrowly must agree, which check() sees to. A pair without a law does not
  /// touch.
  void addLaw(PairLaw law);
  /// This pair never touches (neighbours in a chain whose shapes overlap).
  void exclude(const std::string& first, const std::string& second);

  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return laws_.empty(); }
  int find(const std::string& part) const;
  /// The law of two parts, or null if they pass through one another.
  const ContactLaw* law(int first, int second) const;
  /// Whether some law or exclusion calls a part by this name.
  bool isNamed(const std::string& part) const;
  /// Two laws, numbered in the order in which they were added, that differ and name two parts equally narrowly, so that neither goes first.
  struct Conflict {
    int firstLaw = 0, secondLaw = 0;
    int firstPart = 0, secondPart = 0;
  };
  std::optional<Conflict> findConflict() const;
  /// The conflict in words, and what to do about it.
  std::string describe(const Conflict& conflict) const;
  std::string remedy(const Conflict& conflict) const;
  /// Throws InputError that lists the known names if a law or an exclusion names nothing known, and if two laws are in conflict.
  void check() const;

 private:
  int rank(const PairLaw& law, const Part& first, const Part& second) const;
  bool isExcluded(const Part& first, const Part& second) const;
  std::vector<int> distinctParts() const;
  std::optional<Conflict> findConflict(int first, int second) const;

  std::vector<Part> parts_;
  std::vector<PairLaw> laws_;
  std::vector<std::pair<std::string, std::string>> excluded_;
  std::map<std::string, int> partOfName_;
};

}
