#include "tendril/analysis/model_contacts.h"

#include "analysis/null_space_basis.h"
#include "tendril/contact/contact_detection.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <Eigen/Geometry>
#include <fmt/format.h>

namespace tendril {
namespace {

/// Decompositions cost the cube of it: a few seconds.
constexpr int mostVelocities = 1000;
constexpr double fixedTogether = 1e-12; ///< normal velocity of a guide's point per unit of motion, in rounding
constexpr std::string_view askToProject = "correct it, or have it projected (project_initial: true)";

constexpr Request massOnly{.motion = true, .tangent = true, .stiffness = false, .timeRate = true, .damping = 0, .inertia = 1};

/// y of a guide with its first two derivatives, y'' = rows a + bias.
struct RelativePoint {
  Vector3 y, rate, bias;
  Eigen::Matrix<double, 3, Eigen::Dynamic> rows;
};

/// Adds map * (translation or rotation of the marker's frame) to rows over all velocities.
void addRows(const Model& model, const Marker& marker, const MarkerKinematics& k, const Matrix3& translation, const Matrix3& rotation,
             Eigen::Matrix<double, 3, Eigen::Dynamic>& rows) {
  Eigen::Index column = 0;
  for (const int block : marker.blocks()) {
    const Block& b = model.blocks()[std::size_t(block)];
    rows.middleCols(b.v, b.nv) += translation * k.J.block(0, column, 3, b.nv) + rotation * k.J.block(3, column, 3, b.nv);
    column += b.nv;
  }
}

Matrix3 cross(const Vector3& x) {
  Matrix3 X;
  X << 0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0;
  return X;
}

RelativePoint relativePoint(const Model& model, const Guide& guide, const State& state) {
  MarkerKinematics p, f;
  guide.point->kinematics(state, p, true);
  guide.frame->kinematics(state, f, true);
  const Matrix3 turn = f.frame.R.transpose() * p.frame.R;
  const Vector3 up = p.twist.head<3>(), wp = p.twist.tail<3>(), uf = f.twist.head<3>(), wf = f.twist.tail<3>();
  RelativePoint point;
  point.y = f.frame.R.transpose() * (p.frame.x - f.frame.x);
  point.rate = turn * up - uf - wf.cross(point.y);
  point.bias = turn * (p.accelerationBias.head<3>() + wp.cross(up)) - (f.accelerationBias.head<3>() + wf.cross(uf)) -
               f.accelerationBias.tail<3>().cross(point.y) - 2 * wf.cross(point.rate) - wf.cross(wf.cross(point.y));
  point.rows.setZero(3, model.nv());
  addRows(model, *guide.point, p, turn, Matrix3::Zero(), point.rows);
  addRows(model, *guide.frame, f, -Matrix3::Identity(), cross(point.y), point.rows);
  return point;
}

/// Rows that come one by one, and what belongs to them.
struct RowList {
  std::vector<VectorX> rows;
  std::vector<double> value, rate, bias;
  std::vector<std::string> names;

  void add(const VectorX& row, double v, double r, double b, std::string name) {
    rows.push_back(row), value.push_back(v), rate.push_back(r), bias.push_back(b), names.push_back(std::move(name));
  }
  MatrixX matrix(Eigen::Index columns) const {
    MatrixX M(Eigen::Index(rows.size()), columns);
    for (std::size_t i = 0; i < rows.size(); ++i) M.row(Eigen::Index(i)) = rows[i].transpose();
    return M;
  }
};

VectorX asVector(const std::vector<double>& numbers) { return Eigen::Map<const VectorX>(numbers.data(), Eigen::Index(numbers.size())); }

}

void Guide::check() const {
  const std::string what = "guide '" + name + "'";
  if (!point || !frame) throw InputError(what + ": it needs a point, and the frame of its line");
  const auto isUnit = [](const Vector3& x) { return std::abs(x.norm() - 1) <= 1e-9; };
  if (!isUnit(normal) || !isUnit(tangent)) throw InputError(what + ": its normal and its tangent must be of length 1");
  if (std::abs(normal.dot(tangent)) > 1e-9) throw InputError(what + ": its tangent must be perpendicular to its normal");
  if (friction && !(*friction >= 0 && std::isfinite(*friction)))
    throw InputError(what + ": its coefficient of friction must not be negative");
  if (sliding && std::abs(*sliding) != 1) throw InputError(what + ": it slides along +1 or -1 times its tangent");
}

struct ModelContacts::Impl {
  Impl(const Model& m, const ContactModel* contacts, std::vector<Guide> g, const ModelContactOptions& o)
      : model(m), guides(std::move(g)), options(o), assembly(m) {
    for (const Guide& guide : guides) guide.check();
    if (contacts && !contacts->empty()) detection.emplace(*contacts);
    unit.setOnes(model.nv());
    for (const Block& b : model.blocks()) {
      if (b.kind == Block::Kind::Pose) unit.segment(b.v + 3, 3).setConstant(1 / model.characteristicLength());
    }
  }

