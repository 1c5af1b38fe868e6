set_atomic_none();
__gm__ ChipTensor* x__ssa_v0_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
__gm__ float* x__ssa_v0 = reinterpret_cast<__gm__ float*>(x__ssa_v0_tensor->buffer.addr) + x__ssa_v0_tensor->start_offset;
__gm__ ChipTensor* out__iter_v1_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
__gm__ float* out__iter_v1 = reinterpret_cast<__gm__ float*>(out__iter_v1_tensor->buffer.addr) + out__iter_v1_tensor->start_offset;
union { uint64_t u64; int64_t val; } r__idx_v0_conv;
r__idx_v0_conv.u64 = args[2];
int64_t r__idx_v0 = r__idx_v0_conv.val;
main_incore_0(x__ssa_v0, out__iter_v1, r__idx_v0);
