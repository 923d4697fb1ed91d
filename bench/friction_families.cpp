#include "friction_families.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace tendril::families {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double timeStep = 2e-3;
constexpr double gravity = 9.81;
constexpr double density = 1000;

/// Bodies and contacts of a scene in inertial axes, and the friction problem of one step.
class Scene {
 public:
  explicit Scene(unsigned number) : seed(number), engine(number) {}

  /// Independent of the library's distributions, which differ between implementations.
  double uniform(double from, double to) { return from + (to - from) * double(engine()) / 4294967296.0; }
  Vector3d inBox(double halfWidth) {
    const double x = uniform(-halfWidth, halfWidth), y = uniform(-halfWidth, halfWidth);
    return {x, y, uniform(-halfWidth, halfWidth)};
  }
  Vector3d direction() {
    const double z = uniform(-1, 1), angle = uniform(0, 2 * std::numbers::pi), radius = std::sqrt(1 - z * z);
    return {radius * std::cos(angle), radius * std::sin(angle), z};
  }
  bool hasImpacts() const { return seed % 2 == 1; }
  void setGravity(const Vector3d& direction) { down = direction; }

  int body(double mass, const Matrix3d& inertia, const Vector3d& centre, const Vector3d& velocity = Vector3d::Zero()) {
    Eigen::Matrix<double, 6, 6> inverse = Eigen::Matrix<double, 6, 6>::Zero();
    inverse.topLeftCorner<3, 3>().diagonal().setConstant(1 / mass);
    inverse.bottomRightCorner<3, 3>() = inertia.inverse();
    inverses.push_back(inverse);
    centres.push_back(centre);
    velocities.push_back(velocity);
    return int(centres.size()) - 1;
  }
  int sphere(double radius, const Vector3d& centre, const Vector3d& velocity = Vector3d::Zero()) {
    const double mass = density * 4 / 3 * std::numbers::pi * std::pow(radius, 3);
    return body(mass, 0.4 * mass * radius * radius * Matrix3d::Identity(), centre, velocity);
  }
  int box(const Vector3d& size, const Matrix3d& axes, const Vector3d& centre, const Vector3d& velocity = Vector3d::Zero()) {
    const double mass = density * size.prod();
    const Vector3d squares = size.cwiseAbs2();
    const Vector3d moments = mass / 12 * (Vector3d::Constant(squares.sum()) - squares);
    return body(mass, axes * moments.asDiagonal() * axes.transpose(), centre, velocity);
  }
  int count() const { return int(centres.size()); }
  const Vector3d& centre(int i) const { return centres[i]; }
  void setVelocity(int i, const Vector3d& velocity) { velocities[i] = velocity; }

  /// The normal points to the first body; -1 is the ground.
  void contact(int first, int second, const Vector3d& point, const Vector3d& normal, double mu) {
    contacts.push_back({first, second, point, normal.normalized(), mu});
  }
  FrictionProblem problem() const;

 private:
  struct Contact {
    int first, second;
    Vector3d point, normal;
    double mu;
  };
  static Matrix3d frame(const Vector3d& normal) {
    Eigen::Index smallest = 0;
    normal.cwiseAbs().minCoeff(&smallest);
    Matrix3d axes;
    axes.col(0) = normal;
    axes.col(1) = normal.cross(Vector3d::Unit(smallest)).normalized();
    axes.col(2) = normal.cross(axes.col(1));
    return axes;
  }

  unsigned seed;
  std::mt19937 engine;
  Vector3d down = -Vector3d::UnitZ();
  std::vector<Eigen::Matrix<double, 6, 6>> inverses;
  std::vector<Vector3d> centres, velocities;
  std::vector<Contact> contacts;
};

FrictionProblem Scene::problem() const {
  FrictionProblem problem;
  for (const Contact& contact : contacts) {
    problem.laws.push_back(FrictionLaw::coulomb(contact.mu));
    problem.bodies.touched.push_back({contact.first, contact.second});
  }
  problem.layOut();
  problem.bodies.inverseInertia = inverses;
  problem.bodies.H = FrictionBodies::Levers::Zero(problem.rows(), 12);
  problem.q = Eigen::VectorXd::Zero(problem.rows());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Matrix3d axes = frame(contacts[i].normal);
    for (int side = 0; side < 2; ++side) {
      const int body = side == 0 ? contacts[i].first : contacts[i].second;
      if (body < 0) continue;
      const Vector3d arm = contacts[i].point - centres[body];
      const Vector3d free = velocities[body] + timeStep * gravity * down;
      for (int row = 0; row < 3; ++row) {
        const double sign = side == 0 ? 1 : -1;
        problem.bodies.H.block<1, 3>(3 * Eigen::Index(i) + row, 6 * side) = sign * axes.col(row).transpose();
        problem.bodies.H.block<1, 3>(3 * Eigen::Index(i) + row, 6 * side + 3) = sign * arm.cross(axes.col(row)).transpose();
        problem.q[3 * Eigen::Index(i) + row] += sign * axes.col(row).dot(free);
      }
    }
  }
  return problem;
}