  void gather(const State& given) {
    if (model.nv() > mostVelocities)
      throw InputError(fmt::format("solvability: {} velocities are too many, at most {}, since its matrices are dense; take a coarser mesh",
                                   model.nv(), mostVelocities));
    if (given.q.size() != model.nq() || given.v.size() != model.nv())
      throw InputError(fmt::format("solvability: a state of {} coordinates was given to a model of {}; give one of its own", given.q.size(),
                                   model.nq()));
    state = given;
    state.a.setZero(model.nv());
    state.lambda.setZero(model.nc());
    speed = model.nv() > 0 ? state.v.cwiseQuotient(unit).cwiseAbs().maxCoeff() : 0;
    problem = {};
    notes.clear();
    held = {}, touching = {};
    tangents.clear(), frictions.clear(), roughness.clear(), parts.clear();
    takeEquations();
    for (const Guide& guide : guides) takeGuide(guide);
    if (detection) takeContacts();
    joinRows();
  }

  void takeEquations() {
    assembly.begin(massOnly);
    model.evaluate(state, assembly);
    problem.M = MatrixX(assembly.matrix()).topLeftCorner(model.nv(), model.nv());
    problem.F = assembly.residual();
    const MatrixX G = assembly.gradient();
    VectorX bias = VectorX::Zero(model.nc());
    model.constraintBias(state, bias);
    const VectorX rate = model.nc() > 0 ? VectorX(G * state.v + assembly.constraintRate()) : VectorX();
    for (int i = 0; i < model.nc(); ++i) held.add(G.row(i), assembly.constraint()[i], rate[i], bias[i], model.constraintName(i));
    for (int i = 0; i < model.nv(); ++i) problem.velocityNames.push_back(model.nameOfVelocity(i));
    problem.unit = unit;
    problem.mass = translationalMass();
  }

  /// Inertia against translations of all frames, the mean of three directions.
  double translationalMass() const {
    double mass = 0;
    for (int k = 0; k < 3; ++k) {
      VectorX t = VectorX::Zero(model.nv());
      for (const Block& b : model.blocks()) {
        if (b.kind == Block::Kind::Pose) t.segment<3>(b.v) = loadPose(state.q.data() + b.q).R.row(k).transpose();
      }
      mass += t.dot(problem.M * t) / 3;
    }
    return mass > 0 ? mass : 1;
  }

  void takeGuide(const Guide& guide) {
    const RelativePoint point = relativePoint(model, guide, state);
    const std::string name = "guide '" + guide.name + "'";
    const double gap = guide.normal.dot(point.y), rate = guide.normal.dot(point.rate), bias = guide.normal.dot(point.bias);
    const VectorX row = point.rows.transpose() * guide.normal;
    if (!guide.isUnilateral && !guide.friction) return held.add(row, gap, rate, bias, name);
    if (guide.isUnilateral && !isClosed(gap, rate, name)) return;
    if (row.cwiseProduct(unit).norm() <= fixedTogether)
      throw InputError(name + ": its point cannot move along the normal, since it is fixed to the frame; put one of them on another part");
    const double slip = guide.tangent.dot(point.rate);
    const double direction = guide.sliding ? *guide.sliding : slide(slip, guide.friction.has_value(), name);
    touching.add(row, gap, rate, bias, name);
    tangents.push_back(point.rows.transpose() * guide.tangent * (direction == 0 ? 1 : direction));
    take({-1, -1}, !guide.isUnilateral, guide.friction.has_value() && direction != 0, guide.friction.value_or(0));
  }

