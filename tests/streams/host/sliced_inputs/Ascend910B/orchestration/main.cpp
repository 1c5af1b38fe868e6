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
    const ChipTensor& ext_stack = orch_args.tensor(1).ref();
    const ChipTensor& ext_wide = orch_args.tensor(2).ref();
    const ChipTensor& ext_m = orch_args.tensor(3).ref();
    const ChipTensor& ext_h = orch_args.tensor(4).ref();
    const ChipTensor& ext_h2 = orch_args.tensor(5).ref();
    const ChipTensor& ext_out = orch_args.tensor(6).ref();
    PTO2_SCOPE() {
        uint32_t left_offsets[2] = {0, 0};
        uint32_t left_shapes[2] = {(left_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(32, ext_x.shapes[0] - left_offsets[0])), (left_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - left_offsets[1]))};
        ChipTensor left = ext_x.view(left_shapes, left_offsets);
        uint32_t page_offsets[3] = {1, 0, 64};
        uint32_t page_shapes[3] = {(page_offsets[0] >= ext_stack.shapes[0] ? 0u : std::min<uint32_t>(1, ext_stack.shapes[0] - page_offsets[0])), (page_offsets[1] >= ext_stack.shapes[1] ? 0u : std::min<uint32_t>(32, ext_stack.shapes[1] - page_offsets[1])), (page_offsets[2] >= ext_stack.shapes[2] ? 0u : std::min<uint32_t>(64, ext_stack.shapes[2] - page_offsets[2]))};
        ChipTensor page_view = ext_stack.view(page_shapes, page_offsets);
        bool page_empty = page_view.numel() == 0;
        ChipTensor page = page_view;
        page.ndims = 2;
        page.shapes[0] = page_view.shapes[1];
        page.strides[0] = page_view.strides[1];
        page.shapes[1] = page_view.shapes[2];
        page.strides[1] = page_view.strides[2];
        if (page_empty) page.shapes[0] = 0;
        uint64_t page_expected_stride = 1;
        bool page_contiguous = true;
        for (int32_t i = static_cast<int32_t>(page.ndims) - 1; i >= 0; --i) {
          page_contiguous = page_contiguous && (page.strides[i] == page_expected_stride);
          page_expected_stride *= page.shapes[i];
        }
        page.is_contiguous = page_empty || page_contiguous;
        CoreTaskArgs params_t0;
        params_t0.add_input(left);
        params_t0.add_input(page);
        params_t0.add_output(ext_m);
        rt_submit_aiv_task(0, params_t0);
        uint32_t t_offsets[2] = {0, 64};
        uint32_t t_shapes[2] = {(t_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(32, ext_x.shapes[0] - t_offsets[0])), (t_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(64, ext_x.shapes[1] - t_offsets[1]))};
        ChipTensor t = ext_x.view(t_shapes, t_offsets);
        CoreTaskArgs params_t1;
        params_t1.add_input(t);
        params_t1.add_output(ext_h);
        rt_submit_aiv_task(1, params_t1);
        uint32_t t__tmp_v1_offsets[2] = {0, 32};
        uint32_t t__tmp_v1_shapes[2] = {(t__tmp_v1_offsets[0] >= ext_wide.shapes[0] ? 0u : std::min<uint32_t>(32, ext_wide.shapes[0] - t__tmp_v1_offsets[0])), (t__tmp_v1_offsets[1] >= ext_wide.shapes[1] ? 0u : std::min<uint32_t>(64, ext_wide.shapes[1] - t__tmp_v1_offsets[1]))};
        ChipTensor t__tmp_v1 = ext_wide.view(t__tmp_v1_shapes, t__tmp_v1_offsets);
        CoreTaskArgs params_t2;
        params_t2.add_input(t__tmp_v1);
        params_t2.add_output(ext_h2);
        rt_submit_aiv_task(1, params_t2);
        CoreTaskArgs params_t3;
        params_t3.add_input(left);
        params_t3.add_output(ext_out);
        rt_submit_aiv_task(2, params_t3);
    }
}
}
