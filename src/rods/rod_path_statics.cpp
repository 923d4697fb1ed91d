#include "tendril/rods/rod_path_statics.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace tendril {

RodPathStatics::RodPathStatics(const Model& model, RodPathStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.path.elements) + 1), options_(std::move(options)) {
  restart();
}

void RodPathStatics::restart() {
  path_.emplace(options_.family, options_.path);
  step_ = {};
  state_.t = options_.path.from;
  showFrames();
}

void RodPathStatics::showFrames() {
  for (std::size_t i = 0; i < nodes(); ++i) show(i, path_->rod().frame(int(i)));
}

const StepReport& RodPathStatics::advance() {
  const RodPathPoint& p = path_->advance();
  const int found = int(path_->branchPoints().size()), wanted = options_.path.branchPoints;
  if (options_.needsBranchPoints && p.branch == 0 && p.isEnd && found < wanted)
    throw NumericalFailure(
        fmt::format("rod: the path ended at a parameter of {:.6g} after {} branch points, not {}; let it run further, or "
                    "ask for fewer",
                    p.parameter, found, wanted));
  ++step_.step;
  step_.h = p.parameter - state_.t, step_.t = state_.t = p.parameter;
  step_.iterations = p.iterations, step_.residual = p.residual;
  const int free = 3 * options_.path.elements;
  step_.tangent = Inertia{free - p.unstable, p.unstable, 0};
  step_.critical.reset();
  step_.note = p.note;
  if (p.branchPoint >= 0) {
    step_.critical = path_->branchPoints()[std::size_t(p.branchPoint)].parameter;
    step_.note = fmt::format("branch point {} at {:.6g}", p.branchPoint + 1, *step_.critical);
  } else if (p.isFold) {
    step_.note = "the parameter turns";
  }
  showFrames();
  return step_;
}

/// The first path by its branch points, the branches by their number.
double RodPathStatics::progress() const {
  const int wanted = std::max(options_.path.branchPoints, 1);
  if (path_->finished()) return 1;
  const double first = std::min(1.0, double(path_->branchPoints().size()) / wanted);
  if (!options_.path.follows) return first;
  return (first + path_->point().branch) / (2 * wanted + 1);
}

bool RodPathStatics::monitor(std::string_view name, const Marker*, double* values) {
  const RodPathPoint& p = path_->point();
  const std::vector<RodBranchPoint>& found = path_->branchPoints();
  const auto ofBranchPoints = [&](const auto& of) {
    for (std::size_t i = 0; i < std::size_t(options_.path.branchPoints); ++i) values[i] = i < found.size() ? of(found[i]) : 0;
  };
  if (name == "parameter") {
    *values = state_.t;
  } else if (name == "branch") {
    *values = p.branch;
  } else if (name == "unstable directions") {
    *values = p.unstable;
  } else if (name == "is end") {
    *values = p.isEnd;
  } else if (name == "energy") {
    *values = path_->rod().energy();
  } else if (name == "turns") {
    *values = path_->rod().turns();
  } else if (name == "end force") {
    Eigen::Map<Vector3>{values} = p.end.force;
  } else if (name == "end moment") {
    Eigen::Map<Vector3>{values} = p.end.moment;
  } else if (name == "branch parameters") {
    ofBranchPoints([](const RodBranchPoint& b) { return b.parameter; });
  } else if (name == "branch forces") {
    ofBranchPoints([](const RodBranchPoint& b) { return b.end.force.norm(); });
  } else {
    return false;
  }
  return true;
}

void RodPathStatics::restore(const Snapshot& snapshot) {
  restart();
  while (step_.step < long(snapshot.at("step")[0])) advance();
}

}
