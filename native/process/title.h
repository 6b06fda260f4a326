#ifndef SALLYPORT_TITLE_H
#define SALLYPORT_TITLE_H

/* Remembers where the kernel looks for this process's command line. Call first thing in main. */
void title_init(int argc, char **argv);

/* Shows up in ps as `keeper: <text>`, control characters made harmless, cut to the room there is. */
void title_set(const char *text);

#endif
