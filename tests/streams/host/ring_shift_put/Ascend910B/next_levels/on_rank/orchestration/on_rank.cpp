#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 8,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_y = orch_args.tensor(1).ref();
    const ChipTensor& ext_src = orch_args.tensor(2).ref();
    const ChipTensor& ext_dst = orch_args.tensor(3).ref();
    const ChipTensor& ext_signal = orch_args.tensor(4).ref();
    uint64_t src_ctx = orch_args.scalar(0);
    uint64_t dst_ctx = orch_args.scalar(1);
    uint64_t signal_ctx = orch_args.scalar(2);
    PTO2_SCOPE() {
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_x);
        params_t0.add_output(ext_y);
        params_t0.add_inout(ext_src);
        params_t0.add_inout(ext_dst);
        params_t0.add_inout(ext_signal);
        params_t0.add_scalar(src_ctx);
        params_t0.add_scalar(dst_ctx);
        params_t0.add_scalar(signal_ctx);
        rt_submit_aiv_task(0, params_t0);
    }
}
}
