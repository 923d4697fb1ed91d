// A part of MJCF, the format of MuJoCo: bodies, joints, shapes, friction, classes of defaults.
#include "imports/mjcf_joints.h"
#include "imports/mjcf_settings.h"
#include "imports/readers.h"
#include "imports/yaml_text.h"
#include "tendril/lie/so3.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <utility>

namespace tendril::imports {

namespace {

namespace fs = std::filesystem;

class Mjcf {
 public:
  Mjcf(const XmlElement& mujoco, const ImportOptions& options, MeshStore& meshes, Remarks& remarks)
      : mujoco_(mujoco), options_(options), meshes_(meshes), remarks_(remarks), defaults_(mujoco) {}

  SolidTree read() {
    tree_.title = mujoco_.text("model").value_or("A mechanism");
    tree_.duration = options_.duration;
    tree_.touchesGroundAtJoint = true;
    readCompiler();
    readOption();
    for (const XmlElement* asset : mujoco_.children("asset")) {
      for (const XmlElement* mesh : asset->children("mesh")) collectMesh(*mesh);
    }
    const std::vector<const XmlElement*> worlds = mujoco_.children("worldbody");
    if (worlds.empty()) mujoco_.refuse("it has no <worldbody>", "give the whole model in one file (MuJoCo saves one: mj_saveLastXML)");
    tree_.links.push_back({.name = "world", .line = worlds[0]->line()});
    for (const XmlElement* world : worlds) readInside(*world, 0, "");
    readExclusions();
    const bool touches = std::any_of(tree_.links.begin(), tree_.links.end(), [](const Link& l) {
      return std::any_of(l.solids.begin(), l.solids.end(), [](const Solid& s) { return s.touch.has_value(); });
    });
    if (touches) remarks_.say(0, "contact is rigid, with Coulomb's cone; that of MuJoCo is soft and creeps");
    return std::move(tree_);
  }

 private:
  void readCompiler() {
    conventions_.angle = std::numbers::pi / 180;
    for (const XmlElement* c : mujoco_.children("compiler")) {
      c->ignore("autolimits"), c->ignore("coordinate");
      if (const auto angle = c->text("angle"))
        conventions_.angle = oneOf(*c, "angle", {"degree", "radian"}) == "radian" ? 1 : conventions_.angle;
      if (c->has("inertiafromgeom")) inertiaFromShapes_ = oneOf(*c, "inertiafromgeom", {"auto", "true", "false"});
      meshFolder_ = c->text("meshdir").value_or(c->text("assetdir").value_or(meshFolder_));
      conventions_.eulerSequence = c->text("eulerseq").value_or(conventions_.eulerSequence);
      const std::string& s = conventions_.eulerSequence;
      if (s.size() != 3 || s.find_first_not_of("xyzXYZ") != std::string::npos)
        c->refuse("`eulerseq` is no sequence of three axes", "write it like xyz");
    }
  }

  static std::string oneOf(const XmlElement& element, const char* key, std::initializer_list<const char*> words) {
    const std::string word = element.required(key);
    std::string known;
    for (const char* w : words) {
      if (word == w) return word;
      known += (known.empty() ? "" : ", ") + std::string(w);
    }
    element.refuse(fmt::format("`{}` is '{}'", key, yaml::plain(word)), "write one of " + known);
  }

  void readOption() {
    tree_.step = 2e-3; // where the file does not say it
    for (const XmlElement* option : mujoco_.children("option")) {
      tree_.gravity = option->vector3("gravity", tree_.gravity);
      tree_.step = option->number("timestep").value_or(tree_.step);
      if (!(tree_.step > 0)) option->refuse("the time step is not positive", "give one like 0.002");
    }
    tree_.step = options_.step.value_or(tree_.step);
  }

  void collectMesh(const XmlElement& mesh) {
    const std::string file = mesh.required("file");
    const std::string name = mesh.text("name").value_or(fs::path(file).stem().string());
    const MjcfSettings settings = defaults_.of(mesh, "");
    const auto [known, isNew] = assets_.emplace(
        name, Asset{fs::absolute(options_.file).parent_path() / meshFolder_ / file, settings.vector3("scale", Vector3::Ones()), &mesh});
    if (!isNew) mesh.refuse("another mesh has this name", "give each a name of its own");
  }

