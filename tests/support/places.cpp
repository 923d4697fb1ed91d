#include "support/places.h"

namespace tendril::test {

const std::string& sourceFolder() {
  static const std::string folder = TENDRIL_SOURCE_DIR;
  return folder;
}

const std::string& programFile() {
  static const std::string file = TENDRIL_PROGRAM;
  return file;
}

}
