#pragma once
#include "scenes/scene_builder.h"
#include "scenes/scene_reader.h"
#include "tendril/analysis/model_contacts.h"
#include "tendril/control/optimal_control.h"
#include "tendril/rods/contact_statics.h"
#include "tendril/rods/cosserat_statics.h"
#include "tendril/rods/elastica_statics.h"
#include "tendril/rods/packed_ring_statics.h"
#include "tendril/rods/rod_identification_statics.h"
#include "tendril/rods/rod_path_statics.h"
#include "tendril/rods/rod_reconstruction.h"
#include "tendril/rods/rod_statics.h"
#include "tendril/shells/sheet_motion.h"
#include "tendril/shells/shell_analyses.h"
#include "tendril/shells/strip.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tendril::scenes {

/// Where a marker sits, before it is made: joints move it by an offset of their own.
struct Frame {
  enum class Kind { Ground, Body, Beam, Obstacle, Shell };
  Kind kind = Kind::Ground;
  std::string part;
  double arclength = 0;
  std::optional<int> node{};
  Vector2 material = Vector2::Zero(); ///< of a shell
  Pose offset{};
  bool isBare = false; ///< the word `ground`, without a place

  Frame moved(const Pose& by) const {
    Frame frame = *this;
    frame.offset = offset * by;
    return frame;
  }
};

/// The unit vector of a direction that a scene gives by any vector along it.
Vector3 direction(const Record& r, const char* key);
/// Of a control: force, moment, tension per length, or activation.
const Dimension& dimensionOf(const Actuator& control);

/// Builds what a document describes, object by object; every theme has a source of its own.
class SceneBuilder {
 public:
  explicit SceneBuilder(const Document& document) : document_(document), root_(document.root()) { refuseUnavailable(); }

  SceneContent build();

 private:
  // ---- the whole: scene_builder.cpp -----------------------------------------------------------------------------------------------------
  void refuseUnavailable() const;
  void chooseAnalysis(const Record& analysis, bool hasContacts, bool hasBeams);
  void freeze();

  // ---- names and frames: scene_builder_frames.cpp ---------------------------------------------------------------------------------------
  /// The name of an object, which no other object of its kind (`label`) may have.
  std::string claim(const Record& r, const std::string& label);
  void claimPart(const Node& node, const std::string& name);
  void readLibrary(const Record& scene, const char* key, std::map<std::string, Node>& library);
  /// The record that a name of the library or a map in place stands for.
  Record entry(const Node& node, const char* kind, const std::map<std::string, Node>& library, const Schema& schema) const;
  std::vector<std::string> beamNames() const;
  Frame frame(const Node& node);
  Frame frameOfWord(const Node& node, const std::string& word) const;
  Frame frameOfRecord(const Record& r);
  double arclength(const Node& node, const BeamPart& beam) const;
  const Marker& make(const Frame& frame, const std::string& name = "");
  const Marker& onObstacle(const Frame& frame);
  const Marker& marker(const Node& node) { return make(located(node)); }
  /// A frame that says where it is: not the bare word `ground`.
  Frame located(const Node& node);
  Pose initial(const Frame& frame) { return make(frame).frame(builder_.model().state()); }
  /// The markers of both sides of a joint: first that of `to`, then that of `on`. With an axis or position, frames that coincide there.
  std::pair<const Marker*, const Marker*> pair(const Record& r, bool isPositioned);

  // ---- bodies, beams, obstacles, markers: scene_builder_parts.cpp -----------------------------------------------------------------------
  void addBody(const Record& r);
  void addBeam(const Record& r);
  void addObstacle(const Record& r);
  void addMarker(const Record& r);
  void addPointMass(const Record& r);

  // ---- joints, springs, loads, motions: scene_builder_joints.cpp ------------------------------------------------------------------------
  void addJoint(const Record& r);
  void addPrescribed(const Record& r, const std::string& name);
  void addSpring(const Record& r);
  void addLoad(const Record& r);
  void addGravity(const Record& r);
  TimeFunction factor(const Record& r) const;
  /// Three functions of time and an angle about an axis, of those that are given.
  GroundMotion readMotion(const Record& r) const;
  /// A function of time that has a value at the start; refused there and then if it has none.
  TimeFunction startable(const Record& r, const char* key) const;

  // ---- optimal control: scene_builder_control.cpp -----------------------------------------------------------------------------------
  void readActuators(const std::vector<Record>& records);
  void readManoeuvre(const Record& analysis);
  int nodeNumber(const Record& r, const char* key) const;
  void readContacts(const Record& analysis);
  void readPeriodicity(const Record& periodic, OptimalControlOptions& options) const;
  void readBounds(const Record& analysis);
  void makeManoeuvre(const Record& analysis);
  /// Controls with their limits and weights, into the options.
  void addControls(OptimalControlOptions& options) const;
  JointMotions readMotions(const Node& node) const;
  std::string controlName(const Node& node) const;
  std::map<std::string, std::string> controls_; ///< units by name
  int starts_ = 1, levels_ = 1;                 ///< of an optimal control problem
  std::string costUnit_ = "1";                  ///< where all parts of the objective have the same
  OptimalControlOptions manoeuvre_;             ///< what has markers: these exist before the mechanism is built