  // ---- bodies ----------------------------------------------------------------------------------------------------------------------

  /// What stands inside a body, and the bodies inside.
  void readInside(const XmlElement& body, int number, const std::string& childClass) {
    MassProperties ofShapes;
    for (const XmlElement* geom : body.children("geom")) {
      const MassProperties mass = addShape(*geom, number, childClass);
      if (mass.mass > 0) ofShapes = ofShapes.mass > 0 ? ofShapes + mass : mass;
    }
    const XmlElement* inertial = body.child("inertial");
    const bool takesShapes = inertiaFromShapes_ == "true" || (inertiaFromShapes_ == "auto" && !inertial);
    if (takesShapes)
      link(number).mass = ofShapes;
    else if (inertial)
      link(number).mass = readInertial(*inertial);
    for (const XmlElement& e : body.elements()) {
      if (e.tag() == "site" && e.has("name")) addSite(e, number, childClass);
    }
    for (const XmlElement* inner : body.children("body")) addBody(*inner, number, childClass);
  }

  Link& link(int number) { return tree_.links[std::size_t(number)]; }

  void addSite(const XmlElement& site, int number, const std::string& childClass) {
    site.read();
    const Pose pose = defaults_.of(site, childClass).pose(conventions_);
    tree_.links.push_back({.name = *site.text("name"), .line = site.line(), .parent = number, .pose = link(number).pose * pose});
  }

  void addBody(const XmlElement& body, int parent, const std::string& outerClass) {
    const std::string childClass = body.text("childclass").value_or(outerClass);
    const MjcfSettings settings({&body});
    Link next{.name = body.text("name").value_or(""),
              .line = body.line(),
              .parent = parent,
              .pose = link(parent).pose * settings.pose(conventions_)};
    if (next.name.empty()) next.name = fmt::format("body{}", tree_.links.size());
    if (!bodies_.emplace(next.name, int(tree_.links.size())).second)
      body.refuse("another body has this name", "give each a name of its own");
    readJoints(body, next, childClass);
    const int number = int(tree_.links.size());
    bodies_.emplace(next.name, number);
    tree_.links.push_back(std::move(next));
    readInside(body, number, childClass);
  }

  void readJoints(const XmlElement& body, Link& link, const std::string& childClass) {
    std::vector<MjcfJoint> joints;
    for (const XmlElement& e : body.elements()) {
      if (e.tag() == "freejoint") e.read(), e.ignore("name"), link.floats = true;
      if (e.tag() != "joint") continue;
      e.read();
      const MjcfSettings settings = defaults_.of(e, childClass);
      const std::string type = settings.text("type").value_or("hinge");
      if (type == "free")
        e.ignore("name"), link.floats = true;
      else
        joints.push_back(readJoint(settings, type, link));
    }
    if (link.floats && !joints.empty()) joints[0].element->refuse("a free body has no other joints", "remove them, or the free joint");
    if (link.floats && link.parent != 0) body.refuse("only a body of the world can be free", "move it there");
    if (joints.empty()) return;
    for (Link& between : joinBy(joints, link, remarks_)) {
      between.parent = std::exchange(link.parent, int(tree_.links.size()));
      tree_.links.push_back(std::move(between));
    }
  }

  MjcfJoint readJoint(const MjcfSettings& s, const std::string& type, const Link& link) const {
    static const std::map<std::string, MjcfJoint::Kind> kinds{
        {"hinge", MjcfJoint::Kind::Hinge}, {"slide", MjcfJoint::Kind::Slide}, {"ball", MjcfJoint::Kind::Ball}};
    const XmlElement& element = s.element();
    const auto kind = kinds.find(type);
    if (kind == kinds.end()) element.refuse("'" + yaml::plain(type) + "' is no type of a joint", "write hinge, slide, ball or free");
    const Vector3 axis = s.vector3("axis", Vector3::UnitZ());
    if (!(axis.norm() > 1e-9)) element.refuse("its axis is zero", "give a direction, as axis=\"0 0 1\"");
    MjcfJoint joint{.element = &element, .name = element.text("name").value_or(link.name + "_joint"), .kind = kind->second};
    joint.position = link.pose * s.vector3("pos", Vector3::Zero());
    joint.axis = (link.pose.R * axis).normalized();
    joint.stiffness = s.number("stiffness").value_or(0);
    joint.damping = s.number("damping").value_or(0);
    if (joint.stiffness < 0 || joint.damping < 0) element.refuse("its stiffness or damping is negative", "give positive ones");
    const double unit = joint.kind == MjcfJoint::Kind::Slide ? 1 : conventions_.angle;
    joint.rest = (s.number("springref").value_or(0) - s.number("ref").value_or(0)) * unit;
    return joint;
  }

