#ifndef SALLYPORT_CLIENT_PROTOCOL_H
#define SALLYPORT_CLIENT_PROTOCOL_H

/* The messages between this client and the resident gateway: a u32 length, a u8 type and a payload, little-endian, where
 * the length includes the type. src/cli/resident/protocol.ts defines the same numbers. */

enum to_client {
	TO_CLIENT_HELLO = 1,    /* build NUL, challenge NUL, session ID NUL */
	TO_CLIENT_USE_NODE = 2, /* nothing has been recorded */
	TO_CLIENT_STARTED = 3,  /* u8 flags, folder of the session NUL */
	TO_CLIENT_STDOUT = 4,
	TO_CLIENT_STDERR = 5,
	TO_CLIENT_WANT_INPUT = 6, /* send one message with input */
	TO_CLIENT_DONE = 7,       /* u8 exit code, end of the note about missing output NUL, text for stderr */
	TO_CLIENT_PRINTED = 8,    /* u64, u64: bytes of the command's streams that the messages so far contain */
};

enum from_client {
	FROM_CLIENT_REQUEST = 1,
	FROM_CLIENT_INPUT = 2,  /* bytes of stdin */
	FROM_CLIENT_SIGNAL = 3, /* u8 signal */
	FROM_CLIENT_STOP = 4,       /* the reader of stdout is gone */
	FROM_CLIENT_LAST_INPUT = 5, /* the last bytes of stdin */
};

#define STARTED_MERGED 1u
#define STARTED_IN_MESSAGES 2u /* the output arrives in messages, not in the log */

#define MESSAGE_HEADER 5u /* the length and the type */
#define MESSAGE_MAX (1u << 17)
#define REQUEST_MAX (4u << 20)

#endif
