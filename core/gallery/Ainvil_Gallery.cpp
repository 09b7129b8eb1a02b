// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_Gallery.hpp"

#include "gallery/Ainvil_GalleryRows.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace gallery_detail;

// First Newton step of the lid-driven cavity in velocity-vorticity form, unknowns (u, v, w) a
// point, from rest, on an n x n grid of spacing h = 1 / dh, dh = n - 1:
//   interior   -h^2 lap u - h^2 w_y = 0,   -h^2 lap v + h^2 w_x = 0,   -h^2 lap w = 0
//   boundary   u and v given, w = v_x - u_y by one-sided differences
// Left and right own the corners. Every block of the five-point stencil is stored, zero or not.
Problem makeCavity(const Grid& grid) {
  enum { u, v, w };
  const Ordinal last = grid.nx - 1;
  const double dh = last;
  const double half_h = 0.5 / dh;
  const std::vector<Point> steps = starStencil();

  const auto interior = [=](Point s, double(*b)[3]) {
    for (int c = 0; c < 3; ++c)
      b[c][c] = s == here ? 4 : -1;
    b[u][w] -= half_h * s.y;
    b[v][w] += half_h * s.x;
  };
  const auto boundary = [=](Point p, Point s, double(*b)[3]) {
    const bool on_side = p.x == 0 || p.x == last;
    const Point inward = on_side ? Point{p.x == 0 ? 1 : -1, 0, 0} : Point{0, p.y == 0 ? 1 : -1, 0};
    // d/dx or d/dy of the velocity along the wall is (value inward - value here) * slope
    const double slope = dh * (inward.x + inward.y);
    double& derivative = on_side ? b[w][v] : b[w][u];
    const double sign = on_side ? -1 : 1;
    if (s == here) {
      b[u][u] = b[v][v] = b[w][w] = 1;
      derivative = -sign * slope;
    } else if (s == inward) {
      derivative = sign * slope;
    }
  };

  Problem problem;
  problem.spd = false;
  problem.matrix = assembleStencil(grid, steps, 3, [&](Point p, size_t k, double* values) {
    auto* block = reinterpret_cast<double(*)[3]>(values);
    if (p.x > 0 && p.x < last && p.y > 0 && p.y < last)
      interior(steps[k], block);
    else
      boundary(p, steps[k], block);
  });
  problem.rhs = allocateZeros<double, HostDevice>(HostDevice::execution_space(), "Ainvil::rhs",
                                                  3 * size_t(grid.size()));
  for (Ordinal x = 1; x < last; ++x)
    problem.rhs(3 * size_t(grid.index({x, last, 0})) + u) = 1;
  return problem;
}

// -h^2 lap with zero Dirichlet values outside the grid: `diagonal`, and -1 for every neighbour.
Problem makeLaplace(const Grid& grid, const std::vector<Point>& steps, double diagonal) {
  Problem problem;
  problem.spd = true;
  problem.matrix = assembleStencil(grid, steps, 1, [&](Point, size_t k, double* value) {
    *value = steps[k] == here ? diagonal : -1;
  });
  return problem;
}

Problem makePoisson5(const Grid& grid) {
  return makeLaplace(grid, starStencil(), 4);
}
Problem makeLaplace7(const Grid& grid) {
  return makeLaplace(grid, starStencil(), 6);
}
Problem makeLaplace27(const Grid& grid) {
  return makeLaplace(grid, stencil([](Point) { return true; }), 26);
}

