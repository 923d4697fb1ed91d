#pragma once
#include "scenes/scene_shapes.h"
#include "tendril/analysis/model_contacts.h"
#include "tendril/contact/contact_model.h"
#include "tendril/scenes/scene.h"
#include "tendril/shells/sheet_shape.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tendril {

/// Makes the analysis of a model; the observer, if any, sees every contact problem that it solves.
using AnalysisMaker = std::function<std::unique_ptr<Analysis>(const Model&, const ContactModel&, const FrictionObserver&)>;

/// Steps whose contact problems are to be written.
struct FrictionDump {
  bool isAll = false;
  std::set<long> steps;
  bool contains(long step) const { return isAll || steps.contains(step); }
};

/// What a document describes, built.
struct SceneContent {
  std::string title;
  Mechanism mechanism;
  ContactModel contacts;
  std::vector<Obstacle> obstacles;
  std::shared_ptr<const OptimalControlOptions> manoeuvre;    ///< null where no controls are looked for
  std::shared_ptr<const CertificationOptions> certification; ///< null where nothing is certified
  std::vector<ShellPart> shells;
  std::vector<Guide> guides; ///< of the analysis of solvability
  std::vector<scenes::MeshFile> meshes;
  FrictionDump dump;
  bool knowsContacts = false; ///< the analysis
  bool locatesEvents = false;
  bool isManoeuvre = false;        ///< optimal control
  bool isRod = false;              ///< equilibrium of a strain-based rod
  bool isSolvability = false;      ///< examination of the initial state
  bool watchesSolvability = false; ///< of every state of a motion
  bool hasDiscretePath = false;    ///< discrete Lagrangian mechanics: the integrator has energies and momenta of its own
  bool isShell = false;            ///< shapes, equilibria and motions of shells in coordinates of their own

  double end = 1; ///< of time [s] or the load parameter; infinite where a path decides
  bool isDynamic = false;
  Dimension argument; ///< of t: a time, or in statics the pure number that multiplies the loads
  int outputEvery = 1;
  PathParameter path = PathParameter::Time;
  AnalysisMaker makeForwardAnalysis; ///< without its certification
  AnalysisMaker makeAnalysis;
  std::vector<OutputDefinition> outputs;
  std::map<std::string, Node> labels; ///< of what has a name, as messages call it: "body 'a'"
};

/// Throws InputError with the place in the document, whichever room found the mistake.
SceneContent buildScene(const Document& document);

/// The error with its place: that of the object which the message names first, else of the document.
InputError locate(const InputError& error, const std::map<std::string, Node>& labels, const Node& root);

}
