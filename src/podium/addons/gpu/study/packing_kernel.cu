/* One run of the study per thread block, from the seed to the last pod; packing_workload.cu comes
   before this file.

   Threads share the scan over nodes; what is sequential by nature is done by the first of them. */

/* Pointers of one run into the columns of all. */
__device__ static void find_run(const Arguments *all, int number, Run *run) {
    Arguments *at = &run->at;
    Trace trace = all->traces[all->run_traces[number]];
    u64 by_node = number * all->max_nodes, by_pod = number * all->max_stream;
    u64 by_shape = by_node * all->max_shapes;
    *at = *all;
    run->trace = trace;
    run->policy = all->run_policies[number];
    at->node_cpu += trace.first_node, at->node_memory += trace.first_node;
    at->node_gpus += trace.first_node, at->node_model_bit += trace.first_node;
    at->node_price += trace.first_node;
    at->pod_memory += trace.first_pod, at->pod_shape += trace.first_pod;
    at->pod_model_mask += trace.first_pod;
    at->shape_cpu += trace.first_shape, at->shape_milli += trace.first_shape;
    at->shape_gpus += trace.first_shape;
    at->typical_cpu += trace.first_typical, at->typical_milli += trace.first_typical;
    at->typical_gpus += trace.first_typical, at->typical_model_mask += trace.first_typical;
    at->typical_frequency += trace.first_typical;
    at->cpu += by_node, at->memory += by_node, at->gpus += by_node, at->tags += by_node;
    at->changes += by_node, at->left += by_node * all->max_devices, at->model_bit += by_node;
    at->price += by_node, at->node_fragments += by_node, at->feasible += by_node, at->orders += by_node;
    at->seen += by_shape, at->scores += by_shape, at->score_devices += by_shape;
    at->streams += by_pod, at->rows += by_pod, at->devices += by_pod, at->fragments += by_pod;
    run->typical.kinds = trace.typical;
    run->typical.cpu = at->typical_cpu;
    run->typical.milli = at->typical_milli;
    run->typical.gpus = at->typical_gpus;
    run->typical.mask = at->typical_model_mask;
    run->typical.frequency = at->typical_frequency;
    run->typical.cpu_per_gpu = trace.cpu_per_gpu;
    run->typical.needed_cpu_per_gpu = trace.needed_cpu_per_gpu;
    run->typical.largest_gpus = trace.largest_gpus;
}

/* Fragmentation of a row as it is now. */
__device__ static double fragments_of(const Run *run, int row) {
    const Arguments *at = &run->at;
    int devices = run->trace.devices;
    const int *left = at->left + row * devices;
    return fragmentation(at->cpu[row], left, devices, at->model_bit[row], &run->typical, 1);
}

/* Score a node that changed since the shape met it; -1 where there is no room. */
__device__ static void look_at(const Run *run, int row, int shape) {
    const Arguments *at = &run->at;
    int scratch[MAX_DEVICES], devices = run->trace.devices, first = shape * run->trace.nodes;
    NodeLeft node;
    AskedShape asked;
    node.cpu = at->cpu[row], node.gpus = at->gpus[row], node.tags = at->tags[row];
    node.model_bit = at->model_bit[row], node.price = at->price[row];
    asked.cpu = at->shape_cpu[shape], asked.milli = at->shape_milli[shape];
    asked.gpus = at->shape_gpus[shape];
    at->seen[first + row] = at->changes[row];
    at->scores[first + row] = (short)score_node(
        run->policy, &node, at->left + row * devices, devices, &asked, &run->typical,
        at->thresholds, scratch, at->score_devices + first, row);
}

__device__ static int choose_devices(const Run *run, int row, int shape, Random *random) {
    const Arguments *at = &run->at;
    int devices = run->trace.devices, milli = at->shape_milli[shape], gpus = at->shape_gpus[shape];
    int device = at->score_devices[shape * run->trace.nodes + row];
    const int *left = at->left + row * devices;
    if (run->policy == RANDOM && gpus > 0 && milli < WHOLE)
        device = find_fitting(left, devices, milli, below(random, count_fitting(left, devices, milli)));
    return devices_mask(left, devices, milli, gpus, device);
}

/* Each thread prepares some nodes, in the run's order. */
__device__ static void prepare_nodes(const Run *run, int thread, int threads) {
    const Arguments *at = &run->at;
    int count = run->trace.nodes, width = run->trace.devices;
    for (int row = thread; row < count; row += threads) {
        int node = at->orders[row], *left = at->left + row * width;
        at->cpu[row] = at->node_cpu[node];
        at->memory[row] = at->node_memory[node];
        at->gpus[row] = at->node_gpus[node];
        at->model_bit[row] = at->node_model_bit[node];
        at->price[row] = at->node_price[node];
        at->tags[row] = 0;
        at->changes[row] = 0;
        for (int i = 0; i < width; i++) left[i] = i < at->node_gpus[node] ? WHOLE : 0;
        at->node_fragments[row] = fragments_of(run, row);
    }
    for (int i = thread; i < count * run->trace.shapes; i += threads) at->seen[i] = -1;
}

