// SPDX-License-Identifier: BSD-3-Clause
#include "core/gallery/GallerySupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Vec = std::vector<double>;

/// A x.
Vec multiply(const Matrix& a, const Vec& x) {
  return test::multiply(toDense(a), x, a.numPointCols());
}

/// x^T A x.
double energy(const Matrix& a, const Vec& x) {
  const Vec y = multiply(a, x);
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

TEST(Gallery, ElasticityIgnoresRigidMotionsAwayFromTheClamp) {
  const Ordinal nx = 5, ny = 4, nz = 3;
  const Matrix a = makeProblem("elasticity:5x4x3").matrix;
  for (int motion = 0; motion < 6; ++motion) {
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i) {
      const double p[3] = {double(i % nx), double(i / nx % ny), double(i / nx / ny)};
      if (motion < 3) {
        u[3 * i + motion] = 1;
      } else { // a small rotation in the plane of two axes
        const int first = motion - 3, second = (motion - 2) % 3;
        u[3 * i + first] = -p[second];
        u[3 * i + second] = p[first];
      }
    }
    const Vec force = multiply(a, u);
    double clamped = 0;
    for (Ordinal i = 0; i < nx * ny * nz; ++i)
      for (int c = 0; c < 3; ++c)
        if (i % nx > 0)
          EXPECT_NEAR(force[3 * i + c], 0, 1e-14) << "motion " << motion << " node " << i;
        else
          clamped = std::max(clamped, std::abs(force[3 * i + c]));
    EXPECT_GT(clamped, 0.01) << "motion " << motion;
  }
}

TEST(Gallery, ElasticityStoresTheEnergyOfUniformStrains) {
  const Matrix a = makeProblem("elasticity:5x4x3").matrix;
  const double young = 1, poisson = 0.3, volume = 5 * 3 * 2;
  const double mu = young / (2 * (1 + poisson));
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  for (int c = 0; c < 3; ++c) { // u_c = distance to the clamp: a tension, two shears
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i)
      u[3 * i + c] = i % 5 + 1;
    EXPECT_NEAR(energy(a, u), (c == 0 ? lambda + 2 * mu : mu) * volume, 1e-12);
  }
}

TEST(Gallery, ShellStoresTheEnergyOfUniformMotions) {
  const Matrix a = makeProblem("shell:6x5").matrix;
  const double area = 5 * 4, kx = 0.05, ky = 0.02, kxy = 0.01, nu = 0.3, inertia = 0.07;
  const double membrane = 1 / (1 - nu * nu), shear = 5.0 / 6 / (2 * (1 + nu));
  const double expected[5] = {
      shear * (kx * kx + kxy * kxy) + inertia, shear * (ky * ky + kxy * kxy) + inertia,
      membrane * (kx * kx + ky * ky + 2 * nu * kx * ky + (1 - nu) / 2 * 4 * kxy * kxy) + inertia,
      shear + inertia / 12, shear + inertia / 12};
  for (int c = 0; c < 5; ++c) {
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i)
      u[5 * i + c] = 1;
    EXPECT_NEAR(energy(a, u), expected[c] * area, 1e-12) << c;
  }
}

/// The curvature couples them: a motion in the plane shears the sections as a rotation does.
TEST(Gallery, ShellCouplesUniformMotions) {
  const Matrix a = makeProblem("shell:6x5").matrix;
  const double area = 5 * 4, kx = 0.05, ky = 0.02, kxy = 0.01, shear = 5.0 / 6 / (2 * 1.3);
  const double expected[5][5] = {{0, kxy * (kx + ky), 0, -kx, -kxy}, {0, 0, 0, -kxy, -ky}};
  for (int c = 0; c < 5; ++c)
    for (int d = c + 1; d < 5; ++d) {
      Vec sum(a.numPointRows()), difference(a.numPointRows());
      for (Ordinal i = 0; i < a.numRows(); ++i) {
        sum[5 * i + c] = difference[5 * i + c] = sum[5 * i + d] = 1;
        difference[5 * i + d] = -1;
      }
      EXPECT_NEAR(energy(a, sum) - energy(a, difference), 4 * shear * expected[c][d] * area, 1e-12)
          << c << " and " << d;
    }
}

TEST(Gallery, ShellIsNotDiagonallyDominant) {
  const Matrix a = makeProblem("shell:6x5").matrix;
  const Vec full = toDense(a);
  const size_t n = a.numPointRows();
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j)
      sum += std::abs(full[i * n + j]);
    EXPECT_GT(sum, 2 * full[i * n + i]) << i;
  }
}

} // namespace
