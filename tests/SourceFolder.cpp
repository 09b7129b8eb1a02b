// SPDX-License-Identifier: BSD-3-Clause
#include "SourceFolder.hpp"

namespace ainvil {
namespace test {

std::string sourceFolder() {
  return AINVIL_SOURCE_DIR;
}

} // namespace test
} // namespace ainvil
