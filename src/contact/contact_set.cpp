#include "tendril/contact/contact_set.h"

#include "contact/point_contacts.h"

#include <algorithm>

namespace tendril {

namespace {

/// Two sets of constraints as one. Either may grow within a step, so that their constraints are numbered as they appear.
class ContactSet final : public ContactConstraints {
 public:
  ContactSet(std::unique_ptr<ContactConstraints> first, std::unique_ptr<ContactConstraints> second)
      : sources_{std::move(first), std::move(second)} {}

  void begin(const State& accepted, double reach) override {
    for (auto& source : sources_) source->begin(accepted, reach);
    origins_.clear();
    known_ = {};
    constraints_.clear();
  }

  void evaluate(const State& state) override {
    for (int s = 0; s < 2; ++s) {
      sources_[s]->evaluate(state);
      const int count = int(sources_[s]->constraints().size());
      for (int i = known_[s]; i < count; ++i) origins_.push_back({s, i});
      known_[s] = count;
    }
    constraints_.clear();
    for (const auto [source, index] : origins_) constraints_.push_back(sources_[source]->constraints()[index]);
  }

  std::span<const ContactConstraint> constraints() const override { return constraints_; }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return source(c).gradient(original(c)); }
  Vector3 drift(const ContactConstraint& c) const override { return source(c).drift(original(c)); }
  std::string describe(const ContactConstraint& c) const override { return source(c).describe(original(c)); }
  double size() const override { return std::min(sources_[0]->size(), sources_[1]->size()); }

  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    for (int s = 0; s < 2; ++s) {
      own_.setZero(3, Eigen::Index(sources_[s]->constraints().size()));
      for (std::size_t i = 0; i < origins_.size(); ++i) {
        if (origins_[i].source == s) own_.col(origins_[i].index) = forces.col(Eigen::Index(i));
      }
      sources_[s]->stiffness(own_, blocks);
    }
  }

 private:
  struct Origin {
    int source, index;
  };
  const Origin& origin(const ContactConstraint& c) const { return origins_[std::size_t(&c - constraints_.data())]; }
  const ContactConstraints& source(const ContactConstraint& c) const { return *sources_[origin(c).source]; }
  const ContactConstraint& original(const ContactConstraint& c) const { return source(c).constraints()[origin(c).index]; }

  std::array<std::unique_ptr<ContactConstraints>, 2> sources_;
  std::array<int, 2> known_{};
  std::vector<Origin> origins_;
  std::vector<ContactConstraint> constraints_;
  mutable Eigen::Matrix3Xd own_;
};

}

std::unique_ptr<ContactConstraints> makeContactConstraints(const Model& model, const ContactModel& parts,
                                                           const LineContactOptions& options) {
  const auto isCurve = [](const ContactModel::Part& part) { return part.curve.has_value(); };
  const bool hasCurves = std::any_of(parts.parts().begin(), parts.parts().end(), isCurve);
  const auto movesAndTouches = [&](const ContactModel::Part& part) {
    return !isCurve(part) && !part.shapes.empty() && !part.marker->blocks().empty();
  };
  const bool hasPoints = std::any_of(parts.parts().begin(), parts.parts().end(), movesAndTouches);
  if (!hasCurves) return std::make_unique<PointContacts>(parts);
  if (!hasPoints) return std::make_unique<LineContacts>(model, parts, options);
  return std::make_unique<ContactSet>(std::make_unique<LineContacts>(model, parts, options), std::make_unique<PointContacts>(parts));
}

}