  MassProperties readInertial(const XmlElement& inertial) const {
    const MjcfSettings settings({&inertial});
    inertial.required("mass");
    MassProperties p{.mass = *inertial.number("mass")};
    if (!(p.mass > 0)) inertial.refuse("the mass is not positive", "give a positive one");
    if (const auto d = inertial.numbers("diaginertia", 3, 3)) p.inertia = d->asDiagonal();
    if (const auto f = inertial.numbers("fullinertia", 6, 6)) {
      const Eigen::VectorXd& J = *f; // 11, 22, 33, 12, 13, 23
      p.inertia << J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2];
    }
    return p.placed(settings.pose(conventions_));
  }

  // ---- shapes ----------------------------------------------------------------------------------------------------------------------

  /// Returns its mass, in the frame of the link.
  MassProperties addShape(const XmlElement& geom, int number, const std::string& childClass) {
    const MjcfSettings s = defaults_.of(geom, childClass);
    const std::string type = s.text("type").value_or(s.has("mesh") ? "mesh" : "sphere");
    Solid solid{.name = geom.text("name").value_or(""), .line = geom.line()};
    solid.shape.pose = s.pose(conventions_);
    const StoredMesh* mesh = nullptr;
    if (type == "mesh") {
      mesh = &giveAsset(s, solid);
    } else if (!giveForm(s, type, solid)) {
      remarks_.lose(geom.line(), fmt::format("{}: a shape of type {}", geom.label(), yaml::plain(type)));
      return {};
    }
    solid.touch = readTouch(s);
    const double density = s.number("density").value_or(1000);
    MassProperties mass = density > 0 ? massOf(solid, density, mesh) : MassProperties{};
    if (const auto given = s.number("mass")) {
      const MassProperties unit = massOf(solid, 1, mesh);
      mass = *given > 0 && unit.mass > 0 ? MassProperties{*given, unit.centre, unit.inertia * (*given / unit.mass)} : MassProperties{};
      if (*given < 0) geom.refuse("its mass is negative", "give a positive one");
    }
    if (density < 0) geom.refuse("its density is negative", "give a positive one");
    if (solid.shape.kind == Shape::Kind::HalfSpace && mayMove(number)) geom.refuse("a plane cannot move", "put it into <worldbody>");
    link(number).solids.push_back(std::move(solid));
    return mass;
  }

  bool mayMove(int number) {
    for (; number != Link::ground; number = link(number).parent) {
      if (link(number).joint || link(number).floats) return true;
    }
    return false;
  }

  const StoredMesh& giveAsset(const MjcfSettings& s, Solid& solid) {
    const XmlElement& geom = s.element();
    const std::string name = s.text("mesh").value_or("");
    const auto found = assets_.find(name);
    if (found == assets_.end())
      geom.refuse("there is no mesh '" + yaml::plain(name) + "' among the assets", "define it, or correct the name");
    const auto& [file, scale, element] = found->second;
    return giveMesh(solid, file, scale, true, *element, meshes_, remarks_);
  }

