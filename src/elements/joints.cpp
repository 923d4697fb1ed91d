#include "tendril/elements/joints.h"

#include "tendril/lie/so3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/director_system.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace tendril {

namespace {

using Row = Joints::Row;
using Type = Joints::Row::Type;

constexpr Row position(int i) { return {Type::Position, i}; }
constexpr Row align(int i, int j) { return {Type::Align, i, j}; }
constexpr Row turn(int i) { return {Type::Turn, i}; }

constexpr std::array fixedRows{position(0), position(1), position(2), turn(0), turn(1), turn(2)};
constexpr std::array revoluteRows{position(0), position(1), position(2), align(0, 2), align(1, 2)};
constexpr std::array prismaticRows{position(0), position(1), turn(0), turn(1), turn(2)};
constexpr std::array cylindricalRows{position(0), position(1), align(0, 2), align(1, 2)};
constexpr std::array sphericalRows{position(0), position(1), position(2)};
constexpr std::array universalRows{position(0), position(1), position(2), align(0, 1)};
constexpr std::array planarRows{position(2), align(0, 2), align(1, 2)};
constexpr std::array screwRows{position(0), position(1), align(0, 2), align(1, 2), Row{Type::Screw}};
constexpr std::array distanceRows{Row{Type::Distance}};
constexpr Row angleDrive{Type::Angle, 2, 0, true};
constexpr Row lengthDrive{Type::Position, 2, 0, true};
constexpr std::array drivenRotationRows{position(0), position(1), position(2), align(0, 2), align(1, 2), angleDrive};
constexpr std::array drivenTranslationRows{position(0), position(1), turn(0), turn(1), turn(2), lengthDrive};
constexpr std::array angleDriveRows{angleDrive};
constexpr std::array lengthDriveRows{lengthDrive};

struct KindEntry {
  std::string_view name;
  std::span<const Row> rows;
};

const KindEntry& entry(JointKind kind) {
  static constexpr std::array<KindEntry, 13> table{{{"fixed", fixedRows},
                                                    {"revolute", revoluteRows},
                                                    {"prismatic", prismaticRows},
                                                    {"cylindrical", cylindricalRows},
                                                    {"spherical", sphericalRows},
                                                    {"universal", universalRows},
                                                    {"planar", planarRows},
                                                    {"screw", screwRows},
                                                    {"distance", distanceRows},
                                                    {"driven rotation", drivenRotationRows},
                                                    {"driven translation", drivenTranslationRows},
                                                    {"angle drive", angleDriveRows},
                                                    {"length drive", lengthDriveRows}}};
  return table[std::size_t(kind)];
}

RowQuantity quantity(const Row& row) {
  const bool isLength = row.type == Type::Position || row.type == Type::Distance || row.type == Type::Screw;
  return isLength ? RowQuantity::Length : RowQuantity::Angle;
}

bool has(std::span<const Row> rows, Type type) {
  return std::any_of(rows.begin(), rows.end(), [type](const Row& row) { return row.type == type; });
}

bool isDriven(std::span<const Row> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.driven; });
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string describe(JointKind kind, const std::string& name, const MarkerPair& pair) {
  return std::string(nameOf(kind)) + " joint '" + name + "' between " + pair.names();
}

/// How far the directions that a joint keeps are from where they should be, measured by true angles: rows alone would accept half turns.
double tilt(std::span<const Row> rows, const Matrix3& R) {
  if (has(rows, Type::Turn)) return so3::log(R).norm();
  double angle = 0;
  for (const Row& row : rows) {
    if (row.type != Type::Align) continue;
    angle = std::max(angle, row.j == 2 ? std::atan2(std::hypot(R(0, 2), R(1, 2)), R(2, 2))
                                       : std::abs(std::asin(std::clamp(R(row.i, row.j), -1., 1.))));
  }
  return angle;
}

}

std::string_view nameOf(JointKind kind) { return entry(kind).name; }

std::span<const Joints::Row> Joints::rowsOf(const Joint& joint) const { return entry(joint.kind).rows; }

