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
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_y = orch_args.tensor(1).ref();
    const ChipTensor& ext_mid = orch_args.tensor(2).ref();
    const ChipTensor& ext_low = orch_args.tensor(3).ref();
    const ChipTensor& ext_high = orch_args.tensor(4).ref();
    const ChipTensor& ext_out = orch_args.tensor(5).ref();
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_x);
        params_t0.add_input(ext_y);
        params_t0.add_output(ext_mid);
        TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);
        PTO2TaskId first = task_0_outs.task_id();
        CoreTaskArgs params_t1;
        params_t1.add_no_dep(ext_mid);
        params_t1.add_input(ext_y);
        params_t1.add_output(ext_low);
        params_t1.add_output(ext_high);
        PTO2TaskId params_t1_deps[1];
        uint32_t params_t1_deps_count = 0;
        params_t1_deps[params_t1_deps_count++] = first;
        params_t1.set_dependencies(params_t1_deps, params_t1_deps_count);
        TaskOutputTensors task_1_outs = rt_submit_aiv_task(1, params_t1);
        PTO2TaskId both = task_1_outs.task_id();
        CoreTaskArgs params_t2;
        params_t2.add_input(ext_low);
        params_t2.add_input(ext_high);
        params_t2.add_output(ext_out);
        params_t2.dump(ext_low);
        PTO2TaskId params_t2_deps[1];
        uint32_t params_t2_deps_count = 0;
        params_t2_deps[params_t2_deps_count++] = both;
        params_t2.set_dependencies(params_t2_deps, params_t2_deps_count);
        params_t2.set_allow_early_resolve(true);
        TaskOutputTensors task_2_outs = rt_submit_aiv_task(2, params_t2);
    }
}
}
