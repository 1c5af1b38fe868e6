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
    const ChipTensor& ext_scores = orch_args.tensor(0).ref();
    const ChipTensor& ext_vals = orch_args.tensor(1).ref();
    const ChipTensor& ext_idx = orch_args.tensor(2).ref();

    PTO2_SCOPE() {
        for (int64_t r = 0; r < 8; r += 1) {
            PTO2_SCOPE() {

                // Task 0 runs topk
                CoreTaskArgs params_t0;
                params_t0.add_input(ext_scores);
                params_t0.add_inout(ext_vals);
                params_t0.add_inout(ext_idx);
                params_t0.add_scalar(r);
                rt_submit_aiv_task(0, params_t0);
            }
        }
    }
}

}  // extern "C"
