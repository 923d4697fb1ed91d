#pragma once
#include "contact/line_samples.h"

#include <array>
#include <compare>
#include <vector>

namespace tendril {

/// Tells which samples make up one inequality, and which inequality it was before.
///
/// The samples around a node of the first curve that face one other part are followed along the first curve. Two that succeed one another
/// belong together if the second faces where the first one leads one to expect it, s_2 + cos(angle) ds_1, up to pi times the sum of the
/// radii or half a segment; on a rigid part, if their normals differ by less than 45 degrees. So a node that touches another curve twice (a
/// loop, a knot), or lies in a corner, has two inequalities. Of a crossing each is one.
///
/// An inequality is the same as one of the last evaluation, or of the last step, if it has the same node and second part and faces nearly
/// the same place: within a few segments in arclength, or by a similar normal. Its key is made of the parts, the node and a rank among
/// those of that node: the lowest that was free when it appeared.
class LineRecords {
 public:
  explicit LineRecords(const ContactModel& parts) : parts_(parts) {}

  /// What is present is that of the last step from now on.
  void remember(const std::vector<ContactConstraint>& constraints);
  /// A step begins, without constraints.
  void clear() { records_.clear(); }
  /// Gives each share its constraint; appends new ones. Shares of what is nowhere nearer than `approach` get none.
  void assign(const LineGeometry& geometry, LineSampler& sampler, double approach, std::vector<ContactConstraint>& constraints);
  /// Where the constraints are now.
  void note(const std::vector<ContactConstraint>& constraints);

 private:
  struct Record {
    int first, second, node, rank;
    int constraint; ///< its number in the step
    double arclength, otherArclength;
    double allowance;
    Vector3 normal;
    CurvePlace place;      ///< of a crossing
    bool isPinned = false; ///< stays at its place
    bool isTaken = false;
  };
  struct Group {
    std::vector<int> shares; ///< in the order along the first curve
    double nearest = 0;      ///< smallest gap
    double weight = 0;
    double arclength = 0, otherArclength = 0; ///< means
    Vector3 normal = Vector3::Zero();
  };
  using Constraints = std::vector<ContactConstraint>;

  const LineShare& share(int i) const { return (*shares_)[std::size_t(i)]; }
  LineSample& sample(int i) const { return (*samples_)[std::size_t(share(i).sample)]; }
  const ContactCurve* curve(int part) const;
  double radii(const LineSample& sample) const;
  double segmentLength(const LineSample& sample) const;
  double otherLength(const LineSample& sample) const;
  double apart(int part, double a, double b) const;
  void assignNode(std::span<const int> shares, double approach);
  void makeGroups(std::span<const int> shares);
  Group& groupOf(int share);
  double misfit(int last, int share) const;
  void findKnown(const LineSample& sample, int node);
  void identify(const Group& group);
  double misfit(const Record& record, const Group& group) const;
  void keepSupports(LineSampler& sampler);
  bool isCovered(const LineSample& support) const;
  int add(const Group& group, int node);
  int nearest(const std::vector<Record>& records, const std::vector<int>& known, const Group& group) const;
  bool isRankUsed(int rank) const;

  const ContactModel& parts_;
  std::vector<Record> records_; ///< of the constraints, by their numbers
  std::vector<Record> memory_;  ///< of the last step, sorted
  /// A share by where it belongs and in which order the shares of a node are followed.
  struct Item {
    std::array<int, 3> node; ///< first part, second part, node
    double along, other;     ///< arclengths
    int share;
    auto operator<=>(const Item&) const = default; // NOLINT(modernize-use-nullptr): of the generated code
  };
  std::vector<Item> items_;
  std::vector<int> order_, sorted_;
  std::vector<int> known_, remembered_; ///< of one node, in records_ and memory_
  std::vector<Group> groups_;
  int groupCount_ = 0;

  const LineGeometry* geometry_ = nullptr;
  std::vector<LineSample>* samples_ = nullptr;
  std::vector<LineShare>* shares_ = nullptr;
  Constraints* constraints_ = nullptr;
};

}
