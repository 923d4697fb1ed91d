#include "tendril/contact/contact_model.h"
#include "tendril/contact/curve_gap.h"
#include "tendril/elements/beam_elements.h"
#include "view/film_channel.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>

namespace tendril {

namespace {

using Layout = FilmChannel::Layout;

/// A column of a channel and, with it, what can be coloured by.
struct Quantity {
  const char *name, *label, *unit;
};

void addFields(const FilmChannel& channel, const char* on, std::initializer_list<Quantity> quantities, std::vector<FilmField>& fields) {
  for (const Quantity& quantity : quantities) {
    const auto column = std::find(channel.columns.begin(), channel.columns.end(), quantity.name);
    fields.push_back({quantity.name, quantity.label, quantity.unit, on, channel.name, std::size_t(column - channel.columns.begin())});
  }
}

void addReactions(const Model& model, std::vector<FilmChannel>& channels) {
  const Joints* joints = model.term<Joints>();
  if (!joints || joints->size() == 0) return;
  FilmChannel channel{
      "reactions", Layout::Dense, std::size_t(joints->size()), {"force x", "force y", "force z", "moment x", "moment y", "moment z"}, {}};
  channel.fill = [=](const FilmFrame& frame, ChunkBuffer& buffer) {
    for (int i = 0; i < joints->size(); ++i) {
      const JointReaction reaction = joints->reaction(frame.state, i);
      buffer.add(reaction.force);
      buffer.add(reaction.moment);
    }
  };
  channels.push_back(std::move(channel));
}

// ---- beams -----------------------------------------------------------------------------------------------------------------------------

void addElements(const Mechanism& mechanism, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields) {
  if (mechanism.beams.empty()) return;
  FilmChannel channel{"elements",
                      Layout::Dense,
                      0,
                      {"axial force", "shear force", "torsion moment", "bending moment", "curvature", "twist", "strain", "energy density"},
                      {}};
  for (const BeamPart& beam : mechanism.beams) channel.items += std::size_t(beam.elements());
  std::vector<BeamElements> parts;
  for (const BeamPart& beam : mechanism.beams) parts.emplace_back(*mechanism.model, beam);
  channel.fill = [parts, &mechanism](const FilmFrame& frame, ChunkBuffer& buffer) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const BeamPart& beam = mechanism.beams[i];
      for (int e = 0; e < beam.elements(); ++e) {
        const Vector6 force = parts[i].sectionForce(frame.state, e), strain = parts[i].strain(frame.state, e);
        const double energy = strain.dot(beam.section.stiffness * strain) / 2;
        for (const double value : {force[0], force.segment<2>(1).norm(), force[3], force.tail<2>().norm(), strain.tail<2>().norm(),
                                   strain[3], strain[0], energy})
          buffer.add(value);
      }
    }
  };
  addFields(channel, "elements",
            {{"axial force", "Axial force", "N"},
             {"shear force", "Shear force", "N"},
             {"torsion moment", "Torsion moment", "N m"},
             {"bending moment", "Bending moment", "N m"},
             {"curvature", "Curvature against the reference shape", "1/m"},
             {"twist", "Twist against the reference shape", "1/m"},
             {"strain", "Axial strain", "1"},
             {"energy density", "Strain energy per length", "J/m"}},
            fields);
  channels.push_back(std::move(channel));
}

void addNodeSpeed(const Mechanism& mechanism, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields) {
  if (mechanism.beams.empty()) return;
  FilmChannel channel{"node speed", Layout::Dense, 0, {"node speed"}, {}};
  for (const BeamPart& beam : mechanism.beams) channel.items += beam.nodes.size();
  channel.fill = [&mechanism](const FilmFrame& frame, ChunkBuffer& buffer) {
    for (const BeamPart& beam : mechanism.beams) {
      for (const int node : beam.nodes) buffer.add(frame.state.v.segment<3>(mechanism.model->blocks()[std::size_t(node)].v).norm());
    }
  };
  addFields(channel, "nodes", {{"node speed", "Speed of the centreline", "m/s"}}, fields);
  channels.push_back(std::move(channel));
}

// ---- bodies ----------------------------------------------------------------------------------------------------------------------------

void addBodyMotion(const Mechanism& mechanism, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields) {
  if (mechanism.bodies.empty()) return;
  FilmChannel channel{"body motion", Layout::Dense, mechanism.bodies.size(), {"speed", "angular speed", "kinetic energy"}, {}};
  std::vector<Matrix6> inertias;
  for (const BodyPart& body : mechanism.bodies) inertias.push_back(body.mass.spatial());
  channel.fill = [&mechanism, inertias](const FilmFrame& frame, ChunkBuffer& buffer) {
    for (std::size_t i = 0; i < mechanism.bodies.size(); ++i) {
      const BodyPart& body = mechanism.bodies[i];
      const Vector6 twist = frame.state.v.segment<6>(mechanism.model->blocks()[std::size_t(body.block)].v);
      const Vector3 velocity = twist.head<3>() + twist.tail<3>().cross(body.mass.centre);
      for (const double value : {velocity.norm(), twist.tail<3>().norm(), twist.dot(inertias[i] * twist) / 2}) buffer.add(value);
    }
  };
  addFields(channel, "bodies",
            {{"speed", "Speed of the centre of mass", "m/s"},
             {"angular speed", "Angular speed", "rad/s"},
             {"kinetic energy", "Kinetic energy", "J"}},
            fields);
  channels.push_back(std::move(channel));
}

