#pragma once
#include "tendril/scenes/certification.h"

#include <memory>
#include <string>

namespace tendril {

/// The performance of a scene at one point after the other: controls first, then uncertain inputs. NaN where the run fails, with the
/// reason.
class SceneFunction {
 public:
  virtual ~SceneFunction() = default;
  /// Fills a column with what is wanted of a point.
  void operator()(const VectorX& point, Wanted wanted, Eigen::Ref<VectorX> column);
  const std::string& reason() const { return reason_; }

 protected:
  /// Throws where the run fails.
  virtual void run(const VectorX& point, Wanted wanted, Eigen::Ref<VectorX> column) = 0;

 private:
  std::string reason_;
};

/// Any scene, run anew at every point; or a manoeuvre, as a ForwardFunction.
std::unique_ptr<SceneFunction> sceneFunction(const CertificationOptions& options, const Certification::SceneMaker& scenes);

}
