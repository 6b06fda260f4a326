#ifndef SALLYPORT_PROBE_H
#define SALLYPORT_PROBE_H

/* `keeper probe`: prints in one line of JSON what this machine lets us confine commands with. Tried, not guessed: the
 * same call may be there and be forbidden. Returns an exit code. */
int probe(void);

#endif
