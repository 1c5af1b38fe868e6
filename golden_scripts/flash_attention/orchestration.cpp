// Emitted by pypto_tmpl: change the IR or a template, not this text.

// orchestration/attention.cpp
// Host code of attention: builds the graph of its tasks.
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
        .expected_arg_count = 4,
    };
}

__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    // Tensors of the caller
    const ChipTensor& ext_q = orch_args.tensor(0).ref();
    const ChipTensor& ext_k = orch_args.tensor(1).ref();
    const ChipTensor& ext_v = orch_args.tensor(2).ref();
    const ChipTensor& ext_out = orch_args.tensor(3).ref();

    PTO2_SCOPE() {
        uint32_t m_ci_shapes[2] = {16, 1};
        TensorCreateInfo m_ci(m_ci_shapes, 2, DataType::FLOAT32);
        uint32_t denom_ci_shapes[2] = {16, 1};
        TensorCreateInfo denom_ci(denom_ci_shapes, 2, DataType::FLOAT32);
        uint32_t acc_ci_shapes[2] = {16, 64};
        TensorCreateInfo acc_ci(acc_ci_shapes, 2, DataType::FLOAT32);
        TaskOutputTensors alloc_0 = alloc_tensors(m_ci, denom_ci, acc_ci);
        const ChipTensor& m = alloc_0.get_ref(0);
        const ChipTensor& denom = alloc_0.get_ref(1);
        const ChipTensor& acc = alloc_0.get_ref(2);

        // Task 0 runs init
        CoreTaskArgs params_t0;
        params_t0.add_output(m);
        params_t0.add_output(denom);
        params_t0.add_output(acc);
        rt_submit_aiv_task(0, params_t0);
        for (int64_t s0 = 0; s0 < 256; s0 += 64) {
            PTO2_SCOPE() {
                uint32_t s_ci_shapes[2] = {16, 64};
                TensorCreateInfo s_ci(s_ci_shapes, 2, DataType::FLOAT32);
                uint32_t alpha_ci_shapes[2] = {16, 1};
                TensorCreateInfo alpha_ci(alpha_ci_shapes, 2, DataType::FLOAT32);
                uint32_t p_ci_shapes[2] = {16, 64};
                TensorCreateInfo p_ci(p_ci_shapes, 2, DataType::BFLOAT16);
                uint32_t gm_pipe_buffer_0_ci_shapes[1] = {2048};
                TensorCreateInfo gm_pipe_buffer_0_ci(gm_pipe_buffer_0_ci_shapes, 1, DataType::FLOAT32, /*manual_dep=*/true);
                TaskOutputTensors alloc_1 = alloc_tensors(s_ci, alpha_ci, p_ci, gm_pipe_buffer_0_ci);
                const ChipTensor& s = alloc_1.get_ref(0);
                const ChipTensor& alpha = alloc_1.get_ref(1);
                const ChipTensor& p = alloc_1.get_ref(2);
                const ChipTensor& gm_pipe_buffer_0 = alloc_1.get_ref(3);

                // Task 1 runs scores
                CoreTaskArgs params_t1;
                params_t1.add_input(ext_q);
                params_t1.add_input(ext_k);
                params_t1.add_inout(s);
                params_t1.add_scalar(s0);
                rt_submit_aic_task(1, params_t1);

                // Task 2 runs online
                CoreTaskArgs params_t2;
                params_t2.add_input(s);
                params_t2.add_inout(m);
                params_t2.add_inout(denom);
                params_t2.add_inout(alpha);
                params_t2.add_inout(p);
                rt_submit_aiv_task(2, params_t2);

                // Task 3 runs accumulate_aic and accumulate_aiv for accumulate
                CoreTaskArgs params_t3;
                params_t3.add_input(p);
                params_t3.add_input(ext_v);
                params_t3.add_input(alpha);
                params_t3.add_inout(acc);
                params_t3.add_inout(gm_pipe_buffer_0);
                params_t3.add_scalar(s0);
                MixedKernels mixed_3 = {3, 4, 4};
                rt_submit_task(mixed_3, params_t3);
            }
        }

        // Task 4 runs finish
        CoreTaskArgs params_t4;
        params_t4.add_input(acc);
        params_t4.add_input(denom);
        params_t4.add_output(ext_out);
        rt_submit_aiv_task(5, params_t4);
    }
}

}  // extern "C"
