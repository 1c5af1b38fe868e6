// What kernel wrappers ask of the run time, for a syntax check.
#pragma once

#include <cstdint>

int32_t get_block_idx(int64_t* args);
int32_t get_block_num(int64_t* args);
int32_t get_sub_block_id(int64_t* args);
