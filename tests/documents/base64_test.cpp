#include "tendril/documents/base64.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

TEST(Base64, IsThatOfTheStandard) { // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, ComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += char(i * 151 & 255);
    EXPECT_EQ(fromBase64(base64(bytes)), bytes);
  }
  EXPECT_EQ(fromBase64("Zm9v Zm9v"), "foo");
}

}
}
