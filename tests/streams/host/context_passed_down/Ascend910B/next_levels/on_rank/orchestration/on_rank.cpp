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
    const ChipTensor& ext_y = orch_args.tensor(2).ref();
    const ChipTensor& ext_win = orch_args.tensor(3).ref();
    const ChipTensor& ext_sig = orch_args.tensor(4).ref();
    uint64_t win_ctx = orch_args.scalar(0);
    uint64_t sig_ctx = orch_args.scalar(1);
    CoreTaskArgs params_t0;
    params_t0.add_input(ext_x);
    params_t0.add_inout(ext_win);
    params_t0.add_inout(ext_sig);
    params_t0.add_scalar(win_ctx);
    params_t0.add_scalar(sig_ctx);
    rt_submit_aiv_task(0, params_t0);
    uint32_t indices_f[1] = {0};
    int32_t f = get_tensor_data<int32_t>(ext_flag, 1, indices_f);
    ChipTensor w3 = ext_x;
    ChipTensor s3 = ext_x;
    if ((0 < static_cast<int64_t>(f))) {
        CoreTaskArgs params_t1;
        params_t1.add_input(ext_x);
        params_t1.add_inout(ext_win);
        params_t1.add_inout(ext_sig);
        params_t1.add_scalar(win_ctx);
        params_t1.add_scalar(sig_ctx);
        rt_submit_aiv_task(0, params_t1);
        w3 = ext_win;
        s3 = ext_sig;
    } else {
        w3 = ext_win;
        s3 = ext_sig;
    }
    for (int64_t i = 0; i < 2; i += 1) {
        CoreTaskArgs params_t2;
        params_t2.add_input(ext_x);
        params_t2.add_inout(w3);
        params_t2.add_inout(s3);
        params_t2.add_scalar(win_ctx);
        params_t2.add_scalar(sig_ctx);
        rt_submit_aiv_task(0, params_t2);
    }
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        CoreTaskArgs params_t3;
        params_t3.add_input(w3);
        params_t3.add_inout(s3);
        params_t3.add_output(ext_y);
        params_t3.add_scalar(win_ctx);
        params_t3.add_scalar(sig_ctx);
        TaskOutputTensors task_3_outs = rt_submit_aiv_task(1, params_t3);
    }
}
}