  void take(std::pair<int, int> of, bool isBilateral, bool rubs, double friction) {
    parts.push_back(of);
    problem.isBilateral.push_back(isBilateral);
    frictions.push_back(rubs ? friction : 0);
    roughness.push_back(rubs);
  }

  double allowedGap() const { return options.gapTolerance * model.characteristicLength(); }

  bool isClosed(double gap, double rate, const std::string& name) {
    if (gap > allowedGap() || rate > options.rateTolerance * speed) return false;
    if (rate < -options.rateTolerance * speed)
      notes.push_back(fmt::format(
          "{} approaches at {:.3g} m/s: an impact comes first; the accelerations are those after one without rebound", name, -rate));
    return true;
  }

  /// Sign of a slip, 0 at rest.
  double slide(double slip, bool rubs, const std::string& name) {
    if (std::abs(slip) > options.rateTolerance * speed) return slip > 0 ? 1 : -1;
    if (rubs) note(name + " does not slide: it takes part without friction; state a direction of sliding to assume one");
    return 0;
  }

  /// Says a thing once.
  void note(const std::string& text) {
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }

  // ---- contacts of shapes ----------------------------------------------------------------------------------------------------------

  struct Touch {
    VectorX normal, tangent, tangent2;
    Vector3 velocity;
  };

  Touch touch(const Contact& contact, const State& at) {
    ContactRows rows;
    detection->rows(contact, at, rows);
    Touch t{VectorX::Zero(model.nv()), VectorX::Zero(model.nv()), VectorX::Zero(model.nv()), rows.drift.head<3>()};
    for (int k = 0; k < rows.count; ++k) {
      const int v = model.blocks()[std::size_t(rows.block[std::size_t(k)])].v;
      t.normal.segment<6>(v) += rows.H[std::size_t(k)].row(0).transpose();
      t.tangent.segment<6>(v) += rows.H[std::size_t(k)].row(1).transpose();
      t.tangent2.segment<6>(v) += rows.H[std::size_t(k)].row(2).transpose();
      t.velocity += rows.H[std::size_t(k)].topRows<3>() * at.v.segment<6>(v);
    }
    return t;
  }

  /// Normal velocity that a contact has a little later or earlier at the same velocities; it is followed by its key.
  std::vector<double> normalVelocities(const std::vector<Contact>& contacts, double dt) {
    State moved = state;
    moved.t += dt;
    model.retract(state.q, dt * state.v, moved.q);
    const std::vector<Contact> later = detection->findContacts(moved, 0.1 * detection->smallestSize());
    std::vector<double> velocities;
    for (const Contact& contact : contacts) {
      const auto same = std::find_if(later.begin(), later.end(), [&](const Contact& c) { return c.key == contact.key; });
      velocities.push_back(same == later.end() ? std::nan("") : touch(*same, moved).velocity[0]);
    }
    return velocities;
  }

  void takeContacts() {
    const std::vector<double> reach(detection->model().parts().size(), 0.05 * detection->smallestSize());
    detection->findPairs(state, reach);
    const std::vector<Contact> contacts = detection->findContacts(state, allowedGap());
    const double dt = speed > 0 ? 1e-4 * detection->smallestSize() / speed : 0;
    std::vector<double> before(contacts.size(), 0), after(contacts.size(), 0);
    if (dt > 0) before = normalVelocities(contacts, -dt), after = normalVelocities(contacts, dt);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const double bias = dt > 0 && std::isfinite(before[i] + after[i]) ? (after[i] - before[i]) / (2 * dt) : 0;
      takeContact(contacts[i], bias);
    }
  }

