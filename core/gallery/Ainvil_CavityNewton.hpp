// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The nonlinear lid-driven cavity for Newton's method, on one process or row by row on many.

#include "Ainvil_BsrMatrix.hpp"

#include <vector>

namespace ainvil {

/// Number of a grid point among those of all processes: x + n * y.
using GlobalPoint = long long;

/// The points that row p of the cavity on n x n points refers to: p and its neighbours in the
/// five-point stencil, in ascending order, as in the problem "cavity:N".
std::vector<GlobalPoint> cavityNeighbours(Ordinal n, GlobalPoint p);

/// F(x) = 0 for the lid-driven cavity in velocity-vorticity form, and dF/dx, in the rows that one
/// process owns. The unit square has n x n points at distance h = 1 / (n - 1), x holds (u, v, w) of
/// each. Inside, with first-order upwinding of the convection,
///   -h^2 lap u - h^2 w_y = 0,   -h^2 lap v + h^2 w_x = 0,
///   -h^2 lap w + Re h^2 (u w_x + v w_y) = 0.
/// On the boundary u and v are given, u = 1 on the lid at the top without its corners, else 0, and
/// w = v_x - u_y by one-sided differences; left and right own the corners. At x = 0 the matrix and
/// -F are those of the problem "cavity:N".
///
/// With the Reynolds number 1 of the lid's unit speed and size, Newton's method from rest brings
/// ||F|| below 1e-8 of its first value in three steps for n = 20, 100 and 400, with 100 in five for
/// n = 20 and 100. All steps share the pattern.
template <class Device>
class CavityNewton {
public:
  using execution_space = typename Device::execution_space;
  /// A point for each row or column.
  using Points = Kokkos::View<const GlobalPoint*, Device>;

  /// Row i of the valid `graph` is that of point row_points(i), its column c that of point
  /// col_points(c). A row holds the blocks that cavityNeighbours() lists, each once and in any
  /// order; it may hold others, whose values are zero, and lack the zero ones of boundary points.
  /// \throws InvalidArgument if n < 3 or the sizes do not match.
  CavityNewton(Ordinal n, Graph<Device> graph, Points row_points, Points col_points,
               double reynolds = 1);

  /// All rows, as "cavity:N" numbers them. Serial on the host.
  /// \throws InvalidArgument if n < 3 or an Ordinal cannot count the points.
  explicit CavityNewton(Ordinal n, double reynolds = 1);

  const Graph<Device>& graph() const { return graph_; } ///< of dF/dx, in blocks of 3

  /// values = dF/dx, the 3 x 3 blocks of the graph's entries, and residual = F, 3 values a row, for
  /// `state` = x, 3 values a column. An empty array is not wanted. The derivative of u w_x at u = 0
  /// is that for u > 0. One kernel, no allocation; waits.
  /// \throws InvalidArgument if the sizes do not match, or if a row lacks a block it needs or
  /// its point is outside the square: the outputs are then incomplete, the message names the first
  /// such point. On many processes only those concerned throw.
  void assemble(const execution_space& exec, Kokkos::View<const double*, Device> state,
                Kokkos::View<double*, Device> values, Kokkos::View<double*, Device> residual) const;

private:
  Ordinal n_;
  double reynolds_;
  Graph<Device> graph_;
  Points row_points_, col_points_;
};

} // namespace ainvil
