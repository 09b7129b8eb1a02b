// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to the gallery: grids, and the assembly of a matrix by a function of its rows.

#include "backend/Ainvil_Hash.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <algorithm>
#include <vector>

namespace ainvil {
namespace gallery_detail {

using detail::hash;
using Matrix = BsrMatrix<double, HostDevice>;

/// A point of a grid, or the step from one point to another.
struct Point {
  Ordinal x, y, z;
};

inline Point operator+(Point a, Point b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Point operator-(Point a, Point b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline bool operator==(Point a, Point b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
constexpr Point here{0, 0, 0};

/// Points (0,0,0) .. (nx-1, ny-1, nz-1), x fastest; a plane has nz = 1. At most 2^31 - 1 points.
struct Grid {
  Ordinal nx, ny, nz;

  Ordinal size() const { return nx * ny * nz; }
  Ordinal index(Point p) const { return p.x + nx * (p.y + ny * p.z); }
  Point point(Ordinal i) const { return {i % nx, i / nx % ny, i / nx / ny}; }
  bool contains(Point p) const {
    return p.x >= 0 && p.x < nx && p.y >= 0 && p.y < ny && p.z >= 0 && p.z < nz;
  }
};

/// The steps to the 26 neighbours of a point and to itself that satisfy the predicate, in the order
/// of the neighbours' indices on every grid.
template <class Predicate>
std::vector<Point> stencil(const Predicate& keep) {
  std::vector<Point> steps;
  for (Ordinal z = -1; z <= 1; ++z)
    for (Ordinal y = -1; y <= 1; ++y)
      for (Ordinal x = -1; x <= 1; ++x)
        if (keep(Point{x, y, z}))
          steps.push_back({x, y, z});
  return steps;
}

/// Five points on a plane, seven in space.
inline std::vector<Point> starStencil() {
  return stencil([](Point s) { return s.x * s.x + s.y * s.y + s.z * s.z <= 1; });
}

/// Uniform in [0, 1).
inline double random(std::uint64_t counter) {
  return double(hash(counter) >> 11) * 0x1p-53;
}

/// Makes a square matrix from two functions of a row: length(i) is its number of blocks;
/// fill(i, columns, values) writes its ascending columns and its blocks, which come uninitialised.
/// Both are called concurrently, once a row.
template <class Length, class Fill>
Matrix assembleRows(Ordinal rows, int block_size, const Length& length, const Fill& fill) {
  using Exec = HostDevice::execution_space;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Ordinal>>;
  const Exec exec;
  const auto row_map = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", size_t(rows) + 1);
  Kokkos::parallel_for("Ainvil::Gallery::count", Range(exec, 0, rows),
                       [&](Ordinal i) { row_map(size_t(i) + 1) = length(i); });
  row_map(0) = 0;
  Kokkos::parallel_scan("Ainvil::Gallery::scan", Range(exec, 0, rows),
                        [&](Ordinal i, Offset& entries, bool final) {
                          entries += row_map(size_t(i) + 1);
                          if (final)
                            row_map(size_t(i) + 1) = entries;
                        });
  compat::fence(exec, "Ainvil::Gallery::scan");

  const Offset num_entries = row_map(rows);
  const Offset block_scalars = Offset(block_size) * block_size;
  const auto entries = allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", num_entries);
  const auto values =
      allocate<double, HostDevice>(exec, "Ainvil::values", num_entries * block_scalars);
  Kokkos::parallel_for("Ainvil::Gallery::fill", Range(exec, 0, rows), [&](Ordinal i) {
    const Offset begin = row_map(i);
    fill(i, entries.data() + begin, values.data() + begin * block_scalars);
  });
  compat::fence(exec, "Ainvil::Gallery::fill");
  return {Graph<HostDevice>(rows, rows, row_map, entries), values, block_size};
}

/// Makes the matrix that couples each grid point with those a step of the stencil away.
/// block(p, k, values) adds to the zeroed block of row p and column p + steps[k].
template <class Block>
Matrix assembleStencil(const Grid& grid, const std::vector<Point>& steps, int block_size,
                       const Block& block) {
  return assembleRows(
      grid.size(), block_size,
      [&](Ordinal i) {
        const Point p = grid.point(i);
        return std::count_if(steps.begin(), steps.end(),
                             [&](Point s) { return grid.contains(p + s); });
      },
      [&](Ordinal i, Ordinal* columns, double* values) {
        const Point p = grid.point(i);
        for (size_t k = 0; k < steps.size(); ++k) {
          if (!grid.contains(p + steps[k]))
            continue;
          *columns++ = grid.index(p + steps[k]);
          std::fill_n(values, block_size * block_size, 0.0);
          block(p, k, values);
          values += block_size * block_size;
        }
      });
}

Problem makeElasticity(const Grid& grid); // Ainvil_GalleryElements.cpp
Problem makeShell(const Grid& grid);
Problem makeEuler(const Grid& nodes);   // Ainvil_GalleryEuler.cpp
Problem makeCircuit(const Grid& nodes); // Ainvil_GalleryCircuit.cpp
Problem makeNetwork(const Grid& grid);
Problem makeChain(const Grid& nodes);

} // namespace gallery_detail
} // namespace ainvil
