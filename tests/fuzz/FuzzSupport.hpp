// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the fuzz targets share. Kokkos is started once a process.

#include "Ainvil_BsrMatrix.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ainvil {
namespace fuzz {

/// A short file may claim 2^24 rows. Beyond this many the targets do not look at each of them.
constexpr Ordinal many_rows = 1 << 16;

/// Ends the program, which libFuzzer reports as a finding, unless the condition holds.
void require(bool condition, const std::string& what);

/// Requires that a message is one line of moderate length.
void requireSentence(const std::string& text);

/// A matrix by rows as "column:value" with 17 digits: equal text means equal bits.
std::string show(const BsrMatrix<double, HostDevice>& a);

/// An input taken apart value by value; zeros once it is used up.
class Bytes {
public:
  Bytes(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}

  std::uint8_t byte() { return next_ == end_ ? std::uint8_t(0) : *next_++; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - next_); }

private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

} // namespace fuzz
} // namespace ainvil
