// SPDX-License-Identifier: BSD-3-Clause
#include "property/MethodSupport.hpp"

namespace ainvil {
namespace test {

const std::vector<std::string>& generalMethods() {
  static const std::vector<std::string> methods = {
      "none",
      "jacobi",
      "jacobi:variant=point",
      "ilu",
      "ilu:level=1",
      "ilu:level=2",
      "ilu:iterative=4",
      "ilu:solve=isai",
      "ilu:level=1,solve=isai,power=2",
      "ilu:solve=isai,power=3,side=columns",
      "ilu:solve=isai,side=columns,relax=2",
      "ilu:solve=isai,power=2,relax=auto",
      "ilu:solve=isai,adaptive=2,eps=0,side=columns",
      "ilu:iterative=2,level=2,solve=isai,relax=1",
      "ilu:solve=jacobi,sweeps=3",
      "ilu:level=1,solve=jacobi,sweeps=4,damping=0.8,start=zero",
      "ilu:solve=async,sweeps=2",
      "ilu:solve=async,sweeps=3,order=against,damping=0.9",
      "ilu:factorization=ilut,drop=0,max-fill=1e6", // else new values keep an old pattern
      "ilu:factorization=ilut,drop=0,max-fill=1e6,search=parallel,solve=isai,power=2",
      "ilu:match=product",
      "ilu:match=product,reorder=nd,level=1,solve=isai,power=2",
      "ilu:scale=ruiz,reorder=rcm",
      "spai",
      "spai:adaptive=2,per-step=2",
      "ainv:symmetric=no,drop=0.01",
      "ainv:variant=ainv,symmetric=no,drop=0.01",
      "ainv:symmetric=no,drop=0.1,drop-rule=relative,max-col=7",
      "ainv:variant=bainv,parts=3,symmetric=no,drop=0.05",
      "ainv:symmetric=no,order=rcm,drop=0.001",
      "ainv:symmetric=no,blocks=yes,drop=0.01",
      "jacobi:poly=4",
      "ilu:solve=isai,poly=7"};
  return methods;
}

const std::vector<std::string>& spdMethods() {
  static const std::vector<std::string> methods = {
      "ic",
      "ic:level=1,breakdown=fail",
      "ic:level=2,solve=isai",
      "ic:factorization=ict,drop=0,max-fill=1e6",
      "ic:factorization=ict,drop=0,max-fill=1e6,search=parallel,solve=isai,power=2",
      "ic:solve=isai,power=3,side=columns",
      "ic:level=1,modified=0.9",
      "ic:solve=isai,power=2,relax=auto",
      "ic:level=1,solve=jacobi,sweeps=4,damping=0.8,start=zero",
      "fsai",
      "fsai:power=1,filter=0",
      "fsai:power=3,tau=0.1,max-row=5",
      "fsai:adaptive=3,filter=0.02",
      "fsai:adaptive=2,power=1,per-step=2,max-row=8",
      "ainv:drop=0.01",
      "ainv:variant=ainv,drop=0.01",
      "ainv:drop-rule=relative,max-col=6,max-fill=30,order=nd",
      "ainv:variant=bainv,parts=3,order=rcm",
      "ainv:blocks=yes,drop=0.01",
      "fsai:poly=5"};
  return methods;
}

namespace {

/// A method that stands in no list above, with every key: one specification of those that have an
/// effect alone, and one for each that needs another parameter.
std::vector<std::string> withEveryKey(const MethodHelp& method) {
  std::vector<std::string> specifications = {method.name};
  for (const ParameterHelp& parameter : method.parameters) {
    const std::string value = parameter.key + "=" + parameter.default_value;
    if (parameter.condition.empty())
      specifications[0] = with(specifications[0], value);
    else
      specifications.push_back(with(with(method.name, parameter.condition), value));
  }
  return specifications;
}

} // namespace

std::vector<std::string> allMethods() {
  std::vector<std::string> methods = {
      "jacobi:breakdown=shift,shift=0.01,pivot-tol=100",
      "ilu:factorization=iluk,storage=float,breakdown=replace,pivot-tol=0",
      "ilu:level=1,iterative=2,breakdown=shift,shift=0.01,solve=jacobi,divergence-limit=1e6",
      "ilu:solve=isai,power=2,storage=float,relax=1",
      "ilu:solve=isai,relax=auto,relax-threshold=0.001,relax-limit=4,breakdown=shift,shift=0.1,"
      "fallback=exact,fallback-threshold=0.2",
      "ilu:solve=jacobi,start=zero,storage=float",
      "ilu:solve=async,sweeps=70,storage=float",
      "ilu:solve=isai,storage=bfloat16,breakdown=replace",
      "none:poly=3,poly-storage=float",
      "ilu:solve=async,poly=3",
      "ainv:poly=3",
      "ilu:solve=jacobi,sweeps=3,storage=bfloat16",
      "ilu:match=product,reorder=rcm,storage=float,breakdown=shift",
      "ilu:factorization=ilut",
      "ilu:level=1,modified=0.9,abs-threshold=0.01,rel-threshold=1.1,breakdown=shift-all",
      "ilu:factorization=ilut,drop=0.05,max-fill=1.5,search=parallel,steps=3,repattern=100,solve="
      "isai,power=2",
      "ilu:factorization=ilut,max-fill=0.8,iterative=2,modified=0.9,breakdown=shift,solve=jacobi",
      "ilu:reorder=nd,solve=jacobi,breakdown=replace",
      "ic:storage=float,breakdown=replace,pivot-tol=0,abs-threshold=0.01,rel-threshold=1.1",
      "ic:factorization=ict,drop=0.05,max-fill=1.5,search=parallel,steps=3,repattern=100",
      "ic:solve=isai,relax=1,storage=bfloat16,shift=0.1",
      "ic:factorization=ict,drop=0.05,modified=0.9",
      "ic:signs=absolute,level=1",
      "ic:solve=isai,relax=auto,relax-threshold=0.001,relax-limit=4,storage=float,fallback=exact,"
      "fallback-threshold=0.2,adaptive=2,eps=0.01",
      "ic:solve=jacobi,sweeps=3,storage=float,divergence-limit=1e6",
      "spai:tau=0.05,storage=float,breakdown=shift,shift=0.1",
      "spai:power=2,max-work=1e9,storage=bfloat16,breakdown=replace",
      "spai:adaptive=2,eps=0.1,breakdown=replace",
      "fsai:storage=float,tau=0,breakdown=replace",
      "fsai:adaptive=2,tolerance=0.1,chunk-mib=1,breakdown=shift,shift=0.1",
      "fsai:storage=bfloat16,filter=0.1,breakdown=replace",
      "ainv:storage=float,order=rcm,breakdown=replace",
      "ainv:storage=bfloat16,drop=0.01,breakdown=replace",
      "ainv:symmetric=no,storage=float,order=nd,breakdown=shift,shift=0.1,pivot-tol=5",
      "ainv:blocks=yes,storage=float,order=nd,max-col=9,breakdown=replace",
      "ainv:blocks=yes,symmetric=no,variant=ainv,storage=bfloat16,breakdown=shift"};
  methods.insert(methods.begin(), spdMethods().begin(), spdMethods().end());
  methods.insert(methods.begin(), generalMethods().begin(), generalMethods().end());
  for (const MethodHelp& method : preconditionerHelp())
    if (method.name != "auto" && // one of the others, by their speed
        std::none_of(methods.begin(), methods.end(), [&](const std::string& specification) {
          return specification.rfind(method.name, 0) == 0;
        })) {
      const std::vector<std::string> more = withEveryKey(method);
      methods.insert(methods.end(), more.begin(), more.end());
    }
  return methods;
}

std::vector<std::string> methodsFor(const RandomSystem& system) {
  std::vector<std::string> methods = generalMethods();
  if (system.values == Values::Spd)
    methods.insert(methods.end(), spdMethods().begin(), spdMethods().end());
  methods.erase(std::remove_if(methods.begin(), methods.end(),
                               [&](const std::string& specification) {
                                 return hasTooManyParts(specification, system.matrix) ||
                                        takesTooLong(specification, system.size());
                               }),
                methods.end());
  return methods;
}

std::string with(const std::string& specification, const std::string& parameters) {
  return specification + (contains(specification, ":") ? "," : ":") + parameters;
}

MethodPtr built(const std::string& specification, const HostBsr& pattern, const HostBsr& a) {
  MethodPtr m = createPreconditioner<double, Device>(specification);
  m->initialize(copyTo<Device>(pattern));
  // Views of the pattern's own arrays, or copies of them on a GPU.
  m->compute(copyTo<Device>(a));
  return m;
}

std::vector<double> applied(const Method& m, const std::vector<double>& x, Trans trans,
                            size_t columns) {
  const size_t n = m.numPointRows();
  const auto y = poisoned(n, columns, n + 3);
  m.apply(Exec(), toDevice(x, n, columns, n + 1), y, trans);
  return toHost(y);
}

HostBsr kronecker(const HostBsr& a, int b) {
  const HostBsr product(
      a.graph, Kokkos::View<double*, HostDevice>("Ainvil::test", a.numEntries() * b * b), b);
  for (Offset e = 0; e < a.numEntries(); ++e)
    for (int r = 0; r < b; ++r)
      product.values((e * b + r) * b + r) = a.values(e);
  return product;
}

} // namespace test
} // namespace ainvil
