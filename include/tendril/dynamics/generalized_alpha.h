#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/equations/kkt_system.h"

#include <memory>

namespace tendril {

struct GeneralizedAlphaOptions {
  double duration = 1;      ///< [s]
  double step = 1e-3;       ///< [s]; with error control, the first step
  double rhoInfinity = 0.9; ///< spectral radius at infinite frequency, in [0, 1): 0 annihilates high frequencies, 1 would keep them
  /// Error control: largest local error of positions, relative to the size of the model (translations) and in radians; 0 keeps the step.
  double errorTolerance = 0;
  /// [s], also for steps cut because Newton's method failed; 0: a ten-thousandth of the step, or a ten-millionth under error control. Far
  /// smaller steps only amplify the rounding of positions into accelerations.
  double smallestStep = 0;
  double largestStep = 0; ///< [s]; 0: a hundredth of the duration
  int maxIterations = 20;
  /// The factorisation is kept, over steps too, while each iteration lowers the residual at least by this factor; 0: a new one always.
  double reuseContraction = 0.1;
  KktTolerances tolerances;
};

/// Lie group generalized-alpha method for constrained systems (Bruls, Cardona & Arnold 2012), constraints at the level of positions:
///
///     q_{n+1} = q_n exp(alpha),                M a_{n+1} + f - G^T lambda = 0,   g = 0   at t_{n+1}
///     alpha   = h v_n + (1/2 - beta) h^2 w_n + beta h^2 w_{n+1}
///     v_{n+1} = v_n + (1 - gamma) h w_n + gamma h w_{n+1}
///     (1 - alpha_m) w_{n+1} + alpha_m w_n = (1 - alpha_f) a_{n+1} + alpha_f a_n      (dynamics.1), (dynamics.2)
///     alpha_f = rho/(rho+1), alpha_m = (2 rho - 1)/(rho + 1), gamma = 1/2 + alpha_f - alpha_m, beta = (gamma + 1/2)^2 / 4
///
/// a is the true acceleration, w the one of the algorithm. Second order in q, v and lambda; w_0 = a(t_0 + (alpha_m - alpha_f) h) to
/// second order, so that the multipliers have full order from the first step (Arnold, Bruls & Cardona 2015). Newton's method works on
/// the local increment delta = T(alpha) Delta alpha of the configuration. It starts from a and lambda extrapolated linearly, and keeps its
/// factorisation, with the T^-1(alpha) that belongs to it, as long as that serves.
class GeneralizedAlpha final : public Analysis {
 public:
  GeneralizedAlpha(const Model& model, const GeneralizedAlphaOptions& options);
  ~GeneralizedAlpha() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  double progress() const override { return (state_.t - begin_) / options_.duration; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;
  KktSystem& kkt() { return kkt_; }

  // For a method that lets this one integrate the smooth part of a motion, and corrects each step.
  /// The motion goes on from here; accelerations stay the smooth ones.
  void replaceMotion(const VectorX& q, const VectorX& v);
  /// Takes the last step back; the next one has this size [s].
  void retake(double step);

 private:
  class Step;
  /// What a step starts from.
  struct Start {
    State state;
    VectorX w, previousA, previousLambda;
    double previousStep = 0;
  };
  void setStep(double h);
  double localError() const;

  GeneralizedAlphaOptions options_;
  KktSystem kkt_;
  State state_, accepted_;
  VectorX w_, acceptedW_;              ///< acceleration of the algorithm
  VectorX previousA_, previousLambda_; ///< before the last accepted step, for the prediction of the next
  double begin_ = 0, h_ = 0, next_ = 0, previousStep_ = 0;
  Start lastStart_; ///< of the last accepted step
  std::unique_ptr<Step> step_;
  Newton newton_;
  StepReport report_;
};

}
