#include "tendril/analysis/solvability_check.h"

#include "tendril/model/error.h"

#include <limits>

namespace tendril {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view guideForce = "guide force ";

double count(const SlidingSolutions& solutions) {
  if (!solutions.isComplete) return unknown;
  return solutions.isContinuum ? std::numeric_limits<double>::infinity() : double(solutions.lambda.size());
}

double uniqueForEveryLoad(const Examination& e) {
  if (!e.sliding) return 0;
  if (e.margin.solutions.isUniqueForEveryLoad) return *e.margin.solutions.isUniqueForEveryLoad;
  return e.margin.isCertified() ? 1 : unknown;
}

}

std::optional<double> quantityOf(const Examination& e, std::string_view name) {
  if (name == "friction bound") return e.bound.norm;
  if (name == "sharp friction bound") return e.bound.sharp;
  if (name == "exact friction bound") return e.bound.exact.value_or(unknown);
  if (name == "beta2") return e.bound.beta2 ? e.bound.beta2->upper : unknown;
  if (name == "friction margin") return e.margin.factor;
  if (name == "solutions") return e.sliding ? count(e.margin.solutions) : unknown;
  if (name == "unique") return e.unique();
  if (name == "unique for every load") return uniqueForEveryLoad(e);
  if (name == "degrees of freedom") return e.solvability.degreesOfFreedom;
  if (name == "redundant equations") return double(e.solvability.redundant.size());
  if (name == "free motions") return e.solvability.freeModes;
  if (name.starts_with(guideForce)) return e.force("guide '" + std::string(name.substr(guideForce.size())) + "'");
  return {};
}

SolvabilityCheck::SolvabilityCheck(const Model& model, const ContactModel& contacts, SolvabilityCheckOptions options)
    : model_(model), options_(std::move(options)), contacts_(model, &contacts, options_.guides, options_.tolerances),
      state_(model.initialState()) {
  state_.a.setZero(model.nv());
  state_.lambda.setZero(model.nc());
}

void SolvabilityCheck::start() {
  if (options_.project) messages_ = contacts_.project(state_);
  examination_ = examine(contacts_, state_);
  for (const std::string& sentence : examination_.sentences()) messages_.push_back(sentence);
}

const StepReport& SolvabilityCheck::advance() {
  step_.step = 1, step_.h = 1, step_.t = state_.t;
  if (examination_.motion) {
    state_.a = examination_.motion->a;
    state_.lambda = examination_.motion->jointForce.head(model_.nc());
    step_.residual = examination_.motion->residual;
  }
  return step_;
}

bool SolvabilityCheck::monitor(std::string_view name, const Marker*, double* values) {
  const std::optional<double> value = quantityOf(examination_, name);
  if (value) *values = *value;
  return value.has_value();
}

void SolvabilityCheck::restore(const Snapshot& snapshot) {
  start();
  if (snapshot.at("step")[0] > 0) advance();
}

}
