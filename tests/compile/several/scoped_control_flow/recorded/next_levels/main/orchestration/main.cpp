#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"
extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 2,
    };
}
__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
    const ChipTensor& ext_flags = orch_args.tensor(0).ref();
    const ChipTensor& ext_s = orch_args.tensor(1).ref();
    PTO2_SCOPE() {
        ChipTensor s__rv_v2 = ext_s;
        for (int64_t i = 0; i < 4; i += 1) {
            PTO2_SCOPE() {
                uint32_t indices_f[1] = {static_cast<uint32_t>(i)};
                int32_t f = get_tensor_data<int32_t>(ext_flags, 1, indices_f);
                ChipTensor s__phi_v8 = ext_flags;
                if ((1 < static_cast<int64_t>(f))) {
                    PTO2_SCOPE() {
                        for (int64_t j = 0; j < 4; j += 1) {
                            PTO2_SCOPE() {
                                CoreTaskArgs params_t0;
                                params_t0.add_inout(s__rv_v2);
                                params_t0.add_scalar(j);
                                params_t0.add_scalar(to_u64(1.000000f));
                                rt_submit_aiv_task(0, params_t0);
                            }
                        }
                        s__phi_v8 = s__rv_v2;
                    }
                } else {
                    PTO2_SCOPE() {
                        ChipTensor s__phi_v7 = ext_flags;
                        if ((0 < static_cast<int64_t>(f))) {
                            PTO2_SCOPE() {
                                CoreTaskArgs params_t1;
                                params_t1.add_inout(s__rv_v2);
                                params_t1.add_scalar(i);
                                params_t1.add_scalar(to_u64(2.000000f));
                                rt_submit_aiv_task(0, params_t1);
                                s__phi_v7 = s__rv_v2;
                            }
                        } else {
                            PTO2_SCOPE() {
                                s__phi_v7 = s__rv_v2;
                            }
                        }
                        s__phi_v8 = s__phi_v7;
                    }
                }
                s__rv_v2 = s__phi_v8;
            }
        }
        uint32_t indices_t[1] = {1};
        int32_t t = get_tensor_data<int32_t>(ext_flags, 1, indices_t);
        int64_t n = static_cast<int64_t>(t);
        CoreTaskArgs params_t2;
        params_t2.add_inout(ext_s);
        params_t2.add_scalar(n);
        params_t2.add_scalar(to_u64(4.000000f));
        rt_submit_aiv_task(0, params_t2);
        int64_t n__ssa_v3 = (n + 1);
    }
}
}
