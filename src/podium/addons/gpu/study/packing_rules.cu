/* The rules of one run: those of policies.py, fragmentation.py and workloads.py, under the same
   names. packing_kernel.cu follows this file.

   Multiplications and additions must not be fused. Both files are plain C but for the words of
   CUDA, so that tests can compile them for a CPU. */

#ifdef __cplusplus
#define EXPORTED extern "C"
#else
#define EXPORTED
#endif

typedef long long i64;
typedef unsigned long long u64;

enum { RANDOM, DOT_PROD, GPU_CLUSTERING, GPU_PACKING, BEST_FIT, FGD, FGD_STRANDED };
enum { WHOLE = 1000, MAX_SPEC_CPU = 128000, MAX_SPEC_GPU = 8000, SCORES = 100, MAX_THREADS = 256 };
enum { LENGTH = 607, TAP = 273 };
#define PARTLY_USED_WEIGHT 0.1

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

/* --- fragmentation -------------------------------------------------------------------------- */

__device__ static int idle_of(const int *left, int devices) {
    int idle = 0;
    for (int i = 0; i < devices; i++) idle += left[i];
    return idle;
}

__device__ static int untouched_of(const int *left, int devices) {
    int untouched = 0;
    for (int i = 0; i < devices; i++) untouched += left[i] == WHOLE;
    return untouched;
}

__device__ static double fragmentation(const Run *run, int cpu_left, const int *left, i64 model_bit,
                                       int without_access) {
    double lack_both = 0, lack_gpu = 0, lack_cpu = 0, served = 0, unserved = 0, no_access = 0;
    double total;
    int idle = idle_of(left, run->trace.devices);
    if (idle == 0) return 0;
    for (int i = 0; i < run->trace.typical; i++) {
        int gpus = run->at.typical_gpus[i], milli = run->at.typical_milli[i];
        int cpu_fits = cpu_left >= run->at.typical_cpu[i], large_enough = 0, pieces = 0;
        double frequency = run->at.typical_frequency[i], stranded = frequency * idle;
        if (gpus == 0) {
            if (cpu_fits) served += stranded;
            else unserved += stranded;
            continue;
        }
        if ((run->at.typical_model_mask[i] & model_bit) == 0) {
            no_access += stranded;
            continue;
        }
        for (int device = 0; device < run->trace.devices; device++) {
            if (left[device] >= milli) large_enough++;
            else pieces += left[device];
        }
        if (large_enough >= gpus) {
            if (cpu_fits) lack_gpu += frequency * pieces;
            else lack_cpu += stranded;
        } else if (cpu_fits) {
            lack_gpu += stranded;
        } else {
            lack_both += stranded;
        }
    }
    total = lack_both + lack_gpu + lack_cpu + served + unserved;
    return without_access ? total + no_access : total;
}

__device__ static double stranded_milli(const Run *run, double cpu_left, const int *left) {
    double stranded;
    if (run->trace.needed_cpu_per_gpu == 0) return 0;
    stranded = idle_of(left, run->trace.devices) - cpu_left / run->trace.needed_cpu_per_gpu;
    return stranded > 0 ? stranded : 0;
}

/* --- policies ------------------------------------------------------------------------------- */

__device__ static int tag_of(int milli, int gpus) {
    if (gpus == 0) return 0;
    return milli < WHOLE ? 1 : 1 << gpus;
}

__device__ static int best_fitting_device(const int *left, int devices, int milli) {
    int best = -1;
    for (int i = 0; i < devices; i++)
        if (left[i] >= milli && (best < 0 || left[i] < left[best])) best = i;
    return best;
}

__device__ static int gpu_clustering(int tags, int idle, int milli, int gpus) {
    int used = 25 * (MAX_SPEC_GPU - idle), tag = tag_of(milli, gpus);
    if (gpus == 0) return 0;
    /* A node with more than eight devices: division rounds down, as in Python. */
    used = used >= 0 ? used / MAX_SPEC_GPU : -((MAX_SPEC_GPU - 1 - used) / MAX_SPEC_GPU);
    if (tags == tag) return used + 75;
    if (tags & tag) return used + 50;
    return tags == 0 ? used + 25 : used;
}

__device__ static int gpu_packing(const int *left, int devices, int node_gpus, int milli, int gpus) {
    int fitting, score;
    if (gpus == 0) return 0;
    if (untouched_of(left, devices) == node_gpus)
        return 33 - node_gpus > node_gpus ? 33 - node_gpus : node_gpus;
    if (milli == WHOLE) return 50 - gpus > 33 ? 50 - gpus : 33;
    fitting = left[best_fitting_device(left, devices, milli)];
    if (fitting == WHOLE) return 49;
    score = 100 - fitting * 100 / WHOLE / 10;
    return score > 50 ? score : 50;
}

__device__ static int sigmoid_score(const Run *run, double fall_milli) {
    double fall = fall_milli / 1000;
    int low = 0, high = SCORES;
    while (low < high) {
        int middle = (low + high) / 2;
        if (run->at.thresholds[middle] <= fall) low = middle + 1;
        else high = middle;
    }
    return low;
}

