#pragma once
#include "contact/facing.h"
#include "tendril/contact/line_contacts.h"

#include <optional>
#include <span>
#include <vector>

namespace tendril {

/// A place of the first curve that faces another part: a point of collocation, of quadrature, or a crossing.
struct LineSample {
  int first = 0, second = 0; ///< parts
  const ContactLaw* law = nullptr;
  bool isCrossing = false;
  CurvePlace place, otherPlace; ///< the other one on a curve only
  ContactPoint nearest;         ///< on a rigid part
  double arclength = 0, otherArclength = 0;
  double gap = 0;                           ///< unsigned: distance without the radii [m]
  Vector3 normal = Vector3::Zero();         ///< towards the first
  double cosine = 0;                        ///< of the angle between the two curves
  bool isResolved = false;                  ///< a crossing that the means around nodes see as well
  bool isFlat = false;                      ///< a crossing that they all but see
  double allowance = 0;                     ///< added to the gap of a crossing that the mesh all but resolves [m]
  double curvature = 0;                     ///< of a crossing: second derivative of the distance along xi, the other place following [m]
  double follow = 0;                        ///< of a crossing: d(xi of the other place) / d(xi)
  Vector3 previousNormal = Vector3::Zero(); ///< from the second to the first at the begin of the step [m]

  bool seesBlocksOf(const LineSample& s) const {
    return first == s.first && second == s.second && place.segment == s.place.segment && otherPlace.segment == s.otherPlace.segment;
  }
};

/// The share that a sample has in the inequality of a node: phi ds.
struct LineShare {
  int sample = 0;
  int node = 0; ///< of the first curve; a point of collocation; or `crossing`
  double nodeArclength = 0;
  double weight = 0; ///< phi ds [m]; 1 for a crossing
  int constraint = -1;

  static constexpr int crossing = -1;
};

/// Where curves face other parts, by one of the two methods.
class LineSampler {
 public:
  LineSampler(const ContactModel& parts, const LineContactOptions& options);

  /// Samples of all candidates, sorted as LineSearch gives them. Crossings and contacts with rigid parts are looked for within `approach`
  /// [m], the latter also as far from there as a segment is long.
  void sample(const LineGeometry& geometry, std::span<const LineCandidate> candidates, double approach);
  /// Adds the support at a place of a curve, whether it is the nearest one or not. False if a rigid part is not within `approach` of it.
  bool addSupportAt(int first, int second, const CurvePlace& place);

  /// By how much the normal of a sample on a rigid part turns with the centre of the curve's section (SectionContact::normalRate). Zero
  /// where it jumps.
  Matrix3 normalRate(const LineSample& sample);

  std::vector<LineSample>& samples() { return samples_; }
  const std::vector<LineSample>& samples() const { return samples_; }
  /// In the order of their samples.
  std::vector<LineShare>& shares() { return shares_; }
  const std::vector<LineShare>& shares() const { return shares_; }

 private:
  struct NodeShare {
    int node;
    double arclength, phi;
  };
  using Run = std::span<const LineCandidate>;

  const CurveConfiguration& firstCurve(const Run& run) const { return geometry_->curves[std::size_t(run.front().first)]; }
  const ContactCurve& shapeOfFirst(const Run& run) const { return firstCurve(run).curve(); }
  /// Rises up to this one are left to the means around nodes.
  static constexpr double unresolvedRise = 0.01;

  /// Normals nearer to each other than 30 degrees are those of one contact with a rigid part.
  static constexpr double sameNormal = 0.8660254037844386;

  bool isRigid(const Run& run) const { return !parts_.parts()[std::size_t(run.front().second)].curve; }

  void findRuns(std::span<const LineCandidate> candidates);
  bool isWanted(std::size_t run) const;
  bool comesNear(const LineCandidate& candidate) const;
  void collocate(const Run& run);
  void integrate(const Run& run);
  void findBounds(const Run& run);
  void addBound(const Run& run, const Vector3& node, const Vector3& tangent);
  void addCrossings(const Run& run);
  /// The allowance follows from the rise within half a segment, in units of `size`.
  void addCrossing(LineSample& sample, double rise, double size);

  struct Probe {
    ContactPoint nearest;
    double slope;
  };
  std::optional<Probe> probe(const Run& run, const Pose& C);
  void addSupports(const Run& run);
  void addSupport(const Run& run, const CurvePlace& place, const ContactPoint& nearest, double rise);
  LineSample supportAt(const Run& run, const CurvePlace& place, const ContactPoint& nearest) const;
  double flattest(const Run& run, double atBegin, double atEnd);

  /// Adds what faces a place of the first curve, with the length that it stands for shared among nodes.
  void addFacing(const Run& run, const CurvePlace& place, double length, std::span<const NodeShare> nodes);
  void addCurves(const Run& run, const CurvePlace& place, const Pose& C, double length, std::span<const NodeShare> nodes);
  void addRigid(const Run& run, const CurvePlace& place, const Pose& C, double length, std::span<const NodeShare> nodes);
  /// Contacts with a rigid part, the deepest first.
  void findRigid(const Run& run, const Pose& C, double within);
  void findRigid(const Run& run, const Pose& C);
  Run runOf(int first, int second, int segment) const;
  void share(double length, std::span<const NodeShare> nodes);

  const ContactModel& parts_;
  LineContactOptions options_;
  std::vector<CollisionShape> balls_; ///< of a curve's radius
  std::vector<int> ballOf_;           ///< part -> ball
  const LineGeometry* geometry_ = nullptr;
  double approach_ = 0;
  FacingSearch facing_;
  struct NearRun {
    Run candidates;
    bool isNear;
  };
  std::vector<NearRun> runs_;
  std::vector<double> bounds_;
  std::vector<ContactPoint> points_;
  std::vector<LineSample> samples_;
  std::vector<LineShare> shares_;
};

}