int Joints::add(JointKind kind, const std::string& name, const Marker& first, const Marker& second, JointParameters parameters) {
  MarkerPair pair(&first, second);
  const std::string what = describe(kind, name, pair);
  if (find(name) >= 0) throw InputError("two joints are named '" + name + "'; give each a name of its own");
  if (!pair.canMove()) throw InputError(what + ": both markers are on the ground or on one body, so the joint has nothing to hold");
  if (isDriven(entry(kind).rows) && !parameters.motion.function) {
    throw InputError(what + ": a driven joint needs its motion as a function of time");
  }
  if (kind == JointKind::Screw && !(std::isfinite(parameters.pitch) && parameters.pitch != 0)) {
    throw InputError(what + ": the pitch must be a finite number other than zero; without an advance take a revolute joint");
  }
  if (parameters.length && !(std::isfinite(*parameters.length) && *parameters.length > 0)) {
    throw InputError(what + ": the length must be positive; at length zero take a spherical joint");
  }
  joints_.push_back({.kind = kind, .name = name, .pair = pair, .parameters = std::move(parameters), .reference = {}});
  return size() - 1;
}

int Joints::find(const std::string& name) const {
  const auto found = std::find_if(joints_.begin(), joints_.end(), [&](const Joint& joint) { return joint.name == name; });
  return found == joints_.end() ? -1 : int(found - joints_.begin());
}

void Joints::declare(Layout& layout) {
  for (Joint& joint : joints_) {
    takeReferences(joint, layout);
    checkFit(joint, layout);
    std::vector<RowQuantity> quantities;
    for (const Row& row : rowsOf(joint)) quantities.push_back(quantity(row));
    joint.constraint = layout.addConstraint("joint '" + joint.name + "'", quantities);
    joint.firstRow = layout.constraintRow(joint.constraint);
    joint.rowCount = int(quantities.size());
    joint.pair.declare(layout, joint.constraint);
  }
}

void Joints::takeReferences(Joint& joint, const Layout& layout) const {
  const Pose H = joint.pair.frame(layout.initialState());
  if (joint.kind == JointKind::Distance) {
    joint.length = joint.parameters.length.value_or(H.x.norm());
    if (!(joint.length > 0)) {
      throw InputError(describe(joint.kind, joint.name, joint.pair) + ": the markers coincide; give a length, or take a spherical joint");
    }
    return; // a distance knows no reference frame
  }
  if (joint.parameters.reference == JointReference::Orientation) joint.reference.R = H.R.transpose();
  if (joint.parameters.reference == JointReference::Pose) joint.reference = H.inverse();
  if (joint.kind == JointKind::Screw) {
    const Pose relative = joint.reference * H;
    joint.screwShift = relative.x[2] - joint.parameters.pitch / (2 * std::numbers::pi) * AxisAngle(relative.R, 0).value;
  }
}

void Joints::checkFit(const Joint& joint, const Layout& layout) const {
  const std::span<const Row> rows = rowsOf(joint);
  const Pose H = joint.reference * joint.pair.frame(layout.initialState());
  const Jet target = motion(joint, layout.initialState().t);
  double distance = 0, angle = tilt(rows, H.R);
  for (const Row& row : rows) {
    const double g = value(joint, row, H, target).g;
    if (row.type == Type::Distance) distance = std::abs(H.x.norm() - joint.length);
    if (row.type == Type::Position || row.type == Type::Screw) distance = std::hypot(distance, g);
    if (row.type == Type::Angle) angle = std::max(angle, std::abs(g));
  }
  const double size = layout.characteristicLength(), tolerance = joint.parameters.tolerance;
  if (distance <= tolerance * size && angle <= tolerance) return;
  throw InputError(describe(joint.kind, joint.name, joint.pair) +
                   ": the markers do not fit together in the initial configuration: they are " + number(distance) + " m and " +
                   number(angle * 180 / std::numbers::pi) + " degrees away from where the joint holds them (size of the model " +
                   number(size) +
                   " m); a joint between far-apart markers would tear the model together; move the markers, or let the joint take its "
                   "reference from the initial orientation or pose");
}

