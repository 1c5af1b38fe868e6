set_atomic_none();
int32_t __pypto_spmd_block_idx = get_block_idx(args);
__gm__ ChipTensor* x__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
__gm__ float* x__ssa_v0 = reinterpret_cast<__gm__ float*>(x__ssa_v0_tensor->buffer.addr) + x__ssa_v0_tensor->start_offset;
__gm__ ChipTensor* y__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
__gm__ float* y__ssa_v0 = reinterpret_cast<__gm__ float*>(y__ssa_v0_tensor->buffer.addr) + y__ssa_v0_tensor->start_offset;
gelu_rows(x__ssa_v0, y__ssa_v0, __pypto_spmd_block_idx, __pypto_spmd_block_num);