FrictionProblem boxStack(int contacts, unsigned seed) {
  Scene scene(seed);
  const int height = std::clamp(contacts / 4, 2, 20), columns = std::max(1, int(std::lround(contacts / (5.0 * height))));
  const Vector3d size(0.2, 0.2, 0.1);
  std::vector<int> previous;
  for (int column = 0; column < columns; ++column) {
    std::vector<int> boxes;
    for (int level = 0; level < height; ++level) {
      const double shift = 0.005;
      const Vector3d centre(column * size.x(), scene.uniform(-shift, shift), (level + 0.5) * size.z());
      boxes.push_back(scene.box(size, Matrix3d::Identity(), centre));
      for (const int corner : {0, 1, 2, 3}) {
        const Vector3d arm((corner & 1 ? 0.45 : -0.45) * size.x(), (corner & 2 ? 0.45 : -0.45) * size.y(), -0.5 * size.z());
        scene.contact(boxes[level], level > 0 ? boxes[level - 1] : -1, centre + arm, Vector3d::UnitZ(), 0.5);
      }
      if (column > 0) scene.contact(boxes[level], previous[level], centre - Vector3d(0.5 * size.x(), 0, 0), Vector3d::UnitX(), 0.3);
    }
    if (scene.hasImpacts()) scene.setVelocity(boxes.back(), Vector3d(0.3, 0, -1));
    previous = boxes;
  }
  return scene.problem();
}

/// The points of two segments (centre, half) that are closest to each other.
std::pair<Vector3d, Vector3d> closestPoints(const Vector3d& a, const Vector3d& halfA, const Vector3d& b, const Vector3d& halfB) {
  const double aa = halfA.squaredNorm(), bb = halfB.squaredNorm(), ab = halfA.dot(halfB);
  const Vector3d apart = b - a;
  const double determinant = aa * bb - ab * ab;
  double s = determinant > 1e-12 * aa * bb ? std::clamp((apart.dot(halfA) * bb - apart.dot(halfB) * ab) / determinant, -1.0, 1.0) : 0.0;
  const double t = std::clamp((s * ab - apart.dot(halfB)) / bb, -1.0, 1.0);
  s = std::clamp((t * ab + apart.dot(halfA)) / aa, -1.0, 1.0);
  return {a + s * halfA, b + t * halfB};
}

FrictionProblem capsules(int contacts, unsigned seed) {
  Scene scene(seed);
  const double radius = 0.05, half = 0.06, cell = 0.145;
  const int bodies = std::max(2, int(std::lround(contacts / 2.9))), side = int(std::ceil(std::cbrt(bodies) - 1e-9));
  const double width = side * cell;
  std::vector<Vector3d> axes;
  for (int k = 0; k < bodies; ++k) {
    const Vector3d corner(k % side, k / side % side, k / side / side);
    const double mass = density * std::numbers::pi * radius * radius * (2 * half + 4.0 / 3 * radius);
    axes.push_back(half * scene.direction());
    const Vector3d along = axes.back().normalized();
    const double across = mass * (radius * radius / 4 + (2 * half + 2 * radius) * (2 * half + 2 * radius) / 14);
    const Matrix3d inertia = across * Matrix3d::Identity() + (0.48 * mass * radius * radius - across) * along * along.transpose();
    const Vector3d centre = cell * (corner + Vector3d::Constant(0.5)) + scene.inBox(0.1 * cell);
    scene.body(mass, inertia, centre, scene.hasImpacts() ? Vector3d(scene.inBox(0.5)) : Vector3d::Zero());
  }
  const double reach = 2 * radius + 0.02;
  for (int i = 0; i < scene.count(); ++i) {
    for (int j = 0; j < i; ++j) {
      if ((scene.centre(i) - scene.centre(j)).norm() > reach + 2 * half) continue;
      const auto [onI, onJ] = closestPoints(scene.centre(i), axes[i], scene.centre(j), axes[j]);
      if (const double distance = (onI - onJ).norm(); distance < reach && distance > 1e-6)
        scene.contact(i, j, 0.5 * (onI + onJ), onI - onJ, 0.7);
    }
    for (int wall = 0; wall < 5; ++wall) { // four sides and the floor
      const Vector3d normal = wall == 4 ? Vector3d::UnitZ() : Vector3d((wall & 2 ? -1 : 1) * Vector3d::Unit(wall & 1));
      const double offset = wall < 4 && (wall & 2) ? -width : 0;
      for (const double end : {-1.0, 1.0}) {
        const Vector3d tip = scene.centre(i) + end * axes[i];
        if (tip.dot(normal) - offset < radius + 0.01) scene.contact(i, -1, tip - radius * normal, normal, 0.7);
      }
    }
  }
  return scene.problem();
}

