set_atomic_none();
__gm__ ChipTensor* doubled__ssa_v1_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
__gm__ float* doubled__ssa_v1 = reinterpret_cast<__gm__ float*>(doubled__ssa_v1_tensor->buffer.addr) + doubled__ssa_v1_tensor->start_offset;
__gm__ ChipTensor* low__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
__gm__ float* low__ssa_v0 = reinterpret_cast<__gm__ float*>(low__ssa_v0_tensor->buffer.addr) + low__ssa_v0_tensor->start_offset;
__gm__ ChipTensor* high__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[2]);
__gm__ float* high__ssa_v0 = reinterpret_cast<__gm__ float*>(high__ssa_v0_tensor->buffer.addr) + high__ssa_v0_tensor->start_offset;
blockwise(doubled__ssa_v1, low__ssa_v0, high__ssa_v0);
