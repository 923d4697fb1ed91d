#pragma once
#include <array>

/// Coefficients of the explicit Runge-Kutta pair 5(4) of Dormand & Prince (1980), whose last stage is the first of the next step, with the
/// continuous extension of order 4 (Hairer, Norsett & Wanner, "Solving Ordinary Differential Equations I", II.6).
namespace tendril::dormand_prince {

inline constexpr int stages = 7;
inline constexpr std::array<double, stages> nodes{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
/// Stage i begins from y + h sum_j weights[i][j] k_j; the last at the end of the step.
inline constexpr double weights[stages][stages - 1]{{},
                                                    {1. / 5},
                                                    {3. / 40, 9. / 40},
                                                    {44. / 45, -56. / 15, 32. / 9},
                                                    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                                    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                                    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
/// The embedded method of order 4 differs by h sum_j error[j] k_j.
inline constexpr std::array<double, stages> error{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
/// Of the continuous extension.
inline constexpr std::array<double, stages> dense{-12715105075. / 11282082432,  0,
                                                  87487479700. / 32700410799,   -10690763975. / 1880347072,
                                                  701980252875. / 199316789632, -1453857185. / 822651844,
                                                  69997945. / 29380423};

}
