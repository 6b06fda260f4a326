#ifndef RELAY_FRAMES_H
#define RELAY_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A frame is a type, the length of its content in 4 bytes, most significant first, and the content. */
#define FRAME_HEADER 5
/* The gateway sends shorter frames. */
#define FRAME_MAX (64 << 10)

/* From the relay. */
#define FRAME_HELLO 'H'
#define FRAME_STDIN 'I'
#define FRAME_END 'E'
#define FRAME_SIGNAL 'S'
#define FRAME_SIZE 'W'
/* From the gateway. */
#define FRAME_STDOUT 'O'
#define FRAME_STDERR 'R'
#define FRAME_EXIT 'X'
/* The last frame with input was handled, and the next one may follow. */
#define FRAME_ACCEPTED 'A'

struct frame {
	char type;
	size_t length;
	const char *bytes;
};

struct frame_reader {
	char bytes[FRAME_HEADER + FRAME_MAX];
	size_t length;
	/* Bytes of frames that were returned. */
	size_t used;
};

void frame_header(unsigned char header[FRAME_HEADER], char type, uint32_t length);

/* Reads from FD. Returns the result of read(2); a frame that is too long is an error with EMSGSIZE. */
ssize_t frame_reader_fill(struct frame_reader *reader, int fd);

/* Returns whether there was a complete frame, which is valid until the next call of frame_reader_fill. */
bool frame_reader_next(struct frame_reader *reader, struct frame *frame);

#endif
