#include "scenes/scene_function.h"

#include "tendril/control/optimal_control.h"
#include "tendril/documents/overrides.h"
#include "tendril/scenes/forward_scene.h"
#include "tendril/scenes/scene.h"

#include <limits>

namespace tendril {

namespace {

/// The result of an output of the scene with other values.
class OutputFunction final : public SceneFunction {
 public:
  OutputFunction(const CertificationOptions& options, Certification::SceneMaker scenes)
      : output_(options.output), scenes_(std::move(scenes)) {
    for (const CertificationOptions::Control& control : options.controls) paths_.push_back(control.path);
    for (const CertificationOptions::Input& input : options.inputs) paths_.push_back(input.path);
  }

 protected:
  void run(const VectorX& point, Wanted, Eigen::Ref<VectorX> column) override {
    std::vector<std::string> overrides;
    for (std::size_t i = 0; i < paths_.size(); ++i) overrides.push_back(assignment(paths_[i], point[Eigen::Index(i)]));
    const Scene scene = scenes_(overrides);
    const std::unique_ptr<Analysis> analysis = scene.makeForwardAnalysis();
    Outputs outputs = scene.makeOutputs();
    analysis->start();
    outputs.observe(*analysis, {});
    while (!analysis->finished()) outputs.observe(*analysis, analysis->advance());
    column[0] = outputs.result(find(outputs))[0];
  }

 private:
  int find(const Outputs& outputs) const {
    for (int i = 0; i < outputs.size(); ++i)
      if (outputs.infos()[std::size_t(i)].name == output_) return i;
    throw InputError("there is no output '" + output_ + "'");
  }

  std::string output_;
  Certification::SceneMaker scenes_;
  std::vector<std::string> paths_;
};

/// How far a marker is from a place after a forward run of a manoeuvre. Forces from outside are further actuators.
class MissFunction final : public SceneFunction {
 public:
  MissFunction(const CertificationOptions& options, const Certification::SceneMaker& scenes) : MissFunction(options, scenes, scenes({})) {}

 protected:
  void run(const VectorX& point, Wanted wanted, Eigen::Ref<VectorX> column) override {
    VectorX x(order_.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = point[order_[i]];
    MatrixX slopes; // one column for every coordinate
    if (wanted == Wanted::Residuals) {
      column.head<3>() = function_.numbers(x, slopes);
    } else {
      VectorX gradient;
      column[0] = function_(x, wanted == Wanted::Values ? nullptr : &gradient, wanted == Wanted::Gradients);
      slopes = gradient.transpose();
    }
    const Eigen::Index size = slopes.rows();
    for (Eigen::Index i = 0; i < slopes.cols(); ++i) column.segment(size * (1 + order_[i]), size) = slopes.col(i);
  }

 private:
  MissFunction(const CertificationOptions& options, const Certification::SceneMaker& scenes, const Scene& nominal)
      : function_(familyOf(options, scenes, nominal), forwardOptions(nominal), nominalParameters(options)) {
    const int steps = forwardOptions(nominal).steps, motors = int(nominal.manoeuvre()->actuators.size());
    order_.resize(function_.size());
    int parameter = 0, force = 0, place = motors * steps; // of the point: controls, then inputs in the order of the scene
    for (int n = 0; n < steps; ++n)
      for (int k = 0; k < motors; ++k) order_[function_.place(k, n)] = n * motors + k;
    for (const CertificationOptions::Input& input : options.inputs) {
      if (!input.on) {
        order_[parameter++] = place++;
        continue;
      }
      const int step = force % steps, actuator = motors + force / steps;
      order_[function_.place(actuator, step)] = place++;
      ++force;
    }
  }

  static VectorX nominalParameters(const CertificationOptions& options) {
    std::vector<double> means;
    for (const CertificationOptions::Input& input : options.inputs)
      if (!input.on) means.push_back(input.distribution.mean());
    return VectorX::Map(means.data(), Eigen::Index(means.size()));
  }

  static ForwardFamily familyOf(const CertificationOptions& options, const Certification::SceneMaker& scenes, const Scene& nominal) {
    std::vector<std::string> paths, unread; // what nobody reads of the scenes
    for (const CertificationOptions::Input& input : options.inputs)
      if (!input.on) paths.push_back(input.path);
    if (nominal.document().root().has("outputs")) unread.push_back("outputs=[]");
    if (nominal.document().root().has("reference")) unread.push_back("reference={source: none}");
    return [paths, unread, scenes](const VectorX& parameters) {
      std::vector<std::string> overrides = unread;
      for (std::size_t k = 0; k < paths.size(); ++k) overrides.push_back(assignment(paths[k], parameters[Eigen::Index(k)]));
      const auto scene = std::make_shared<const Scene>(scenes(overrides));
      const CertificationOptions& own = *scene->certification();
      const int steps = scene->manoeuvre()->intervals;
      ForwardCase made{
          {scene, scene->mechanism().model.get()}, scene->manoeuvre()->actuators, distanceOf("miss", *own.miss, own.place, steps)};
      int force = 0;
      for (const CertificationOptions::Input& input : own.inputs) {
        if (!input.on || force++ % steps != 0) continue; // one actuator for all its intervals
        Vector6 wrench;
        wrench << input.direction, Vector3::Zero();
        made.actuators.push_back({input.name, {{input.on, false, wrench}}});
      }
      return made;
    };
  }

  ForwardFunction function_;
  Eigen::VectorXi order_; ///< where in a point the inputs of the function are
};

}

void SceneFunction::operator()(const VectorX& point, Wanted wanted, Eigen::Ref<VectorX> column) {
  try {
    return run(point, wanted, column);
  } catch (const NumericalFailure& failure) {
    reason_ = failure.what();
  } catch (const InputError& error) {
    reason_ = error.what();
  }
  column.setZero();
  column[0] = std::numeric_limits<double>::quiet_NaN();
}

std::unique_ptr<SceneFunction> sceneFunction(const CertificationOptions& options, const Certification::SceneMaker& scenes) {
  if (options.miss) return std::make_unique<MissFunction>(options, scenes);
  return std::make_unique<OutputFunction>(options, scenes);
}

}