  void takeContact(const Contact& contact, double bias) {
    const std::string name = "the contact of " + detection->names(contact);
    const Touch t = touch(contact, state);
    if (!isClosed(contact.point.gap, t.velocity[0], name)) return;
    const Eigen::Vector2d slip(t.velocity[1], contact.isPlane() ? 0 : t.velocity[2]);
    const double direction = slide(slip.norm(), contact.law->friction > 0, name);
    const Eigen::Vector2d along = direction == 0 ? Eigen::Vector2d(1, 0) : Eigen::Vector2d(slip.normalized());
    if (contact.point.gap < -allowedGap())
      note(fmt::format("the surfaces of {} overlap by {:.3g} m, a state that they cannot have: taken as closed", detection->names(contact),
                       -contact.point.gap));
    touching.add(t.normal, contact.point.gap, t.velocity[0], bias, name);
    tangents.push_back(along[0] * t.tangent + along[1] * t.tangent2);
    take({contact.first, contact.second}, false, direction != 0 && contact.law->friction > 0, contact.law->friction);
  }

  // ---- the whole -------------------------------------------------------------------------------------------------------------------

  void joinRows() {
    const Eigen::Index n = model.nv();
    problem.G = held.matrix(n);
    problem.jointBias = asVector(held.bias);
    problem.jointNames = held.names;
    problem.N = touching.matrix(n);
    problem.normalBias = asVector(touching.bias);
    problem.contactNames = touching.names;
    problem.friction = asVector(frictions);
    problem.roughness = asVector(roughness);
    problem.H.resize(problem.N.rows(), n);
    for (std::size_t i = 0; i < tangents.size(); ++i) problem.H.row(Eigen::Index(i)) = tangents[i].transpose();
  }

  /// Rows that hold with equality, with their values and rates.
  struct Equalities {
    MatrixX J;
    VectorX value, rate;
    std::vector<std::string> names;
  };
  /// Which unilateral contacts belong to them because they are violated.
  enum class Overlaps { None, Guides, All };
  std::set<std::string> pushed; ///< names of the contacts that a projection moves apart

  /// What was once found to overlap is held at gap zero for the rest of a projection: a step of Newton's method may lift it a little off.
  void notePushed() {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (touching.value[i] < 0) pushed.insert(touching.names[i]);
  }

  Equalities equalities(Overlaps overlaps) const {
    std::vector<Eigen::Index> taken;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // What is projected is moved out to the last digit, not to the tolerance.
      const bool isOverlap = overlaps == Overlaps::All
                                 ? touching.value[i] < 0 || pushed.contains(touching.names[i])
                                 : overlaps == Overlaps::Guides && parts[i].first < 0 && touching.value[i] < -allowedGap();
      if (problem.isBilateral[i] || isOverlap) taken.push_back(Eigen::Index(i));
    }
    const Eigen::Index joints = Eigen::Index(held.value.size()), all = joints + Eigen::Index(taken.size());
    Equalities e{MatrixX(all, model.nv()), VectorX(all), VectorX(all), held.names};
    e.J.topRows(joints) = problem.G;
    e.value.head(joints) = asVector(held.value), e.rate.head(joints) = asVector(held.rate);
    for (Eigen::Index k = 0; k < Eigen::Index(taken.size()); ++k) {
      const std::size_t i = std::size_t(taken[std::size_t(k)]);
      e.J.row(joints + k) = problem.N.row(Eigen::Index(i));
      e.value[joints + k] = touching.value[i], e.rate[joints + k] = touching.rate[i];
      e.names.push_back(touching.names[i]);
    }
    return e;
  }

  /// Values of rows as lengths and speeds, whatever is their unit: what has to be moved to make them vanish, rotations at the size of the
  /// model.
  VectorX asMotion(const Equalities& e, const VectorX& values) const {
    VectorX sizes = (e.J * unit.asDiagonal()).rowwise().norm();
    for (double& size : sizes) size = size > fixedTogether ? size : 1; // nothing moves it
    return values.cwiseAbs().cwiseQuotient(sizes);
  }

  void refusePositions(const Equalities& e, std::string_view remedy) const {
    if (e.value.size() == 0) return;
    Eigen::Index row = 0;
    if (asMotion(e, e.value).maxCoeff(&row) <= allowedGap()) return;
    throw InputError(fmt::format("the state violates {} by {:.3g} m or rad: no statement on its accelerations; {}",
                                 e.names[std::size_t(row)], std::abs(e.value[row]), remedy));
  }

  void refuseViolations() const {
    refusePositions(equalities(Overlaps::Guides), askToProject);
    const Equalities e = equalities(Overlaps::None);
    if (e.rate.size() == 0) return;
    Eigen::Index row = 0;
    if (asMotion(e, e.rate).maxCoeff(&row) <= options.rateTolerance * speed) return;
    throw InputError(fmt::format("the velocities violate {} by {:.3g} m/s or rad/s: no statement on the accelerations; {}",
                                 e.names[std::size_t(row)], std::abs(e.rate[row]), askToProject));
  }

  const Model& model;
  const std::vector<Guide> guides;
  const ModelContactOptions options;
  Assembly assembly;
  std::optional<ContactDetection> detection;
  State state;
  VectorX unit;
  double speed = 0; ///< of the fastest motion, rotations at the size of the model
  RowList held, touching;
  std::vector<VectorX> tangents;
  std::vector<double> frictions, roughness;
  std::vector<std::pair<int, int>> parts; ///< of each contact of `touching`
  AccelerationProblem problem;
  std::vector<std::string> notes;
};

