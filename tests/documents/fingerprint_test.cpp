#include "tendril/documents/fingerprint.h"

#include <gtest/gtest.h>

namespace tendril {

TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(fingerprint(""), 0xcbf29ce484222325ull);
  EXPECT_EQ(fingerprint("a"), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(fingerprint("foobar"), 0x85944171f73967e8ull);
}

}
