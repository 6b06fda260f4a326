#ifndef SALLYPORT_CGROUP_H
#define SALLYPORT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Control groups, with which the kernel accounts and limits the resources of a command's process tree. Version 2 has a
 * single hierarchy, version 1 has one per controller. A machine may use both. */
enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

#define CGROUP_PATH 512
#define CGROUP_FOLDER "sallyport" /* directory in which all groups are created */

/* The location of this process in the hierarchy of a controller. */
struct cgroup_location {
	int version;             /* 1 or 2, or 0 if the controller is not available */
	char own[CGROUP_PATH];   /* path of the cgroup of this process */
	char mount[CGROUP_PATH]; /* mount point of the hierarchy */
};

struct cgroup_host {
	char self[CGROUP_PATH]; /* the directory that describes this process, such as /proc/self */
	struct cgroup_location locations[CGROUP_CONTROLLERS];
	char user_slice[CGROUP_PATH]; /* where the user's systemd manager creates scopes, or empty if there is none */
	int oom_events; /* file of the nearest memory group around this process that counts OOM kills, or -1 */
	bool asked_user_manager;
	bool in_scope; /* the manager has moved this process into a scope of its own */
};

/* ---- hierarchy.c ---- */

/* Reads the locations from SELF/cgroup and SELF/mountinfo. SELF is /proc/self, or a directory created by a test. */
void cgroup_discover(struct cgroup_host *host, const char *self);

/* Makes an ordinary user's process able to create groups: asks the user's systemd manager, at most once, to move it into
 * a cgroup that is delegated to the user. Then reads the locations again. Returns false if the process was not moved. */
bool cgroup_request_delegation(struct cgroup_host *host);

/* Creates the directory for groups of CONTROLLER and stores its path in BASE. Returns false if that is not possible. */
bool cgroup_base(const struct cgroup_host *host, enum cgroup_controller controller, char base[CGROUP_PATH]);

/* ---- cgroup.c ---- */

/* The groups of one command. */
struct cgroup {
	unsigned count;
	struct cgroup_group {
		char path[CGROUP_PATH];
		int version;
		int folder;
		int tasks; /* file to which a process writes "0" to join the group */
	} groups[CGROUP_CONTROLLERS];
	struct cgroup_group *of[CGROUP_CONTROLLERS]; /* the group that enforces the limit of each controller, or NULL */
};

/* Limits of a process tree; 0 means no limit. */
struct cgroup_limits {
	uint64_t memory;    /* bytes */
	uint64_t cpu_milli; /* thousandths of a CPU */
	uint64_t tasks;     /* processes and threads */
};

/* Creates the groups that LIMITS require and sets the limits. `of` is NULL for each controller that has no limit or
 * cannot enforce it. May move the calling process to another cgroup, from which it can create groups. */
void cgroup_create(struct cgroup *cgroup, struct cgroup_host *host, const char *id,
		   const struct cgroup_limits *limits);

/* Returns the descriptor of the version 2 group for CLONE_INTO_CGROUP, or -1 if there is none. */
int cgroup_clone_target(const struct cgroup *cgroup);

/* Moves the calling process into the groups, for the child between vfork and exec. BORN means that it was started in
 * the version 2 group. In version 1, a single thread can move itself without taking the lock that costs milliseconds.
 * In version 2, only starting in the group avoids the lock. Returns 0, or -1 with errno. */
int cgroup_join(const struct cgroup *cgroup, bool born);

/* Returns how often the limit of CONTROLLER was reached. */
uint64_t cgroup_limit_hits(const struct cgroup *cgroup, enum cgroup_controller controller);

/* Reports whether the kernel has killed a process of the memory group for lack of memory: its own, or that of the machine. */
bool cgroup_killed(const struct cgroup *cgroup);

/* Returns how many processes the kernel has killed for lack of memory in the nearest memory group around this process, or
 * 0 if there is none. The root of a hierarchy of version 2 does not count them. */
uint64_t cgroup_oom_kills(const struct cgroup_host *host);

/* Returns the peak memory usage or number of tasks, or 0 if unknown. */
uint64_t cgroup_peak(const struct cgroup *cgroup, enum cgroup_controller controller);

/* Returns the CPU time of all processes that have ever been in the groups, in microseconds, or 0 if unknown. */
uint64_t cgroup_cpu_us(const struct cgroup *cgroup);

/* Removes the groups. A group that is not empty is left to a sweep. */
void cgroup_remove(struct cgroup *cgroup);

/* ---- probe.c ---- */

/* Prints which limits groups can enforce, as JSON: creates a group as for a command and removes it. */
int cgroup_probe(const char *self);

/* ---- sweep.c ---- */

/* Kills the processes in groups of keepers that no longer run, including those that have left the process tree, and
 * removes the groups. Returns false if some processes are still exiting, so that the sweep must be repeated. */
bool cgroup_sweep(const struct cgroup_host *host);

/* ---- cgroup.c: reading and writing cgroup files ---- */

/* Writes TEXT to a file. Returns 0, or -1 with errno. */
int cgroup_write(int folder, const char *file, const char *text);

/* Reads a small file into TEXT, truncated to ROOM. Returns NULL if it cannot be read. */
char *cgroup_read(int folder, const char *file, char *text, size_t room);

/* Returns the number after NAME, or at the start of the file if NAME is empty. Returns 0 if there is none. */
uint64_t cgroup_read_number(int folder, const char *file, const char *name);

/* Reports whether a list separated by spaces or commas contains WORD. */
bool cgroup_list_contains(const char *words, const char *word);

#endif
