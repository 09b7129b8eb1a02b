// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the kernels of block ILU read and write, on GPUs and on hosts.

#include "backend/Ainvil_KernelArrays.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"

namespace ainvil {
namespace detail {

/// A, the factors L and U on their patterns, and how their rows are computed.
template <class Scalar>
struct IluRowData {
  KernelGraph a_graph, l_graph, u_graph;
  KernelArray<const Scalar> a_values;
  KernelArray<Scalar> l_values, u_values, inverse;
  KernelMatrix<const Scalar> u_read; ///< U of the rows before; without values: all zero
  PivotInversion<Scalar> pivot_inverter;
  int block_size;
  bool holds_a;    ///< the pattern holds that of A
  Scalar modified; ///< omega
};

} // namespace detail
} // namespace ainvil
