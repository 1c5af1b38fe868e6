// Declarations of what orchestration texts use of the run time, for a syntax check; nothing here runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

struct half { half(float = 0); operator float() const; };
struct bfloat16_t { bfloat16_t(float = 0); operator float() const; };

enum class DataType {
    FLOAT16, FLOAT32, BFLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    FP8E4M3FN, FP8E5M2, FP8E8M0, FP4E2M1, UNKNOWN,
};

struct ChipTensor {
    uint32_t ndims;
    uint32_t shapes[8];
    uint64_t strides[8];
    bool is_contiguous;
    ChipTensor view(const uint32_t* shapes, const uint32_t* offsets) const;
    ChipTensor reshape(const uint32_t* shapes, uint32_t count) const;
    ChipTensor transpose(uint32_t one, uint32_t other) const;
    uint64_t numel() const;
};

struct ChipTensorHandle { const ChipTensor& ref() const; };
struct ChipTaskArgs {
    ChipTensorHandle tensor(int index) const;
    uint64_t scalar(int index) const;
};

struct PTO2OrchestrationConfig { int expected_arg_count; };

struct PTO2TaskId {
    static PTO2TaskId invalid();
    bool is_valid() const;
};

class TensorCreateInfo {
public:
    TensorCreateInfo(const uint32_t* shapes, uint32_t count, DataType dtype, bool manual_dep = false);
    template <typename T> void set_initial_value(T value);
};

struct TaskOutputTensors {
    const ChipTensor& get_ref(int index) const;
    PTO2TaskId task_id() const;
};

enum class PredicateOp { EQ, NE, GT, LT, GE, LE };
struct CoreTaskPredicate {
    struct { const ChipTensor* tensor; uint32_t ndims; int64_t indices[5]; } operand;
    PredicateOp op;
    int64_t target;
};

struct LaunchSpec {
    void set_block_num(int64_t count);
    void set_core_num(int64_t count);
    void set_require_sync_start(bool required);
};

struct CoreTaskArgs {
    LaunchSpec launch_spec;
    void add_input(const ChipTensor& tensor);
    void add_output(const ChipTensor& tensor);
    void add_output(const TensorCreateInfo& info);
    void add_inout(const ChipTensor& tensor);
    void add_no_dep(const ChipTensor& tensor);
    void add_scalar(uint64_t word);
    template <typename... Tensors> void dump(const Tensors&... tensors);
    void set_dependencies(const PTO2TaskId* ids, uint32_t count);
    void set_allow_early_resolve(bool allowed);
    void set_predicate(const CoreTaskPredicate& predicate);
};

constexpr int INVALID_KERNEL_ID = -1;
struct MixedKernels { int cube, vector, other_vector; };

template <typename... Infos> TaskOutputTensors alloc_tensors(const Infos&... infos);
TaskOutputTensors rt_submit_aic_task(int kernel, const CoreTaskArgs& args);
TaskOutputTensors rt_submit_aiv_task(int kernel, const CoreTaskArgs& args);
TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const CoreTaskArgs& args);
TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs& args);
int32_t rt_available_aiv_count();
int32_t rt_available_cluster_count();

template <typename T> T from_u64(uint64_t word);
template <typename T> uint64_t to_u64(T value);
template <typename T> T get_tensor_data(const ChipTensor& tensor, uint32_t count, const uint32_t* indices);
template <typename T> void set_tensor_data(const ChipTensor& tensor, uint32_t count, const uint32_t* indices, T value);

enum class PTO2ScopeMode { AUTO, MANUAL };
struct PTO2Scope { explicit PTO2Scope(PTO2ScopeMode mode = PTO2ScopeMode::AUTO); };
#define PTO2_SCOPE(...) if (PTO2Scope pto2_scope{__VA_ARGS__}; true)
