#ifndef SALLYPORT_LAUNCH_FAILURE_H
#define SALLYPORT_LAUNCH_FAILURE_H

/* The name of the launch step that failed, and its errno. The gateway uses them to distinguish "not found", "permission
 * denied" and "too many processes". */
struct launch_failure {
	const char *step;
	int error;
};

#endif
