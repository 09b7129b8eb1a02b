// SPDX-License-Identifier: BSD-3-Clause
/// Linked into ainvil-solve, as a user would link preconditioners of their own.
#include "precond/OwnMethods.hpp"

namespace {
const own::Registered registered;
}
