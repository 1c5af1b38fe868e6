#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 7,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_x = orch_args.tensor(0).ref();
    const ChipTensor& ext_flag = orch_args.tensor(1).ref();
    const ChipTensor& ext_first = orch_args.tensor(2).ref();
    const ChipTensor& ext_kept = orch_args.tensor(3).ref();
    const ChipTensor& ext_third = orch_args.tensor(4).ref();
    const ChipTensor& ext_fourth = orch_args.tensor(5).ref();
    const ChipTensor& ext_fifth = orch_args.tensor(6).ref();
    PTO2_SCOPE() {
        CoreTaskArgs params_t0;
        params_t0.add_input(ext_x);
        params_t0.add_output(ext_first);
        params_t0.add_scalar(to_u64(3.000000f));
        rt_submit_aiv_task(0, params_t0);
        CoreTaskArgs params_t1;
        params_t1.add_no_dep(ext_x);
        params_t1.add_inout(ext_first);
        rt_submit_aiv_task(1, params_t1);
        CoreTaskArgs params_t2;
        params_t2.add_inout(ext_first);
        rt_submit_aiv_task(2, params_t2);
        CoreTaskArgs params_t3;
        params_t3.add_input(ext_x);
        params_t3.add_inout(ext_kept);
        rt_submit_aiv_task(1, params_t3);
        CoreTaskArgs params_t4;
        params_t4.add_input(ext_x);
        params_t4.add_output(ext_third);
        rt_submit_aiv_task(1, params_t4);
        for (int64_t i = 0; i < 16; i += 1) {
            PTO2_SCOPE() {
                CoreTaskArgs params_t5;
                params_t5.add_input(ext_x);
                params_t5.add_inout(ext_third);
                params_t5.add_scalar(i);
                rt_submit_aiv_task(3, params_t5);
            }
        }
        for (int64_t j = 0; j < 16; j += 1) {
            PTO2_SCOPE() {
                CoreTaskArgs params_t6;
                params_t6.add_input(ext_x);
                params_t6.add_output(ext_fourth);
                params_t6.add_scalar(j);
                rt_submit_aiv_task(3, params_t6);
            }
        }
        CoreTaskArgs params_t7;
        params_t7.add_input(ext_x);
        params_t7.add_inout(ext_fourth);
        rt_submit_aiv_task(1, params_t7);
        uint32_t indices_f[1] = {0};
        int32_t f = get_tensor_data<int32_t>(ext_flag, 1, indices_f);
        ChipTensor fifth__phi_v3 = ext_x;
        if ((0 < static_cast<int64_t>(f))) {
            PTO2_SCOPE() {
                CoreTaskArgs params_t8;
                params_t8.add_input(ext_x);
                params_t8.add_output(ext_fifth);
                params_t8.add_scalar(to_u64(1.000000f));
                rt_submit_aiv_task(0, params_t8);
                fifth__phi_v3 = ext_fifth;
            }
        } else {
            PTO2_SCOPE() {
                CoreTaskArgs params_t9;
                params_t9.add_input(ext_x);
                params_t9.add_output(ext_fifth);
                params_t9.add_scalar(to_u64(0.500000f));
                rt_submit_aiv_task(0, params_t9);
                fifth__phi_v3 = ext_fifth;
            }
        }
        CoreTaskArgs params_t10;
        params_t10.add_input(ext_x);
        params_t10.add_inout(fifth__phi_v3);
        rt_submit_aiv_task(1, params_t10);
    }
}
}
