#pragma once
#include "tendril/lie/types.h"
#include "tendril/model/time_function.h"

namespace tendril {

/// Air at rest, or wind, about a thin sheet: the pressure difference of a plate that moves through it broadside,
///
///     f = - 1/2 c |v_n| v_n n per area,      v_n = n . (velocity - wind),
///
/// along its normal n; edges, lift and shelter are left out.
struct AirDrag {
  double density = 0;             ///< c, of the air times the coefficient of drag [kg/m^3]; zero: no air
  Vector3 wind = Vector3::Zero(); ///< [m/s], in the inertial frame
  TimeFunction gusts = TimeFunction::constant();
};

}
