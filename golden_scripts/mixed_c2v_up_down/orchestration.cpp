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
    const ChipTensor& ext_a = orch_args.tensor(0).ref();
    const ChipTensor& ext_b = orch_args.tensor(1).ref();
    const ChipTensor& ext_c = orch_args.tensor(2).ref();

    PTO2_SCOPE() {
        uint32_t gm_pipe_buffer_0_ci_shapes[1] = {4096};
        TensorCreateInfo gm_pipe_buffer_0_ci(gm_pipe_buffer_0_ci_shapes, 1, DataType::FLOAT32, /*manual_dep=*/true);
        TaskOutputTensors alloc_0 = alloc_tensors(gm_pipe_buffer_0_ci);
        const ChipTensor& gm_pipe_buffer_0 = alloc_0.get_ref(0);

        // Task 0 runs main_incore_0_aic and main_incore_0_aiv for main_incore_0
        CoreTaskArgs params_t0;
        params_t0.add_inout(ext_c);
        params_t0.add_input(ext_b);
        params_t0.add_input(ext_a);
        params_t0.add_output(gm_pipe_buffer_0);
        MixedKernels mixed_0 = {0, 1, 1};
        rt_submit_task(mixed_0, params_t0);
    }
}

}  // extern "C"
