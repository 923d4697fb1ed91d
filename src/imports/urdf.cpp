// URDF, the Unified Robot Description Format of ROS: links in a tree of joints.
#include "imports/readers.h"
#include "imports/yaml_text.h"
#include "tendril/lie/so3.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tendril::imports {

namespace {

namespace fs = std::filesystem;

/// Rotations about the fixed axes x, y and z, in this order.
Matrix3 fromRollPitchYaw(const Vector3& rpy) {
  return so3::exp(Vector3(0, 0, rpy[2])) * so3::exp(Vector3(0, rpy[1], 0)) * so3::exp(Vector3(rpy[0], 0, 0));
}

Pose originOf(const XmlElement& element) {
  const XmlElement* origin = element.child("origin");
  if (!origin) return {};
  return {fromRollPitchYaw(origin->vector3("rpy", Vector3::Zero())), origin->vector3("xyz", Vector3::Zero())};
}

double positive(const XmlElement& element, const char* key) {
  element.required(key);
  const double value = *element.number(key);
  if (!(value > 0)) element.refuse(fmt::format("`{}` is {}, which is no size", key, value), "give a positive number");
  return value;
}

/// A mesh of a package lies in a folder of its name, or in the folder that is the package, above the file.
fs::path locateMesh(const std::string& name, const fs::path& file, const XmlElement& where) {
  const fs::path folder = fs::absolute(file).parent_path();
  const std::size_t scheme = name.find("://");
  if (scheme == std::string::npos) return folder / name;
  const fs::path path = name.substr(scheme + 3);
  if (name.starts_with("file://")) return path;
  const fs::path inPackage = path.lexically_relative(*path.begin());
  std::error_code status;
  for (fs::path above = folder;; above = above.parent_path()) {
    if (fs::is_regular_file(above / path, status)) return above / path;
    if (above.filename() == *path.begin() && fs::is_regular_file(above / inPackage, status)) return above / inPackage;
    if (above == above.parent_path()) break;
  }
  where.refuse("there is no file " + yaml::plain(name), "put the folder of the package beside the URDF file, or above it");
}

class Urdf {
 public:
  Urdf(const XmlElement& robot, const ImportOptions& options, MeshStore& meshes, Remarks& remarks)
      : robot_(robot), options_(options), meshes_(meshes), remarks_(remarks) {}

  SolidTree read() {
    refuseXacro();
    SolidTree tree;
    tree.title = robot_.text("name").value_or("A robot");
    tree.duration = options_.duration;
    tree.step = options_.step.value_or(1e-3);
    collect();
    addTree(root(), tree);
    if (tree.links.size() < links_.size()) refuseCycle(tree);
    remarks_.say(0, "gravity acts against z, which the format does not say");
    if (!options_.friction) remarks_.say(0, "nothing touches: the format knows no friction; --friction MU adds a law of contact");
    return tree;
  }

 private:
  void refuseXacro() const {
    for (const XmlElement& e : robot_.elements()) {
      if (e.tag().starts_with("xacro:"))
        e.refuse("the file is a xacro macro, not yet a robot", "expand it: xacro FILE.xacro > FILE.urdf, and import that");
    }
  }

  void collect() {
    for (const XmlElement* link : robot_.children("link")) {
      const auto [known, isNew] = links_.emplace(link->required("name"), link);
      if (!isNew) link->refuse(fmt::format("line {} has a link of this name, too", known->second->line()), "give each a name of its own");
      order_.push_back(link);
    }
    if (links_.empty()) robot_.refuse("the robot has no links", "give a URDF file with <link> elements");
    for (const XmlElement* joint : robot_.children("joint")) {
      const XmlElement& parent = end(*joint, "parent");
      const XmlElement& child = end(*joint, "child");
      const auto [known, isNew] = above_.emplace(&child, joint);
      if (!isNew)
        joint->refuse(
            fmt::format("{} has a parent already, by {} in line {}", child.label(), known->second->label(), known->second->line()),
            "URDF knows trees only: remove one of the joints, and close the loop in the scene");
      below_[&parent].push_back(joint);
    }
  }

  const XmlElement& end(const XmlElement& joint, const char* tag) const {
    const XmlElement* element = joint.child(tag);
    if (!element) joint.refuse(fmt::format("it has no <{}>", tag), fmt::format("add <{} link=\"...\"/>", tag));
    const std::string name = element->required("link");
    const auto found = links_.find(name);
    if (found == links_.end()) element->refuse("there is no link '" + yaml::plain(name) + "'", "define it, or correct the name");
    return *found->second;
  }

