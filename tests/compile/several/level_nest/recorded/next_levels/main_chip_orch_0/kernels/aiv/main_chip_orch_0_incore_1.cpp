set_atomic_none();
__gm__ ChipTensor* x__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
__gm__ float* x__ssa_v0 = reinterpret_cast<__gm__ float*>(x__ssa_v0_tensor->buffer.addr) + x__ssa_v0_tensor->start_offset;
__gm__ ChipTensor* y__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
__gm__ float* y__ssa_v0 = reinterpret_cast<__gm__ float*>(y__ssa_v0_tensor->buffer.addr) + y__ssa_v0_tensor->start_offset;
__gm__ ChipTensor* gap__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[2]);
__gm__ float* gap__ssa_v0 = reinterpret_cast<__gm__ float*>(gap__ssa_v0_tensor->buffer.addr) + gap__ssa_v0_tensor->start_offset;
main_chip_orch_0_incore_1(x__ssa_v0, y__ssa_v0, gap__ssa_v0);
