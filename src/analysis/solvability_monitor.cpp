#include "tendril/analysis/solvability_monitor.h"

#include "tendril/analysis/solvability_check.h"
#include "tendril/model/error.h"

#include <limits>

#include <fmt/format.h>

namespace tendril {

SolvabilityMonitor::SolvabilityMonitor(std::unique_ptr<Analysis> watched, const Model& model, const ContactModel& contacts,
                                       const SolvabilityMonitorOptions& options)
    : watched_(std::move(watched)), options_(options), model_(model), contacts_(model, &contacts, {}, options.tolerances), parts_(contacts),
      single_(model, contacts) {
  watched_->stopWhen([this] { return isStopAsked(); });
}

void SolvabilityMonitor::start() {
  watched_->start();
  messages_ = watched_->messages();
  if (isLarge() && !single_.areBodiesFree())
    messages_.push_back(
        fmt::format("solvability is not watched: the model has more than {} velocities, and they are coupled", mostExamined));
  look();
  const std::string text = loss();
  if (!text.empty() && options_.stops) throw NumericalFailure(text + "; lower the friction, or let the monitor go on");
  if (!text.empty()) messages_.push_back("at the start " + text);
  wasLost_ = !text.empty();
}

const StepReport& SolvabilityMonitor::advance() {
  step_ = watched_->advance();
  look();
  const std::string text = loss();
  if (!text.empty() && options_.stops)
    throw NumericalFailure(fmt::format("step {}, t = {:.6g}: {}; lower the friction, or let the monitor go on", step_.step, step_.t, text));
  if (!text.empty() && !wasLost_) step_.note += (step_.note.empty() ? "" : "; ") + text;
  wasLost_ = !text.empty();
  return step_;
}

/// A state that violates its joints by more than the tolerances says nothing; that is the integrator's affair.
void SolvabilityMonitor::look() {
  if (isLarge()) {
    examination_ = {};
    if (single_.areBodiesFree() && contacts()) single_.look(state(), *contacts());
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
std::string SolvabilityMonitor::loss() const {
  if (isLarge() && single_.worst() >= 0 && single_.factor() <= 1) {
    const ContactRecord& contact = contacts()->contacts[std::size_t(single_.worst())];
    return fmt::format("the contact of '{}' and '{}' can jam by itself: its friction reaches the bound of {:.6g} (Painleve)",
                       parts_.parts()[std::size_t(contact.first)].name, parts_.parts()[std::size_t(contact.second)].name, single_.bound());
  }
  const FrictionMargin& margin = examination_.margin;
  const bool isLost =
      examination_.sliding && (margin.verdict == Verdict::None || (margin.verdict == Verdict::Multiple && !margin.solutions.isContinuum));
  if (!isLost || margin.endangered.empty()) return {};
  return fmt::format("contact forces have {} at {}: its friction reaches the bound of {:.6g} (Painleve)", toString(margin.verdict),
                     examination_.sliding->name(margin.endangered.front()), margin.bounds[margin.endangered.front()]);
}

bool SolvabilityMonitor::monitor(std::string_view name, const Marker* on, double* values) {
  const std::optional<double> value = quantityOf(examination_, name);
  if (!value) return watched_->monitor(name, on, values);
  *values = !isLarge() ? *value : name == "friction margin" ? single_.factor() : std::numeric_limits<double>::quiet_NaN();
  return true;
}

}
