#ifndef SALLYPORT_LAUNCH_FAILURE_H
#define SALLYPORT_LAUNCH_FAILURE_H

/* The step of a launch that failed, by name, and its errno. The gateway tells "not found", "permission denied" and "too
 * many processes" apart by them. */
struct launch_failure {
	const char *step;
	int error;
};

#endif
