#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 4,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_total = orch_args.tensor(0).ref();
    const ChipTensor& ext_gap = orch_args.tensor(1).ref();
    const ChipTensor& ext_out = orch_args.tensor(2).ref();
    int64_t r = from_u64<int64_t>(orch_args.scalar(0));
    PTO2_SCOPE() {
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_total);
        params_t0.add_input(ext_gap);
        params_t0.add_output(ext_out);
        params_t0.add_scalar(r);
        rt_submit_aiv_task(0, params_t0);
    }
}
}
