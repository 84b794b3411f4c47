/* What memory alone costs a tournament: the yardstick of limit.py for TS-MA.
 *
 *   touch LEVELS LINES ROUNDS s0 s1 s2 s3
 *
 * LEVELS > 0: a tree of fan-out 4 in which a node is one cache line of 64 bytes. A round goes down from the root, and
 * which child it goes to is read from the line, so that a load cannot begin before the one above has ended; below
 * the tree lies one of LINES more lines. Then it goes up again and writes every line of the path, with bits that
 * depend on the last one, so that a round cannot begin before the one before has ended.
 * LEVELS = 0: a round reads and writes one of LINES lines, the place of which was read in the round before.
 *
 * Prints the nanoseconds of processor time per round and a checksum. Nothing is computed but the next random word:
 * no index, no reward, no comparison.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct { uint64_t word[8]; } line;

static uint64_t s0, s1, s2, s3;

static inline uint64_t word(void) { /* xoshiro256+ */
    uint64_t bits = s0 + s3, shifted = s1 << 17;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = s3 << 45 | s3 >> 19;
    return bits;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **values) {
    if (count != 8) return fprintf(stderr, "usage: touch LEVELS LINES ROUNDS s0 s1 s2 s3\n"), 2;
    int levels = atoi(values[1]);
    uint64_t lines = strtoull(values[2], NULL, 10), nodes = 0, path[32];
    long rounds = atol(values[3]);
    s0 = strtoull(values[4], NULL, 10);
    s1 = strtoull(values[5], NULL, 10);
    s2 = strtoull(values[6], NULL, 10);
    s3 = strtoull(values[7], NULL, 10);
    for (int level = 0; level < levels; level++) nodes += 1ull << (2 * level);
    line *all = aligned_alloc(64, (nodes + lines) * sizeof(line));
    if (all == NULL) return fprintf(stderr, "no memory for %llu lines\n", (unsigned long long)(nodes + lines)), 1;
    for (uint64_t i = 0; i < nodes + lines; i++) all[i].word[0] = word();

    uint64_t sum = 0, next = 0;
    double began = now();
    for (long t = 0; t < rounds; t++) {
        uint64_t fresh = word(), at = 0, first = 0, place = levels ? 0 : next;
        for (int level = 0; level < levels; level++) {
            path[level] = at;
            place = 4 * place + (all[at].word[0] >> 62);
            first += 1ull << (2 * level);
            at = first + place;
        }
        line *leaf = &all[nodes + place % lines];
        next = leaf->word[0] >> 8;
        sum += next;
        fresh += next;
        leaf->word[0] = fresh;
        for (int level = levels - 1; level >= 0; level--) all[path[level]].word[0] = fresh << 2 * level ^ fresh >> 7;
    }
    printf("%.6f %llu\n", (now() - began) / (double)rounds, (unsigned long long)sum);
    return 0;
}
