// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparseIlu.hpp"

namespace ainvil {
namespace perf {

PreconditionerPtr<double, DefaultDevice> createCusparseIlu(const std::string& specification) {
  throw InvalidArgument(message("preconditioner '", specification,
                                "': this program was built without cuSPARSE of 12.4 or "
                                "later"));
}

} // namespace perf
} // namespace ainvil
