#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 7,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_rest = orch_args.tensor(1).ref();
    const ChipTensor& ext_one = orch_args.tensor(2).ref();
    const ChipTensor& ext_two = orch_args.tensor(3).ref();
    const ChipTensor& ext_three = orch_args.tensor(4).ref();
    int64_t n = from_u64<int64_t>(orch_args.scalar(0));
    int64_t m = from_u64<int64_t>(orch_args.scalar(1));
    uint32_t part_offsets[2] = {0, 0};
    uint32_t part_shapes[2] = {(part_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(16, ext_x.shapes[0] - part_offsets[0])), (part_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - part_offsets[1]))};
    ChipTensor part = ext_x.view(part_shapes, part_offsets);
    CoreTaskArgs params_t0;
    params_t0.add_input(part);
    params_t0.add_output(ext_one);
    params_t0.add_scalar(n);
    rt_submit_aiv_task(0, params_t0);
    uint32_t top_offsets[2] = {16, 0};
    uint32_t top_shapes[2] = {(top_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(16, ext_x.shapes[0] - top_offsets[0])), (top_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - top_offsets[1]))};
    ChipTensor top = ext_x.view(top_shapes, top_offsets);
    uint32_t low_offsets[2] = {0, 0};
    uint32_t low_shapes[2] = {(low_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(16, ext_x.shapes[0] - low_offsets[0])), (low_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - low_offsets[1]))};
    ChipTensor low = ext_x.view(low_shapes, low_offsets);
    CoreTaskArgs params_t1;
    params_t1.add_input(top);
    params_t1.add_input(low);
    params_t1.add_input(ext_rest);
    params_t1.add_output(ext_two);
    params_t1.add_scalar(m);
    params_t1.add_scalar(n);
    rt_submit_aiv_task(1, params_t1);
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        uint32_t fixed_offsets[2] = {0, 0};
        uint32_t fixed_shapes[2] = {(fixed_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(16, ext_x.shapes[0] - fixed_offsets[0])), (fixed_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - fixed_offsets[1]))};
        ChipTensor fixed = ext_x.view(fixed_shapes, fixed_offsets);
        CoreTaskArgs params_t2;
        params_t2.add_input(fixed);
        params_t2.add_output(ext_three);
        params_t2.add_scalar((uint64_t)32);
        TaskOutputTensors task_2_outs = rt_submit_aiv_task(0, params_t2);
    }
}
}
