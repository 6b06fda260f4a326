#ifndef SALLYPORT_CLIENT_RESIDENT_H
#define SALLYPORT_CLIENT_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection to the resident gateway. */
struct resident {
	int fd;
	char id[64]; /* the ID of the session, if the command starts one */
	char *in;    /* bytes that have arrived */
	size_t in_used, in_room;
};

struct message {
	uint8_t type;
	const char *payload;
	size_t length;
};

/* Connects to the resident gateway of this user, build and state folder, which is the default one if it is NULL. Returns false if the command line is to run with
 * Node; in that case it may have started a resident gateway for later command lines. */
bool resident_connect(struct resident *resident, const char *state);

/* Sends the command line with the attributes of this process. */
bool resident_request(struct resident *resident, int argc, char **argv);

bool resident_send(struct resident *resident, uint8_t type, const void *payload, size_t length);

/* Reads what has arrived. Returns false when the connection has ended. */
bool resident_read(struct resident *resident);

/* Returns the first message that has arrived completely. It is valid until the next call. Ends the connection if it is too
 * long. */
bool resident_next(struct resident *resident, struct message *message);

#endif
