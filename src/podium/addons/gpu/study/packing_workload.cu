/* What one run has, its random numbers and its workload, as in math_rand.py and workloads.py under
   the same names. The rules of policies come before this file, from packing_rules.py, and
   packing_kernel.cu follows it.

   Multiplications and additions must not be fused. All of it is plain C but for the words of CUDA,
   so that tests can compile it for a CPU. */

#ifdef __cplusplus
#define EXPORTED extern "C"
#else
#define EXPORTED
#endif

enum { MAX_THREADS = 256, MAX_DEVICES = 16, LENGTH = 607, TAP = 273 };

/* Where a trace's rows are in the columns of all traces. */
typedef struct {
    int first_node, nodes, first_pod, pods, first_shape, shapes, first_typical, typical;
    int devices, largest_gpus;
    double cpu_per_gpu, needed_cpu_per_gpu, limit_milli;
} Trace;

/* Columns of all traces, work space and results of all runs; every field is 64 bits wide. */
typedef struct {
    const Trace *traces;
    const int *run_traces, *run_seeds, *run_policies;
    const int *node_cpu, *node_memory, *node_gpus;
    const i64 *node_model_bit;
    const double *node_price;
    const int *pod_memory, *pod_shape;
    const i64 *pod_model_mask;
    const int *shape_cpu, *shape_milli, *shape_gpus;
    const int *typical_cpu, *typical_milli, *typical_gpus;
    const i64 *typical_model_mask;
    const double *typical_frequency;
    const u64 *random_table;
    const double *thresholds;
    i64 max_nodes, max_devices, max_shapes, max_stream;
    /* Nodes in the order in which ties are broken. */
    int *cpu, *memory, *gpus, *tags, *changes, *left;
    i64 *model_bit;
    double *price, *node_fragments;
    unsigned char *feasible;
    /* Remembered scores: shapes by nodes. */
    int *seen;
    short *scores;
    signed char *score_devices;
    /* Results. */
    int *lengths, *orders, *streams, *rows, *devices;
    double *fragments;
} Arguments;

/* One run's view of them: pointers are at the rows of its trace and in its own work space. */
typedef struct {
    Trace trace;
    Arguments at;
    TypicalColumns typical;
    int policy;
} Run;

typedef struct {
    u64 values[LENGTH];
    int tap;
} Random;

/* --- Go's math/rand ------------------------------------------------------------------------- */

__device__ static i64 int63(Random *random) {
    int tap = random->tap = (random->tap ? random->tap : LENGTH) - 1;
    int feed = tap >= TAP ? tap - TAP : tap + LENGTH - TAP;
    random->values[feed] += random->values[tap];
    return (i64)(random->values[feed] & 0x7fffffffffffffffULL);
}

__device__ static void seed_random(Random *random, int seed, const u64 *table) {
    const i64 modulus = 2147483647;
    i64 x = seed % modulus;
    if (x == 0) x = 89482311;
    for (int i = 0; i < 20; i++) x = x * 48271 % modulus;
    for (int i = 0; i < LENGTH; i++) {
        u64 value;
        x = x * 48271 % modulus;
        value = (u64)x << 40;
        x = x * 48271 % modulus;
        value ^= (u64)x << 20;
        x = x * 48271 % modulus;
        random->values[i] = value ^ (u64)x ^ table[i];
    }
    random->tap = 0;
}

__device__ static int below(Random *random, int bound) {
    i64 highest = 2147483647LL - 2147483648LL % bound;
    for (;;) {
        i64 drawn = int63(random) >> 32;
        if ((bound & (bound - 1)) == 0) return (int)(drawn & (bound - 1));
        if (drawn <= highest) return (int)(drawn % bound);
    }
}

__device__ static int below_by_product(Random *random, unsigned bound) {
    u64 product = (u64)(int63(random) >> 31) * bound;
    if ((unsigned)product < bound) {
        unsigned rejected = (0u - bound) % bound;
        while ((unsigned)product < rejected) product = (u64)(int63(random) >> 31) * bound;
    }
    return (int)(product >> 32);
}

/* --- workload ------------------------------------------------------------------------------- */

__device__ static int demand_of(const Run *run, int pod) {
    int shape = run->at.pod_shape[pod];
    return run->at.shape_milli[shape] * run->at.shape_gpus[shape];
}

__device__ static i64 shuffle(const Run *run, Random *random, int *stream) {
    i64 demand = 0;
    int63(random);
    for (int i = 0; i < run->trace.pods; i++) {
        stream[i] = i;
        demand += demand_of(run, i);
    }
    for (int last = run->trace.pods - 1; last > 0; last--) {
        int partner = below_by_product(random, last + 1), kept = stream[last];
        stream[last] = stream[partner];
        stream[partner] = kept;
    }
    return demand;
}

/* Append pods up to the limit; the new length, or -1 if they are more than there is space for. */
__device__ static int tune_up(const Run *run, i64 demand, Random *random, int *stream) {
    int length = run->trace.pods;
    for (;;) {
        int drawn = below(random, run->trace.pods);
        int milli = run->at.shape_milli[run->at.pod_shape[drawn]];
        if ((double)(demand + milli) > run->trace.limit_milli) return length;
        if (length == run->at.max_stream) return -1;
        stream[length++] = drawn;
        demand += demand_of(run, drawn);
    }
}

/* Close a gap in the stream, with all threads. */
__device__ static void remove_from(int *stream, int position, int length) {
    for (int base = position; base < length - 1; base += blockDim.x) {
        int at = base + threadIdx.x, moved = at < length - 1 ? stream[at + 1] : 0;
        __syncthreads();
        if (at < length - 1) stream[at] = moved;
        __syncthreads();
    }
}

__device__ static void permute_nodes(Random *random, int *place, int *order, int nodes) {
    for (int i = 0; i < 10; i++) int63(random);
    for (int i = 0; i < nodes; i++) {
        int partner = below(random, i + 1);
        place[i] = place[partner];
        place[partner] = i;
    }
    for (int i = 0; i < nodes; i++) order[place[i]] = i;
}
