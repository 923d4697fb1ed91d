#pragma once
#include "scenes/scene_builder.h"
#include "tendril/contact/contact_law.h"
#include "tendril/documents/document.h"
#include "tendril/documents/schema.h"
#include "tendril/elements/curve.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/section.h"
#include "tendril/equations/analysis.h"

#include <functional>
#include <memory>
#include <optional>

/// Values of a scene that need no other part of it.
namespace tendril::scenes {

/// Runs an action and gives a place to the InputError of a room that knows of no file.
template <class Action> decltype(auto) placed(const Node& node, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.starts_with(node.location().file + ":") || message.starts_with("default of ")) throw;
    throw InputError(node.location(), node.path(), message);
  }
}

Material readMaterial(const Record& record);
/// The material may be absent where the section states its own stiffness.
SectionProperties readSection(const Record& section, const std::optional<Material>& material);
Curve readCurve(const Record& record);
Matrix3 readOrientation(const Node& node);
/// Three principal values, a full symmetric matrix, or the moment about e3 of a plane body.
Matrix3 readInertia(const Node& node);
/// Six diagonal values or a full matrix between translations (first) and rotations; `corner` is the dimension of the entries between
/// translations, and each rotation adds a length.
Matrix6 readMatrix6(const Node& node, const Dimension& corner);
ContactLaw readContactLaw(const Record& record);

/// What a scene asks for under `analysis`.
struct AnalysisChoice {
  AnalysisMaker make;
  std::string method;
  bool isDynamic = false;
  bool followsPath = false; ///< its steps are along a path of equilibria, so that the load parameter may turn back
  bool knowsContacts = false;
  bool knowsContactsOfBeams = false;
  bool hasDiscretePath = false;         ///< in director coordinates
  bool isRod = false;                   ///< equilibrium of a strain-based rod: likewise
  bool isShell = false;                 ///< shells in coordinates of their own: likewise
  bool isManoeuvre = false;             ///< optimal control: made by the builder, when the mechanism is known
  bool knowsRollingAndCohesion = false; ///< else contacts have friction and restitution only
  double end = 1;                       ///< of time [s] or the load parameter; infinite where a path decides
  FrictionDump dump{};
};
/// The methods are listed in one table (dynamicMethods in the source): a new one is an entry there and a choice in the schema.
AnalysisChoice readAnalysis(const Record& record, bool hasContacts, bool hasBeams);

}
