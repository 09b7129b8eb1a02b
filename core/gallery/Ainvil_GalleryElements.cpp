// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_GalleryRows.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace ainvil {
namespace gallery_detail {
namespace {

// An element that repeats in every cell of a grid: where its nodes lie, seen from the cell's first
// corner, and its stiffness matrix in blocks [node][node][block_size * block_size].
struct Element {
  std::vector<Point> nodes;
  std::vector<double> stiffness;
};

// Sums the elements of all cells. has_cell(p) says whether there is a cell whose first corner is p;
// nodes of such cells that lie outside the grid are clamped.
template <class HasCell>
Matrix assembleElements(const Grid& grid, const std::vector<Point>& steps, int block_size,
                        const std::vector<Element>& elements, const HasCell& has_cell) {
  struct Coupling {
    Point node; // of the row, seen from the cell
    const double* block;
  };
  std::vector<std::vector<Coupling>> couplings(steps.size());
  for (size_t k = 0; k < steps.size(); ++k)
    for (const Element& e : elements)
      for (size_t a = 0; a < e.nodes.size(); ++a)
        for (size_t b = 0; b < e.nodes.size(); ++b)
          if (e.nodes[b] - e.nodes[a] == steps[k])
            couplings[k].push_back(
                {e.nodes[a],
                 &e.stiffness[(a * e.nodes.size() + b) * size_t(block_size * block_size)]});

  return assembleStencil(grid, steps, block_size, [&](Point p, size_t k, double* values) {
    for (const Coupling& c : couplings[k])
      if (has_cell(p - c.node))
        for (int i = 0; i < block_size * block_size; ++i)
          values[i] += c.block[i];
  });
}

// Isotropic elasticity on a unit cube, trilinear shape functions N_a, 2 x 2 x 2 Gauss points:
//   K_ab(i, j) = int lambda d_i N_a d_j N_b + mu d_j N_a d_i N_b + delta_ij mu grad N_a . grad N_b.
Element hexahedron(double young, double poisson) {
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double mu = young / (2 * (1 + poisson));
  Element e;
  for (Ordinal c = 0; c < 8; ++c)
    e.nodes.push_back({c & 1, c >> 1 & 1, c >> 2});
  e.stiffness.assign(8 * 8 * 9, 0.0);

  const double gauss[2] = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
  for (const Point g : e.nodes) { // one Gauss point near each node, weight 1/8
    double grad[8][3];
    for (int a = 0; a < 8; ++a) {
      const Point n = e.nodes[a];
      const double x = n.x ? gauss[g.x] : 1 - gauss[g.x];
      const double y = n.y ? gauss[g.y] : 1 - gauss[g.y];
      const double z = n.z ? gauss[g.z] : 1 - gauss[g.z];
      grad[a][0] = (n.x ? 1 : -1) * y * z;
      grad[a][1] = (n.y ? 1 : -1) * x * z;
      grad[a][2] = (n.z ? 1 : -1) * x * y;
    }
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) {
        const double dot =
            grad[a][0] * grad[b][0] + grad[a][1] * grad[b][1] + grad[a][2] * grad[b][2];
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            e.stiffness[((a * 8 + b) * 3 + i) * 3 + j] +=
                (lambda * grad[a][i] * grad[b][j] + mu * grad[a][j] * grad[b][i] +
                 (i == j ? mu * dot : 0)) /
                8;
      }
  }
  return e;
}

// A thick shallow shell (Reissner-Mindlin kinematics, constant curvatures) on a right triangle of
// legs 1, linear shape functions, one integration point, which keeps thin shells from locking.
// Displacements u, v, w and rotations a, b; strains, with k the curvatures:
//   membrane  u_x + kx w,  v_y + ky w,  u_y + v_x + 2 kxy w
//   bending   a_x,  b_y,  a_y + b_x
//   shear     w_x + a - kx u - kxy v,  w_y + b - kxy u - ky v
// Stiffness B^T D B + mass / dt^2 (lumped) of an implicit time step.
Element shellTriangle(const std::array<Point, 3>& nodes) {
  constexpr int dofs = 5;
  constexpr int strains = 8;
  constexpr double thickness = 1.0, poisson = 0.3; // lengths in mesh sizes
  constexpr double kx = 0.05, ky = 0.02, kxy = 0.01;
  constexpr double inertia = 0.07; // density / dt^2, in units of Young's modulus
  constexpr double area = 0.5;

  double grad[3][2];
  for (int a = 0; a < 3; ++a) { // perpendicular to the opposite edge
    const Point edge = nodes[(a + 2) % 3] - nodes[(a + 1) % 3];
    grad[a][0] = -edge.y / (2 * area);
    grad[a][1] = edge.x / (2 * area);
  }

  const double plane = thickness / (1 - poisson * poisson);
  const double bending = plane * thickness * thickness / 12;
  const double shear = 5.0 / 6 * thickness / (2 * (1 + poisson));
  double d[strains][strains] = {};
  for (const auto& [s, modulus] : {std::pair(0, plane), std::pair(3, bending)}) {
    d[s][s] = d[s + 1][s + 1] = modulus;
    d[s][s + 1] = d[s + 1][s] = modulus * poisson;
    d[s + 2][s + 2] = modulus * (1 - poisson) / 2;
  }
  d[6][6] = d[7][7] = shear;

  double strain[3][strains][dofs];
  for (int a = 0; a < 3; ++a) {
    const double x = grad[a][0], y = grad[a][1], n = 1.0 / 3;
    const double rows[strains][dofs] = {{x, 0, kx * n, 0, 0},
                                        {0, y, ky * n, 0, 0},
                                        {y, x, 2 * kxy * n, 0, 0},
                                        {0, 0, 0, x, 0},
                                        {0, 0, 0, 0, y},
                                        {0, 0, 0, y, x},
                                        {-kx * n, -kxy * n, x, n, 0},
                                        {-kxy * n, -ky * n, y, 0, n}};
    std::copy(&rows[0][0], &rows[0][0] + strains * dofs, &strain[a][0][0]);
  }

  Element e{{nodes.begin(), nodes.end()}, std::vector<double>(3 * 3 * dofs * dofs)};
  double* k = e.stiffness.data();
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < dofs; ++i)
        for (int j = 0; j < dofs; ++j, ++k) {
          for (int r = 0; r < strains; ++r)
            for (int s = 0; s < strains; ++s)
              *k += area * strain[a][r][i] * d[r][s] * strain[b][s][j];
          if (a == b && i == j)
            *k += inertia * thickness * (i < 3 ? 1 : thickness * thickness / 12) * area / 3;
        }
  return e;
}

} // namespace

