#ifndef SALLYPORT_PATH_MASKS_H
#define SALLYPORT_PATH_MASKS_H

#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* Puts something over every denied place that is there. Adds to GAPS what could appear in a writable folder later.
 * In a mount namespace of its own. 0, or -1 with errno. */
int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported);

#endif