ModelContacts::ModelContacts(const Model& model, const ContactModel* contacts, std::vector<Guide> guides,
                             const ModelContactOptions& options)
    : impl_(std::make_unique<Impl>(model, contacts, std::move(guides), options)) {}
ModelContacts::~ModelContacts() = default;

const AccelerationProblem& ModelContacts::at(const State& state) {
  impl_->gather(state);
  impl_->refuseViolations();
  return impl_->problem;
}

std::pair<int, int> ModelContacts::parts(int contact) const {
  if (contact < 0 || contact >= int(impl_->parts.size()))
    throw InputError("the problem has " + std::to_string(impl_->parts.size()) + " contacts; there is none of number " +
                     std::to_string(contact));
  return impl_->parts[std::size_t(contact)];
}

std::vector<std::string> ModelContacts::project(State& state) {
  double moved = 0, changed = 0;
  const double size = impl_->model.characteristicLength();
  impl_->pushed.clear();
  for (int iteration = 0; iteration < 30; ++iteration) {
    impl_->gather(state);
    impl_->notePushed();
    const Impl::Equalities e = impl_->equalities(Impl::Overlaps::All);
    if (e.value.size() == 0 || impl_->asMotion(e, e.value).maxCoeff() <= 1e-13 * size) break;
    const VectorX step = RowSpace(e.J, impl_->unit, ConstrainedResponse::rankTolerance).solve(-e.value);
    impl_->model.retract(state.q, step, state.q);
    moved += step.cwiseAbs().maxCoeff();
  }
  impl_->gather(state);
  impl_->refusePositions(impl_->equalities(Impl::Overlaps::All),
                         "projection found no state that agrees with all joints and guides; move the parts or what holds them");
  const Impl::Equalities e = impl_->equalities(Impl::Overlaps::None);
  if (e.rate.size() > 0) {
    const VectorX change = RowSpace(e.J, impl_->unit, ConstrainedResponse::rankTolerance).solve(-e.rate);
    state.v += change;
    changed = change.cwiseAbs().maxCoeff();
  }
  std::vector<std::string> messages;
  if (moved > 1e-9 * size)
    messages.push_back(fmt::format("positions did not agree with joints and guides and were moved by up to {:.3g} m or rad", moved));
  if (changed > 1e-9 * impl_->speed)
    messages.push_back(
        fmt::format("velocities did not agree with joints and guides and were changed by up to {:.3g} m/s or rad/s", changed));
  return messages;
}

const std::vector<std::string>& ModelContacts::notes() const { return impl_->notes; }

}