FrictionProblem chain(int contacts, unsigned seed) {
  Scene scene(seed);
  constexpr int longest = 100;
  const int joints = std::max(2, contacts / 2), chains = (joints + longest - 1) / longest, perChain = joints / chains;
  for (int k = 0; k < chains; ++k) {
    const int links = perChain - 1;
    const double length = 0.1, sag = scene.uniform(0.5, 1.5);
    // Joints on a parabola-like curve; a link between each pair of neighbours.
    const auto joint = [&](int i) {
      const double s = 2.0 * i / perChain - 1;
      return Vector3d(length * perChain * 0.4 * s, 2.0 * k, sag * length * perChain * 0.25 * s * s);
    };
    std::vector<int> link;
    for (int i = 0; i < links; ++i) {
      const Vector3d along = joint(i + 1) - joint(i);
      const Matrix3d axes = Eigen::Quaterniond::FromTwoVectors(Vector3d::UnitX(), along).toRotationMatrix();
      const Vector3d velocity = scene.hasImpacts() ? scene.inBox(0.2) : Vector3d::Zero();
      link.push_back(scene.box({along.norm(), 0.05, 0.03}, axes, 0.5 * (joint(i) + joint(i + 1)), velocity));
    }
    for (int i = 0; i <= links; ++i) {
      const int left = i > 0 ? link[i - 1] : -1, right = i < links ? link[i] : -1;
      const Vector3d pull = joint(std::max(0, i - 1)) - joint(std::min(links, i + 1)); // from the right link to the left
      const Vector3d aside = pull.cross(Vector3d::UnitY()).normalized();
      for (const double side : {-1.0, 1.0}) {
        const Vector3d normal = pull.normalized() + 0.3 * side * Vector3d::UnitY();
        // The ring of the left link pulls the right one.
        if (right >= 0)
          scene.contact(right, left, joint(i) + 0.01 * (side * Vector3d::UnitY() + aside), normal, 0.4);
        else
          scene.contact(left, -1, joint(i) + 0.01 * (side * Vector3d::UnitY() + aside), -normal, 0.4);
      }
    }
  }
  return scene.problem();
}

/// Planks of one level: each covers one or two neighbouring nodes of a square grid, along x or y; bonded like bricks from level to level.
class PlankLevel {
 public:
  PlankLevel(Scene& scene, int side, int level) : nodes(side * side, -1) {
    const bool alongX = level % 2 == 0;
    for (int line = 0; line < side; ++line) {
      for (int first = -(level / 2 % 2); first < side; first += 2) {
        const int from = std::max(first, 0), to = std::min(first + 1, side - 1);
        if (to < from) continue;
        const Vector3d run = alongX ? Vector3d::UnitX() : Vector3d::UnitY();
        const Vector3d offset = alongX ? Vector3d(0, line, 0) : Vector3d(line, 0, 0);
        const Vector3d centre = pitch * (0.5 * (from + to) * run + offset) + Vector3d(0, 0, (level + 0.5) * thickness);
        const Vector3d size = (pitch * (to - from) + width) * run + width * Vector3d(!alongX, alongX, 0) + Vector3d(0, 0, thickness);
        const int plank = scene.box(size, Matrix3d::Identity(), centre);
        for (int at = from; at <= to; ++at) nodes[alongX ? at + side * line : line + side * at] = plank;
      }
    }
  }
  static constexpr double pitch = 0.09, width = 0.024, thickness = 0.008;
  std::vector<int> nodes;
};

FrictionProblem kaplaTower(int contacts, unsigned seed) {
  Scene scene(seed);
  const int side = std::max(1, int(std::lround(std::cbrt(contacts / 12.0))));
  const int levels = std::max(2, int(std::lround(contacts / (4.0 * side * side))));
  std::vector<int> below(side * side, -1);
  for (int level = 0; level < levels; ++level) {
    const PlankLevel planks(scene, side, level);
    for (int node = 0; node < side * side; ++node) {
      const Vector3d middle(PlankLevel::pitch * (node % side), PlankLevel::pitch * (node / side), level * PlankLevel::thickness);
      for (const int corner : {0, 1, 2, 3}) {
        const double reach = 0.5 * PlankLevel::width;
        const Vector3d arm(corner & 1 ? reach : -reach, corner & 2 ? reach : -reach, 0);
        scene.contact(planks.nodes[node], below[node], middle + arm, Vector3d::UnitZ(), 0.3);
      }
    }
    below = planks.nodes;
  }
  if (scene.hasImpacts()) scene.setVelocity(scene.count() - 1, Vector3d(0.5, 0.2, -1));
  return scene.problem();
}

