#include "tendril/analysis/solvability_monitor.h"

#include "tendril/analysis/solvability_check.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tendril {

namespace {

bool hasCurves(const ContactModel& contacts) {
  return std::any_of(contacts.parts().begin(), contacts.parts().end(), [](const auto& part) { return part.curve.has_value(); });
}

}

SolvabilityMonitor::SolvabilityMonitor(std::unique_ptr<Analysis> watched, const Model& model, const ContactModel& contacts,
                                       const SolvabilityMonitorOptions& options)
    : watched_(std::move(watched)), compliant_(dynamic_cast<CompliantContacts*>(watched_.get())), options_(options),
      contacts_(model, &contacts, {}, options.tolerances), parts_(contacts), single_(model, contacts),
      watchesSingles_(model.nv() > mostExamined || hasCurves(contacts)) {
  if (options_.compliance && !compliant_)
    throw InputError("on_loss: this method of the analysis knows rigid contacts alone; write method: moreau, or on_loss: stop");
  watched_->stopWhen([this] { return isStopAsked(); });
}

void SolvabilityMonitor::start() {
  watched_->start();
  messages_ = watched_->messages();
  if (watchesSingles_ && !single_.isWatchable())
    messages_.push_back("solvability is not watched: some motions have no inertia, or joints are redundant");
  look();
  const std::string text = react();
  if (!text.empty()) messages_.push_back("at the start " + text);
}

const StepReport& SolvabilityMonitor::advance() {
  step_ = watched_->advance();
  look();
  if (const std::string text = react(); !text.empty()) step_.note += (step_.note.empty() ? "" : "; ") + text;
  return step_;
}

/// Does what was asked for on a loss. Returns what is new to be told.
std::string SolvabilityMonitor::react() {
  Loss now = loss();
  const bool isNew = !std::exchange(wasLost_, !now.text.empty()) && !now.text.empty();
  if (now.text.empty()) return {};
  if (options_.stops)
    throw NumericalFailure(
        fmt::format("step {}, t = {:.6g}: {}; lower the friction, or let the monitor go on", step_.step, state().t, now.text));
  if (!options_.compliance) return isNew ? now.text : "";
  std::erase_if(now.at, [this](const auto& pair) { return compliant_->isSoft(pair.first, pair.second); });
  if (now.at.empty()) return {};
  std::string names;
  for (const auto& [first, second] : now.at) {
    compliant_->soften(first, second, *options_.compliance);
    names += fmt::format("{}'{}' and '{}'", names.empty() ? "" : ", ", parts_.parts()[std::size_t(first)].name,
                         parts_.parts()[std::size_t(second)].name);
  }
  return fmt::format("{}; from here on the contacts of {} give way along their tangents by {:.3g} m/N before they slip", now.text, names,
                     options_.compliance->compliance);
}

/// A state that violates its joints by more than the tolerances says nothing; that is the integrator's affair.
void SolvabilityMonitor::look() {
  if (watchesSingles_) {
    examination_ = {};
    if (single_.isWatchable() && contacts()) single_.look(state(), *contacts());
    return;
  }
  try {
    examination_ = examine(contacts_, watched_->state());
  } catch (const InputError& error) {
    examination_ = {};
    examination_.notes = {error.what()};
  }
}

/// What is lost at the present state, in words; empty if nothing is.
SolvabilityMonitor::Loss SolvabilityMonitor::loss() const {
  if (watchesSingles_ && single_.worst() >= 0 && single_.factor() <= 1) {
    const ContactRecord& contact = contacts()->contacts[std::size_t(single_.worst())];
    return {fmt::format("the contact of '{}' and '{}' can jam by itself: its friction reaches the bound of {:.6g} (Painleve)",
                        parts_.parts()[std::size_t(contact.first)].name, parts_.parts()[std::size_t(contact.second)].name, single_.bound()),
            {{contact.first, contact.second}}};
  }
  const FrictionMargin& margin = examination_.margin;
  const bool isLost =
      examination_.sliding && (margin.verdict == Verdict::None || (margin.verdict == Verdict::Multiple && !margin.solutions.isContinuum));
  if (!isLost || margin.endangered.empty()) return {};
  Loss loss{fmt::format("contact forces have {} at {}: its friction reaches the bound of {:.6g} (Painleve)", toString(margin.verdict),
                        examination_.sliding->name(margin.endangered.front()), margin.bounds[margin.endangered.front()]),
            {}};
  for (const int i : margin.endangered) {
    const std::pair<int, int> pair = contacts_.parts(i);
    if (std::find(loss.at.begin(), loss.at.end(), pair) == loss.at.end()) loss.at.push_back(pair);
  }
  return loss;
}

bool SolvabilityMonitor::monitor(std::string_view name, const Marker* on, double* values) {
  const std::optional<double> value = quantityOf(examination_, name);
  if (!value) return watched_->monitor(name, on, values);
  *values = !watchesSingles_ ? *value : name == "friction margin" ? single_.factor() : std::numeric_limits<double>::quiet_NaN();
  return true;
}

}
