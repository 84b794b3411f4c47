/* Dense Gaussian Thompson sampling, as fast as plain C does it: the yardstick of engines.py.
 *
 *   dense ARMS ROUNDS s0 s1 s2 s3 r0 r1 r2 r3
 *
 * plays ROUNDS rounds on Bernoulli arms with means 0.9, 0.8, 0.8, ... and prints the nanoseconds of processor time
 * per posterior draw (the initial pulls apart) and the cumulative regret. In a round every arm draws from
 * N(S/n, 1/n), the largest draw is pulled, its reward is drawn, and its mean and deviation are brought up to date.
 *
 * s and r are the words of the two xoshiro256+ generators, for the policy and for the rewards. Generator, ziggurat
 * and order of the draws are those of the scan engine, so for the same words both must make the same decisions and
 * arrive at the same regret to the last bit. Compile with -ffp-contract=off: a fused multiply-add rounds differently.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LAYERS 256
#define R 3.6541528853610088 /* where the tail begins */
#define V 0.00492867323399   /* the area of each layer */

/* Layer j of the ziggurat reaches to edge[j + 1]; a point below edge[j] is under the curve without a look. */
static double step[LAYERS], density[LAYERS + 1];
static int64_t inside[LAYERS];

static void ziggurat(void) {
    double edge[LAYERS + 1];
    edge[LAYERS] = V / exp(-0.5 * R * R);
    edge[LAYERS - 1] = R;
    for (int j = LAYERS - 2; j > 0; j--)
        edge[j] = sqrt(-2.0 * log(V / edge[j + 1] + exp(-0.5 * edge[j + 1] * edge[j + 1])));
    edge[0] = 0.0;
    for (int j = 0; j <= LAYERS; j++) density[j] = exp(-0.5 * edge[j] * edge[j]);
    for (int j = 0; j < LAYERS; j++) {
        step[j] = edge[j + 1] * 0x1p-52;
        inside[j] = (int64_t)(edge[j] / edge[j + 1] * 0x1p52);
    }
}

/* Passed and returned by value, so that the compiler keeps the four words in registers. */
typedef struct { uint64_t s0, s1, s2, s3; } generator;
typedef struct { double value; generator g; } drawn;

static inline uint64_t word(generator *g) {
    uint64_t bits = g->s0 + g->s3, shifted = g->s1 << 17;
    g->s2 ^= g->s0;
    g->s3 ^= g->s1;
    g->s1 ^= g->s2;
    g->s0 ^= g->s3;
    g->s2 ^= shifted;
    g->s3 = g->s3 << 45 | g->s3 >> 19;
    return bits;
}

static inline double uniform(generator *g) { return ((double)(word(g) >> 12) + 0.5) * 0x1p-52; }

/* One normal in a hundred: the point is not inside its layer. */
static __attribute__((noinline)) drawn outside(generator g, int layer, double x) {
    for (;;) {
        if (layer == LAYERS - 1) { /* the tail (Marsaglia 1964) */
            double a, b;
            do {
                a = -log(uniform(&g)) / R;
                b = -log(uniform(&g));
            } while (2.0 * b <= a * a);
            return (drawn){copysign(R + a, x), g};
        }
        double y = density[layer + 1] + uniform(&g) * (density[layer] - density[layer + 1]);
        if (y < exp(-0.5 * x * x)) return (drawn){x, g};
        uint64_t bits = word(&g);
        layer = bits >> 3 & (LAYERS - 1);
        int64_t signed_bits = (int64_t)bits >> 11;
        x = (double)signed_bits * step[layer];
        if (llabs(signed_bits) < inside[layer]) return (drawn){x, g};
    }
}

static inline double normal(generator *g) {
    uint64_t bits = word(g);
    int layer = bits >> 3 & (LAYERS - 1);
    int64_t signed_bits = (int64_t)bits >> 11;
    double x = (double)signed_bits * step[layer];
    if (__builtin_expect(llabs(signed_bits) >= inside[layer], 0)) {
        drawn d = outside(*g, layer, x);
        *g = d.g;
        x = d.value;
    }
    return x;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **values) {
    if (count != 11) return fprintf(stderr, "usage: dense ARMS ROUNDS s0 s1 s2 s3 r0 r1 r2 r3\n"), 2;
    int arms = atoi(values[1]);
    long rounds = atol(values[2]);
    uint64_t w[8];
    for (int i = 0; i < 8; i++) w[i] = strtoull(values[3 + i], NULL, 10);
    generator policy = {w[0], w[1], w[2], w[3]}, rewards = {w[4], w[5], w[6], w[7]};
    double *truth = malloc(arms * sizeof(double)), *gap = malloc(arms * sizeof(double));
    double *n = calloc(arms, sizeof(double)), *sum = calloc(arms, sizeof(double));
    double *mean = calloc(arms, sizeof(double)), *deviation = calloc(arms, sizeof(double));
    for (int i = 0; i < arms; i++) {
        truth[i] = i == 0 ? 0.9 : 0.8;
        gap[i] = 0.9 - truth[i];
    }
    ziggurat();

    double regret = 0.0, began = now();
    for (long t = 0; t < rounds; t++) {
        int arm = 0;
        if (t < arms) {
            arm = (int)t;
        } else {
            if (t == arms) began = now();
            double top = -INFINITY;
            for (int i = 0; i < arms; i++) {
                double x = mean[i] + deviation[i] * normal(&policy);
                if (x > top) top = x, arm = i;
            }
        }
        n[arm] += 1.0;
        sum[arm] += uniform(&rewards) < truth[arm] ? 1.0 : 0.0;
        mean[arm] = sum[arm] / n[arm];
        deviation[arm] = 1.0 / sqrt(n[arm]);
        regret += gap[arm];
    }
    printf("%.6f %.17g\n", (now() - began) / ((double)arms * (double)(rounds - arms)), regret);
    return 0;
}
