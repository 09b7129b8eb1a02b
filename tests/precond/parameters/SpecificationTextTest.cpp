// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_SpecificationText.hpp"

#include <gtest/gtest.h>

namespace {

using ainvil::detail::SpecificationText;

TEST(SpecificationText, ReadsAndWrites) {
  SpecificationText spec("ilu:level=2,solve=isai,power=3");
  EXPECT_EQ(spec.keys(), (std::vector<std::string>{"level", "solve", "power"}));
  EXPECT_EQ(spec.method(), "ilu");
  EXPECT_EQ(spec.value("power"), "3");
  EXPECT_EQ(spec.value("reorder"), "");
  EXPECT_TRUE(spec.has("solve"));
  EXPECT_FALSE(spec.has("sol")); // a key, not its beginning
  EXPECT_EQ(spec.text(), "ilu:level=2,solve=isai,power=3");
  spec.set("level", "3");
  spec.set("relax", "1");
  EXPECT_EQ(spec.text(), "ilu:level=3,solve=isai,power=3,relax=1");
  spec.remove("solve");
  EXPECT_EQ(spec.text(), "ilu:level=3,power=3,relax=1");
  SpecificationText plain("jacobi");
  EXPECT_EQ(plain.text(), "jacobi");
  plain.set("poly", "5");
  EXPECT_EQ(plain.text(), "jacobi:poly=5");
  plain.remove("poly");
  EXPECT_EQ(plain.text(), "jacobi");
}

TEST(SpecificationText, AKeyIsSetOnce) {
  SpecificationText spec("ilu:level=1,power=2,level=3");
  spec.set("level", "4");
  EXPECT_EQ(spec.text(), "ilu:level=4,power=2");
}

TEST(SpecificationText, WhatIsMalformedStaysAsItIs) {
  for (const char* text : {"", ":", "ilu:", "ilu:level", "ilu:,", "ilu:level=1,", "ilu:=1,level=2"})
    EXPECT_EQ(SpecificationText(text).text(), text);
}

} // namespace
