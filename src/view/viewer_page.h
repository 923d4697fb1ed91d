#pragma once
#include <string_view>

namespace tendril {

/// The page that the viewer's build made, whole; empty if this build has no viewer. `<!--film-->` marks where a film goes.
std::string_view viewerPage();

}
