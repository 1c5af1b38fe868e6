#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 6,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_ids = orch_args.tensor(0).ref();
    const ChipTensor& ext_hist = orch_args.tensor(1).ref();
    const ChipTensor& ext_filled = orch_args.tensor(2).ref();
    const ChipTensor& ext_staged = orch_args.tensor(3).ref();
    const ChipTensor& ext_local = orch_args.tensor(4).ref();
    const ChipTensor& ext_sparse = orch_args.tensor(5).ref();
    PTO2_SCOPE() {
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_ids);
        params_t0.add_output(ext_hist);
        rt_submit_aiv_task(0, params_t0);
        CoreTaskArgs params_t1;
        params_t1.add_output(ext_filled);
        rt_submit_aiv_task(1, params_t1);
        CoreTaskArgs params_t2;
        params_t2.add_input(ext_ids);
        params_t2.add_output(ext_staged);
        rt_submit_aiv_task(2, params_t2);
        CoreTaskArgs params_t3;
        params_t3.add_input(ext_staged);
        params_t3.add_output(ext_local);
        rt_submit_aiv_task(3, params_t3);
        CoreTaskArgs params_t4;
        params_t4.add_inout(ext_sparse);
        params_t4.add_input(ext_ids);
        rt_submit_aiv_task(4, params_t4);
    }
}
}
