#pragma once
#include "tendril/view/view.h"

#include <string_view>

namespace tendril {

/// The same with a given page of a viewer.
ViewPage writeViewPage(const ViewOptions& options, std::string_view viewer);

}
