#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
#include "tendril/analysis/solvability_check.h"
#include "tendril/analysis/solvability_monitor.h"

#include <algorithm>

namespace tendril::scenes {

/// Guides sit on markers, which must exist before the mechanism is built.
void SceneBuilder::readSolvability(const Record& analysis) {
  SolvabilityCheckOptions options;
  for (const Record& r : analysis.objects("guides")) options.guides.push_back(readGuide(r, options.guides));
  options.project = analysis.boolean("project_initial");
  for (const Guide& guide : options.guides) guides_.push_back(guide.name);
  content_.guides = options.guides;
  content_.makeAnalysis = [options](const Model& model, const ContactModel& contacts, const FrictionObserver&) {
    return std::make_unique<SolvabilityCheck>(model, contacts, options);
  };
}

void SceneBuilder::watchSolvability(const Record& analysis, const AnalysisChoice& choice) {
  if (!analysis.has("monitor")) {
    for (const char* key : {"on_loss", "compliance", "relaxation"})
      if (analysis.node().has(key)) analysis.node(key).refuse("nothing is watched", "write `monitor: solvability`, or remove it");
    return;
  }
  static_cast<void>(analysis.choice("monitor")); // there is but one, and another word is refused
  const std::string onLoss = analysis.choice("on_loss");
  SolvabilityMonitorOptions options{.stops = onLoss == "stop"};
  if (onLoss == "regularise") {
    if (choice.method != "moreau")
      analysis.node("on_loss").refuse("the method of the analysis knows rigid contacts alone", "write method: moreau, or on_loss: stop");
    if (!analysis.has("compliance"))
      analysis.node("on_loss").refuse("how much the contacts give way is not said", "give `compliance`, in m/N");
    options.compliance = {analysis.number("compliance"), analysis.has("relaxation") ? analysis.number("relaxation") : 0};
  }
  for (const char* key : {"compliance", "relaxation"})
    if (analysis.has(key) && !options.compliance)
      analysis.node(key).refuse("contacts stay rigid", "write `on_loss: regularise`, or remove it");
  content_.watchesSolvability = true;
  content_.makeAnalysis = [make = choice.make, options](const Model& model, const ContactModel& contacts,
                                                        const FrictionObserver& observer) {
    return std::make_unique<SolvabilityMonitor>(make(model, contacts, observer), model, contacts, options);
  };
}

Guide SceneBuilder::readGuide(const Record& r, const std::vector<Guide>& others) {
  Guide guide{.name = r.text("name"), .point = &marker(r.node("on")), .frame = &make(frame(r.node("to")))};
  if (std::any_of(others.begin(), others.end(), [&](const Guide& other) { return other.name == guide.name; }))
    r.node("name").refuse("two guides are named '" + guide.name + "'", "give one of them another name");
  guide.normal = direction(r, "normal");
  guide.tangent = direction(r, "tangent");
  guide.isUnilateral = r.boolean("unilateral");
  if (r.has("friction")) guide.friction = r.number("friction");
  if (r.has("sliding")) guide.sliding = r.choice("sliding") == "forward" ? 1 : -1;
  if (guide.sliding && !guide.friction) r.node("sliding").refuse("the guide is smooth", "give `friction`, or remove it");
  placed(r.node(), [&] { guide.check(); });
  return guide;
}

std::optional<MonitorQuantity> SceneBuilder::ofSolvability(const Record& r) const {
  static const std::map<std::string, MonitorQuantity> known{
      {"friction bound", {"", 1, "1", "friction below which forces exist and are unique for every load, by singular values or beta_2"}},
      {"sharp friction bound", {"", 1, "1", "the same, sharpened by scaling"}},
      {"exact friction bound", {"", 1, "1", "friction at which uniqueness for every load ends"}},
      {"beta2", {"", 1, "1", "distance of mixed contact without friction from losing uniqueness"}},
      {"friction margin", {"", 1, "1", "factor by which the coefficients given may grow"}},
      {"solutions", {"", 1, "1", "number of solutions for the loads given"}},
      {"unique", {"", 1, "1", "1 if the loads given have exactly one solution"}},
      {"unique for every load", {"", 1, "1", "1 if every load has exactly one solution"}},
      {"degrees of freedom", {"", 1, "1", "velocities that joints and guides leave free"}},
      {"redundant equations", {"", 1, "1", "equations of joints and guides that follow from others"}},
      {"free motions", {"", 1, "1", "motions that neither inertia nor constraints hold"}},
      {"guide force", {"", 1, "N", "normal force of a guide on its point"}}};
  const std::string& what = r.variant();
  const auto found = known.find(what);
  if (found == known.end()) return {};
  if (!content_.isSolvability && !content_.watchesSolvability)
    r.node("measure").refuse("the analysis examines no solvability", "write analysis: {type: solvability, ...}, or monitor: solvability");
  MonitorQuantity quantity = found->second;
  quantity.name = what;
  if (what == "guide force") quantity.name += " " + r.node("guide").toReference("guide", guides_);
  return quantity;
}

}
