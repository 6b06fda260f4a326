#include "process/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/namespaces.h"

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/* A process that was found, with the parent under which it was found. */
struct found {
	pid_t pid, parent;
};

struct queue {
	struct found *items;
	size_t count, room;
	uint64_t tasks; /* number of threads of the processes examined so far */
	uint64_t own_tasks; /* number of threads of this process */
};

static void push(struct queue *queue, pid_t pid, pid_t parent)
{
	if (queue->count == queue->room) {
		size_t room = queue->room ? queue->room * 2 : 64;
		struct found *items = realloc(queue->items, room * sizeof *items);
		if (!items)
			return;
		queue->items = items;
		queue->room = room;
	}
	queue->items[queue->count++] = (struct found){pid, parent};
}

/* Calls BACK for each numeric entry of a /proc directory. Uses getdents64 because opendir allocates 32 KiB. */
static bool each_number(const char *folder, void (*back)(pid_t, void *), void *context)
{
	char buffer[4096] __attribute__((aligned(8)));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	long n;
	while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
		for (long at = 0; at < n;) {
			struct linux_dirent64 *entry = (struct linux_dirent64 *)(buffer + at);
			if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
				back((pid_t)atoi(entry->d_name), context);
			at += entry->d_reclen;
		}
	}
	close(fd);
	return true;
}

static pid_t parent_of(pid_t pid)
{
	struct process_stat stat;
	if (!process_stat_read(pid, &stat))
		return -1;
	/* A process whose main thread has exited is reported as a zombie while other threads still run. */
	bool gone = stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1);
	return gone ? -1 : stat.parent;
}

struct search {
	struct queue *queue;
	pid_t parent;
};

static void push_children_of_thread(pid_t tid, void *context)
{
	struct search *search = context;
	char path[64], text[4096];
	search->queue->tasks++;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)search->parent, (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	pid_t pid = 0;
	ssize_t n;
	while ((n = read(fd, text, sizeof text)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
			} else if (pid) {
				push(search->queue, pid, search->parent);
				pid = 0;
			}
		}
	}
	if (pid)
		push(search->queue, pid, search->parent);
	close(fd);
}

static void push_if_child(pid_t pid, void *context)
{
	struct search *search = context;
	if (parent_of(pid) == search->parent)
		push(search->queue, pid, search->parent);
}

static bool kernel_lists_children(void)
{
	static int known = -1;
	if (known < 0) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
		known = access(path, R_OK) == 0;
	}
	return known;
}

static void push_children(struct queue *queue, pid_t parent)
{
	struct search search = {queue, parent};
	char folder[64];
	if (!kernel_lists_children()) { /* kernel without CONFIG_PROC_CHILDREN: search all processes */
		queue->tasks++;
		each_number("/proc", push_if_child, &search);
		return;
	}
	snprintf(folder, sizeof folder, "/proc/%d/task", (int)parent);
	each_number(folder, push_children_of_thread, &search);
}

/* Fills QUEUE with this process and its descendants, or only its children unless WHOLE. Stops after ENOUGH tasks.
 * Returns the number of processes found without this one and the inits of pid namespaces. */
static unsigned find(struct queue *queue, bool whole, uint64_t enough)
{
	push(queue, getpid(), 0);
	for (size_t at = 0; at < queue->count && (whole || at == 0) && queue->tasks <= enough; at++) {
		pid_t parent = queue->items[at].pid;
		size_t kept = queue->count;
		push_children(queue, parent);
		if (at == 0)
			queue->own_tasks = queue->tasks;
		for (size_t i = kept; i < queue->count; i++)
			if (parent_of(queue->items[i].pid) == parent)
				queue->items[kept++] = queue->items[i];
		queue->count = kept;
	}
	unsigned living = (unsigned)queue->count - 1;
	for (size_t i = 1; !ns_init_pids_empty() && i < queue->count; i++)
		living -= ns_init_pids_contains(queue->items[i].pid);
	return living;
}

