#ifndef SALLYPORT_DEVICES_H
#define SALLYPORT_DEVICES_H

/* Terminals of its own over those at /dev/pts: in a terminal of somebody else's one could read what is typed and write
 * what is believed. 0, or -1 with errno. */
int devices_mount_devpts(void);

/* A /dev with what programs expect and nothing else, over the one there is. 0, or -1 with errno. */
int devices_mount_dev(void);

#endif
