#pragma once
#include "tendril/contact/broad_phase.h"
#include "tendril/rods/strain_rod.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// Something rigid that a rod touches without friction, by the axis e3 of its frame.
struct RodObstacle {
  enum class Kind {
    HalfSpace, ///< what lies below the plane through the origin; e3 points out of it
    Sphere,
    Cylinder ///< without ends
  };
  std::string name;
  Kind kind = Kind::HalfSpace;
  Pose frame;
  double radius = 0;     ///< of sphere and cylinder [m]
  bool isHollow = false; ///< a container: the rod is inside
};

/// What a rod may touch.
struct RodSurroundings {
  double radius = 0; ///< of the rod [m]
  bool touchesItself = true;
  std::vector<RodObstacle> obstacles;

  RodSurroundings scaled(double length) const; ///< all lengths over that of the rod
};

/// A place where the rod is near to itself or to an obstacle: the gap g = |w| - 2 radius with w = x - y between places x and y on two
/// straight segments, or g = distance of x from the surface - radius. Places are nearest to one another, so that motions of them along the
/// segments do not count at first: dg = n . (dx - dy) with their shares of the segments frozen.
struct RodTouch {
  /// x = (1 - share) r_i + share r_{i+1}; `slides` where a neighbouring share would do as well, else the place is a node.
  struct Place {
    int segment = 0;
    double share = 0;
    bool slides = false;
    int feature() const { return slides ? 2 * segment + 1 : 2 * (segment + (share > 0.5)); } ///< of nodes and segments, in their order
  };
  Place first, second; ///< the latter where the rod touches itself
  int obstacle = -1;   ///< its number, or -1
  double gap = 0;      ///< [m]
  Vector3 normal = Vector3::UnitZ();
  Matrix3 curvature = Matrix3::Zero(); ///< second derivative of the distance by w or x: (I - n n^T)/|w| [1/m]

  bool isOfRodItself() const { return obstacle < 0; }
  /// The same for the same features at another time.
  std::array<int, 3> key() const { return {obstacle, first.feature(), second.feature()}; }
  static Vector3 at(const StrainRod& rod, const Place& p) {
    return (1 - p.share) * rod.frame(p.segment).x + p.share * rod.frame(p.segment + 1).x;
  }
  /// forces += scale dg/dr_k.
  void addGradient(double scale, StrainRod::NodeForces& forces) const;
  /// forces += scale (d2g/dr2) motions, with places that slide to stay nearest.
  void addCurvature(const StrainRod& rod, double scale, const StrainRod::NodeForces& motions, StrainRod::NodeForces& forces) const;
};

/// Finds what of a rod touches: pairs of segments among each other, by a tree of their boxes, and segments with obstacles. Of segments that
/// cross at an angle it is the nearest pair of places; of those side by side also the places where each ends beside the other. Segments
/// nearer to one another than pi radius along the rod are no pair, since a bend within that length is one of the rod itself.
class RodContacts {
 public:
  explicit RodContacts(RodSurroundings surroundings) : surroundings_(std::move(surroundings)) {}

  const RodSurroundings& surroundings() const { return surroundings_; }
  /// All with a gap below a margin, each once, in the order of the rod.
  const std::vector<RodTouch>& find(const StrainRod& rod, double margin);
  /// How much of a straight motion of the nodes (one a column) from their present places can be made so that no two segments, and no
  /// segment and the axis or centre of what it is outside of, can meet on the way: relative motion below nine tenths of the distance. At
  /// most 1.
  double longestFactor(const StrainRod::NodeForces& from, const StrainRod::NodeForces& to);
  /// Segments that are no pair are nearer in number than this.
  int nearestPartner(const StrainRod& rod) const;

 private:
  void findOwn(const StrainRod& rod, double margin);
  void addPair(const StrainRod& rod, int i, int j, double margin);
  void addOwn(const StrainRod& rod, RodTouch::Place first, RodTouch::Place second, double margin);
  void addObstacle(const StrainRod& rod, int number, double margin);

  RodSurroundings surroundings_;
  BroadPhase phase_;
  std::vector<Bounds> bounds_;
  std::vector<RodTouch> touches_;
  int partner_ = 2; ///< as nearestPartner, of the rod that was looked at last
};

}
