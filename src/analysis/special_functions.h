#pragma once

namespace tendril {

/// Regularised incomplete beta function I_x(a, b), a, b > 0, x in [0, 1], by Lentz's continued fraction.
double incompleteBeta(double a, double b, double x);
/// x with I_x(a, b) = share.
double inverseIncompleteBeta(double a, double b, double share);

double normalProbability(double x);
/// x with P[N(0,1) <= x] = share, to round-off.
double normalQuantile(double share);

}
