set_atomic_none();
__gm__ ChipTensor* low__ssa_v1_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
__gm__ float* low__ssa_v1 = reinterpret_cast<__gm__ float*>(low__ssa_v1_tensor->buffer.addr) + low__ssa_v1_tensor->start_offset;
__gm__ ChipTensor* rows_out__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
__gm__ float* rows_out__ssa_v0 = reinterpret_cast<__gm__ float*>(rows_out__ssa_v0_tensor->buffer.addr) + rows_out__ssa_v0_tensor->start_offset;
union { uint64_t u64; int64_t val; } pick__ssa_v0_conv;
pick__ssa_v0_conv.u64 = args[2];
int64_t pick__ssa_v0 = pick__ssa_v0_conv.val;
main_incore_2(low__ssa_v1, rows_out__ssa_v0, pick__ssa_v0);
