#include "tendril/control/transcription.h"

#include "tendril/control/joint_path.h"
#include "tendril/control/multiplier_path.h"

#include <algorithm>

namespace tendril {

namespace {

class Dmocc final : public Transcription {
 public:
  Dmocc(const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess, const MatrixX& controls)
      : path_(system, std::move(problem), guess, controls) {}

  NonlinearProgram& program() override { return path_; }
  const ProgramStructure& structure() const override { return path_.structure(); }
  Units units() const override { return path_.units(); }
  const ControlProblem& problem() const override { return path_.problem(); }
  double duration() const override { return path_.duration(); }
  const VectorX& node(int n) const override { return path_.node(n); }
  const MatrixX& controls() const override { return path_.controls(); }
  void momenta(int interval, VectorX& left, VectorX& right) const override { path_.momenta(interval, left, right); }
  VectorX unbalanced(int n) const override { return path_.unbalanced(n); }
  VectorX velocity(int n) const override { return path_.velocity(n); }
  VectorX velocityBefore(int n) const override { return path_.velocityBefore(n); }
  double costUnit() const override { return path_.costUnit(); }
  VectorX contactMomentum(int n) const override { return path_.contactMomentum(n); }
  Vector3 impulse(int contact, int n) const override { return path_.impulse(contact, n); }
  double largestTurn() const override { return path_.largestTurn(); }
  double closure() const override { return path_.closure(); }

 private:
  ControlledPath path_;
};

}

std::string_view nameOf(TranscriptionMethod method) {
  switch (method) {
  case TranscriptionMethod::Dmocc:
    return "dmocc";
  case TranscriptionMethod::Multipliers:
    return "multipliers";
  case TranscriptionMethod::Dmoc:
    return "dmoc";
  case TranscriptionMethod::CollocationQp:
    return "collocation-qp";
  case TranscriptionMethod::CollocationQv:
    return "collocation-qv";
  }
  return "";
}

double largestTurn(const Model& model, const Transcription& path) {
  double largest = 0;
  VectorX before, here, turn(model.nv());
  for (int k = 0; k <= path.intervals(); ++k) {
    here = path.node(k); // a copy: some paths show every node in one place
    if (k > 0) {
      model.difference(before, here, turn);
      for (const Block& block : model.blocks())
        if (block.kind == Block::Kind::Pose) largest = std::max(largest, turn.segment<3>(block.v + 3).norm());
    }
    before = here;
  }
  return largest;
}

std::unique_ptr<Transcription> transcribe(TranscriptionMethod method, const DirectorSystem& system, ControlProblem problem,
                                          const std::vector<VectorX>& guess, const MatrixX& controls) {
  if (method == TranscriptionMethod::Dmocc) return std::make_unique<Dmocc>(system, std::move(problem), guess, controls);
  if (method == TranscriptionMethod::Multipliers) return std::make_unique<MultiplierPath>(system, std::move(problem), guess, controls);
  return std::make_unique<JointPath>(method, system, std::move(problem), guess, controls);
}

}