// ---- contacts --------------------------------------------------------------------------------------------------------------------------

/// How the parts that touch move in a frame.
class PartMotions {
 public:
  explicit PartMotions(const Scene& scene) : model_(*scene.mechanism().model), parts_(scene.contacts().parts()) {
    for (const ContactModel::Part& part : parts_) {
      curves_.push_back(part.curve ? CurveConfiguration(model_, *part.curve) : CurveConfiguration());
    }
  }

  void set(const State& state) {
    state_ = &state;
    for (CurveConfiguration& curve : curves_) curve.set(state);
  }
  /// Tangential speed of the first part against the second at a closed contact; an open one has none.
  double slipSpeed(const FilmFrame::Contact& contact) const {
    if (contact.status == 0) return 0;
    const Vector3 relative = velocityAt(contact.first, contact.position) - velocityAt(contact.second, contact.position);
    return (relative - relative.dot(contact.normal) * contact.normal).norm();
  }

 private:
  /// Velocity of the point of a part that is at `position` now: it moves with the body, or with the nearest section of the beam.
  Vector3 velocityAt(int number, const Vector3& position) const {
    const ContactModel::Part& part = parts_[std::size_t(number)];
    if (!part.curve) return velocityOf(part.marker->frame(*state_), part.marker->twist(*state_), position);
    const CurveConfiguration& curve = curves_[std::size_t(number)];
    const Carrier section = curve.carrier(nearestPlace(curve, position));
    Vector6 twist = Vector6::Zero();
    for (std::size_t k = 0; k < std::size_t(section.count); ++k) {
      twist += section.J[k] * state_->v.segment<6>(model_.blocks()[std::size_t(section.block[k])].v);
    }
    return velocityOf(section.frame, twist, position);
  }
  static Vector3 velocityOf(const Pose& pose, const Vector6& twist, const Vector3& position) {
    return pose.R * (twist.head<3>() + twist.tail<3>().cross(pose.R.transpose() * (position - pose.x)));
  }

  const Model& model_;
  const std::vector<ContactModel::Part>& parts_;
  std::vector<CurveConfiguration> curves_; ///< by part; empty for rigid ones
  const State* state_ = nullptr;
};

void addContacts(const RunResults& results, const Vector3& origin, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields) {
  FilmChannel channel{"contacts",
                      Layout::List,
                      0,
                      {"position x", "position y", "position z", "normal x", "normal y", "normal z", "force x", "force y", "force z", "gap",
                       "slip", "status", "first", "second", "normal force", "tangential force"},
                      {}};
  channel.fill = [origin, motions = std::make_shared<PartMotions>(results.scene())](const FilmFrame& frame, ChunkBuffer& buffer) {
    motions->set(frame.state);
    buffer.addCount(frame.contacts.size());
    for (const FilmFrame::Contact& contact : frame.contacts) {
      const Vector3 force = contact.impulse / frame.step;
      const double normal = force.dot(contact.normal);
      buffer.add(Vector3(contact.position - origin));
      buffer.add(contact.normal);
      buffer.add(force);
      for (const double value : {contact.gap, motions->slipSpeed(contact), contact.status, double(contact.first), double(contact.second),
                                 normal, (force - normal * contact.normal).norm()})
        buffer.add(value);
    }
  };
  addFields(channel, "contacts",
            {{"normal force", "Normal force", "N"},
             {"tangential force", "Tangential force", "N"},
             {"slip", "Slip speed", "m/s"},
             {"gap", "Gap", "m"},
             {"status", "Status of the contact", ""}},
            fields);
  fields.back().categories = {"open", "sticking", "sliding"};
  channels.push_back(std::move(channel));
}

/// What presses on a body: the sum of the magnitudes of its contact forces, which a body squeezed in rest has, too.
void addBodyContactForce(const RunResults& results, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields) {
  const std::size_t bodies = results.scene().mechanism().bodies.size();
  if (bodies == 0) return;
  FilmChannel channel{"body contact", Layout::Dense, bodies, {"contact force"}, {}};
  channel.fill = [bodies, parts = filmParts(results.scene())](const FilmFrame& frame, ChunkBuffer& buffer) {
    std::vector<double> sums(bodies, 0);
    for (const FilmFrame::Contact& contact : frame.contacts) {
      for (const int part : {contact.first, contact.second}) {
        const int body = parts[std::size_t(part)].body;
        if (body >= 0) sums[std::size_t(body)] += contact.impulse.norm() / frame.step;
      }
    }
    for (const double sum : sums) buffer.add(sum);
  };
  addFields(channel, "bodies", {{"contact force", "Contact forces, sum of their magnitudes", "N"}}, fields);
  channels.push_back(std::move(channel));
}

}

void addValueChannels(const RunResults& results, const Vector3& origin, std::vector<FilmChannel>& channels,
                      std::vector<FilmField>& fields) {
  const Mechanism& mechanism = results.scene().mechanism();
  addReactions(*mechanism.model, channels);
  addElements(mechanism, channels, fields);
  if (results.scene().isDynamic()) {
    addNodeSpeed(mechanism, channels, fields);
    addBodyMotion(mechanism, channels, fields);
  }
  if (!results.reader().hasList("contacts")) return;
  addContacts(results, origin, channels, fields);
  addBodyContactForce(results, channels, fields);
}

}
