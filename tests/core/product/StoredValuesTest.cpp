// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "product/Ainvil_StoredValues.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// What checkStorage() says of rows of one and of two blocks of two by two, all 1 but for what
/// change(values of the second row) makes of them.
template <class Stored, class Change>
std::string verdict(bool full_rows, const Change& change) {
  std::vector<float> numbers(4 + 8 + 4, 1.0f);
  change(numbers.data() + 4);
  const BsrMatrix<Stored, Device> a(copyTo<Device>(makeGraph({{0}, {0, 1}, {2}}, 3)),
                                    toDevice(std::vector<Stored>(numbers.begin(), numbers.end())),
                                    2);
  try {
    detail::checkStorage(Exec(), a, full_rows);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "fits";
}

template <class Stored>
void checkVerdicts() {
  const float infinity = std::numeric_limits<float>::infinity();
  const float smallest = std::numeric_limits<float>::min();
  const auto all = [](float value) {
    return [value](float* row) { std::fill(row, row + 8, value); };
  };
  const auto one = [&](float value, float others) {
    return [=](float* row) {
      std::fill(row, row + 8, others);
      row[5] = value;
    };
  };
  const std::string refused = "1 block rows of a factor do not fit";
  for (const bool full_rows : {true, false}) {
    EXPECT_EQ(verdict<Stored>(full_rows, all(1)), "fits");
    EXPECT_EQ(verdict<Stored>(full_rows, one(-1, 0)), "fits");
    EXPECT_EQ(verdict<Stored>(full_rows, one(smallest, 0)), "fits");
    for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
      EXPECT_EQ(verdict<Stored>(full_rows, one(bad, 1)).find(refused), 0u) << bad;
  }
  // A row that holds nothing but zeros, or numbers that have lost their digits.
  for (const float bad : {0.0f, smallest / 2}) {
    EXPECT_EQ(verdict<Stored>(true, all(bad)).find(refused), 0u) << bad;
    EXPECT_EQ(verdict<Stored>(false, all(bad)), "fits") << bad;
  }
}

TEST(CheckStorage, WantsFiniteNumbersAndNoRowBelowTheRange) {
  checkVerdicts<float>();
  checkVerdicts<BFloat16>();
}

} // namespace
