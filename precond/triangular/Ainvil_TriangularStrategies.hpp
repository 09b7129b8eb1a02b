// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The triangular strategies of the library in C++: the type of the parameters chooses.

#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

#include <variant>

namespace ainvil {

/// The triangular strategies: the type of the parameters chooses.
template <class Device>
using TriangularParameters = std::variant<ExactParameters, IsaiParameters<Device>, SweepParameters>;

/// The strategy that its parameters choose; what it applies is stored in that precision. \throws
/// InvalidArgument for parameters out of range.
template <class Scalar, class Device>
TriangularSolverPtr<Scalar, Device>
makeTriangularSolver(const TriangularParameters<Device>& parameters, Storage storage);

} // namespace ainvil
