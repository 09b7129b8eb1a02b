// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_CavityNewton.hpp"

#include "graph/Ainvil_CountRows.hpp"

#include <limits>

namespace ainvil {
namespace {

enum { u, v, w };
enum { here, west, east, south, north, num_roles };

/// Row i of F and of dF/dx for the (u, v, w) of a point P and its neighbours, one thread a row:
///   inside  4 u_P - u_W - u_E - u_S - u_N - (h/2) (w_N - w_S)
///           4 v_P - v_W - v_E - v_S - v_N + (h/2) (w_E - w_W)
///           4 w_P - w_W - w_E - w_S - w_N + Re h (u+ (w_P - w_W) + u- (w_E - w_P)
///                                                + v+ (w_P - w_S) + v- (w_N - w_P))
///   walls   u_P - lid,   v_P,   w_P + slope (t_I - t_P)
/// where a+ = max(a, 0), a- = min(a, 0) for a = u_P, v_P, t is the velocity along the wall, I the
/// neighbour inside, and slope = 1/h at the bottom and on the right, -1/h at the top and on the
/// left. Returns whether the row lacks one of these points, and then does not finish it.
template <class Device>
struct AssembleKernel {
  Offset n;
  double reynolds;
  Graph<Device> graph;
  Kokkos::View<const GlobalPoint*, Device> row_points, col_points;
  Kokkos::View<const double*, Device> state;
  Kokkos::View<double*, Device> values, residual; ///< empty: not wanted

  using Entries = Offset[num_roles]; ///< of a row by their roles, -1 where there is none

  KOKKOS_FUNCTION bool operator()(const Offset i) const {
    const GlobalPoint p = row_points(i), last = n - 1, x = p % n, y = p / n;
    if (p < 0 || y > last)
      return true;
    const GlobalPoint steps[num_roles] = {0, -1, 1, -n, n};
    Entries at = {-1, -1, -1, -1, -1};
    for (Offset e = graph.row_map(i); e < graph.row_map(i + 1); ++e) {
      for (int role = 0; role < num_roles; ++role)
        if (col_points(graph.entries(e)) == p + steps[role])
          at[role] = e;
      if (values.extent(0) > 0)
        for (int k = 0; k < 9; ++k)
          values(9 * e + k) = 0;
    }

    const int inward = x == 0 ? east : x == last ? west : y == 0 ? north : y == last ? south : here;
    for (int role = 0; role < num_roles; ++role)
      if (at[role] < 0 && (inward == here || role == here || role == inward))
        return true;
    if (inward == here)
      inside(i, at);
    else
      wall(i, at, inward);
    return false;
  }

  KOKKOS_FUNCTION void inside(Offset i, const Entries& at) const {
    const double half_h = 0.5 / (n - 1), convection = reynolds / (n - 1);
    const double *P = unknowns(at[here]), *W = unknowns(at[west]), *E = unknowns(at[east]),
                 *S = unknowns(at[south]), *N = unknowns(at[north]);
    const double u_plus = P[u] > 0 ? P[u] : 0, u_minus = P[u] < 0 ? P[u] : 0;
    const double v_plus = P[v] > 0 ? P[v] : 0, v_minus = P[v] < 0 ? P[v] : 0;
    if (residual.extent(0) > 0) {
      double* f = &residual(3 * i);
      for (int c = 0; c < 3; ++c)
        f[c] = 4 * P[c] - W[c] - E[c] - S[c] - N[c];
      f[u] -= half_h * (N[w] - S[w]);
      f[v] += half_h * (E[w] - W[w]);
      f[w] += convection * (u_plus * (P[w] - W[w]) + u_minus * (E[w] - P[w]) +
                            v_plus * (P[w] - S[w]) + v_minus * (N[w] - P[w]));
    }
    if (values.extent(0) > 0) {
      for (int role = 0; role < num_roles; ++role)
        for (int c = 0; c < 3; ++c)
          derivative(at[role], c, c) = role == here ? 4 : -1;
      derivative(at[north], u, w) = derivative(at[west], v, w) = -half_h;
      derivative(at[south], u, w) = derivative(at[east], v, w) = half_h;
      derivative(at[here], w, u) = convection * (P[u] < 0 ? E[w] - P[w] : P[w] - W[w]);
      derivative(at[here], w, v) = convection * (P[v] < 0 ? N[w] - P[w] : P[w] - S[w]);
      derivative(at[here], w, w) += convection * (u_plus - u_minus + v_plus - v_minus);
      derivative(at[west], w, w) -= convection * u_plus;
      derivative(at[east], w, w) += convection * u_minus;
      derivative(at[south], w, w) -= convection * v_plus;
      derivative(at[north], w, w) += convection * v_minus;
    }
  }

