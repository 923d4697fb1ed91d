#include "tendril/shells/sheet_shape.h"

#include "shells/gauss_rule.h"
#include "shells/sheet_points.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"
#include "tendril/shells/uniform_patch.h"

#include <algorithm>

#include <fmt/format.h>

namespace tendril {

namespace {

/// The corners of a rectangle.
template <class Visit> void visitCorners(const PatchDomain& d, const Visit& visit) {
  for (const double s1 : {d.begin1, d.end1})
    for (const double s2 : {d.begin2, d.end2}) visit(Vector2(s1, s2));
}

/// Distance to the apex of the point nearest to it along the ruling, over that of the held point.
double leastShare(const double* q, const PatchDomain& d) {
  double least = 1;
  visitCorners(d, [&](const Vector2& s) { least = std::min(least, 1 - q[2] * (s[0] * std::sin(q[1]) - s[1] * std::cos(q[1]))); });
  return least;
}

/// Angle by which a clothoid may turn [rad].
constexpr double mostTurn = 1e5;

}

bool SheetShape::accepts(const double*, const PatchDomain&) const { return true; }
std::string SheetShape::wrong(const double*, const PatchDomain&) const { return {}; }
std::string SheetShape::refusal(const double* q, const PatchDomain& domain) const {
  if (!accepts(q, domain)) return wrong(q, domain);
  const Vector2 angles = turns(q, domain);
  if (productRule(angles[0], angles[1])) return {};
  return fmt::format("it is rolled up by {:.3g} and {:.3g} rad along its sides, more than can be integrated; give smaller curvatures",
                     angles[0], angles[1]);
}

bool SheetShape::visitPoints(const double* q, const PatchDomain& d, const Visit& visit) const {
  const Vector2 angles = turns(q, d);
  const ProductRule* rule = productRule(angles[0], angles[1]);
  if (!rule) return false;
  for (std::size_t i = 0; i < rule->points; ++i) {
    visit(d.area() / 4 * rule->w[i],
          Vector2((d.begin1 + d.end1 + d.length() * rule->x1[i]) / 2, (d.begin2 + d.end2 + d.width() * rule->x2[i]) / 2));
  }
  return true;
}

std::optional<SheetBending> SheetShape::bending(const double*, const PatchProperties&) const { return {}; }

Vector2 SheetShape::meshPoint(const double*, const PatchDomain& d, const Vector2& shares) const {
  return {d.begin1 + d.length() * shares[0], d.begin2 + d.width() * shares[1]};
}

Pose SheetShape::frame(const double* q, const Vector2& s) const {
  const SheetPoint<double> p = at(q, s);
  Pose H;
  H.x = Vector3(p.r.data());
  H.R.col(0) = Vector3(p.d1.data()), H.R.col(1) = Vector3(p.d2.data());
  H.R.col(2) = H.R.col(0).cross(H.R.col(1));
  return H;
}

// ---- circular cylinders ----------------------------------------------------------------------------------------------------------------

void CircularSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  const auto fill = [&]<class T>(SheetPoint<T>* p) { *p = circularPoint(coordinate<T>(q, 0), coordinate<T>(q, 1), s); };
  std::visit(fill, point);
}

Vector2 CircularSheet::turns(const double* q, const PatchDomain& d) const {
  return std::abs(q[0]) * Vector2(std::abs(std::cos(q[1])) * d.length(), std::abs(std::sin(q[1])) * d.width());
}

bool CircularSheet::accepts(const double* q, const PatchDomain& d) const { return std::abs(q[0]) * d.reach() > flatTurn; }
std::string CircularSheet::wrong(const double*, const PatchDomain&) const { return flatMessage; }

// ---- clothoids -------------------------------------------------------------------------------------------------------------------------

Vector3 ClothoidSheet::fromSource(double alpha, double beta, double gamma) {
  const double stretch = 1 + alpha * alpha;
  return {stretch * gamma, stretch * std::sqrt(stretch) * beta, std::atan(alpha)};
}

Vector3 ClothoidSheet::toSource(const Vector3& q) {
  const double c = std::cos(q[2]);
  return {std::tan(q[2]), q[1] * c * c * std::abs(c), q[0] * c * c};
}

void ClothoidSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  const double u = s[0] * std::cos(q[2]) + s[1] * std::sin(q[2]), turn = std::abs(q[0] * u) + std::abs(q[1] * u * u);
  const int points = turn < 1 ? 0 : turn < 8 ? 1 : turn < 24 ? 2 : 3;
  const int panels = turn < mostTurn ? 1 + int(turn / 40) : 1;
  const auto fill = [&]<class T>(SheetPoint<T>* p) {
    *p = cylinderPoint(coordinate<T>(q, 0), coordinate<T>(q, 1), coordinate<T>(q, 2), s, points, panels);
  };
  std::visit(fill, point);
}

Vector2 ClothoidSheet::turns(const double* q, const PatchDomain& d) const {
  double most = 0;
  visitCorners(d,
               [&](const Vector2& s) { most = std::max(most, std::abs(q[0] + q[1] * (s[0] * std::cos(q[2]) + s[1] * std::sin(q[2])))); });
  // Products with powers of u beyond those of a circular cylinder ask for some more points.
  const Vector2 along(std::abs(std::cos(q[2])) * d.length(), std::abs(std::sin(q[2])) * d.width());
  return (most + std::abs(q[1]) * d.reach()) * along;
}

