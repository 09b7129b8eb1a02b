// SPDX-License-Identifier: BSD-3-Clause
#include "backend/Ainvil_Remedies.hpp"

#include <gtest/gtest.h>

namespace {

using ainvil::detail::Remedies;

TEST(Remedies, LeaveOutWhatIsSet) {
  const Remedies all{{"exchange rows", "match"}, {"scale", "scale"}, {"give up"}};
  EXPECT_EQ(all.after("It fails"), "It fails: exchange rows, scale, or give up");
  EXPECT_EQ(all.without({"match"}).text(), "scale or give up");
  EXPECT_EQ(all.without({"", "match", "scale"}).text(), "give up");
  EXPECT_EQ(all.without({}).text(), all.text());
  const Remedies one{{"scale", "scale"}};
  EXPECT_EQ(one.without({"scale"}).after("It fails"), "It fails");
}

} // namespace
