// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Error.hpp"

#include <sstream>

namespace ainvil {

std::string detail::concatenate(std::initializer_list<MessagePart> parts) {
  std::ostringstream out;
  for (const MessagePart& part : parts)
    part.print(out, part.value);
  return out.str();
}

} // namespace ainvil