// -lap c + peclet a . grad c = f on a box with zero Dirichlet values and cubic cells of size h, the
// longest edge being 2: a recirculates in the planes z = const and rises,
//   a = (2 y (1 - x^2), -2 x (1 - y^2), 1/2),   x and y scaled to (-1, 1).
// (Elman, Silvester and Wathen, Finite Elements and Fast Iterative Solvers, the double-glazing
// problem.) Scaled by h^2; convection by first-order upwinding, so an M-matrix.
Problem makeConvdiff(const Grid& grid) {
  constexpr double peclet = 100;
  const double h = 2.0 / (std::max({grid.nx, grid.ny, grid.nz}) + 1.0);
  const std::vector<Point> steps = starStencil();
  const auto wind = [=](Point p) {
    const double x = 2 * (p.x + 1.0) / (grid.nx + 1.0) - 1;
    const double y = 2 * (p.y + 1.0) / (grid.ny + 1.0) - 1;
    return std::array<double, 3>{2 * y * (1 - x * x), -2 * x * (1 - y * y), 0.5};
  };

  Problem problem;
  problem.spd = false;
  problem.matrix = assembleStencil(grid, steps, 1, [&](Point p, size_t k, double* value) {
    const auto a = wind(p);
    const Point s = steps[k];
    if (s == here) // minus the sum of the others, those beyond the boundary included
      *value = 6 + peclet * h * (std::abs(a[0]) + std::abs(a[1]) + std::abs(a[2]));
    else // the wind brings the values of the neighbours it comes from
      *value = -1 + peclet * h * std::min(0.0, a[0] * s.x + a[1] * s.y + a[2] * s.z);
  });
  return problem;
}

// -div(k grad c) = f by cell-centred finite volumes, zero Dirichlet values on the faces of the box,
// k = 1 and 1e4 on a checkerboard of 4 x 4 x 4 subcubes, harmonic means between cells; over h. With
// 27 points cells that share an edge or a corner exchange as much as those that share a face.
Problem makeJump(const Grid& grid, const std::vector<Point>& steps) {
  constexpr double contrast = 1e4;
  const auto conductivity = [=](Point p) {
    const auto subcube = [](Ordinal x, Ordinal n) { return static_cast<int>(Offset(4) * x / n); };
    const int colour = subcube(p.x, grid.nx) + subcube(p.y, grid.ny) + subcube(p.z, grid.nz);
    return colour % 2 == 0 ? 1.0 : contrast;
  };
  const auto transmissibility = [=](Point p, Point s) {
    const double k = conductivity(p);
    if (!grid.contains(p + s)) // the boundary is only half a cell away
      return 2 * k;
    const double other = conductivity(p + s);
    return 2 * k * other / (k + other);
  };

  Problem problem;
  problem.spd = true;
  problem.matrix = assembleStencil(grid, steps, 1, [&](Point p, size_t k, double* value) {
    if (!(steps[k] == here)) {
      *value = -transmissibility(p, steps[k]);
      return;
    }
    for (const Point s : steps)
      if (!(s == here))
        *value += transmissibility(p, s);
  });
  return problem;
}

Problem makeJump7(const Grid& grid) {
  return makeJump(grid, starStencil());
}
Problem makeJump27(const Grid& grid) {
  return makeJump(grid, stencil([](Point) { return true; }));
}

struct Generator {
  const char* syntax; // name:sizes; a single size is always enough
  const char* description;
  int dimensions; // of the grid, which is one point thick in the others
  Grid smallest;
  Problem (*make)(const Grid&);

  std::string name() const { return std::string(syntax).substr(0, std::string(syntax).find(':')); }
  size_t numSizes() const {
    const std::string sizes = std::string(syntax).substr(name().size());
    return 1 + std::count(sizes.begin(), sizes.end(), 'x');
  }
};

