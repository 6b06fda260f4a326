#ifndef SALLYPORT_KIT_KEY_H
#define SALLYPORT_KIT_KEY_H

#include <stddef.h>

#include "spec.h"

/* All that a kit is made from, in one piece: equal keys, equal kits. To be freed; NULL: no memory. */
char *kit_key(const struct spec *spec, size_t *length);

/* The other way round. Its texts lie in KEY. */
void kit_key_spec(const char *key, struct spec *spec);

#endif
