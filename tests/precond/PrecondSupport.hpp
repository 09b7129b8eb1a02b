// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of preconditioners share: test matrices by pattern, and M^-1 as a dense matrix.

#include "Ainvil_Ilu.hpp"
#include "TestSupport.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace ainvil {
namespace test {

using Device = DefaultDevice;
using Exec = Device::execution_space;
using HostBsr = BsrMatrix<double, HostDevice>;
using DeviceBsr = BsrMatrix<double, Device>;
using Pattern = std::vector<std::set<Ordinal>>; ///< columns of every block row

/// A matrix on the given pattern with random blocks; diagonal blocks are made dominant, so that
/// every factorisation without pivoting is safe.
HostBsr matrixOn(const Pattern& pattern, int block_size, std::uint64_t seed);

/// The same made symmetric, on a symmetric pattern, and more dominant: SPD.
HostBsr spdMatrixOn(const Pattern& pattern, int block_size, std::uint64_t seed);

/// The diagonal and, in each row, about `per_row` random columns, symmetric or not.
Pattern randomPattern(Ordinal n, double per_row, std::uint64_t seed);
Pattern symmetricPattern(Ordinal n, double per_row, std::uint64_t seed);
Pattern fullPattern(Ordinal n);
Pattern diagonalPattern(Ordinal n);

/// A pattern whose last rows have 1, 31, 32, 33, 65 and 300 entries left of the diagonal or on it,
/// on top of a sparse band, and whose first columns mirror them above it.
Pattern longRowsPattern(Ordinal n);

/// op(M^-1) as a dense matrix, column by column of a single multivector application.
std::vector<double> denseInverse(const Preconditioner<double, Device>& m, Trans trans = Trans::No);

/// What storing the factors in float or bfloat16 does and does not do to a method, both computed.
/// The tolerance is relative to the largest entry of the inverse.
void expectRoundedFactors(const Preconditioner<double, Device>& rounded,
                          const Preconditioner<double, Device>& in_double, double tolerance);

/// The precisions other than that of the vectors, and an error of a rounded factor.
struct Rounding {
  Storage storage;
  double error;
};
constexpr Rounding roundings[] = {{Storage::Float, 6e-8}, {Storage::BFloat16, 4e-3}};

/// Initialised and computed.
template <class Method>
void setUp(Method& method, const HostBsr& a) {
  const DeviceBsr on_device = copyTo<Device>(a);
  method.initialize(on_device);
  method.compute(on_device);
}

/// What CG with the preconditioner of a specification takes to 1e-8 for a right-hand side of ones.
struct CgCost {
  int iterations;
  Offset entries; ///< of the factors
};
CgCost costOfCg(const HostBsr& matrix, const std::string& specification);

/// check(rounded, in_double, error) for each of `roundings`: the method with factors in that
/// precision, and in double.
template <class Method, class Parameters, class Check>
void forEachRounding(Parameters parameters, const HostBsr& a, const Check& check) {
  Method in_double(parameters);
  setUp(in_double, a);
  for (const Rounding& rounding : roundings) {
    parameters.storage = rounding.storage;
    Method rounded(parameters);
    setUp(rounded, a);
    check(rounded, in_double, rounding.error);
  }
}

/// IluParameters before the makers are made: what makes them, to be changed member by member.
template <class OfVectors>
struct IluSettings {
  BlockIluParameters factorization;
  std::variant<ExactParameters, IsaiParameters<OfVectors>, SweepParameters> solve;
  Storage storage = Storage::Native;
  RearrangementParameters rearrangement;

  template <class Scalar>
  operator IluParameters<Scalar, OfVectors>() const {
    using Maker = TriangularSolverMaker<Scalar, OfVectors>;
    return {factorization, std::visit([](const auto& p) { return Maker(p); }, solve), storage,
            rearrangement};
  }
};

IluSettings<Device> exactIlu(int level = 0);
IluSettings<Device> isaiIlu(int power, IsaiSide side = IsaiSide::Rows, int relax = 0);

/// The parameters of isaiIlu(), to be changed.
inline IsaiParameters<Device>& isaiOf(IluSettings<Device>& parameters) {
  return std::get<IsaiParameters<Device>>(parameters.solve);
}

} // namespace test
} // namespace ainvil
