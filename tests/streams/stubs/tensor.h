// What kernel wrappers use of the run time's tensor, for a syntax check.
#pragma once

#include <cstdint>

struct half { uint16_t bits; };
struct bfloat16_t { uint16_t bits; };
struct float8_e4m3_t { uint8_t bits; };
struct float8_e5m2_t { uint8_t bits; };
struct float8_e8m0_t { uint8_t bits; };

struct ChipTensor {
    struct { uint64_t addr; } buffer;
    uint64_t start_offset;
    uint32_t shapes[8];
};
