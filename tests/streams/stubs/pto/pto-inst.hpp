// What kernel wrappers use of the kernel language, for a syntax check.
#pragma once

#include <cstdint>

namespace pto {}
void set_atomic_none();