Jet Joints::motion(const Joint& joint, double t) { return joint.parameters.motion.function ? joint.parameters.motion(t) : Jet{}; }

// ---- rows ------------------------------------------------------------------------------------------------------------------------------

Joints::Value Joints::value(const Joint& joint, const Row& row, const Pose& H, const Jet& target) {
  Value v;
  switch (row.type) {
  case Type::Position:
    v.g = H.x[row.i];
    v.gradient.head<3>() = H.R.row(row.i);
    break;
  case Type::Align: {
    const DirectionCosine cosine(H.R, row.i, row.j);
    v.g = cosine.value;
    v.gradient.tail<3>() = cosine.gradient;
    break;
  }
  case Type::Turn: {
    const int j = (row.i + 1) % 3, k = (row.i + 2) % 3;
    const DirectionCosine a(H.R, k, j), b(H.R, j, k);
    v.g = 0.5 * (a.value - b.value);
    v.gradient.tail<3>() = 0.5 * (a.gradient - b.gradient);
    break;
  }
  case Type::Distance: {
    const double L = joint.length;
    v.g = (H.x.squaredNorm() - L * L) / (2 * L);
    v.gradient.head<3>() = H.R.transpose() * H.x / L;
    break;
  }
  case Type::Angle: {
    const AxisAngle angle(H.R, target.value);
    v.g = angle.value;
    v.gradient.tail<3>() = angle.gradient;
    v.isDefined = angle.isDefined;
    break;
  }
  case Type::Screw: {
    const double advance = joint.parameters.pitch / (2 * std::numbers::pi);
    const AxisAngle angle(H.R, (H.x[2] - joint.screwShift) / advance);
    v.g = H.x[2] - joint.screwShift - advance * angle.value;
    v.gradient << H.R.row(2).transpose(), -advance * angle.gradient;
    v.isDefined = angle.isDefined;
    break;
  }
  }
  if (row.driven) {
    v.g -= target.value;
    v.rate = -target.rate;
    v.acceleration = -target.acceleration;
  }
  return v;
}

Matrix6 Joints::hessian(const Joint& joint, const Row& row, const Pose& H, const Jet& target) {
  Matrix6 h = Matrix6::Zero();
  auto ofTranslation = h.topLeftCorner<3, 3>(), mixed = h.topRightCorner<3, 3>(), ofRotation = h.bottomRightCorner<3, 3>();
  switch (row.type) {
  case Type::Position:
    mixed = so3::hat(H.R.row(row.i));
    break;
  case Type::Align:
    ofRotation = DirectionCosine(H.R, row.i, row.j).hessian();
    break;
  case Type::Turn: {
    const int j = (row.i + 1) % 3, k = (row.i + 2) % 3;
    ofRotation = 0.5 * (DirectionCosine(H.R, k, j).hessian() - DirectionCosine(H.R, j, k).hessian());
    break;
  }
  case Type::Distance:
    ofTranslation = Matrix3::Identity() / joint.length;
    mixed = so3::hat(H.R.transpose() * H.x / joint.length);
    break;
  case Type::Angle:
    ofRotation = AxisAngle(H.R, target.value).hessian;
    break;
  case Type::Screw: {
    const double advance = joint.parameters.pitch / (2 * std::numbers::pi);
    mixed = so3::hat(H.R.row(2));
    ofRotation = -advance * AxisAngle(H.R, (H.x[2] - joint.screwShift) / advance).hessian;
    break;
  }
  }
  return h;
}

void Joints::evaluate(const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  if (!request.tangent && !request.timeRate) {
    for (const Joint& joint : joints_) addResidual(joint, state, assembly);
    return;
  }
  RelativeMotion m;
  for (const Joint& joint : joints_) addAll(joint, state, m, assembly);
}

void Joints::addResidual(const Joint& joint, const State& state, Assembly& assembly) const {
  const Pose frame = joint.pair.frame(state), H = joint.reference * frame;
  const Jet target = motion(joint, state.t);
  Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1> g(joint.rowCount);
  Vector6 w = Vector6::Zero();
  int i = 0;
  for (const Row& row : rowsOf(joint)) {
    const Value v = value(joint, row, H, target);
    if (!v.isDefined) assembly.refuse(joint.pair.block(0));
    g[i] = v.g;
    w -= state.lambda[joint.firstRow + i] * v.gradient;
    ++i;
  }
  assembly.addConstraint(joint.constraint, g);
  joint.pair.addForce(state, frame, w, assembly);
}

