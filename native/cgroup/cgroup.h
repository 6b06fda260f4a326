#ifndef SALLYPORT_CGROUP_H
#define SALLYPORT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's groups of processes: what it counts and limits for a command's whole tree, however often that forks.
 * Version 2 is one hierarchy, version 1 has one for each kind; a machine may have some kinds here and some there. */
enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

#define CGROUP_PATH 512
#define CGROUP_FOLDER "sallyport" /* all groups of ours lie in a folder of this name */

/* Where this process is in the hierarchy that has a kind. */
struct cgroup_location {
	int version; /* 0: no hierarchy has it */
	char own[CGROUP_PATH];
	char mount[CGROUP_PATH];
};

struct cgroup_host {
	struct cgroup_location locations[CGROUP_CONTROLLERS];
};

/* hierarchy.c */

/* Finds them out from SELF/cgroup and SELF/mountinfo; SELF is /proc/self, or a stand-in for tests. */
void cgroup_discover(struct cgroup_host *host, const char *self);

/* Makes the folder that groups of KIND are made in, and gives its path. False: it cannot be had. */
bool cgroup_base(const struct cgroup_host *host, enum cgroup_controller controller, char base[CGROUP_PATH]);

/* cgroup.c */

/* One command's groups. */
struct cgroup {
	unsigned count;
	struct cgroup_group {
		char path[CGROUP_PATH];
		int version;
		int folder; /* -1: none */
		int tasks;  /* a process that writes "0" here has joined */
	} groups[CGROUP_CONTROLLERS];
	struct cgroup_group *of[CGROUP_CONTROLLERS]; /* NULL: that kind cannot be had */
};

struct cgroup_limits {
	uint64_t memory;    /* bytes; 0: none */
	uint64_t cpu_milli; /* thousandths of a processor; 0: none */
	uint64_t tasks;     /* processes and threads; 0: none */
};

/* Makes the groups these limits need and sets them. What cannot be had is left out: `of` tells. */
void cgroup_create(struct cgroup *cgroup, const struct cgroup_host *host, const char *id,
		   const struct cgroup_limits *limits);

/* A descriptor to be born into with clone3 (version 2), or -1. */
int cgroup_clone_target(const struct cgroup *cgroup);

/* Joins them, but for the one it was BORN in. For the child between vfork and exec. Version 1 lets a single thread move
 * itself, and only that does without the lock that costs a grace period of the kernel, some milliseconds; in version 2
 * one has to be born there to be spared it. 0, or -1 with errno. */
int cgroup_join(const struct cgroup *cgroup, bool born);

/* How often the limit of KIND was run into. */
uint64_t cgroup_limit_hits(const struct cgroup *cgroup, enum cgroup_controller controller);

/* The most memory or the most tasks there were; 0: not known. */
uint64_t cgroup_peak(const struct cgroup *cgroup, enum cgroup_controller controller);

/* Processor time used by everything that ever was in it, in us; 0: not known. */
uint64_t cgroup_cpu_us(const struct cgroup *cgroup);

/* Removes them; what is still populated stays for a sweep. */
void cgroup_remove(struct cgroup *cgroup);

/* sweep.c */

/* Ends and removes what killed keepers left: also processes that left their tree are found by their group. False: some
 * of it takes its time to die, and is to be looked at again. */
bool cgroup_sweep(const struct cgroup_host *host);

/* cgroup_file.c: the little files that groups are made of. */

/* 0, or -1 with errno. */
int cgroup_write(int folder, const char *file, const char *text);

/* The text of a small file, cut at ROOM; NULL when it cannot be read. */
char *cgroup_read(int folder, const char *file, char *text, size_t room);

/* The number that follows NAME (or that the file starts with, for ""); 0: none. */
uint64_t cgroup_read_number(int folder, const char *file, const char *name);

/* Whether a list of words separated by blanks holds WORD. */
bool cgroup_list_contains(const char *words, const char *word);

#endif
