#ifndef SALLYPORT_SECCOMP_H
#define SALLYPORT_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* Which system calls a confined command may not make. Built once per choice and used again and again. */
enum seccomp_sockets {
	SOCKETS_ANY,      /* unix, IPv4, IPv6 and netlink */
	SOCKETS_LOOPBACK, /* IPv4 and IPv6, of a network of its own */
	SOCKETS_NONE,     /* only pairs */
	SOCKETS_TCP,
	SOCKETS_TCP_UDP,
	SOCKETS_COUNT,
};

struct seccomp_options {
	enum seccomp_sockets sockets;
	bool tracing; /* something else keeps ptrace and its like from reaching outside */
};

/* Whether this kernel and processor have it. */
bool seccomp_works(void);

/* The program for CHOICE; NULL where the processor is not known or there is no memory. */
const struct sock_fprog *seccomp_program(struct seccomp_options options);

/* Holds for the calling process and all it starts; it must have no_new_privs. Async-signal-safe. */
int seccomp_restrict(const struct sock_fprog *program);

#endif