/// A contact for every two spheres whose surfaces are closer than `margin`.
void touchNeighbours(Scene& scene, const std::vector<int>& spheres, double radius, double margin, double mu) {
  for (std::size_t i = 0; i < spheres.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Vector3d &a = scene.centre(spheres[i]), &b = scene.centre(spheres[j]);
      if ((a - b).squaredNorm() < (2 * radius + margin) * (2 * radius + margin))
        scene.contact(spheres[i], spheres[j], 0.5 * (a + b), a - b, mu);
    }
}

FrictionProblem chute(int contacts, unsigned seed) {
  Scene scene(seed);
  const double slope = std::numbers::pi / 180 * scene.uniform(20, 40), radius = 0.05;
  scene.setGravity({std::sin(slope), 0, -std::cos(slope)});
  const int across = std::clamp(contacts / 12, 2, 8), layers = std::clamp(contacts / 60, 1, 6);
  const int along = std::max(1, int(std::lround(contacts / (3.2 * across * layers))));
  std::vector<int> spheres;
  for (int layer = 0; layer < layers; ++layer) {
    for (int k = 0; k < along * across; ++k) {
      const Vector3d place(k / across, k % across, layer);
      const Vector3d centre = 2 * radius * place + radius * Vector3d::Ones() + scene.inBox(0.06 * radius);
      const Vector3d velocity = Vector3d(1, 0, 0) + scene.inBox(scene.hasImpacts() ? 0.4 : 0.02);
      const bool cube = layer == 0 && k % 3 == 0;
      const int body =
          cube ? scene.box(Vector3d::Constant(2 * radius), Matrix3d::Identity(), centre, velocity) : scene.sphere(radius, centre, velocity);
      spheres.push_back(body);
      const double mu = scene.uniform(0.1, 0.8);
      for (const int corner : {0, 1, 2, 3}) {
        if (layer > 0 || (!cube && corner > 0)) continue;
        const Vector3d arm = cube ? Vector3d(radius * Vector3d(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, -1)) : Vector3d(0, 0, -radius);
        scene.contact(body, -1, centre + arm, Vector3d::UnitZ(), mu);
      }
      if (k % across == 0) scene.contact(body, -1, centre - Vector3d(0, radius, 0), Vector3d::UnitY(), 0.2);
      if (k % across == across - 1) scene.contact(body, -1, centre + Vector3d(0, radius, 0), -Vector3d::UnitY(), 0.2);
    }
  }
  touchNeighbours(scene, spheres, radius, 0.005, 0.4);
  return scene.problem();
}

FrictionProblem spherePile(int contacts, unsigned seed) {
  Scene scene(seed);
  const double radius = 0.05;
  int side = 2;
  while (4 * side * (side + 1) * (2 * side + 1) / 6 < contacts) ++side;
  std::vector<int> spheres;
  for (int level = 0; level < side; ++level) {
    const int row = side - level;
    for (int k = 0; k < row * row; ++k) {
      const Vector3d place(2 * (k % row) + level, 2 * (k / row) + level, 1 + level * std::numbers::sqrt2);
      const Vector3d centre = radius * place + scene.inBox(0.01 * radius);
      spheres.push_back(scene.sphere(radius, centre));
      if (level == 0) scene.contact(spheres.back(), -1, {centre.x(), centre.y(), 0}, Vector3d::UnitZ(), 0.5);
    }
  }
  if (scene.hasImpacts()) scene.setVelocity(spheres.back(), Vector3d(0, 0.5, -3));
  touchNeighbours(scene, spheres, radius, 0.004, 0.5);
  return scene.problem();
}

}

const char* nameOf(Family family) {
  switch (family) {
  case Family::BoxStack:
    return "box stack";
  case Family::Capsules:
    return "capsules";
  case Family::Chain:
    return "chain";
  case Family::KaplaTower:
    return "Kapla tower";
  case Family::Chute:
    return "chute";
  case Family::SpherePile:
    return "sphere pile";
  }
  return "";
}

FrictionProblem makeProblem(Family family, int contacts, unsigned seed) {
  switch (family) {
  case Family::BoxStack:
    return boxStack(contacts, seed);
  case Family::Capsules:
    return capsules(contacts, seed);
  case Family::Chain:
    return chain(contacts, seed);
  case Family::KaplaTower:
    return kaplaTower(contacts, seed);
  case Family::Chute:
    return chute(contacts, seed);
  case Family::SpherePile:
    return spherePile(contacts, seed);
  }
  return {};
}

}
