#ifndef SALLYPORT_TITLE_H
#define SALLYPORT_TITLE_H

/* Stores the address from which the kernel reads the command line of this process. Must be the first call in main. */
void title_init(int argc, char **argv);

/* Sets the command line that ps shows to `keeper: <text>`, without control characters, truncated to the available
 * space. */
void title_set(const char *text);

#endif
