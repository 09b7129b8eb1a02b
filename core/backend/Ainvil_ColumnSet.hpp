// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which columns of a multivector a kernel works on.

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ainvil {
namespace detail {

/// Some of the first eight columns of a multivector, in ascending order. A kernel gets it by value:
/// a byte a column, because an array in the arguments of a kernel that is indexed by a variable
/// would be copied to local memory.
class ColumnSet {
public:
  static constexpr int capacity = 8;

  ColumnSet() = default; ///< no column
  /// Columns 0 to count - 1.
  static ColumnSet first(int count) {
    ColumnSet columns;
    for (int c = 0; c < count; ++c)
      columns.add(c);
    return columns;
  }
  /// A column behind those there are.
  void add(int column) {
    columns_ |= std::uint64_t(column) << (8 * size_);
    ++size_;
  }

  KOKKOS_INLINE_FUNCTION int size() const { return size_; }
  KOKKOS_INLINE_FUNCTION bool empty() const { return size_ == 0; }
  KOKKOS_INLINE_FUNCTION int operator[](int k) const {
    return static_cast<int>(columns_ >> (8 * k) & 0xff);
  }

  /// For loops over the columns on the host.
  class Iterator {
  public:
    Iterator(const ColumnSet& columns, int k) : columns_(columns), k_(k) {}
    int operator*() const { return columns_[k_]; }
    Iterator& operator++() {
      ++k_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return k_ != other.k_; }

  private:
    const ColumnSet& columns_;
    int k_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

private:
  std::uint64_t columns_ = 0;
  int size_ = 0;
};

/// A column of a multivector in a kernel: the first one, until moveTo() another.
template <class T>
class KernelColumn {
public:
  KernelColumn() = default;
  KernelColumn(T* data, std::int64_t stride) : data_(data), stride_(stride) {}
  /// Of any view of rank 2 and this layout whose pointer converts.
  template <class View>
  KernelColumn(const View& view) : data_(view.data()), stride_(view.stride(1)) {}

  KernelColumn<const T> toRead() const { return {data_, stride_}; }

  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION void moveTo(int column) { data_ += column * stride_; }
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t row) const { return data_[row]; }

private:
  T* data_ = nullptr;
  std::int64_t stride_ = 0;
};

/// Vectors v_0, v_1, ... for each of some columns, in a kernel.
template <class T>
struct KernelBases {
  T* data;
  std::int64_t vector_stride; ///< from v_c to v_c+1
  std::int64_t column_stride; ///< from the v_c of a column to that of the next

  KOKKOS_INLINE_FUNCTION T* of(int column) const { return data + column * column_stride; }
  /// The same, whose column 0 is this one.
  KernelBases from(int column) const { return {of(column), vector_stride, column_stride}; }
  KernelBases<const T> toRead() const { return {data, vector_stride, column_stride}; }
};

/// The launch of a kernel whose items are runs of rows, for each of some columns.
struct ColumnRuns {
  ColumnSet columns;
  std::int64_t length; ///< rows of a run, the last of a column may have fewer
  std::int64_t runs;   ///< of a column

  ColumnRuns(const ColumnSet& columns, std::int64_t num_rows, std::int64_t length)
      : columns(columns), length(length), runs((num_rows + length - 1) / length) {}

  std::int64_t numItems() const { return runs * columns.size(); }
  /// The column of an item; makes the item its number in that column.
  KOKKOS_INLINE_FUNCTION int columnOf(std::int64_t& item) const {
    if (columns.size() == 1) // saves the division
      return columns[0];
    const auto k = item / runs;
    item -= k * runs;
    return columns[static_cast<int>(k)];
  }
};

} // namespace detail
} // namespace ainvil
