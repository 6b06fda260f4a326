#ifndef SALLYPORT_NOTIFICATION_H
#define SALLYPORT_NOTIFICATION_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A system call that the kernel has stopped until the broker answers it, as in linux/seccomp.h, which is outdated on
 * some systems. */
struct notification {
	uint64_t id;
	uint32_t pid; /* the calling thread, in the pid namespace of the keeper */
	uint32_t flags;
	struct seccomp_data data;
};

/* Receives a call. Returns 0, or -1 with errno. Blocks if none is waiting. */
int notification_receive(int listener, struct notification *received);

/* Reports whether the calling thread still waits for an answer. If so, its pid has not been reused. */
bool notification_is_waiting(int listener, uint64_t id);

/* Lets the call return ERROR, an errno, or 0. Returns false if the caller no longer waits. */
bool notification_answer(int listener, uint64_t id, int error);

/* Lets the kernel execute the call. Only safe if the result depends on nothing but the values of its arguments, because
 * other threads can change memory and descriptors in the meantime. Returns false if the caller no longer waits, and
 * before Linux 5.5. */
bool notification_continue(int listener, uint64_t id);

/* The errno inside the kernel with which a call is restarted after a signal, or fails with EINTR, depending on the
 * signal handler. May only be used if a signal is pending. */
#define RESTART_AFTER_SIGNAL 512

#endif
