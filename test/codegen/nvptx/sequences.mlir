// Sequences with ends of their own inside of tensors, on sm_90a: what the producer clears, and what consumers store.

// RUN: attnc compile %s --target nvptx:sm_90a --entry packed --emit ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry packed --emit nvvm -o - | attnc-opt --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=NVVM

// A barrier more than two for each stage: of two stages of queries and numbers, and four of keys and values.
// CHECK-COUNT-25: mbarrier.init.shared::cta.b64
// CHECK-NOT: mbarrier.init
// CHECK: fence.mbarrier_init.release.cluster

// A warpgroup whose rows are all below the limit stores through its buffer, another straight from registers, in groups
// of 16 bytes: strides that suit a tensor map suit them.
// CHECK: setmaxnreg.inc
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.warp.sync
// CHECK: cp.async.bulk.tensor.3d.global.shared::cta.bulk_group

// The producer: where the values of a sequence's last keys are put, the copy completes on a barrier of the producer's
// own. All lanes of its warp wait for that, clear whole rows in both panels, and fence; then one passes the buffer on.
// NVVM-DAG: cp.async.bulk.tensor{{.*}} %arg3, %[[DONE:[0-9]+]],
// NVVM-DAG: %[[DONE]] = llvm.select %[[ENDS:[0-9]+]], %[[LANDED:[0-9]+]], %[[FULL:[0-9]+]] : i1, i32
// NVVM: llvm.cond_br %[[ENDS]],
// NVVM: mbarrier.try_wait{{.*}} %[[LANDED]],
// NVVM: st.shared.v4.b32{{.*}} %[[FIRST:[0-9]+]], %[[ZERO:[0-9]+]], %[[ZERO]], %[[ZERO]], %[[ZERO]] :
// NVVM-NEXT: %[[SECOND:[0-9]+]] = llvm.add %[[FIRST]],
// NVVM-NEXT: st.shared.v4.b32{{.*}} %[[SECOND]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]] :
// NVVM: nvvm.fence.proxy {{.*}}async.shared
// NVVM-NEXT: nvvm.bar.warp.sync
// NVVM-NEXT: llvm.cond_br
// NVVM: mbarrier.arrive.shared::cta.b64{{.*}} %[[FULL]] :

func.func @packed(%q: tensor<?x4x128xbf16>, %k: tensor<?x4x128xbf16>, %v: tensor<?x4x128xbf16>, %qo: tensor<?xi32>,
                  %ko: tensor<?xi32>) -> tensor<?x4x128xbf16> {
  %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    : (tensor<?x4x128xbf16>, tensor<?x4x128xbf16>, tensor<?x4x128xbf16>) -> tensor<?x4x128xbf16>
  return %o : tensor<?x4x128xbf16>
}