void Joints::addAll(const Joint& joint, const State& state, RelativeMotion& m, Assembly& assembly) const {
  joint.pair.kinematics(state, m);
  const Pose H = joint.reference * m.frame;
  const Jet target = motion(joint, state.t);
  Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::ColMajor, 6, 6> gradient(joint.rowCount, 6);
  Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1> g(joint.rowCount), rate(joint.rowCount);
  PairWrench wrench;
  int i = 0;
  for (const Row& row : rowsOf(joint)) {
    const Value v = value(joint, row, H, target);
    if (!v.isDefined) assembly.refuse(joint.pair.block(0));
    const double lambda = state.lambda[joint.firstRow + i];
    g[i] = v.g;
    rate[i] = v.rate + v.gradient.dot(m.drift);
    gradient.row(i) = v.gradient.transpose();
    wrench.w -= lambda * v.gradient;
    wrench.stiffness -= lambda * hessian(joint, row, H, target);
    ++i;
  }
  assembly.addConstraint(joint.constraint, g);
  if (assembly.request().timeRate) assembly.addConstraintRate(joint.constraint, rate);
  joint.pair.addWrench(state, m, wrench, assembly);
  if (!assembly.request().tangent) return;
  for (int k = 0; k < joint.pair.count(); ++k) {
    const Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::ColMajor, 6, 6> G = gradient.lazyProduct(m.J[k]);
    assembly.addGradient(joint.pair.constraintRow(k), joint.pair.constraintColumn(k), G);
  }
}

void Joints::addEnergy(const State& state, Energy& energy) const {
  // With G v + g_t = 0 the reactions do the work lambda . G v = -lambda . g_t: that of drives and of the moving ground.
  RelativeMotion m;
  for (const Joint& joint : joints_) {
    joint.pair.kinematics(state, m);
    const Pose H = joint.reference * m.frame;
    const Jet target = motion(joint, state.t);
    int i = joint.firstRow;
    for (const Row& row : rowsOf(joint)) {
      const Value v = value(joint, row, H, target);
      energy.power -= state.lambda[i++] * (v.rate + v.gradient.dot(m.drift));
    }
  }
}

void Joints::addConstraintBias(const State& state, VectorX& bias) const {
  RelativeMotion m;
  for (const Joint& joint : joints_) {
    joint.pair.kinematics(state, m, true);
    const Pose H = joint.reference * m.frame;
    const Jet target = motion(joint, state.t);
    int i = joint.firstRow;
    for (const Row& row : rowsOf(joint)) {
      const Value v = value(joint, row, H, target);
      bias[i++] += v.gradient.dot(m.accelerationBias) + m.twist.dot(hessian(joint, row, H, target) * m.twist) + v.acceleration;
    }
  }
}

// ---- what measures read
// ------------------------------------------------------------------------------------------------------------------

JointReaction Joints::reaction(const State& state, int number) const {
  const Joint& joint = joints_[number];
  const Pose relative = joint.pair.frame(state), H = joint.reference * relative;
  const Jet target = motion(joint, state.t);
  Vector6 wrench = Vector6::Zero(); // in the frame of the second marker
  int i = joint.firstRow;
  for (const Row& row : rowsOf(joint)) wrench += state.lambda[i++] * value(joint, row, H, target).gradient;
  const Matrix3 R = joint.pair.second().frame(state).R;
  return {R * wrench.head<3>(), R * wrench.tail<3>(), relative.R * wrench.head<3>(), relative.R * wrench.tail<3>()};
}

double Joints::angle(const State& state, int number) const {
  const Joint& joint = joints_[number];
  const bool turns = isDriven(rowsOf(joint)) && has(rowsOf(joint), Type::Angle);
  return AxisAngle(joint.reference.R * joint.pair.frame(state).R, turns ? motion(joint, state.t).value : 0).value;
}

