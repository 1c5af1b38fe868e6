#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 2,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_out = orch_args.tensor(1).ref();
    int64_t N_ROWS = (int64_t)orch_args.tensor(0).ref().shapes[0];
    PTO2_SCOPE() {
        for (int64_t r = 0; r < N_ROWS; r += 32) {
            PTO2_SCOPE() {
                int64_t valid = std::min<int64_t>((N_ROWS - r), 32);
                CoreTaskArgs params_t0;
                params_t0.add_input(ext_x);
                params_t0.add_inout(ext_out);
                params_t0.add_scalar(r);
                params_t0.add_scalar(valid);
                rt_submit_aiv_task(0, params_t0);
            }
        }
    }
}
}
