#ifndef SALLYPORT_USUAL_H
#define SALLYPORT_USUAL_H

#include <stdbool.h>
#include <stddef.h>

#define USUAL_MAX 16384u

/* What commands are usually confined with: as the last one was, whichever keeper had it. It lies in memory that all
 * keepers share, so a new connection's keeper can have it ready before the request is there. */
struct usual {
	unsigned turn; /* odd: somebody writes */
	size_t length; /* 0: nothing is known, or they are not confined */
	char key[USUAL_MAX];
};

/* Keeps KEY, a kit's, for whoever comes next. */
void usual_note(struct usual *usual, const char *key, size_t length);

/* Copies it to KEY. False: there is none. */
bool usual_read(const struct usual *usual, char key[USUAL_MAX]);

#endif
