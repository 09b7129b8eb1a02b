// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The methods, factorisations and strategies that the library brings along. The list stands above
/// all of them, since `auto` uses the others by their names.
#include "Ainvil_Ainv.hpp"
#include "Ainvil_Chebyshev.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Ic.hpp"
#include "Ainvil_Ilu.hpp"
#include "Ainvil_Jacobi.hpp"
#include "Ainvil_Recommend.hpp"
#include "Ainvil_Registry.hpp"
#include "Ainvil_Spai.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"
#include "ilu/Ainvil_Ilut.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

namespace ainvil {
namespace detail {
namespace {

/// What the library brings along. An explicit list: objects that register themselves are left out
/// when a static library is linked.
void addAll() {
  const OwnTable own;
  const GivenTable<IdentityParameters> none{shared(ParameterTable<IdentityParameters>())};
  const GivenTable<ExactParameters> exact{shared(ParameterTable<ExactParameters>())};
  const GivenTable<SweepParameters> jacobi{shared(SweepParameters::table(SweepMode::Jacobi))};
  const GivenTable<SweepParameters> async{shared(SweepParameters::table(SweepMode::Async))};

  addFactorization<BlockIlu>("iluk", "block ILU(k), by level of fill", own);
  addFactorization<Ilut>("ilut", "block ILU, by threshold", own);
  addTriangularSolver<ExactTriangularSolver>("exact", "substitution", exact);
  addTriangularSolver<IsaiTriangularSolver>("isai", "products with approximate inverses", own);
  addTriangularSolver<SweepTriangularSolver>("jacobi", "Jacobi sweeps", jacobi);
  addTriangularSolver<SweepTriangularSolver>("async", "asynchronous sweeps", async);

  addMethod<Identity>("none", "no preconditioner", none);
  addMethod<Jacobi>("jacobi", "inverted diagonal blocks", own);
  addMethod<Ilu>("ilu", "incomplete LU factors, block size of the matrix", own);
  addMethod<Ic>("ic", "incomplete Cholesky factor, for SPD matrices, or L D L^T", own);
  addMethod<Fsai>("fsai", "factored sparse approximate inverse, for SPD matrices", own);
  addMethod<Spai>("spai", "sparse approximate inverse by least squares", own);
  addMethod<Ainv>("ainv", "factored approximate inverse by incomplete conjugation", own);
  addMethod<Chebyshev>("chebyshev", "polynomial in D^-1 A on an interval of eigenvalues", own);
  addMethod<Auto>("auto", "the fastest of the others, found by a race at the first compute", own);
  forEachCompiled([](auto types) {
    using Scalar = typename decltype(types)::Scalar;
    using Device = typename decltype(types)::Device;
    bareRegistry<Scalar, Device>().fastest_of = [](const std::vector<std::string>& among) {
      AutoParameters parameters;
      parameters.solver = RaceSolver::Usual;
      parameters.among = among;
      return std::make_unique<Auto<Scalar, Device>>(parameters);
    };
  });
}

} // namespace

void addBuiltIns() {
  static std::once_flag once;
  std::call_once(once, addAll);
}

} // namespace detail
} // namespace ainvil
