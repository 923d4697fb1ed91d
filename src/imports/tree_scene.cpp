// Trees of links as scenes.
#include "imports/mesh_store.h"
#include "imports/solid_tree.h"
#include "imports/yaml_text.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace tendril::imports {

MassProperties massOf(const Solid& solid, double density, const StoredMesh* mesh) {
  const Vector3& size = solid.shape.size;
  const auto plain = [&]() -> MassProperties {
    switch (solid.shape.kind) {
    case Shape::Kind::Sphere:
      return MassProperties::sphere(density, size[0]);
    case Shape::Kind::Box:
      return MassProperties::box(density, size);
    case Shape::Kind::Cylinder:
      return MassProperties::cylinder(density, size[0], size[1]);
    case Shape::Kind::Capsule:
      return MassProperties::capsule(density, size[0], size[1]);
    case Shape::Kind::Ellipsoid:
      return MassProperties::ellipsoid(density, size);
    default:
      return mesh ? MassProperties{density * mesh->moments.volume, mesh->moments.centroid, density * mesh->moments.inertia}
                  : MassProperties{};
    }
  };
  return plain().placed(solid.shape.pose);
}

namespace {

constexpr double degree = std::numbers::pi / 180;

/// Links that are welded together, or to the ground.
struct Group {
  std::string name;
  int root = Link::ground, parent = Link::ground; ///< parent: another group
  std::vector<int> links{};
  MassProperties mass{};
  std::optional<Touch> touch{};
  std::string surface{};

  bool moves() const { return root != Link::ground; }
};

/// What something made of several solids touches with: whatever one of them does.
void merge(std::optional<Touch>& sum, const Touch& other, bool& isUneven) {
  if (!sum) {
    sum = other;
    return;
  }
  if (*sum == other) return;
  isUneven = true;
  *sum = {sum->type | other.type, sum->affinity | other.affinity, std::max(sum->friction, other.friction),
          std::max(sum->pivoting, other.pivoting), std::max(sum->rolling, other.rolling)};
}

std::string shapeText(const Solid& solid, const Pose& pose, bool isObstacle) {
  const Shape& s = solid.shape;
  const auto round = [&](const char* kind) {
    return fmt::format("kind: {}, radius: {}, length: {}", kind, yaml::number(s.size[0]), yaml::number(s.size[1]));
  };
  const auto plain = [&]() -> std::string {
    switch (s.kind) {
    case Shape::Kind::Sphere:
      return "kind: sphere, radius: " + yaml::number(s.size[0]);
    case Shape::Kind::Box:
      return "kind: box, size: " + yaml::vector(s.size);
    case Shape::Kind::Cylinder:
      return round("cylinder");
    case Shape::Kind::Capsule:
      return round("capsule");
    case Shape::Kind::Ellipsoid:
      return "kind: ellipsoid, semi_axes: " + yaml::vector(s.size);
    case Shape::Kind::HalfSpace:
      return "kind: half-space";
    default:
      return fmt::format("kind: mesh, file: {}{}{}", yaml::inQuotes(solid.file),
                         solid.unit == 1 ? "" : ", unit: " + yaml::number(solid.unit),
                         s.kind == Shape::Kind::ConvexMesh ? ", convex: true" : "");
    }
  };
  if (s.kind == Shape::Kind::HalfSpace && isObstacle) { // its normal says where it looks
    const std::string at = pose.x.isZero(0) ? "" : ", position: " + yaml::vector(pose.x);
    return fmt::format("{{kind: half-space, normal: {}{}}}", yaml::vector(pose.R.col(2)), at);
  }
  return "{" + plain() + yaml::pose(pose, ", ") + "}";
}

class TreeScene {
 public:
  TreeScene(const SolidTree& tree, const std::filesystem::path& file, Remarks& remarks)
      : tree_(tree), file_(file), remarks_(remarks), parts_(remarks, {"ground", "all"}), joints_(remarks), springs_(remarks),
        outputs_(remarks) {}

  std::string write() {
    group();
    weigh();
    claimSurfaces();
    std::string text = section("bodies", bodies()) + section("markers", markers()) + section("obstacles", obstacleLines_);
    text += section("joints", joints());
    text += section("springs", springLines_); // of the joints
    text += section("contacts", contacts()) + analysis();
    return yaml::head(file_.filename().string(), tree_.title, remarks_) + parameters() + text;
  }

 private:
  [[noreturn]] void refuse(const Link& link, const std::string& message, const std::string& remedy) const {
    throw InputError({file_.string(), link.line, 0}, "'" + yaml::plain(link.name) + "'", message, remedy);
  }