/* Reports whether FOUND is still a descendant. When a parent exits, its children are reparented to the nearest
 * subreaper: this process or one of its descendants. */
static bool is_still_ours(const struct queue *queue, const struct found *found)
{
	pid_t parent = parent_of(found->pid);
	if (parent == found->parent)
		return true;
	for (size_t i = 0; i < queue->count; i++)
		if (queue->items[i].pid == parent)
			return true;
	return false;
}

/* Finds all processes before it visits any. Otherwise the children of a process that exits during the walk would be
 * reparented and missed. Visits none if there are more than MOST tasks. */
static unsigned walk(process_visit *visit, void *context, bool whole, uint64_t most)
{
	struct queue queue = {0};
	unsigned living = find(&queue, whole, most);
	for (size_t i = 1; visit && queue.tasks <= most && i < queue.count; i++) {
		pid_t pid = queue.items[i].pid;
		if (ns_init_pids_contains(pid))
			continue;
		int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (pidfd < 0 && errno != ENOSYS)
			continue;
		/* The check follows pidfd_open, so that a reused pid is recognized by its other parent. */
		if (is_still_ours(&queue, &queue.items[i]))
			visit(pid, pidfd, context);
		if (pidfd >= 0)
			close(pidfd);
	}
	free(queue.items);
	return living;
}

unsigned process_tree_walk(process_visit *visit, void *context)
{
	return walk(visit, context, true, UINT64_MAX);
}

void process_tree_walk_small(process_visit *visit, void *context, uint64_t most)
{
	walk(visit, context, true, most);
}

unsigned process_tree_walk_children(process_visit *visit, void *context)
{
	return walk(visit, context, false, UINT64_MAX);
}

unsigned process_tree_count(void)
{
	return process_tree_walk(NULL, NULL);
}

struct numbers {
	int *list;
	unsigned count, room;
};

static void note_number(pid_t number, void *context)
{
	struct numbers *numbers = context;
	if (numbers->count < numbers->room)
		numbers->list[numbers->count++] = number;
}

static unsigned list_numbers(pid_t pid, const char *name, int *list, unsigned room)
{
	struct numbers numbers = {list, 0, room};
	char folder[64];
	snprintf(folder, sizeof folder, "/proc/%d/%s", (int)pid, name);
	each_number(folder, note_number, &numbers);
	return numbers.count;
}

unsigned process_threads(pid_t pid, pid_t *tids, unsigned room)
{
	return list_numbers(pid, "task", tids, room);
}

unsigned process_descriptors(pid_t pid, int *fds, unsigned room)
{
	return list_numbers(pid, "fd", fds, room);
}

uint64_t process_tree_tasks(uint64_t enough)
{
	struct queue queue = {0};
	find(&queue, true, enough + 1);
	free(queue.items);
	return queue.tasks > queue.own_tasks ? queue.tasks - queue.own_tasks : 0;
}

int pidfd_signal(pid_t pid, int pidfd, int signal)
{
	if (pidfd < 0)
		return kill(pid, signal);
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

static void visit_signal(pid_t pid, int pidfd, void *context)
{
	int signal = *(int *)context;
	pidfd_signal(pid, pidfd, signal);
	/* A stopped process handles these signals only after SIGCONT. */
	if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT)
		pidfd_signal(pid, pidfd, SIGCONT);
}

unsigned process_tree_signal(int signal)
{
	return process_tree_walk(visit_signal, &signal);
}

bool process_tree_only_ns_inits(void)
{
	struct queue queue = {0};
	bool all = true;
	push_children(&queue, getpid());
	for (size_t i = 0; i < queue.count; i++)
		all = all && ns_init_pids_contains(queue.items[i].pid);
	free(queue.items);
	return all;
}

unsigned process_tree_kill_children(void)
{
	struct queue queue = {0};
	push_children(&queue, getpid());
	for (size_t i = 0; i < queue.count; i++)
		kill(queue.items[i].pid, SIGKILL);
	free(queue.items);
	return (unsigned)queue.count;
}

void process_reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
