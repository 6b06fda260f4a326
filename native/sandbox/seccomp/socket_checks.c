#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sandbox/seccomp/program.h"

#define TYPE_MASK 0xfu /* SOCK_CLOEXEC and SOCK_NONBLOCK are higher bits */
#define FAST_OPEN 0x20000000u

static void allow_families(struct program *p, const uint32_t *families, size_t count)
{
	emit_load(p, ARGUMENT(0));
	for (size_t i = 0; i < count; i++)
		emit_return_if(p, BPF_JEQ, families[i], SECCOMP_RET_ALLOW);
}

/* Allows only the transports that Landlock can restrict to ports. Its hooks cover plain TCP but no protocols such as
 * MPTCP. */
static void allow_transport(struct program *p, uint32_t type, uint32_t protocol)
{
	emit_load(p, ARGUMENT(1));
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, type, 0, 5);
	emit_load(p, ARGUMENT(2));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return_if(p, BPF_JEQ, protocol, SECCOMP_RET_ALLOW);
}

/* Allows the Unix sockets that ignore an address in sendto and sendmsg. A datagram socket could send to any other one,
 * and the filter cannot read the address. SOCK_RAW creates a datagram socket as well. */
static void allow_connected_types(struct program *p)
{
	emit_load(p, ARGUMENT(1));
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	emit_return_if(p, BPF_JEQ, SOCK_STREAM, SECCOMP_RET_ALLOW);
	emit_return_if(p, BPF_JEQ, SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
}

/* Allows the socket families of a command whose network is on. */
static void check_any_socket(struct program *p, enum seccomp_sockets sockets)
{
	static const uint32_t families[] = {AF_INET, AF_INET6, AF_NETLINK};
	allow_families(p, families, 3);
	if (sockets == SOCKETS_ANY)
		emit_return_if(p, BPF_JEQ, AF_UNIX, SECCOMP_RET_ALLOW);
	else if (sockets == SOCKETS_NO_UNIX)
		emit_return_if(p, BPF_JEQ, AF_UNIX, REFUSE(EPERM));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
	emit_return(p, REFUSE(EAFNOSUPPORT));
	allow_connected_types(p);
	emit_return(p, REFUSE(EPERM));
}

static void check_socket(struct program *p, enum seccomp_sockets sockets)
{
	static const uint32_t inet[] = {AF_INET, AF_INET6};
	if (sockets == SOCKETS_ANY || sockets == SOCKETS_BROKERED || sockets == SOCKETS_NO_UNIX) {
		check_any_socket(p, sockets);
	} else if (sockets == SOCKETS_LOOPBACK) {
		allow_families(p, inet, 2);
		emit_return_if(p, BPF_JEQ, AF_NETLINK, SECCOMP_RET_ALLOW); /* shows only its own network namespace */
		emit_return(p, REFUSE(EPERM));
	} else if (sockets == SOCKETS_NONE) {
		emit_return(p, REFUSE(EPERM));
	} else {
		emit_load(p, ARGUMENT(0));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 6, 0);
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 5, 0);
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3); /* name resolution queries routes */
		emit_load(p, ARGUMENT(2));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
		emit_return(p, SECCOMP_RET_ALLOW);
		emit_return(p, REFUSE(EPERM));
		allow_transport(p, SOCK_STREAM, IPPROTO_TCP);
		if (sockets == SOCKETS_TCP_UDP)
			allow_transport(p, SOCK_DGRAM, IPPROTO_UDP);
		emit_return(p, REFUSE(EPERM));
	}
}

static void check_socketpair(struct program *p, enum seccomp_sockets sockets)
{
	if (sockets == SOCKETS_ANY) {
		emit_return(p, SECCOMP_RET_ALLOW);
		return;
	}
	allow_connected_types(p);
	emit_return(p, REFUSE(EPERM));
}

/* A socket that listens without a bind gets a port from the kernel, which Landlock does not check. */
static uint32_t action_for_listen(struct seccomp_options options)
{
	if (options.sockets != SOCKETS_TCP && options.sockets != SOCKETS_TCP_UDP)
		return SECCOMP_RET_ALLOW;
	return options.listeners ? RET_USER_NOTIF : REFUSE(EPERM);
}

/* Rejects TCP Fast Open, which opens a connection by sending and bypasses Landlock's check of connect. */
static void check_send(struct program *p, enum seccomp_sockets sockets, unsigned flags)
{
	if (sockets == SOCKETS_TCP || sockets == SOCKETS_TCP_UDP) {
		emit_load(p, ARGUMENT(flags));
		emit_return_if(p, BPF_JSET, FAST_OPEN, REFUSE(EPERM));
	}
	emit_return(p, SECCOMP_RET_ALLOW);
}

void emit_socket_check(struct program *p, enum check check, struct seccomp_options options)
{
	switch (check) {
	case CHECK_SOCKET: check_socket(p, options.sockets); break;
	case CHECK_SOCKETPAIR: check_socketpair(p, options.sockets); break;
	case CHECK_SENDTO: check_send(p, options.sockets, 3); break;
	case CHECK_SENDMSG: check_send(p, options.sockets, 2); break;
	case CHECK_CONNECT:
		emit_return(p, options.sockets == SOCKETS_BROKERED ? RET_USER_NOTIF : SECCOMP_RET_ALLOW);
		break;
	case CHECK_LISTEN: emit_return(p, action_for_listen(options)); break;
	default: break;
	}
}
