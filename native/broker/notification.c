#include "broker/notification.h"

#include <string.h>
#include <sys/ioctl.h>

struct answer {
	uint64_t id;
	int64_t value;
	int32_t error;
	uint32_t flags;
};

#define RECEIVE _IOWR('!', 0, struct notification)
#define SEND _IOWR('!', 1, struct answer)
#define ID_VALID _IOW('!', 2, uint64_t)
#define CONTINUE 1u

int notification_receive(int listener, struct notification *received)
{
	memset(received, 0, sizeof *received); /* the kernel requires it */
	return ioctl(listener, RECEIVE, received);
}

bool notification_is_waiting(int listener, uint64_t id)
{
	return ioctl(listener, ID_VALID, &id) == 0;
}

bool notification_answer(int listener, uint64_t id, int error)
{
	struct answer answer = {.id = id, .error = -error};
	return ioctl(listener, SEND, &answer) == 0;
}

bool notification_continue(int listener, uint64_t id)
{
	struct answer answer = {.id = id, .flags = CONTINUE};
	return ioctl(listener, SEND, &answer) == 0;
}
