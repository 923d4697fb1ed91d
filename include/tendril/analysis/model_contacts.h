#pragma once
#include "tendril/analysis/contact_problem.h"
#include "tendril/contact/contact_model.h"
#include "tendril/model/model.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// A point that slides along a straight guide: y, the position of the origin of `point` seen in `frame`, keeps normal . y = 0 (in the
/// guide) or >= 0 (on a support). Contact as mechanisms have it, without shapes. Without a coefficient of friction it is smooth.
struct Guide {
  std::string name;
  const Marker* point = nullptr;
  const Marker* frame = nullptr;      ///< carries the guide; the force on the point acts along +normal
  Vector3 normal = Vector3::UnitY();  ///< of unit length, in the frame
  Vector3 tangent = Vector3::UnitX(); ///< likewise, perpendicular to the normal
  bool isUnilateral = false;
  std::optional<double> friction{};
  /// Direction in which it is assumed to slide, +1 or -1 along the tangent. Without it the velocity decides.
  std::optional<double> sliding{};

  /// Throws InputError that names the guide: no unit vectors, a tangent that is not perpendicular, a coefficient out of range.
  void check() const;
};

struct ModelContactOptions {
  double gapTolerance = 1e-6;  ///< relative to the size of the model: contacts closer than this are closed
  double rateTolerance = 1e-6; ///< relative to the fastest motion: normal velocities below this are none, and slips are rest
};

/// The contact problem of a model at any state: joints, guides, and the contacts that shapes have there.
///
/// Guides without friction join the rows of the joints. A closed contact that opens (gap' > 0) takes no part; one that approaches (gap' <
/// 0) is about to collide, which is said. Friction acts where a contact slides; where it rests, sticking takes its place, which is not part
/// of this theory: the contact then takes part without friction, and that is said, too.
class ModelContacts {
 public:
  /// All must outlive this; `contacts` may be null.
  ModelContacts(const Model& model, const ContactModel* contacts, std::vector<Guide> guides, const ModelContactOptions& options = {});
  ~ModelContacts();

  /// Throws InputError if the state violates joints or guides by more than the tolerances, with the worst of them and the remedy, if the
  /// point of a rough guide is fixed to its frame, and if the model is too large for dense matrices.
  const AccelerationProblem& at(const State& state);
  /// Of a contact of that problem, by its number; -1 and -1 for a guide.
  std::pair<int, int> parts(int contact) const;
  /// Moves positions and velocities onto the constraints, as little as possible. Returns what was not negligible, in words.
  /// Throws InputError if no such positions are found.
  std::vector<std::string> project(State& state);
  /// What had to be assumed at the last state: contacts at rest, contacts about to collide.
  const std::vector<std::string>& notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
