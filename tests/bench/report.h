/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a benchmark prints beside its figures: their spread and the machine.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <baleen/port.h>

/**
 * struct spread - a figure and its noise
 * @low: lower quartile
 * @median: median
 * @high: upper quartile
 */
struct spread {
	double low;
	double median;
	double high;
};

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the samples. */
static struct spread quartiles(double *samples, u32 n)
{
	qsort(samples, n, sizeof(*samples), compare_double);
	return (struct spread){ samples[n / 4], samples[n / 2], samples[n - 1 - n / 4] };
}

static void read_line(const char *path, const char *prefix, char *out, size_t n_out)
{
	FILE *file = fopen(path, "r");
	char line[256];

	snprintf(out, n_out, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = line + strlen(prefix);

		if (strncmp(line, prefix, strlen(prefix)))
			continue;
		value += strspn(value, "\t :");
		snprintf(out, n_out, "%.*s", (int)strcspn(value, "\n"), value);
		break;
	}
	if (file)
		fclose(file);
}

static void print_machine(int cpu)
{
	char model[128], cache[128], jit[16];
	struct utsname uts;

	uname(&uts);
	read_line("/proc/cpuinfo", "model name", model, sizeof(model));
	read_line("/sys/devices/system/cpu/cpu0/cache/index3/size", "", cache, sizeof(cache));
	read_line("/proc/sys/net/core/bpf_jit_enable", "", jit, sizeof(jit));
	printf("kernel %s, %s, L3 %s, CPU %d, JIT %s\n", uts.release, model, cache, cpu,
	       strcmp(jit, "0") ? "on" : "OFF");
}

/* The last CPU: interrupts tend to be on the first. */
static int pin_to_cpu(void)
{
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %d", cpu);
	return cpu;
}

#endif /* BENCH_REPORT_H */
