// Emitted by pypto_tmpl: change the IR or a template, not this text.

// orchestration/main.cpp
// Host code of main: builds the graph of its tasks.
// Made by pypto_tmpl.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 3,
    };
}

__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    // Tensors of the caller
    const ChipTensor& ext_pool = orch_args.tensor(0).ref();
    const ChipTensor& ext_table = orch_args.tensor(1).ref();
    const ChipTensor& ext_out = orch_args.tensor(2).ref();

    PTO2_SCOPE() {

        // Task 0 runs main_incore_0
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_table);
        params_t0.add_input(ext_pool);
        params_t0.add_output(ext_out);
        rt_submit_aiv_task(0, params_t0);
    }
}

}  // extern "C"
