#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 1,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_s = orch_args.tensor(0).ref();
    PTO2_SCOPE() {
        CoreTaskArgs params_t0;
        params_t0.add_inout(ext_s);
        params_t0.add_scalar((uint64_t)0);
        params_t0.add_scalar(to_u64(8.000000f));
        rt_submit_aiv_task(0, params_t0);
    }
    for (int64_t i = 0; i < 2; i += 1) {
        PTO2_SCOPE() {
            CoreTaskArgs params_t1;
            params_t1.add_inout(ext_s);
            params_t1.add_scalar(i);
            params_t1.add_scalar(to_u64(16.000000f));
            rt_submit_aiv_task(0, params_t1);
        }
    }
}
}
