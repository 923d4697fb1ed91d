#pragma once
#include <string>

namespace tendril::test {

/// The folder of the sources and the program that was built from them. Functions, so that no test's own code depends on where it lies and
/// what one checkout compiled serves another.
const std::string& sourceFolder();
const std::string& programFile();

}