// A bar of unit cubes, E = 1, nu = 0.3, clamped at the plane of nodes before x = 0, which are
// eliminated.
Problem makeElasticity(const Grid& grid) {
  Problem problem;
  problem.spd = true;
  problem.matrix = assembleElements(grid, stencil([](Point) { return true; }), 3,
                                    {hexahedron(1.0, 0.3)}, [&](Point cell) {
                                      return grid.contains({cell.x + 1, cell.y, cell.z}) &&
                                             cell.y + 1 < grid.ny && cell.z + 1 < grid.nz;
                                    });
  return problem;
}

// A free shell, each square of the grid cut by the diagonal from its first to its last corner.
Problem makeShell(const Grid& grid) {
  const Element lower = shellTriangle({Point{0, 0, 0}, Point{1, 0, 0}, Point{1, 1, 0}});
  const Element upper = shellTriangle({Point{0, 0, 0}, Point{1, 1, 0}, Point{0, 1, 0}});
  Problem problem;
  problem.spd = true;
  problem.matrix =
      assembleElements(grid, stencil([](Point s) { return s.z == 0 && s.x * s.y >= 0; }), 5,
                       {lower, upper}, [&](Point cell) {
                         return grid.contains(cell) && grid.contains(cell + Point{1, 1, 0});
                       });
  return problem;
}

} // namespace gallery_detail
} // namespace ainvil
