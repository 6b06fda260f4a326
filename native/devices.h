#ifndef SALLYPORT_DEVICES_H
#define SALLYPORT_DEVICES_H

/* A /dev with what programs expect and nothing else, over the one there is. 0, or -1 with errno. */
int devices_arrange(void);

#endif