/* Each thread scans some nodes for a pod: the highest score, then the lowest row, as one number;
   -1 if the pod fits on none of them. */
__device__ static int scan_nodes(const Run *run, int pod, int thread, int threads) {
    const Arguments *at = &run->at;
    int shape = at->pod_shape[pod], memory = at->pod_memory[pod], best = -1;
    i64 mask = at->pod_model_mask[pod];
    for (int row = thread; row < run->trace.nodes; row += threads) {
        int score = -1, number = shape * run->trace.nodes + row;
        if (at->memory[row] >= memory && (at->model_bit[row] & mask) != 0) {
            if (at->seen[number] != at->changes[row]) look_at(run, row, shape);
            score = at->scores[number];
        }
        if (run->policy == RANDOM) at->feasible[row] = score >= 0;
        if (score >= 0 && (score << 20 | (0xfffff - row)) > best) best = score << 20 | (0xfffff - row);
    }
    return best;
}

/* Draw one of the feasible nodes; `counts` has how many there are in each thread's part. */
__device__ static int draw_row(const Run *run, const int *counts, int parts, int size, Random *random) {
    int feasible = 0, part = 0, row, drawn;
    for (int i = 0; i < parts; i++) feasible += counts[i];
    if (feasible == 0) return -1;
    drawn = below(random, feasible);
    while (drawn >= counts[part]) drawn -= counts[part++];
    for (row = part * size; !(run->at.feasible[row] && drawn-- == 0); row++) {}
    return row;
}

/* Place a pod; what the cluster's fragmentation changes by. */
__device__ static double put(const Run *run, int row, int pod, int mask) {
    const Arguments *at = &run->at;
    int shape = at->pod_shape[pod], *left = at->left + row * run->trace.devices;
    double before = at->node_fragments[row];
    at->cpu[row] -= at->shape_cpu[shape];
    at->memory[row] -= at->pod_memory[pod];
    at->tags[row] |= tag_of(at->shape_milli[shape], at->shape_gpus[shape]);
    at->changes[row]++;
    for (int i = 0; i < run->trace.devices; i++)
        if (mask >> i & 1) left[i] -= at->shape_milli[shape];
    at->node_fragments[row] = fragments_of(run, row);
    return at->node_fragments[row] - before;
}

EXPORTED __global__ void run_study(const Arguments *arguments) {
    __shared__ Run run;
    __shared__ Random random;
    __shared__ int best[MAX_THREADS];
    __shared__ int length, position;
    __shared__ i64 demand;
    int number = blockIdx.x, thread = threadIdx.x, threads = blockDim.x, part;
    double total = 0;

    if (thread == 0) {
        find_run(arguments, number, &run);
        seed_random(&random, arguments->run_seeds[number], arguments->random_table);
        demand = shuffle(&run, &random, run.at.streams);
        length = run.trace.pods;
        if (demand > 0 && (double)demand < run.trace.limit_milli) {
            length = tune_up(&run, demand, &random, run.at.streams);
            demand = 0;
        }
        arguments->lengths[number] = length;
    }
    __syncthreads();
    if (length < 0) return;
    while ((double)demand > run.trace.limit_milli) {
        __syncthreads();
        if (thread == 0) {
            position = below(&random, length);
            demand -= demand_of(&run, run.at.streams[position]);
        }
        __syncthreads();
        remove_from(run.at.streams, position, length);
        __syncthreads();
        if (thread == 0) arguments->lengths[number] = --length;
        __syncthreads();
    }
    if (thread == 0) permute_nodes(&random, run.at.changes, run.at.orders, run.trace.nodes);
    __syncthreads();
    prepare_nodes(&run, thread, threads);
    __syncthreads();
    if (thread == 0)
        for (int row = 0; row < run.trace.nodes; row++) total += run.at.node_fragments[row];

    part = (run.trace.nodes + threads - 1) / threads;
    for (int arrival = 0; arrival < length; arrival++) {
        int pod = run.at.streams[arrival];
        best[thread] = scan_nodes(&run, pod, thread, threads);
        __syncthreads();
        if (run.policy == RANDOM) {
            int feasible = 0;
            for (int row = thread * part; row < (thread + 1) * part && row < run.trace.nodes; row++)
                feasible += run.at.feasible[row];
            best[thread] = feasible;
            __syncthreads();
        }
        for (int half = threads / 2; half > 0 && run.policy != RANDOM; half /= 2) {
            if (thread < half && best[thread + half] > best[thread])
                best[thread] = best[thread + half];
            __syncthreads();
        }
        if (thread == 0) {
            int row = best[0] < 0 ? -1 : 0xfffff - (best[0] & 0xfffff), mask = 0;
            if (run.policy == RANDOM) row = draw_row(&run, best, threads, part, &random);
            if (row >= 0) {
                mask = choose_devices(&run, row, run.at.pod_shape[pod], &random);
                total += put(&run, row, pod, mask);
            }
            run.at.rows[arrival] = row;
            run.at.devices[arrival] = mask;
            run.at.fragments[arrival] = total;
        }
        __syncthreads();
    }
}
