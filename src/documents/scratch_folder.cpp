#include "tendril/documents/scratch_folder.h"
#include "tendril/model/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tendril {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tendril-XXXXXX").string();
  if (!mkdtemp(name.data())) throw MachineFailure("cannot make the folder " + name + ": " + std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code status;
  std::filesystem::remove_all(path_, status);
}

}
