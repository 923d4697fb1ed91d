#pragma once
#include "tendril/view/view.h"

#include <string_view>

namespace tendril {

/// The functions of view.h with a given page of a viewer.
ViewPage writeViewPage(const ViewOptions& options, std::string_view viewer);
void serveView(const std::filesystem::path& results, std::string_view viewer, int port,
               const std::function<void(const std::string& address)>& ready, const std::function<bool()>& stop);

}
