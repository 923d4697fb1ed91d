#pragma once
#include "tendril/lie/types.h"

namespace tendril {

/// Ratio of the extreme singular values.
double conditionNumber(const MatrixX& A);

}
