#pragma once
#include "tendril/rods/rod_path.h"
#include "tendril/rods/shown_rod.h"

#include <optional>

namespace tendril {

struct RodPathStaticsOptions {
  RodFamily family;
  RodPathOptions path;
  const char* unit = "1";        ///< of the parameter
  bool needsBranchPoints = true; ///< a path that ends before it has passed as many as are asked for is a failure
  std::vector<int> blocks;       ///< pose blocks of a model that show the nodes of the rod
};

/// A path of equilibria and its branches (RodPath) as an analysis, whose steps are the points of the first path, and then of each branch.
/// The parameter is the time of its states. monitor(): `parameter`, `branch`, `unstable directions`, `is end` (1 at the last point of a
/// branch), `energy` [J], `turns`, `end force` [N], `end moment` [N m]; of all branch points so far, zero for those to come,
/// `branch parameters` and `branch forces` (the size of the support's force there [N]).
class RodPathStatics final : public ShownRod {
 public:
  RodPathStatics(const Model& model, RodPathStaticsOptions options);

  void start() override { restart(); }
  bool finished() const override { return path_->finished(); }
  const StepReport& advance() override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override;
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  /// Follows the path anew to where it was.
  void restore(const Snapshot& snapshot) override;

 private:
  void restart();
  void showFrames();

  RodPathStaticsOptions options_;
  std::optional<RodPath> path_;
};

}
