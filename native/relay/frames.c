#include "relay/frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void frame_header(unsigned char header[FRAME_HEADER], char type, uint32_t length)
{
	header[0] = (unsigned char)type;
	for (int i = 0; i < 4; i++)
		header[1 + i] = (unsigned char)(length >> (24 - 8 * i));
}

static size_t content_length(const char *header)
{
	size_t length = 0;
	for (int i = 1; i < FRAME_HEADER; i++)
		length = length << 8 | (unsigned char)header[i];
	return length;
}

ssize_t frame_reader_fill(struct frame_reader *reader, int fd)
{
	reader->length -= reader->used;
	memmove(reader->bytes, reader->bytes + reader->used, reader->length);
	reader->used = 0;
	/* All complete frames have been returned, so a full buffer has a frame that does not fit. */
	if (reader->length == sizeof reader->bytes) {
		errno = EMSGSIZE;
		return -1;
	}
	ssize_t n = read(fd, reader->bytes + reader->length, sizeof reader->bytes - reader->length);
	if (n > 0)
		reader->length += (size_t)n;
	return n;
}

bool frame_reader_next(struct frame_reader *reader, struct frame *frame)
{
	const char *start = reader->bytes + reader->used;
	size_t available = reader->length - reader->used;
	if (available < FRAME_HEADER)
		return false;
	size_t length = content_length(start);
	if (length > available - FRAME_HEADER)
		return false;
	*frame = (struct frame){start[0], length, start + FRAME_HEADER};
	reader->used += FRAME_HEADER + length;
	return true;
}
