// SPDX-License-Identifier: GPL-2.0-only
/* Output of the results of large objects. See rdmc.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>
#include <spindle/rdmc.h>

#include "common/out.h"
#include "common/util.h"
#include "perf/out.h"
#include "perf/stat.h"
#include "rdmc.h"

static struct perf_stat stat_of(const struct perf_rdmc *r, enum perf_rdmc_figure f)
{
	return perf_stat_of(&r->v[f], r->o->reps, PERF_R_FIGURES);
}

/* Print all results. */
void perf_rout_table(const struct perf_rdmc *r)
{
	const struct perf_ropts *o = r->o;
	unsigned int f;

	printf("%u nodes, groups: %u, of %u members each; %s, blocks of %u bytes\n", o->nodes,
	       r->groups, o->members, spindle_rdmc_algorithm_string(o->algorithm), r->block);
	printf("objects: %llu of %llu bytes%s; %u repetitions\n\n",
	       (unsigned long long)r->objects, (unsigned long long)o->size,
	       o->mix ? " at the median" : "", o->reps);
	printf("%-22s %14s %14s %14s\n", "", "median", "least", "most");
	for (f = 0; f < PERF_R_FIGURES; f++) {
		struct perf_stat s = stat_of(r, f);

		printf("%-22s %14.6g %14.6g %14.6g\n", perf_rdmc_figures[f], s.median, s.min,
		       s.max);
	}
}

static struct json_object *json_config(const struct perf_rdmc *r)
{
	struct json_object *obj = json_object_new_object();
	const struct perf_ropts *o = r->o;

	perf_json_opts(obj, perf_ropts, "members nodes", o);
	perf_json_num(obj, "groups", r->groups);
	perf_json_opts(obj, perf_ropts,
		       o->mix ? "mix sigma algorithm size" : "mix algorithm size", o);
	perf_json_num(obj, "block", r->block);
	perf_json_num(obj, "objects", r->objects);
	perf_json_opts(obj, perf_ropts, "queue idle-us repetitions", o);
	return obj;
}

static struct json_object *json_figure(const struct perf_rdmc *r, enum perf_rdmc_figure f)
{
	struct json_object *obj = json_object_new_object();
	struct perf_stat s = stat_of(r, f);

	perf_json_stat(obj, &s);
	perf_json_values(obj, "values", &r->v[f], r->o->reps, PERF_R_FIGURES);
	return obj;
}

/**
 * perf_rout_json() - write all results
 * @r: results
 * @place: nodes
 *
 * Return: 0 or -errno, after a message
 */
int perf_rout_json(const struct perf_rdmc *r, const struct perf_place *place)
{
	struct json_object *doc = perf_json_new(place), *obj = json_object_new_object();
	unsigned int f;

	json_object_object_del(doc, "runs");
	ctl_json_add(doc, "config", json_config(r));
	for (f = 0; f < PERF_R_FIGURES; f++)
		ctl_json_add(obj, perf_rdmc_figures[f], json_figure(r, f));
	ctl_json_add(doc, "figures", obj);
	return perf_json_write(doc, r->o->json_file);
}

/**
 * perf_rout_csv() - write a row below the names of its columns
 * @r: results
 *
 * Return: 0 or -errno, after a message
 */
int perf_rout_csv(const struct perf_rdmc *r)
{
	const struct perf_ropts *o = r->o;
	FILE *f = fopen(o->csv_file, "w");
	unsigned int i;

	if (!f) {
		ctl_err("%s: %s", o->csv_file, strerror(errno));
		return -EIO;
	}
	fputs("members,nodes,groups,algorithm,size,block,objects,queue,idle_us,repetitions", f);
	for (i = 0; i < PERF_R_FIGURES; i++)
		fprintf(f, ",%s,%s_min,%s_max", perf_rdmc_figures[i], perf_rdmc_figures[i],
			perf_rdmc_figures[i]);
	fprintf(f, "\n%u,%u,%u,%s,%llu,%u,%llu,%u,%llu,%u", o->members, o->nodes, r->groups,
		spindle_rdmc_algorithm_string(o->algorithm), (unsigned long long)o->size, r->block,
		(unsigned long long)r->objects, o->queue, (unsigned long long)o->idle_us, o->reps);
	for (i = 0; i < PERF_R_FIGURES; i++) {
		struct perf_stat s = stat_of(r, i);

		fprintf(f, ",%.9g,%.9g,%.9g", s.median, s.min, s.max);
	}
	fputc('\n', f);
	if (ferror(f) | fclose(f)) {
		ctl_err("%s: cannot be written", o->csv_file);
		return -EIO;
	}
	return 0;
}