  KOKKOS_FUNCTION void wall(Offset i, const Entries& at, int inward) const {
    const double *P = unknowns(at[here]), *I = unknowns(at[inward]);
    const double slope = inward == north || inward == west ? n - 1 : 1 - n;
    const int t = inward == north || inward == south ? u : v;
    if (residual.extent(0) > 0) {
      double* f = &residual(3 * i);
      f[u] = P[u] - (inward == south ? 1 : 0); // below the lid
      f[v] = P[v];
      f[w] = P[w] + slope * (I[t] - P[t]);
    }
    if (values.extent(0) > 0) {
      for (int c = 0; c < 3; ++c)
        derivative(at[here], c, c) = 1;
      derivative(at[here], w, t) = -slope;
      derivative(at[inward], w, t) = slope;
    }
  }

  KOKKOS_FUNCTION const double* unknowns(Offset entry) const {
    return &state(3 * Offset(graph.entries(entry)));
  }
  KOKKOS_FUNCTION double& derivative(Offset entry, int equation, int unknown) const {
    return values(9 * entry + 3 * equation + unknown);
  }
};

void requireGrid(Ordinal n) {
  if (n < 3)
    throw InvalidArgument(message("the cavity needs at least 3 points a side, but has ", n));
}

void requireSize(const char* what, size_t actual, Offset expected) {
  if (Offset(actual) != expected)
    throw InvalidArgument(message("the ", what, " of these rows of the cavity must have ", expected,
                                  " elements, but has ", actual));
}

/// The graph of all rows.
Graph<HostDevice> wholeGraph(Ordinal n) {
  requireGrid(n);
  if (Offset(n) * n > std::numeric_limits<Ordinal>::max())
    throw InvalidArgument(message("a cavity of ", n, " points a side has more points than the ",
                                  std::numeric_limits<Ordinal>::max(),
                                  " an index can count; distribute its rows"));
  const Ordinal rows = n * n;
  const HostDevice::execution_space exec;
  const auto row_map = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", size_t(rows) + 1);
  const auto entries =
      allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", 5 * size_t(rows) - 4 * size_t(n));
  Offset end = 0;
  for (Ordinal p = 0; p < rows; ++p) {
    row_map(p) = end;
    for (const GlobalPoint q : cavityNeighbours(n, p))
      entries(end++) = static_cast<Ordinal>(q);
  }
  row_map(rows) = end;
  return {rows, rows, row_map, entries};
}

/// 0, 1, ..., count - 1.
template <class Device>
Kokkos::View<const GlobalPoint*, Device> firstPoints(Offset count) {
  const HostDevice::execution_space exec;
  const auto points = allocate<GlobalPoint, HostDevice>(exec, "Ainvil::points", count);
  for (Offset p = 0; p < count; ++p)
    points(p) = p;
  return copyArray<Device>(points, "Ainvil::points");
}

} // namespace

std::vector<GlobalPoint> cavityNeighbours(Ordinal n, GlobalPoint p) {
  std::vector<GlobalPoint> points;
  const GlobalPoint x = p % n, y = p / n, last = n - 1;
  if (y > 0)
    points.push_back(p - n);
  if (x > 0)
    points.push_back(p - 1);
  points.push_back(p);
  if (x < last)
    points.push_back(p + 1);
  if (y < last)
    points.push_back(p + n);
  return points;
}

template <class Device>
CavityNewton<Device>::CavityNewton(Ordinal n, Graph<Device> graph, Points row_points,
                                   Points col_points, double reynolds)
    : n_(n), reynolds_(reynolds), graph_(graph), row_points_(row_points), col_points_(col_points) {
  requireGrid(n);
  requireSize("row points", row_points.extent(0), graph.num_rows);
  requireSize("column points", col_points.extent(0), graph.num_cols);
}

template <class Device>
CavityNewton<Device>::CavityNewton(Ordinal n, double reynolds)
    : n_(n), reynolds_(reynolds), graph_(copyTo<Device>(wholeGraph(n))),
      row_points_(firstPoints<Device>(graph_.num_rows)), col_points_(row_points_) {}

template <class Device>
void CavityNewton<Device>::assemble(const execution_space& exec,
                                    Kokkos::View<const double*, Device> state,
                                    Kokkos::View<double*, Device> values,
                                    Kokkos::View<double*, Device> residual) const {
  requireSize("state", state.extent(0), 3 * Offset(graph_.num_cols));
  if (values.extent(0) > 0)
    requireSize("Jacobian's values", values.extent(0), 9 * graph_.numEntries());
  if (residual.extent(0) > 0)
    requireSize("residual", residual.extent(0), 3 * Offset(graph_.num_rows));
  Ordinal first = -1; // the kernel assembles the rows on the way
  const Ordinal incomplete =
      detail::countRows(exec, "Ainvil::CavityNewton", graph_.num_rows,
                        AssembleKernel<Device>{n_, reynolds_, graph_, row_points_, col_points_,
                                               state, values, residual},
                        first);
  if (incomplete > 0)
    throw InvalidArgument(
        message("the row of point ", detail::readBack(exec, row_points_, first), " of a cavity of ",
                n_, " x ", n_, " points lacks a block that it needs, as do ", incomplete - 1,
                " more: give every row of a point in the square those of cavityNeighbours()"));
}

#define AINVIL_INSTANTIATE(DEVICE) template class CavityNewton<DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
