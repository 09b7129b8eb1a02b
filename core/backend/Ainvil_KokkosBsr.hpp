// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kokkos Kernels' BSR matrix, which it has from version 3.6 on.

#if __has_include(<KokkosSparse_BsrMatrix.hpp>)
#include <KokkosSparse_BsrMatrix.hpp>
#endif

namespace ainvil {
namespace compat {

#if __has_include(<KokkosSparse_BsrMatrix.hpp>)
/// That matrix; in older versions a type that no matrix has.
template <class Scalar, class Index, class Space, class Memory, class Size>
using KokkosBsr = KokkosSparse::Experimental::BsrMatrix<Scalar, Index, Space, Memory, Size>;
#else
template <class Scalar, class Index, class Space, class Memory, class Size>
class KokkosBsr;
#endif

} // namespace compat
} // namespace ainvil
