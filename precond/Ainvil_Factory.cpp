// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Factory.hpp"

#include "Ainvil_Fsai.hpp"
#include "Ainvil_Registry.hpp"

namespace ainvil {
namespace {

std::string knownMethods() {
  std::vector<std::string> names;
  for (const MethodHelp& method : preconditionerHelp())
    names.push_back(method.name);
  return detail::joined(names);
}

} // namespace

std::vector<MethodHelp> preconditionerHelp() {
  return detail::registry<double, DefaultDevice>().methods.help();
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> detail::makePreconditioner(const std::string& text,
                                                             ParameterNames names) {
  Specification specification(text, names);
  if (text.empty())
    specification.fail(message("it is empty, known methods are ", knownMethods()));
  const auto method = registry<Scalar, Device>().methods.find(specification.method());
  if (method == nullptr)
    specification.fail(
        message("unknown method '", specification.method(), "', known are ", knownMethods()));
  const auto make = std::any_cast<MethodMaker<Scalar, Device>>(method->read(specification));
  specification.finish(method->parameters());
  return specification.orFail(make);
}

template <class Scalar, class Device>
FsaiParameters<Device> fsaiParameters(const std::string& text) {
  detail::Specification specification(text);
  if (specification.method() != "fsai")
    specification.fail("the method must be fsai");
  const auto& table = Fsai<Scalar, Device>::parameterTable();
  const FsaiOptions parameters = table.read(specification);
  specification.finish(table.help());
  return parameters;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template FsaiParameters<DEVICE> fsaiParameters<double, DEVICE>(const std::string&);              \
  template FsaiParameters<DEVICE> fsaiParameters<float, DEVICE>(const std::string&);               \
  template PreconditionerPtr<double, DEVICE> detail::makePreconditioner<double, DEVICE>(           \
      const std::string&, ParameterNames);                                                         \
  template PreconditionerPtr<float, DEVICE> detail::makePreconditioner<float, DEVICE>(             \
      const std::string&, ParameterNames);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
