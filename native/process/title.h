#ifndef SALLYPORT_TITLE_H
#define SALLYPORT_TITLE_H

/* Remembers where the kernel reads this process's command line. Must be the first call in main. */
void title_init(int argc, char **argv);

/* Sets the command line that ps shows to `keeper: <text>`, without control characters, truncated to the available
 * space. */
void title_set(const char *text);

#endif
