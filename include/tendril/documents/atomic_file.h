#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace tendril {

/// Replaces a file in one step: writes FILE.partial beside it, brings it to the disk and renames it. A reader, or a process that starts
/// after a crash, sees the old content or the new one, never a mixture. With `keep`, the old content stays available under that name.
/// Throws MachineFailure naming the path, the cause and that the old file is kept.
void replaceFile(const std::filesystem::path& file, std::string_view content, const std::filesystem::path& keep = {});

}
