#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/broker.h"
#include "fd.h"

/* A child that was forked with vfork has its own descriptors, and its listener is closed on exec. */
static int sockets[2] = {-1, -1};

int broker_handoff_open(void)
{
	return sockets[0] >= 0 ? 0 : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets);
}

void broker_handoff_close(void)
{
	for (unsigned i = 0; i < 2; i++) {
		if (sockets[i] >= 0)
			close(sockets[i]);
		sockets[i] = -1;
	}
}

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int broker_handoff_send(int listener)
{
	char byte = 0;
	struct iovec data = {&byte, 1};
	union control control = {0};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof listener);
	memcpy(CMSG_DATA(header), &listener, sizeof listener);
	return close_keep_errno(listener, sendmsg(sockets[1], &message, MSG_NOSIGNAL) == 1 ? 0 : -1);
}

int broker_handoff_receive(void)
{
	char byte;
	struct iovec data = {&byte, 1};
	union control control = {0};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	int listener = -1;
	if (sockets[0] < 0 || recvmsg(sockets[0], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return -1;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&listener, CMSG_DATA(header), sizeof listener);
	return listener;
}