constexpr Generator generators[] = {
    {"cavity:N",
     "lid-driven cavity in velocity-vorticity form, N x N points, blocks of 3",
     2,
     {3, 3, 1},
     makeCavity},
    {"convdiff:NXxNYxNZ",
     "upwinded convection-diffusion in a recirculating wind, 7 points",
     3,
     {1, 1, 1},
     makeConvdiff},
    {"laplace7:NXxNYxNZ", "Laplacian, 7 points, SPD", 3, {1, 1, 1}, makeLaplace7},
    {"laplace27:NXxNYxNZ", "Laplacian, 27 points, SPD", 3, {1, 1, 1}, makeLaplace27},
    {"poisson5:NXxNY", "Laplacian on a plane, 5 points, SPD", 2, {1, 1, 1}, makePoisson5},
    {"jump:NXxNYxNZ",
     "diffusion with coefficients 1 and 1e4 on a checkerboard, 7 points, SPD",
     3,
     {1, 1, 1},
     makeJump7},
    {"jump27:NXxNYxNZ", "the same coefficients with 27 points, SPD", 3, {1, 1, 1}, makeJump27},
    {"elasticity:NXxNYxNZ",
     "elastic bar clamped at one end, NX x NY x NZ free nodes, blocks of 3, SPD",
     3,
     {1, 2, 2},
     makeElasticity},
    {"shell:NXxNY",
     "thick curved shell on triangles, implicit time step, blocks of 5, SPD",
     2,
     {2, 2, 1},
     makeShell},
    {"euler:N",
     "upwinded compressible flow on N unstructured nodes, blocks of 4",
     1,
     {3, 1, 1},
     makeEuler},
    {"circuit:N",
     "network of N nodes with three rows that touch most columns, after dc1 (N = 116835)",
     1,
     {4, 1, 1},
     makeCircuit},
    {"network:NXxNY",
     "graph Laplacian of a plane with power-law weights, after G3_circuit (1259), SPD",
     2,
     {1, 1, 1},
     makeNetwork},
    {"chain:N",
     "chains of 8 amplifying unknowns: triangular sweeps diverge, exact solves do not",
     1,
     {1, 1, 1},
     makeChain},
};

// "3x4x5" as {3, 4, 5}; nothing if the text is anything else. Numbers beyond 64 bits saturate.
std::vector<Offset> parseSizes(const std::string& sizes_text) {
  const char* text = sizes_text.data();
  const char* const end = text + sizes_text.size();
  std::vector<Offset> sizes;
  while (true) {
    Offset size = 0;
    const auto [next, error] = std::from_chars(text, end, size);
    if (error == std::errc::result_out_of_range)
      size = std::numeric_limits<Offset>::max();
    else if (error != std::errc())
      return {};
    sizes.push_back(size);
    if (next == end)
      return sizes;
    if (*next != 'x')
      return {};
    text = next + 1;
  }
}

// The grid that a specification asks for.
Grid parseGrid(const Generator& generator, const std::string& spec) {
  const auto refuse = [&](const auto&... reason) {
    return InvalidArgument(
        message("problem \"", spec, "\" ", reason..., "; write it as ", generator.syntax,
                generator.numSizes() > 1 ? ", where a single N means N in every direction" : ""));
  };
  const size_t colon = spec.find(':');
  const std::vector<Offset> sizes =
      parseSizes(colon == std::string::npos ? "" : spec.substr(colon + 1));
  if (sizes.size() != 1 && sizes.size() != generator.numSizes())
    throw refuse("does not give its sizes in whole numbers");

  const Grid& least = generator.smallest;
  const std::array<Offset, 3> smallest{least.nx, least.ny, least.nz};
  std::array<Offset, 3> n{1, 1, 1};
  Offset rows = 1;
  for (int d = 0; d < generator.dimensions; ++d) {
    n[d] = sizes.size() == 1 ? sizes[0] : sizes[d];
    if (n[d] < smallest[d])
      throw refuse("is too small, it needs at least ", smallest[d], " points in direction ", d + 1);
    if (n[d] > std::numeric_limits<Ordinal>::max() / rows)
      throw refuse("has more than the ", std::numeric_limits<Ordinal>::max(),
                   " block rows an index can count");
    rows *= n[d];
  }
  return {static_cast<Ordinal>(n[0]), static_cast<Ordinal>(n[1]), static_cast<Ordinal>(n[2])};
}

} // namespace

std::vector<GalleryEntry> gallery() {
  std::vector<GalleryEntry> entries;
  for (const Generator& generator : generators)
    entries.push_back({generator.syntax, generator.description});
  return entries;
}

Problem makeProblem(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  std::string known;
  for (const Generator& generator : generators) {
    if (name == generator.name()) {
      const Grid grid = parseGrid(generator, spec);
      Problem problem =
          detail::reportingOutOfMemory("makeProblem()", [&] { return generator.make(grid); });
      problem.name = spec;
      return problem;
    }
    known += (known.empty() ? "" : ", ") + std::string(generator.syntax);
  }
  throw InvalidArgument(message("unknown problem \"", spec, "\"; choose one of ", known));
}

} // namespace ainvil