bool ClothoidSheet::accepts(const double* q, const PatchDomain& d) const {
  const double turn = (std::abs(q[0]) + std::abs(q[1]) * d.reach()) * d.reach();
  return turn > flatTurn && turn < mostTurn;
}
std::string ClothoidSheet::wrong(const double* q, const PatchDomain& d) const {
  const double turn = (std::abs(q[0]) + std::abs(q[1]) * d.reach()) * d.reach();
  if (turn <= flatTurn) return flatMessage;
  return fmt::format("it is rolled up by {:.3g} rad; give smaller curvatures, of less than {:g} rad", turn, mostTurn);
}

// ---- cones -----------------------------------------------------------------------------------------------------------------------------

void ConicalSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  const auto fill = [&]<class T>(SheetPoint<T>* p) { *p = conicalPoint(coordinate<T>(q, 0), coordinate<T>(q, 1), coordinate<T>(q, 2), s); };
  std::visit(fill, point);
}

/// Towards the apex curvatures grow as 1 / m.
Vector2 ConicalSheet::turns(const double* q, const PatchDomain& d) const {
  const double least = std::max(leastShare(q, d), 0.02);
  return (std::abs(q[0]) / least + 4 * std::abs(q[2]) / least) * Vector2(d.length(), d.width());
}

bool ConicalSheet::accepts(const double* q, const PatchDomain& d) const {
  return leastShare(q, d) > 0.02 && std::abs(q[0]) * d.reach() > flatTurn;
}

std::string ConicalSheet::wrong(const double* q, const PatchDomain& d) const {
  if (leastShare(q, d) > 0.02) return flatMessage;
  return fmt::format(
      "its rulings meet on the sheet, at {:.4g} m from the held point, or too close to it; move the apex away (epsilon = {:g} 1/m)",
      1 / std::abs(q[2]), q[2]);
}

// ---- three curvatures ------------------------------------------------------------------------------------------------------------------

void ThreeCurvatureSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  if (!std::holds_alternative<SheetPoint<double>*>(point))
    throw InputError("shell: the three curvatures of a patch have derivatives in UniformPatch alone");
  const Pose H = uniform_patch::frame(Vector3(q[0], q[1], q[2]), s);
  *std::get<SheetPoint<double>*>(point) = {
      {H.x[0], H.x[1], H.x[2]}, {H.R(0, 0), H.R(1, 0), H.R(2, 0)}, {H.R(0, 1), H.R(1, 1), H.R(2, 1)}, {q[0], q[1], q[2]}};
}

Vector2 ThreeCurvatureSheet::turns(const double* q, const PatchDomain& d) const {
  return {std::hypot(q[0], q[2]) * d.length(), std::hypot(q[1], q[2]) * d.width()};
}

// ---- parts of models -------------------------------------------------------------------------------------------------------------------

namespace {

/// The numbers of a block of a shell; a shell, a model and a state that do not belong together are refused.
const double* numbersOf(const ShellPart& part, int block, Block::Kind kind, const Model& model, const State& state) {
  const bool isThere = block >= 0 && block < int(model.blocks().size()) && model.blocks()[std::size_t(block)].kind == kind;
  if (!part.shape || !isThere || state.q.size() != model.nq())
    throw InputError("shell '" + part.name + "': it has no shape, or is none of this model, or the state is of another one");
  return state.q.data() + model.blocks()[std::size_t(block)].q;
}

const double* coordinatesIn(const ShellPart& part, const Model& model, const State& state) {
  const double* numbers = numbersOf(part, part.coordinates, Block::Kind::Vector, model, state);
  if (model.blocks()[std::size_t(part.coordinates)].nq < part.shape->size())
    throw InputError("shell '" + part.name + "': its shape has more coordinates than its block");
  return numbers;
}

/// The first patch whose end lies beyond a material point, with the point in its coordinates.
std::pair<const ShellPart*, Vector2> patchAt(const ShellPart& strip, const Model& model, const State& state, const Vector2& s) {
  Vector2 local(s[0] - strip.domain.begin1, s[1]);
  for (const ShellPart& patch : strip.patches) {
    const double* q = coordinatesIn(patch, model, state);
    const double share = (s[1] - patch.domain.begin2) / patch.domain.width();
    if (&patch == &strip.patches.back() || local[0] < patch.shape->meshPoint(q, patch.domain, {1, share})[0]) return {&patch, local};
    local[0] -= patch.domain.length();
  }
  return {nullptr, s};
}

}

Pose ShellPart::at(const Model& model, const State& state, const Vector2& s) const {
  if (!patches.empty()) {
    const auto [patch, local] = patchAt(*this, model, state, s);
    return patch->at(model, state, local);
  }
  const Pose base = loadPose(numbersOf(*this, frame, Block::Kind::Pose, model, state));
  return base * shape->frame(coordinatesIn(*this, model, state), s);
}

Pose ShellPart::vertex(const Model& model, const State& state, int row, int column) const {
  if (!patches.empty()) {
    const int each = std::max(patches.front().columns, 1), number = std::clamp(column / each, 0, int(patches.size()) - 1);
    return patches[std::size_t(number)].vertex(model, state, row, column - number * each);
  }
  const double* q = coordinatesIn(*this, model, state);
  if (row < 0 || row > rows || column < 0 || column > columns || rows < 1 || columns < 1)
    throw InputError("shell '" + name + "': its mesh has no vertex in row " + std::to_string(row) + ", column " + std::to_string(column) +
                     "; it has " + std::to_string(rows) + " x " + std::to_string(columns) + " faces");
  return at(model, state, shape->meshPoint(q, domain, {double(column) / columns, double(row) / rows}));
}

}
