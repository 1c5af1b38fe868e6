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
    const ChipTensor& ext_p = orch_args.tensor(2).ref();
    const ChipTensor& ext_q = orch_args.tensor(3).ref();
    const ChipTensor& ext_log = orch_args.tensor(4).ref();
    const ChipTensor& ext_out = orch_args.tensor(5).ref();
    PTO2_SCOPE() {
        ChipTensor left2 = ext_x;
        ChipTensor right2 = ext_y;
        int64_t n2 = 0;
        for (int64_t i = 0; i < 3; i += 1) {
            PTO2_SCOPE() {
                uint32_t fresh_ci_shapes[2] = {16, 64};
                TensorCreateInfo fresh_ci(fresh_ci_shapes, 2, DataType::FLOAT32);
                TaskOutputTensors alloc_0 = alloc_tensors(fresh_ci);
                const ChipTensor& fresh = alloc_0.get_ref(0);
                CoreTaskArgs params_t0;
                params_t0.add_input(left2);
                params_t0.add_inout(ext_p);
                params_t0.add_inout(ext_q);
                rt_submit_aiv_task(0, params_t0);
                CoreTaskArgs params_t1;
                params_t1.add_input(left2);
                params_t1.add_inout(fresh);
                rt_submit_aiv_task(1, params_t1);
                CoreTaskArgs params_t2;
                params_t2.add_input(right2);
                params_t2.add_inout(ext_log);
                params_t2.add_scalar(n2);
                rt_submit_aiv_task(2, params_t2);
                left2 = right2;
                right2 = fresh;
                n2 = (n2 + 16);
            }
        }
        for (int64_t j = 0; j < 2; j += 1) {
            PTO2_SCOPE() {
                CoreTaskArgs params_t3;
                params_t3.add_input(left2);
                params_t3.add_inout(ext_log);
                params_t3.add_scalar((uint64_t)16);
                rt_submit_aiv_task(2, params_t3);
            }
        }
        CoreTaskArgs params_t4;
        params_t4.add_input(right2);
        params_t4.add_output(ext_out);
        rt_submit_aiv_task(1, params_t4);
    }
}
}
