// Emitted by pypto_tmpl: change the IR or a template, not this text.

// orchestration/scope.cpp
// Host code of scope: builds the graph of its tasks.
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
        .expected_arg_count = 8,
    };
}

__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    // Tensors of the caller
    const ChipTensor& ext_attn = orch_args.tensor(0).ref();
    const ChipTensor& ext_hidden = orch_args.tensor(1).ref();
    const ChipTensor& ext_wo = orch_args.tensor(2).ref();
    const ChipTensor& ext_gamma = orch_args.tensor(3).ref();
    const ChipTensor& ext_w_gate = orch_args.tensor(4).ref();
    const ChipTensor& ext_w_up = orch_args.tensor(5).ref();
    const ChipTensor& ext_w_down = orch_args.tensor(6).ref();
    const ChipTensor& ext_out = orch_args.tensor(7).ref();

    PTO2_SCOPE() {
        uint32_t resid_ci_shapes[2] = {16, 256};
        TensorCreateInfo resid_ci(resid_ci_shapes, 2, DataType::FLOAT32);
        uint32_t normed_ci_shapes[2] = {16, 256};
        TensorCreateInfo normed_ci(normed_ci_shapes, 2, DataType::BFLOAT16);
        uint32_t act_ci_shapes[2] = {16, 512};
        TensorCreateInfo act_ci(act_ci_shapes, 2, DataType::BFLOAT16);
        TaskOutputTensors alloc_0 = alloc_tensors(resid_ci, normed_ci, act_ci);
        const ChipTensor& resid = alloc_0.get_ref(0);
        const ChipTensor& normed = alloc_0.get_ref(1);
        const ChipTensor& act = alloc_0.get_ref(2);
        for (int64_t n = 0; n < 256; n += 64) {
            PTO2_SCOPE() {
                uint32_t gm_pipe_buffer_0_ci_shapes[1] = {2048};
                TensorCreateInfo gm_pipe_buffer_0_ci(gm_pipe_buffer_0_ci_shapes, 1, DataType::FLOAT32, /*manual_dep=*/true);
                TaskOutputTensors alloc_1 = alloc_tensors(gm_pipe_buffer_0_ci);
                const ChipTensor& gm_pipe_buffer_0 = alloc_1.get_ref(0);

                // Task 0 runs scope_incore_0_aic and scope_incore_0_aiv for scope_incore_0
                CoreTaskArgs params_t0;
                params_t0.add_input(ext_attn);
                params_t0.add_input(ext_wo);
                params_t0.add_input(ext_hidden);
                params_t0.add_inout(resid);
                params_t0.add_inout(gm_pipe_buffer_0);
                params_t0.add_scalar(n);
                MixedKernels mixed_0 = {0, 1, 1};
                rt_submit_task(mixed_0, params_t0);
            }
        }

        // Task 1 runs scope_incore_1
        CoreTaskArgs params_t1;
        params_t1.add_input(resid);
        params_t1.add_input(ext_gamma);
        params_t1.add_output(normed);
        rt_submit_aiv_task(2, params_t1);
        for (int64_t n = 0; n < 512; n += 64) {
            PTO2_SCOPE() {
                uint32_t gm_pipe_buffer_1_ci_shapes[1] = {2048};
                TensorCreateInfo gm_pipe_buffer_1_ci(gm_pipe_buffer_1_ci_shapes, 1, DataType::FLOAT32, /*manual_dep=*/true);
                TaskOutputTensors alloc_2 = alloc_tensors(gm_pipe_buffer_1_ci);
                const ChipTensor& gm_pipe_buffer_1 = alloc_2.get_ref(0);

                // Task 2 runs scope_incore_2_aic and scope_incore_2_aiv for scope_incore_2
                CoreTaskArgs params_t2;
                params_t2.add_input(normed);
                params_t2.add_input(ext_w_gate);
                params_t2.add_input(ext_w_up);
                params_t2.add_inout(act);
                params_t2.add_inout(gm_pipe_buffer_1);
                params_t2.add_scalar(n);
                MixedKernels mixed_2 = {3, 4, 4};
                rt_submit_task(mixed_2, params_t2);
            }
        }
        for (int64_t n = 0; n < 256; n += 64) {
            PTO2_SCOPE() {
                uint32_t gm_pipe_buffer_2_ci_shapes[1] = {2048};
                TensorCreateInfo gm_pipe_buffer_2_ci(gm_pipe_buffer_2_ci_shapes, 1, DataType::FLOAT32, /*manual_dep=*/true);
                TaskOutputTensors alloc_3 = alloc_tensors(gm_pipe_buffer_2_ci);
                const ChipTensor& gm_pipe_buffer_2 = alloc_3.get_ref(0);

                // Task 3 runs scope_incore_3_aic and scope_incore_3_aiv for scope_incore_3
                CoreTaskArgs params_t3;
                params_t3.add_input(act);
                params_t3.add_input(ext_w_down);
                params_t3.add_input(resid);
                params_t3.add_inout(ext_out);
                params_t3.add_inout(gm_pipe_buffer_2);
                params_t3.add_scalar(n);
                MixedKernels mixed_3 = {5, 6, 6};
                rt_submit_task(mixed_3, params_t3);
            }
        }
    }
}

}  // extern "C"