  static std::string section(const char* key, const std::string& content) {
    return content.empty() ? "" : fmt::format("\n{}:\n{}", key, content);
  }

  const Link& link(int i) const { return tree_.links[std::size_t(i)]; }
  const Group& groupOf(int link) const { return groups_[link == Link::ground ? 0 : std::size_t(of_[std::size_t(link)])]; }

  /// The first group is the ground.
  void group() {
    groups_.push_back({.name = "ground"});
    for (int i = 0; i < int(tree_.links.size()); ++i) {
      const Link& l = link(i);
      const int above = l.parent == Link::ground ? 0 : of_[std::size_t(l.parent)];
      names_.push_back(parts_.claim(l.name, l.line, "link"));
      if (l.joint || l.floats) {
        of_.push_back(int(groups_.size()));
        groups_.push_back({.name = names_.back(), .root = i, .parent = above});
      } else {
        of_.push_back(above);
      }
      groups_[std::size_t(of_.back())].links.push_back(i);
    }
    if (groups_.size() == 1)
      throw InputError({file_.string(), 0, 0}, "", "nothing in the file moves", "give a mechanism with a joint or a free body");
  }

  Pose inGroup(const Group& g, int i) const { return g.moves() ? link(g.root).pose.relative(link(i).pose) : link(i).pose; }

  void weigh() {
    for (Group& g : groups_) {
      if (!g.moves()) continue;
      for (const int i : g.links) {
        if (link(i).mass.mass > 0)
          g.mass = g.mass.mass > 0 ? g.mass + link(i).mass.placed(inGroup(g, i)) : link(i).mass.placed(inGroup(g, i));
      }
    }
    shareMass();
    for (const Group& g : groups_) {
      if (!g.moves()) continue;
      const Link& root = link(g.root);
      if (!(g.mass.mass > 0)) refuse(root, "it moves but has no mass", "give it mass and inertia");
      try {
        g.mass.validate(g.name);
      } catch (const InputError& error) {
        refuse(root, error.what(), "correct its inertia");
      }
    }
  }

  bool isBetweenJoints(const Group& g) const { return g.moves() && link(g.root).share > 0; }

  /// What stands between two joints of a body, in the same frame.
  void shareMass() {
    const auto scaled = [](MassProperties p, double factor) {
      p.mass *= factor;
      p.inertia *= factor;
      return p;
    };
    for (std::size_t first = 0, i = 0; i < groups_.size(); first = ++i) {
      double share = 0;
      for (; isBetweenJoints(groups_[i]); ++i) share += link(groups_[i].root).share;
      for (std::size_t k = first; k < i; ++k) groups_[k].mass = scaled(groups_[i].mass, link(groups_[k].root).share);
      if (share > 0) groups_[i].mass = scaled(groups_[i].mass, 1 - share);
    }
  }

  // ---- contact ---------------------------------------------------------------------------------------------------------------------

  void claimSurfaces() {
    for (Group& g : groups_) {
      if (!g.moves()) continue;
      bool isUneven = false;
      for (const int i : g.links) {
        for (const Solid& s : link(i).solids) {
          if (s.touch) merge(g.touch, *s.touch, isUneven);
        }
      }
      if (isUneven)
        remarks_.lose(link(g.root).line, g.name + ": different friction or masks of its shapes; it has the largest friction and all masks");
      if (g.touch) g.surface = surfaceOf(*g.touch, 1);
    }
    obstacles();
  }

  struct Surface {
    std::string name;
    Touch touch;
    int bodies = 0;
  };

  const std::string& surfaceOf(const Touch& touch, int bodies) {
    auto found = std::find_if(surfaces_.begin(), surfaces_.end(), [&](const Surface& s) { return s.touch == touch; });
    if (found == surfaces_.end()) found = surfaces_.insert(found, {parts_.claim("", 0, "surface"), touch});
    found->bodies += bodies;
    return found->name;
  }

  /// Each shape of the ground is an obstacle of its own, for it may have friction of its own.
  void obstacles() {
    for (const int i : groups_[0].links) {
      for (const Solid& s : link(i).solids) {
        const std::string name = parts_.claim(s.name.empty() ? link(i).name + "_shape" : s.name, s.line, "obstacle");
        const std::string surface = s.touch ? ", surface: " + surfaceOf(*s.touch, 0) : "";
        obstacleLines_ += fmt::format("  - {{name: {}, shapes: [{}]{}}}\n", name, shapeText(s, link(i).pose * s.shape.pose, true), surface);
        if (s.touch) obstaclesOf_.emplace_back(i, name);
      }
    }
  }