  const XmlElement& root() const {
    std::vector<const XmlElement*> roots;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(roots), [&](const XmlElement* l) { return !above_.contains(l); });
    if (roots.empty())
      robot_.refuse("its joints form a cycle: every link is the child of another", "one link must be the root of the tree");
    if (roots.size() > 1)
      roots[1]->refuse(fmt::format("no joint leads to it, and none to {}, so the robot is in pieces", roots[0]->label()),
                       "join them, or remove one");
    return *roots[0];
  }

  [[noreturn]] void refuseCycle(const SolidTree& tree) const {
    for (const XmlElement* link : order_) {
      const bool isIn = std::any_of(tree.links.begin(), tree.links.end(), [&](const Link& l) { return l.line == link->line(); });
      if (!isIn) link->refuse("its joints form a cycle that does not reach the root", "one of them must begin at a link of the tree");
    }
    robot_.refuse("its joints form a cycle", "URDF knows trees only");
  }

  void addTree(const XmlElement& root, SolidTree& tree) {
    Link base = linkOf(root);
    const bool hasMass = base.mass.mass > 0;
    base.floats = options_.base == ImportedBase::Free || (options_.base == ImportedBase::Automatic && hasMass && base.name != "world");
    if (options_.base == ImportedBase::Automatic && base.name != "world")
      remarks_.say(base.line, base.floats ? fmt::format("{} moves freely, for it has mass; --base fixed holds it", root.label())
                                          : fmt::format("{} is held, for it has no mass; --base free lets it move", root.label()));
    tree.links.push_back(std::move(base));
    std::vector<std::pair<const XmlElement*, int>> open{{&root, 0}};
    while (!open.empty()) {
      const auto [link, number] = open.back();
      open.pop_back();
      for (const XmlElement* joint : below_[link]) {
        const XmlElement& child = end(*joint, "child");
        Link next = linkOf(child);
        next.parent = number;
        next.pose = tree.links[std::size_t(number)].pose * originOf(*joint);
        join(*joint, next);
        open.emplace_back(&child, int(tree.links.size()));
        tree.links.push_back(std::move(next));
      }
    }
  }

  void join(const XmlElement& joint, Link& link) const {
    static const std::map<std::string, const char*> types{
        {"revolute", "revolute"}, {"continuous", "revolute"}, {"prismatic", "prismatic"}, {"planar", "planar"}};
    const std::string type = joint.required("type");
    const XmlElement* axis = joint.child("axis");
    const Vector3 direction = axis ? axis->vector3("xyz", Vector3::UnitX()) : Vector3::UnitX();
    const std::string name = joint.required("name");
    if (type == "fixed") return remarks_.say(joint.line(), fmt::format("{} welds: {} is a marker", joint.label(), yaml::plain(link.name)));
    link.floats = type == "floating";
    if (link.floats) return;
    const auto word = types.find(type);
    if (word == types.end())
      joint.refuse("'" + yaml::plain(type) + "' is no type of a joint", "write fixed, revolute, continuous, prismatic, planar or floating");
    if (!(direction.norm() > 1e-9)) joint.refuse("its axis is zero", "give a direction, as <axis xyz=\"0 0 1\"/>");
    const Vector3 turned = (link.pose.R * direction).normalized();
    link.joint = TreeJoint{.name = name, .line = joint.line(), .type = word->second, .position = link.pose.x, .axis = turned};
    damp(joint, link, turned);
  }

  void damp(const XmlElement& joint, Link& link, const Vector3& axis) const {
    const XmlElement* dynamics = joint.child("dynamics");
    if (!dynamics) return;
    if (dynamics->number("friction").value_or(0) != 0)
      remarks_.lose(dynamics->line(), fmt::format("{}: dry friction of {} in the joint", joint.label(), *dynamics->text("friction")));
    const double damping = dynamics->number("damping").value_or(0);
    if (damping < 0) dynamics->refuse("the damping is negative", "it dissipates when positive");
    if (damping == 0) return;
    if (link.joint->type == "planar") return remarks_.lose(dynamics->line(), joint.label() + ": damping of a planar joint");
    const auto kind = link.joint->type == "prismatic" ? TreeSpring::Kind::Slide : TreeSpring::Kind::Turn;
    link.springs.push_back({.kind = kind, .position = link.pose.x, .axis = axis, .damping = damping});
  }

  // ---- links -----------------------------------------------------------------------------------------------------------------------

  Link linkOf(const XmlElement& element) {
    Link link{.name = element.required("name"), .line = element.line(), .mass = massOf(element)};
    const std::vector<const XmlElement*> collisions = element.children("collision");
    for (const XmlElement* e : collisions)
      addSolid(*e, link, options_.friction ? std::optional(Touch{.friction = *options_.friction}) : std::nullopt);
    if (!collisions.empty()) return link;
    for (const XmlElement* e : element.children("visual")) addSolid(*e, link, std::nullopt);
    return link;
  }

