#pragma once
#include <string_view>

namespace tendril {

/// The page that the viewer's build made, whole; empty if this build has no viewer.
std::string_view viewerPage();

/// Where a film goes in that page.
inline constexpr std::string_view filmMark = "<!--film-->";
/// Throws MachineFailure if there is no such place.
void requireViewer(std::string_view page);

}
