#ifndef SALLYPORT_CGROUP_H
#define SALLYPORT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Control groups: the kernel counts and limits the resources of a command's whole tree. Version 2 has one hierarchy,
 * version 1 has one per controller; a machine may use both. */
enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

#define CGROUP_PATH 512
#define CGROUP_FOLDER "sallyport" /* all groups are in a directory of this name */

/* Where this process is in the hierarchy of a controller. */
struct cgroup_location {
	int version; /* 0: no hierarchy has it */
	char own[CGROUP_PATH];
	char mount[CGROUP_PATH];
};

struct cgroup_host {
	struct cgroup_location locations[CGROUP_CONTROLLERS];
};

/* ---- hierarchy.c ---- */

/* Reads the locations from SELF/cgroup and SELF/mountinfo; SELF is /proc/self, or a directory made by a test. */
void cgroup_discover(struct cgroup_host *host, const char *self);

/* Creates the directory for groups of CONTROLLER and returns its path in BASE. False: not possible. */
bool cgroup_base(const struct cgroup_host *host, enum cgroup_controller controller, char base[CGROUP_PATH]);

/* ---- cgroup.c ---- */

/* The groups of one command. */
struct cgroup {
	unsigned count;
	struct cgroup_group {
		char path[CGROUP_PATH];
		int version;
		int folder; /* -1: none */
		int tasks;  /* writing "0" here moves the writing process */
	} groups[CGROUP_CONTROLLERS];
	struct cgroup_group *of[CGROUP_CONTROLLERS]; /* NULL: not available */
};

struct cgroup_limits {
	uint64_t memory;    /* bytes; 0: none */
	uint64_t cpu_milli; /* thousandths of a CPU; 0: none */
	uint64_t tasks;     /* processes and threads; 0: none */
};

/* Creates the groups that LIMITS need and sets the limits. `of` shows which controllers are available. */
void cgroup_create(struct cgroup *cgroup, const struct cgroup_host *host, const char *id,
		   const struct cgroup_limits *limits);

/* A descriptor for CLONE_INTO_CGROUP (version 2), or -1. */
int cgroup_clone_target(const struct cgroup *cgroup);

/* Joins the groups, except one the process was started in (BORN). For the child between vfork and exec. In version 1 a
 * single thread can move itself without the lock that costs milliseconds; in version 2 only starting there avoids it.
 * 0, or -1 with errno. */
int cgroup_join(const struct cgroup *cgroup, bool born);

/* How often the limit of CONTROLLER was reached. */
uint64_t cgroup_limit_hits(const struct cgroup *cgroup, enum cgroup_controller controller);

/* The peak memory or number of tasks; 0: unknown. */
uint64_t cgroup_peak(const struct cgroup *cgroup, enum cgroup_controller controller);

/* CPU time of all processes that were ever in the groups, in us; 0: unknown. */
uint64_t cgroup_cpu_us(const struct cgroup *cgroup);

/* Removes the groups. One that is not empty is left to a sweep. */
void cgroup_remove(struct cgroup *cgroup);

/* ---- sweep.c ---- */

/* Kills and removes what killed keepers have left, including processes that left the process tree. False: some
 * processes are still dying, so it must run again. */
bool cgroup_sweep(const struct cgroup_host *host);

/* ---- cgroup.c: reading and writing cgroup files ---- */

/* 0, or -1 with errno. */
int cgroup_write(int folder, const char *file, const char *text);

/* Reads a small file into TEXT, truncated to ROOM; NULL: it cannot be read. */
char *cgroup_read(int folder, const char *file, char *text, size_t room);

/* The number after NAME, or at the start of the file for ""; 0: none. */
uint64_t cgroup_read_number(int folder, const char *file, const char *name);

/* Whether a list separated by spaces or commas contains WORD. */
bool cgroup_list_contains(const char *words, const char *word);

#endif