Vector3 Joints::displacement(const State& state, int number) const {
  const Joint& joint = joints_[number];
  return (joint.reference * joint.pair.frame(state)).x;
}

// ---- director coordinates --------------------------------------------------------------------------------------------------------------

namespace {

/// Columns of frames in dot products: d1 to d3 of the first frame, those of the second.
constexpr int first(int i) { return 1 + i; }
constexpr int second(int i) { return 5 + i; }

DirectorRow embedded(const Row& row, double length) {
  DirectorRow r;
  switch (row.type) {
  case Type::Position:
    r.products = {{first(row.i), originsApart}};
    r.isDisplaced = row.driven;
    break;
  case Type::Align:
    r.products = {{first(row.i), second(row.j)}};
    break;
  case Type::Turn: {
    const int j = (row.i + 1) % 3, k = (row.i + 2) % 3;
    r.products = {{first(k), second(j), 0.5}, {first(j), second(k), -0.5}};
    break;
  }
  case Type::Distance:
    r.products = {{originsApart, originsApart, 0.5 / length}};
    r.constant = -length / 2;
    break;
  case Type::Angle: // ((R21 - R12) cos u - (R11 + R22) sin u) / 2 = sin(phi - u) where the third axes are in line
    r.products = {{first(1), second(0), 0, 0.5, 0},
                  {first(0), second(1), 0, -0.5, 0},
                  {first(0), second(0), 0, 0, -0.5},
                  {first(1), second(1), 0, 0, -0.5}};
    break;
  case Type::Screw:
    break;
  }
  return r;
}

/// The subgroup of relative motions that a joint leaves, as unit twists of frame 2 (`second`) and of frame 1 (`first`).
void setFreedom(JointKind kind, LowerPair& pair) {
  const auto twists = [](std::initializer_list<int> axes) {
    Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6> S = MatrixX::Zero(6, Eigen::Index(axes.size()));
    Eigen::Index column = 0;
    for (int axis : axes) S(axis, column++) = 1;
    return S;
  };
  switch (kind) {
  case JointKind::Revolute:
  case JointKind::DrivenRotation:
    pair.second = twists({5});
    break;
  case JointKind::Prismatic:
  case JointKind::DrivenTranslation:
    pair.second = twists({2});
    break;
  case JointKind::Cylindrical:
    pair.second = twists({2, 5});
    break;
  case JointKind::Spherical:
    pair.second = twists({3, 4, 5});
    break;
  case JointKind::Planar:
    pair.second = twists({0, 1, 5});
    break;
  case JointKind::Universal:
    pair.first = twists({3}), pair.second = twists({4});
    break;
  default:
    break;
  }
}

bool isLowerPair(JointKind kind) {
  return kind != JointKind::Distance && kind != JointKind::AngleDrive && kind != JointKind::LengthDrive && kind != JointKind::Screw;
}

}

void Joints::embed(DirectorSystem& system) const {
  for (const Joint& joint : joints_) {
    if (joint.kind == JointKind::Screw) {
      throw InputError(describe(joint.kind, joint.name, joint.pair) +
                       ": a screw has no form in director coordinates; run the scene in pose coordinates");
    }
    const Marker* marker = joint.pair.first();
    const std::array frames{(marker ? marker->directors() : DirectorFrame{}).moved(joint.reference.inverse()),
                            joint.pair.second().directors()};
    LowerPair pair{.name = "joint '" + joint.name + "'", .frames = frames};
    setFreedom(joint.kind, pair);
    int number = joint.firstRow;
    for (const Row& row : rowsOf(joint)) {
      DirectorRow r = embedded(row, joint.length);
      r.frames = frames;
      if (row.driven) r.motion = joint.parameters.motion;
      if (!row.driven) pair.rows.push_back(number);
      system.addRow(number++, std::move(r));
    }
    const bool isOnBlocks = frames[0].count <= 1 && frames[1].count <= 1;
    if (isLowerPair(joint.kind) && isOnBlocks) system.addPair(std::move(pair));
  }
}

}