  std::string contacts() const {
    std::string text;
    for (std::size_t i = 0; i < surfaces_.size(); ++i) {
      for (std::size_t k = i; k < surfaces_.size(); ++k) {
        const Surface &a = surfaces_[i], &b = surfaces_[k];
        const bool isPossible = i == k ? a.bodies > 0 : a.bodies + b.bodies > 0; // the ground does not touch itself
        if (isPossible && a.touch.meets(b.touch)) text += law(fmt::format("{}_{}", a.name, b.name), a, b);
      }
    }
    return text.empty() ? text : text + exclusions();
  }

  static std::string law(const std::string& name, const Surface& a, const Surface& b) {
    const auto larger = [&](const char* key, double Touch::*value) {
      const double x = std::max(a.touch.*value, b.touch.*value);
      return x > 0 ? fmt::format(", {}: {}", key, yaml::number(x)) : "";
    };
    return fmt::format("  - {{name: {}, between: [{}, {}]{}{}{}}}\n", name, a.name, b.name, larger("friction", &Touch::friction),
                       larger("pivoting_friction", &Touch::pivoting), larger("rolling_friction", &Touch::rolling));
  }

  std::string exclusions() const {
    std::string text;
    const auto exclude = [&](const std::string& a, const std::string& b) {
      const std::string line = fmt::format("exclude: [{}, {}]}}\n", a, b);
      if (text.find(line) == std::string::npos) text += fmt::format("  - {{name: {}_{}, {}", a, b, line);
    };
    const auto excludeGroups = [&](const Group& a, const Group& b) {
      if (&a != &b && a.touch && b.touch) exclude(a.name, b.name);
    };
    for (const Group& g : groups_) {
      if (!g.moves() || !g.touch || !link(g.root).joint) continue;
      const Group* parent = &groups_[std::size_t(g.parent)];
      while (isBetweenJoints(*parent)) parent = &groups_[std::size_t(parent->parent)];
      excludeGroups(g, *parent);
      if (parent->moves() || tree_.touchesGroundAtJoint) continue;
      for (const auto& obstacle : obstaclesOf_) exclude(g.name, obstacle.second);
    }
    for (const auto& [a, b] : tree_.exclusions) {
      excludeGroups(groupOf(a), groupOf(b));
      for (const auto& [owner, name] : obstaclesOf_) {
        if (owner == a && groupOf(b).touch) exclude(groupOf(b).name, name);
        if (owner == b && groupOf(a).touch) exclude(groupOf(a).name, name);
      }
    }
    return text;
  }

  // ---- parts -----------------------------------------------------------------------------------------------------------------------

  std::string bodies() const {
    std::string text;
    for (const Group& g : groups_) {
      if (!g.moves()) continue;
      text += fmt::format("  - name: {}\n    mass: {}\n", g.name, yaml::number(g.mass.mass));
      if (!g.mass.centre.isZero(0)) text += "    centre: " + yaml::vector(g.mass.centre) + "\n";
      text += "    inertia: " + yaml::inertia(g.mass.inertia) + yaml::pose(link(g.root).pose, "\n    ") + "\n";
      if (g.touch) text += "    surface: " + g.surface + "\n";
      text += shapes(g);
    }
    return text;
  }

  std::string shapes(const Group& g) const {
    std::string text;
    for (const int i : g.links) {
      for (const Solid& s : link(i).solids) {
        if (g.touch && !s.touch) {
          remarks_.lose(s.line, fmt::format("a shape of {} that is only seen, since others of its shapes touch", names_[std::size_t(i)]));
          continue;
        }
        text += fmt::format("      - {}\n", shapeText(s, inGroup(g, i) * s.shape.pose, false));
      }
    }
    return text.empty() ? text : "    shapes:\n" + text;
  }

  std::string markers() const {
    std::string text;
    for (const Group& g : groups_) {
      for (const int i : g.links) {
        const bool isInertialFrame = !g.moves() && link(i).pose.x.isZero(0) && link(i).pose.R.isIdentity(0);
        if (i == g.root || isInertialFrame) continue;
        text += fmt::format("  - {{name: {}, on: {}{}}}\n", names_[std::size_t(i)], g.name, yaml::pose(inGroup(g, i), ", ", "offset"));
      }
    }
    return text;
  }