  /// Half lengths in the file are whole ones in the scene. False if there is no such shape in a scene.
  bool giveForm(const MjcfSettings& s, const std::string& type, Solid& solid) const {
    struct Form {
      Shape::Kind kind;
      int sizes;
    };
    static const std::map<std::string, Form> forms{{"sphere", {Shape::Kind::Sphere, 1}},       {"box", {Shape::Kind::Box, 3}},
                                                   {"capsule", {Shape::Kind::Capsule, 2}},     {"cylinder", {Shape::Kind::Cylinder, 2}},
                                                   {"ellipsoid", {Shape::Kind::Ellipsoid, 3}}, {"plane", {Shape::Kind::HalfSpace, 0}}};
    const auto found = forms.find(type);
    if (found == forms.end()) return false;
    const auto [kind, sizes] = found->second;
    solid.shape.kind = kind;
    const Eigen::VectorXd given = s.numbers("size", 1, 3).value_or(Eigen::VectorXd());
    if (sizes == 0) return true; // planes have no border where they touch
    const auto ends = s.numbers("fromto", 6, 6);
    if (given.size() < (ends ? 1 : sizes)) s.element().refuse(fmt::format("a {} has {} sizes", type, sizes), "give them as `size`");
    Vector3 half = Vector3::Zero();
    for (int i = 0; i < std::min<int>(sizes, int(given.size())); ++i) half[i] = given[i];
    if (ends && sizes > 1) stretch(*ends, sizes, half, solid, s.element());
    if (!(half.head(sizes).minCoeff() > 0)) s.element().refuse("its size is not positive", "give positive sizes");
    Vector3& size = solid.shape.size = half;
    if (kind == Shape::Kind::Box) size *= 2;
    if (kind == Shape::Kind::Capsule || kind == Shape::Kind::Cylinder) size[1] *= 2;
    return true;
  }

  /// From one point to another along the third axis; the other sizes are equal.
  static void stretch(const Eigen::VectorXd& ends, int sizes, Vector3& half, Solid& solid, const XmlElement& geom) {
    const Vector3 from = ends.head<3>(), to = ends.tail<3>();
    if (!((to - from).norm() > 0)) geom.refuse("both points of `fromto` are the same", "give two");
    half[sizes - 1] = (to - from).norm() / 2;
    if (sizes == 3) half[1] = half[0];
    solid.shape.pose = {so3::shortestRotation(Vector3::UnitZ(), to - from), (from + to) / 2};
  }

  std::optional<Touch> readTouch(const MjcfSettings& s) const {
    const auto mask = [&](const char* key) { return int(std::clamp(s.number(key).value_or(1), 0., 2147483647.)); };
    Touch touch{.type = mask("contype"), .affinity = mask("conaffinity")};
    Vector3 friction(1, 0.005, 0.0001);
    if (const auto given = s.numbers("friction", 1, 3)) friction.head(given->size()) = *given;
    if (friction.minCoeff() < 0) s.element().refuse("its friction is negative", "give coefficients from 0 on");
    const double directions = s.number("condim").value_or(3);
    touch.friction = directions >= 3 ? friction[0] : 0;
    touch.pivoting = directions >= 4 ? friction[1] : 0;
    touch.rolling = directions >= 6 ? friction[2] : 0;
    return touch.type == 0 && touch.affinity == 0 ? std::nullopt : std::optional(touch);
  }

  void readExclusions() {
    for (const XmlElement* contact : mujoco_.children("contact")) {
      for (const XmlElement* e : contact->children("exclude")) {
        e->ignore("name");
        tree_.exclusions.emplace_back(bodyNamed(*e, "body1"), bodyNamed(*e, "body2"));
      }
    }
  }

  int bodyNamed(const XmlElement& element, const char* key) const {
    const std::string name = element.required(key);
    if (name == "world") return 0;
    const auto found = bodies_.find(name);
    if (found == bodies_.end()) element.refuse("there is no body '" + yaml::plain(name) + "'", "correct the name");
    return found->second;
  }

  struct Asset {
    fs::path file;
    Vector3 scale;
    const XmlElement* element;
  };

  const XmlElement& mujoco_;
  const ImportOptions& options_;
  MeshStore& meshes_;
  Remarks& remarks_;
  MjcfDefaults defaults_;
  MjcfConventions conventions_;
  std::string inertiaFromShapes_ = "auto", meshFolder_;
  std::map<std::string, Asset> assets_;
  std::map<std::string, int> bodies_;
  SolidTree tree_;
};

}

SolidTree readMjcf(const XmlElement& mujoco, const ImportOptions& options, MeshStore& meshes, Remarks& remarks) {
  return Mjcf(mujoco, options, meshes, remarks).read();
}

}