  static MassProperties massOf(const XmlElement& link) {
    const XmlElement* inertial = link.child("inertial");
    if (!inertial) return {};
    const XmlElement* mass = inertial->child("mass");
    if (!mass) inertial->refuse("it has no <mass>", "add <mass value=\"...\"/>, or remove <inertial>");
    mass->required("value");
    MassProperties p{.mass = *mass->number("value")};
    if (p.mass < 0) mass->refuse("the mass is negative", "give a positive one");
    if (const XmlElement* J = inertial->child("inertia")) {
      const auto entry = [&](const char* key) { return J->number(key).value_or(0); };
      const double xx = entry("ixx"), yy = entry("iyy"), zz = entry("izz"), xy = entry("ixy"), xz = entry("ixz"), yz = entry("iyz");
      p.inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    }
    if (p.mass == 0 && !p.inertia.isZero(0)) mass->refuse("inertia without mass", "give the mass, too");
    return p.placed(originOf(*inertial));
  }

  void addSolid(const XmlElement& element, Link& link, const std::optional<Touch>& touch) {
    Solid solid{.name = element.text("name").value_or(""), .line = element.line(), .touch = touch};
    const XmlElement* geometry = element.child("geometry");
    if (!geometry || geometry->elements().size() != 1) element.refuse("it has no shape", "give <geometry> with one shape inside");
    const XmlElement& form = geometry->elements()[0];
    form.read();
    solid.shape.pose = originOf(element);
    Vector3& size = solid.shape.size;
    if (form.tag() == "box") {
      solid.shape.kind = Shape::Kind::Box;
      form.required("size");
      size = form.vector3("size", Vector3::Zero());
      if (!(size.minCoeff() > 0)) form.refuse("a box has three positive edges", "correct its `size`");
    } else if (form.tag() == "sphere") {
      size[0] = positive(form, "radius");
    } else if (form.tag() == "cylinder" || form.tag() == "capsule") {
      solid.shape.kind = form.tag() == "cylinder" ? Shape::Kind::Cylinder : Shape::Kind::Capsule;
      size[0] = positive(form, "radius"), size[1] = positive(form, "length");
    } else if (form.tag() == "mesh") {
      const fs::path file = locateMesh(form.required("filename"), options_.file, form);
      const std::string extension = file.extension().string();
      if (extension == ".dae" || extension == ".DAE")
        return remarks_.lose(form.line(), fmt::format("{}: the mesh {}, for Collada is not read; save it as STL or OBJ", link.name,
                                                      yaml::plain(file.filename().string())));
      giveMesh(solid, file, form.vector3("scale", Vector3::Ones()), false, form, meshes_, remarks_);
    } else {
      form.refuse("this is no shape of URDF", "write box, cylinder, sphere or mesh");
    }
    link.solids.push_back(std::move(solid));
  }

  const XmlElement& robot_;
  const ImportOptions& options_;
  MeshStore& meshes_;
  Remarks& remarks_;
  std::map<std::string, const XmlElement*> links_;
  std::vector<const XmlElement*> order_;                 ///< links in the order of the file
  std::map<const XmlElement*, const XmlElement*> above_; ///< joint that leads to a link
  std::map<const XmlElement*, std::vector<const XmlElement*>> below_;
};

}

SolidTree readUrdf(const XmlElement& robot, const ImportOptions& options, MeshStore& meshes, Remarks& remarks) {
  return Urdf(robot, options, meshes, remarks).read();
}

const StoredMesh& giveMesh(Solid& solid, const fs::path& file, const Vector3& scale, bool isHull, const XmlElement& where,
                           MeshStore& meshes, Remarks& remarks) {
  if (!(scale.cwiseAbs().minCoeff() > 0)) where.refuse("its scale is zero", "give a scale other than zero");
  const StoredMesh* stored = nullptr;
  try {
    stored = &meshes.add(file, scale, where.line());
  } catch (const InputError& error) {
    if (error.isLocated()) throw;
    where.refuse(error.what(), "give a mesh in OBJ or STL");
  }
  if (!stored->defect.empty() && !isHull)
    remarks.say(where.line(), fmt::format("the mesh {} bounds no solid ({}); its convex hull stands for it",
                                          yaml::plain(file.filename().string()), stored->defect));
  solid.shape.kind = isHull || !stored->defect.empty() ? Shape::Kind::ConvexMesh : Shape::Kind::TriangleMesh;
  solid.shape.mesh = stored->mesh;
  solid.file = stored->file;
  solid.unit = stored->unit;
  return *stored;
}

}