  // ---- joints ----------------------------------------------------------------------------------------------------------------------

  std::string joints() {
    std::string text;
    for (const Group& g : groups_) {
      if (!g.moves() || !link(g.root).joint) continue;
      const TreeJoint& j = *link(g.root).joint;
      const std::string name = joints_.claim(j.name, j.line, "joint");
      text += fmt::format("  - {{name: {}, type: {}, on: {}, to: {}, position: {}", name, j.type, g.name,
                          groups_[std::size_t(g.parent)].name, yaml::vector(j.position));
      if (j.axis) text += ", axis: " + yaml::vector(*j.axis);
      if (j.secondAxis) text += ", second_axis: " + yaml::vector(*j.secondAxis);
      text += "}\n";
      for (const TreeSpring& s : link(g.root).springs) springLines_ += spring(s, springs_.claim(name, j.line, "spring"), g);
      const bool turns = j.type == "revolute" || j.type == "cylindrical", slides = j.type == "prismatic";
      if (turns) output(name + "_angle", fmt::format("measure: joint angle, joint: {}", name));
      if (slides) output(name + "_displacement", fmt::format("measure: joint displacement, joint: {}, component: z", name));
    }
    return text;
  }

  std::string spring(const TreeSpring& s, const std::string& name, const Group& g) const {
    const std::string& parent = groups_[std::size_t(g.parent)].name;
    if (s.kind == TreeSpring::Kind::Turn) {
      const std::string to = parent == "ground" ? "" : ", to: " + parent; // a bare ground takes the place of `on`
      return fmt::format("  - {{name: {}, type: torsion, on: {}{}, axis: {}, stiffness: {}, damping: {}, angle: {}}}\n", name, g.name, to,
                         yaml::vector(s.axis), yaml::number(s.stiffness), yaml::number(s.damping), yaml::number(s.rest / degree));
    }
    // A bushing along the third axis of markers that stand alike, or about all axes.
    const Pose frame{so3::shortestRotation(Vector3::UnitZ(), s.axis), s.position};
    const auto marker = [&](const Group& group, const Pose& at) {
      const Pose offset = group.moves() ? link(group.root).pose.relative(at) : at;
      return fmt::format("{{on: {}{}}}", group.name, yaml::pose(offset, ", ", "offset"));
    };
    const auto six = [&](double value) {
      const std::string x = yaml::number(value);
      return s.kind == TreeSpring::Kind::Slide ? fmt::format("[0, 0, {}, 0, 0, 0]", x) : fmt::format("[0, 0, 0, {0}, {0}, {0}]", x);
    };
    return fmt::format("  - {{name: {}, type: bushing, on: {}, to: {}, stiffness: {}, damping: {}}}\n", name, marker(g, frame),
                       marker(groups_[std::size_t(g.parent)], frame), six(s.stiffness), six(s.damping));
  }

  // ---- the rest --------------------------------------------------------------------------------------------------------------------

  std::string parameters() const {
    return fmt::format("\nparameters:\n  h: {}  # time step [s]\n  duration: {}  # [s]\n", yaml::number(tree_.step),
                       yaml::number(tree_.duration));
  }

  void output(const std::string& name, const std::string& what) {
    outputLines_ += fmt::format("  - {{name: {}, {}}}\n", outputs_.claim(name, 0, "output"), what);
  }

  std::string analysis() {
    for (const Group& g : groups_) {
      if (g.moves() && !isBetweenJoints(g)) output(g.name + "_position", "measure: position, on: " + g.name);
    }
    output("energy", "measure: energy");
    const std::string gravity =
        tree_.gravity.isZero(0) ? "" : fmt::format("\ngravity: {{acceleration: {}}}\n", yaml::vector(tree_.gravity));
    return gravity + "\nanalysis: {type: dynamic, duration: duration, step: h}\n" + section("outputs", outputLines_);
  }

  const SolidTree& tree_;
  const std::filesystem::path& file_;
  Remarks& remarks_;
  Names parts_, joints_, springs_, outputs_;
  std::vector<Group> groups_;
  std::vector<int> of_;            ///< group of each link
  std::vector<std::string> names_; ///< of each link in the scene
  std::vector<Surface> surfaces_;
  std::vector<std::pair<int, std::string>> obstaclesOf_; ///< link and name of what touches on the ground
  std::string obstacleLines_, springLines_, outputLines_;
};

}

std::string sceneOf(const SolidTree& tree, const std::filesystem::path& file, Remarks& remarks) {
  return TreeScene(tree, file, remarks).write();
}

}