__device__ static double measured(const Run *run, int cpu_left, const int *left, i64 model_bit,
                                  double price, int room, double spare) {
    double found = fragmentation(run, cpu_left, left, model_bit, run->policy != FGD_STRANDED);
    if (run->policy == FGD_STRANDED) {
        int devices = run->trace.devices, untouched = untouched_of(left, devices);
        int idle = idle_of(left, devices);
        int takes_room = room && untouched < run->trace.largest_gpus;
        double beside = stranded_milli(run, cpu_left - (takes_room ? spare : 0.0), left);
        found += beside + PARTLY_USED_WEIGHT * (idle - WHOLE * untouched) - price * idle;
    }
    return found;
}

__device__ static int descend(const Run *run, int row, int cpu, int milli, int gpus, int *chosen) {
    int left[16], best = -1, devices = run->trace.devices, room, node_cpu = run->at.cpu[row];
    const int *node_left = run->at.left + row * devices;
    i64 model_bit = run->at.model_bit[row];
    double before, spare, price = run->at.price[row];
    for (int i = 0; i < devices; i++) left[i] = node_left[i];
    room = untouched_of(left, devices) >= run->trace.largest_gpus;
    before = measured(run, node_cpu, left, model_bit, price, 0, 0);
    spare = node_cpu - run->trace.cpu_per_gpu * idle_of(left, devices);
    if (spare < 0) spare = 0;
    *chosen = -1;
    if (gpus == 0 || milli == WHOLE) {
        for (int i = 0; i < devices; i++)
            if (gpus > 0 && left[i] == WHOLE) {
                left[i] = 0;
                gpus--;
            }
        before -= measured(run, node_cpu - cpu, left, model_bit, price, room, spare);
        return sigmoid_score(run, before);
    }
    for (int device = 0; device < devices; device++) {
        double after;
        int score, equal = 0;
        for (int earlier = 0; earlier < device; earlier++) equal |= left[earlier] == left[device];
        if (left[device] < milli || equal) continue;
        left[device] -= milli;
        after = measured(run, node_cpu - cpu, left, model_bit, price, room, spare);
        score = sigmoid_score(run, before - after);
        left[device] += milli;
        if (score > best) {
            best = score;
            *chosen = device;
        }
    }
    return best;
}

/* Score a node that changed since the shape met it; -1 where there is no room. */
__device__ static void look_at(const Run *run, int row, int shape) {
    int devices = run->trace.devices, policy = run->policy, fitting = 0, device = -1, score;
    int cpu = run->at.shape_cpu[shape], milli = run->at.shape_milli[shape];
    int gpus = run->at.shape_gpus[shape], cpu_left = run->at.cpu[row];
    const int *left = run->at.left + row * devices;
    int at = shape * run->trace.nodes + row, idle = idle_of(left, devices);
    for (int i = 0; i < devices; i++) fitting += left[i] >= milli;
    if (cpu_left < cpu || (gpus > 0 && fitting < gpus)) {
        score = -1;
    } else if (policy == RANDOM) {
        score = 0;
    } else if (policy == DOT_PROD) {
        double aligned = (double)cpu_left / MAX_SPEC_CPU * ((double)cpu / MAX_SPEC_CPU);
        aligned += (double)idle / MAX_SPEC_GPU * ((double)(milli * gpus) / MAX_SPEC_GPU);
        score = (int)(100 * (1 - aligned / 2));
    } else if (policy == GPU_CLUSTERING) {
        score = gpu_clustering(run->at.tags[row], idle, milli, gpus);
    } else if (policy == GPU_PACKING) {
        score = gpu_packing(left, devices, run->at.gpus[row], milli, gpus);
    } else if (policy == BEST_FIT) {
        double over = (double)(cpu_left - cpu) / MAX_SPEC_CPU * 0.5;
        over += (double)(idle - milli * gpus) / MAX_SPEC_GPU * 0.5;
        score = (int)((1 - over) * 100);
    } else {
        score = descend(run, row, cpu, milli, gpus, &device);
    }
    run->at.seen[at] = run->at.changes[row];
    run->at.scores[at] = (short)score;
    run->at.score_devices[at] = (signed char)device;
}

__device__ static int choose_devices(const Run *run, int row, int shape, Random *random) {
    int devices = run->trace.devices, mask = 0, device;
    int milli = run->at.shape_milli[shape], gpus = run->at.shape_gpus[shape];
    const int *left = run->at.left + row * devices;
    if (gpus == 0 || milli == WHOLE) {
        for (int i = 0; i < devices; i++)
            if (gpus > 0 && left[i] == WHOLE) {
                mask |= 1 << i;
                gpus--;
            }
        return mask;
    }
    if (run->policy == RANDOM) {
        int fitting = 0, drawn;
        for (int i = 0; i < devices; i++) fitting += left[i] >= milli;
        drawn = below(random, fitting);
        for (int i = 0; i < devices; i++)
            if (left[i] >= milli && drawn-- == 0) return 1 << i;
    }
    device = run->at.score_devices[shape * run->trace.nodes + row];
    return 1 << (device >= 0 ? device : best_fitting_device(left, devices, milli));
}