  // ---- strain-based rods: scene_builder_rods.cpp ----------------------------------------------------------------------------------------
  void addRod(const Record& r);
  void readRods(const std::vector<Record>& records, const Record& analysis);
  void readElastica(const Record& rod, const Record& analysis);
  void readPackedRing(const Record& rod, const Record& analysis);
  void readRodStatics(const Record& rod, const Record& analysis);
  void readCosseratRod(const Record& rod, const Record& analysis);
  void readRodPath(const Record& rod, const Record& analysis);
  void readRodContact(const Record& rod, const Record& analysis);
  RodFamily readRodFamily(const Record& rod, const Record& analysis, Dimension& unit) const;
  void addSpread(const Record& analysis, int stride);
  void readReconstruction(const Record& rod, const Record& analysis);
  void readIdentification(const Record& rod, const Record& analysis);
  void addSurroundings();
  void makeRodStatics();
  RodStaticsOptions rod_;
  std::optional<ElasticaOptions> elastica_; ///< in its place
  std::optional<PackedRingStaticsOptions> packedRing_;
  std::optional<CosseratStaticsOptions> cosserat_;

  // ---- solvability: scene_builder_solvability.cpp ---------------------------------------------------------------------------------------
  void readSolvability(const Record& analysis);
  /// The analysis, watched step by step.
  void watchSolvability(const Record& analysis, const AnalysisChoice& choice);
  Guide readGuide(const Record& r, const std::vector<Guide>& others);
  std::optional<MonitorQuantity> ofSolvability(const Record& r) const;
  std::vector<std::string> guides_;

  // ---- certification: scene_builder_certification.cpp -----------------------------------------------------------------------------------
  /// What has markers comes first, what needs the actuators and outputs last.
  void readUncertainty(const Record& scene);
  void addUncertainInput(const Record& r);
  void readPerformance(const Record& r);
  void readDiameter(const Record& r);
  void readBetterControls(const Record& r);
  void makeCertification(const Record& r);
  std::optional<MonitorQuantity> ofCertification(const Record& r) const;
  std::shared_ptr<CertificationOptions> certification_;

  // ---- shells: scene_builder_shells.cpp ------------------------------------------------------------------------------------------------
  void readShells(const std::vector<Record>& records, const Record& analysis);
  AirDrag readAir(const Record& r) const;
  PatchProperties readSheet(const Record& r) const;
  void addPatch(const Record& r, bool isProjected);
  void addShell(const Record& r, bool isProjected = false);
  StripOptions readStrip(const Record& r) const;
  ShellPart addSheet(const Record& r, const std::string& name, bool isProjected);
  void makeShellAnalysis(const Record& scene, const Record& analysis);
  const ShellPart* findShell(const std::string& name) const;
  Vector2 materialPoint(const Node& node, const ShellPart& shell) const;
  int blockOnShell(const ShellPart& shell, const Vector2& s);
  void addSheetParts(const Record& r, const ShellPart& shell);
  std::vector<ShownPatch> patches_;
  std::map<std::tuple<std::string, double, double>, int> shellBlocks_; ///< of material points

  // ---- contacts: scene_builder_contacts.cpp ---------------------------------------------------------------------------------------------
  /// Bodies, obstacles and beams, as what touches and is touched.
  void addParts(const Record& scene);
  void addPart(const Record& r, const Marker& marker, const std::vector<Shape>& shapes);
  void addCurve(const Record& r, const BeamPart& beam);
  std::string surfaceOf(const Record& r) const;
  CollisionShape collisionShape(const Shape& shape, const std::string& label);
  void addContact(const Record& r);
  void refuseTouchingBeams() const;
  /// Two laws of equal rank for one pair, at the place of the later one.
  void refuseConflict(const std::vector<Record>& contacts) const;
  /// Two names, each of a part, a surface or `all`; `all` alone stands for both.
  std::pair<std::string, std::string> partners(const Node& node);
  std::string partner(const Node& node);
  std::vector<std::string> partNames() const;

  // ---- outputs: scene_builder_outputs.cpp -----------------------------------------------------------------------------------------------
  OutputDefinition readOutput(const Record& r, const Marker* marker) const;
  OutputDefinition::Quantity quantity(const Record& r, const Marker* marker) const;
  std::optional<ContactQuantity> ofContacts(const Record& r) const;
  std::optional<MonitorQuantity> ofDiscretePath(const Record& r, const Marker* at) const;
  EventQuantity eventTimes(const Record& r) const;
  /// Numbers of the two parts, -1 for `all`.
  std::pair<int, int> readPair(const Node& between) const;
  OutputDefinition::Gather gather(const Record& r) const;
  /// How the values over the steps become a result.
  void readReduction(const Record& r, OutputDefinition& output) const;
  Measure ofBeam(const Record& r) const;
  Measure ofJoint(const Record& r) const;
  std::optional<Measure> ofMechanism(const std::string& what) const;

  const Document& document_;
  Node root_;
  SceneContent content_;
  MechanismBuilder builder_;
  std::map<std::string, Node> materials_, sections_;
  std::map<std::string, Frame> markers_;
  std::set<std::string> parts_;
  /// "joint 'pin'" and its like, as messages of the rooms call them, with their places.
  std::vector<std::string> joints_;
  struct ActuatorEntry {
    Record record;
    const Marker *on = nullptr, *cable = nullptr, *muscle = nullptr; ///< `muscle`: its other end
  };
  std::vector<ActuatorEntry> actuators_;
  MeshLibrary meshes_;
  bool knowsContactsOfBeams_ = false, knowsRollingAndCohesion_ = false; ///< the analysis
  std::map<std::string, std::string> surfaces_;                         ///< of parts
  /// Shapes with a mesh that were made ready for contact: bodies often share one.
  std::vector<CollisionShape> meshShapes_;
  // In the place of the equilibria of rod_, as elastica_.
  std::optional<RodPathStaticsOptions> rodPath_;
  std::optional<RodContactStaticsOptions> rodContact_;
  std::optional<RodReconstructionOptions> reconstruction_;
  std::optional<RodIdentificationStaticsOptions> identification_;
};

}
