#ifndef SALLYPORT_SECCOMP_H
#define SALLYPORT_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The seccomp filter of sandboxed commands. The program for each combination of options is built once. */
enum seccomp_sockets {
	SOCKETS_ANY,      /* Unix, IPv4, IPv6 and netlink, without restrictions */
	SOCKETS_BROKERED, /* the same, but the broker makes all connections, and no Unix datagram sockets */
	SOCKETS_NO_UNIX,  /* IPv4, IPv6 and netlink */
	SOCKETS_LOOPBACK, /* IPv4 and IPv6 in a network namespace */
	SOCKETS_NONE,     /* only socket pairs */
	SOCKETS_TCP,
	SOCKETS_TCP_UDP,
	SOCKETS_COUNT,
};

struct seccomp_options {
	enum seccomp_sockets sockets;
	bool tracing; /* allow ptrace and similar calls, which Landlock restricts to the sandbox */
	bool broker;  /* pass calls that name a process to the broker; without it, they are refused */
	bool listeners; /* the same for listen with listed ports */
	bool signals; /* the broker checks signals, because neither Landlock nor a pid namespace restricts them */
	bool own_pids; /* the command has its own pid namespace, so every pid that it can name is its own */
};

/* Reports whether the kernel supports seccomp and the CPU architecture is known. */
bool seccomp_works(void);

/* Returns the program for OPTIONS, or NULL if seccomp is not supported or memory is exhausted. */
const struct sock_fprog *seccomp_program(struct seccomp_options options);

/* Applies PROGRAM to the calling process and its descendants. Requires no_new_privs. Async-signal-safe. */
int seccomp_restrict(const struct sock_fprog *program);

/* Does the same as seccomp_restrict. Returns the descriptor from which the broker receives calls, or -1 with errno. */
int seccomp_restrict_brokered(const struct sock_fprog *program);

#endif
