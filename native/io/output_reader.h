#ifndef SALLYPORT_OUTPUT_READER_H
#define SALLYPORT_OUTPUT_READER_H

/* Waits until the reader of stdout, a pipe or a socket, has closed it. Node cannot poll a pipe that it only writes to, so
 * a client that follows output runs this in a child process. It ends together with its parent. Returns the exit code: 0
 * if the reader is gone. */
int output_reader_wait(void);

#endif
