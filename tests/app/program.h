#pragma once
#include "support/files.h"
#include "support/places.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tendril::testing {

struct Answer {
  int code = -1;
  std::string out, err;
};

/// The program itself, started in a folder of its own.
class Program : public ::testing::Test {
 protected:
  pid_t start(const std::vector<std::string>& arguments, rlim_t largestFile = RLIM_INFINITY) {
    const std::string out = (folder / "stdout.txt").string(), err = (folder / "stderr.txt").string();
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> argv{const_cast<char*>("tendril")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (chdir(folder.path.c_str()) != 0) _exit(99);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    const rlimit limit{largestFile, largestFile};
    if (largestFile != RLIM_INFINITY) setrlimit(RLIMIT_FSIZE, &limit);
    execv(test::programFile().c_str(), argv.data());
    _exit(99);
  }
  Answer wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), readAll(folder / "stdout.txt"), readAll(folder / "stderr.txt")};
  }
  Answer tendril(const std::vector<std::string>& arguments, rlim_t largestFile = RLIM_INFINITY) {
    return wait(start(arguments, largestFile));
  }
  void scene(const std::string& text) { writeAll(folder / "scene.yaml", text); }
  nlohmann::json summary(const std::string& name) const { return nlohmann::json::parse(readAll(folder / name / "summary.json")); }

  TemporaryFolder folder;
};

/// The message comes once, on one line, and says what is wrong.
inline void expectOneError(const Answer& answer, int code, std::initializer_list<const char*> parts) {
  EXPECT_EQ(answer.code, code) << answer.err;
  EXPECT_TRUE(answer.err.starts_with("error: ")) << answer.err;
  EXPECT_EQ(answer.err.find("error: ", 1), std::string::npos) << answer.err;
  for (const char* part : parts) EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err << "\nmissing: " << part;
}

}
