#pragma once
#include "imports/remarks.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/model/shape.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A mechanism as robot files describe it: a tree of frames, of which some are joined by joints and the others welded together.
namespace tendril::imports {

struct StoredMesh;

/// How something touches. Two things may touch if a bit of the type of one is a bit of the affinity of the other.
struct Touch {
  int type = 1, affinity = 1;
  double friction = 0, pivoting = 0, rolling = 0; ///< pivoting and rolling: lengths

  bool meets(const Touch& other) const { return (type & other.affinity) != 0 || (other.type & affinity) != 0; }
  bool operator==(const Touch&) const = default;
};

struct Solid {
  std::string name; ///< may be empty
  int line = 0;
  Shape shape;        ///< its pose is seen from the link
  std::string file{}; ///< of a mesh, relative to the scene
  double unit = 1;
  std::optional<Touch> touch{}; ///< without it only seen
};

/// A joint of a scene between a link and its parent. Places and axes are those at the start, in the inertial frame.
struct TreeJoint {
  std::string name;
  int line = 0;
  std::string type; ///< a word of the scene
  Vector3 position = Vector3::Zero();
  std::optional<Vector3> axis{}, secondAxis{};
};

/// A spring and damper at a joint.
struct TreeSpring {
  enum class Kind { Turn, Slide, Ball };
  Kind kind;
  Vector3 position, axis; ///< at the start, in the inertial frame
  double stiffness = 0, damping = 0;
  double rest = 0; ///< angle or displacement from the start at which it is free
};

struct Link {
  static constexpr int ground = -1;

  std::string name;
  int line = 0;
  int parent = ground; ///< stands before it in the tree
  Pose pose;           ///< at the start, in the inertial frame
  MassProperties mass; ///< in its frame; none if the mass is zero
  std::vector<Solid> solids{};
  bool floats = false;              ///< moves freely
  std::optional<TreeJoint> joint{}; ///< without it, and not floating, it is welded to its parent
  std::vector<TreeSpring> springs{};
  /// It stands between two joints of the body that comes next, and takes this share of its mass: there are no joints without bodies
  /// between.
  double share = 0;
};

struct SolidTree {
  std::string title;
  std::vector<Link> links;
  std::vector<std::pair<int, int>> exclusions; ///< links that never touch, beside those that a joint joins
  bool touchesGroundAtJoint = false;           ///< whether what is joined to the ground may touch its shapes
  Vector3 gravity{0, 0, -9.81};
  double step = 1e-3, duration = 1;
};

/// The scene of a tree. Links that are welded together become one body, named after the first of them; the others are markers on it.
/// Throws InputError (naming `file` and a line) for bodies whose mass is impossible.
std::string sceneOf(const SolidTree& tree, const std::filesystem::path& file, Remarks& remarks);

/// Mass of a homogeneous solid, in the frame of its link.
MassProperties massOf(const Solid& solid, double density, const StoredMesh* mesh);

}
