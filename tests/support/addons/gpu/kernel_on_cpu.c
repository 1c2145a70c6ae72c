/* CUDA's words for a CPU: threads of a block are threads here, blocks run one after the other. */

#include <pthread.h>

typedef struct { unsigned x; } Index;
static __thread Index threadIdx;
static Index blockIdx, blockDim;
static pthread_barrier_t barrier;

#define __global__
#define __device__
#define __shared__ static
#define __syncthreads() pthread_barrier_wait(&barrier)

#include "kernel.cu"

static const Arguments *passed;

static void *run_thread(void *number) {
    threadIdx.x = (unsigned)(size_t)number;
    run_study(passed);
    return 0;
}

void launch(const Arguments *arguments, int blocks, int threads) {
    pthread_t others[MAX_THREADS];
    passed = arguments;
    blockDim.x = (unsigned)threads;
    for (int block = 0; block < blocks; block++) {
        blockIdx.x = (unsigned)block;
        pthread_barrier_init(&barrier, 0, (unsigned)threads);
        for (int i = 1; i < threads; i++)
            pthread_create(&others[i], 0, run_thread, (void *)(size_t)i);
        run_thread(0);
        for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
        pthread_barrier_destroy(&barrier);
    }
}
