#ifndef SALLYPORT_COVERS_H
#define SALLYPORT_COVERS_H

#include "sandbox/gaps.h"
#include "sandbox/spec.h"

/* Puts something over every denied place that is there. Adds to GAPS what could appear in a writable folder later.
 * In a mount namespace of its own. 0, or -1 with errno. */
int covers_put(const struct spec *spec, gaps_t *gaps);

#endif
