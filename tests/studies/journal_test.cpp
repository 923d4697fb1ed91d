#include "studies/journal.h"

#include "support/files.h"

namespace tendril::testing {
namespace {

TEST(Journal, KeepsWhatWasAppended) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "journal.txt", 5);
    EXPECT_EQ(journal.size(), 0u);
    journal.open();
    journal.append(3, "three");
    journal.append(0, R"({"a": 1})");
    journal.append(3, "three again");
    EXPECT_EQ(journal.read(3), "three again");
    EXPECT_EQ(journal.read(0), R"({"a": 1})");
  }
  const Journal again(folder / "journal.txt", 5);
  EXPECT_EQ(again.size(), 2u);
  EXPECT_EQ(again.read(3), "three again");
  EXPECT_EQ(again.read(0), R"({"a": 1})");
  EXPECT_FALSE(again.has(4));
}

// Cut off at any byte, as by a machine that went down, it has the whole lines before, and goes on after them.
TEST(Journal, LeavesOutALineThatIsNotWhole) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "whole.txt", 4);
    journal.open();
    for (std::size_t run = 0; run < 3; ++run) journal.append(run, "text " + std::to_string(run));
  }
  const std::string whole = readAll(folder / "whole.txt");
  const std::size_t line = whole.size() / 3;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    writeAll(folder / "cut.txt", whole.substr(0, length));
    Journal cut(folder / "cut.txt", 4);
    EXPECT_EQ(cut.size(), length / line) << length;
    cut.open();
    cut.append(3, "last");
    for (std::size_t run = 0; run < length / line; ++run) EXPECT_EQ(cut.read(run), "text " + std::to_string(run));
    const Journal again(folder / "cut.txt", 4);
    EXPECT_EQ(again.size(), length / line + 1);
    EXPECT_EQ(again.read(3), "last");
  }
}

TEST(Journal, LeavesOutALineThatWasDamaged) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "journal.txt", 3);
    journal.open();
    for (std::size_t run = 0; run < 3; ++run) journal.append(run, "text");
  }
  std::string text = readAll(folder / "journal.txt");
  text[text.size() / 3 + 20] ^= 1; // in the second line
  writeAll(folder / "journal.txt", text);
  const Journal journal(folder / "journal.txt", 3);
  EXPECT_TRUE(journal.has(0) && journal.has(2));
  EXPECT_FALSE(journal.has(1));
}

TEST(Journal, SaysThatItCannotBeWritten) {
  const TemporaryFolder folder;
  Journal journal(folder / "none" / "journal.txt", 3);
  expectError<MachineFailure>([&] { journal.open(); }, {"none/journal.txt", "start again"});
}

}
}
