// What a test and the library in roostd share: a file of `struct roost_fault` by call, mapped by both.
//
// ProcessTests writes these numbers by hand (Faults.swift), because a test program that were linked with this library
// would have its own calls wrapped.
#pragma once
#include <stdint.h>

enum roost_faulty_call {
  ROOST_ACCEPT,        // accept, accept4
  ROOST_READ,          // read, whatever is read
  ROOST_SOCKET_WRITE,  // write, writev, sendmsg, sendto on anything but a file
  ROOST_FILE_WRITE,    // write, writev on a file
  ROOST_FSYNC,         // fsync, fdatasync
  ROOST_OPEN,          // open and its kin
  ROOST_FORK,          // fork
  ROOST_PIPE,          // pipe2
  ROOST_SOCKET_PAIR,   // socketpair
  ROOST_WAIT_EVENTS,   // epoll_wait, epoll_pwait
  ROOST_WATCH,         // epoll_ctl when it adds
  ROOST_CLOSE,         // close of what is not open: not made to fail, only counted
  ROOST_FOLDER,        // fdopendir of a provider of jobs: does not fail, but waits
  ROOST_DATABASE_WRITE,  // pwrite of a push relay or link-feed: what SQLite writes by
  ROOST_DATABASE_SYNC,   // fsync, fdatasync of a push relay or link-feed
  ROOST_CLOCK,           // clock_gettime of these or a provider: does not fail; the wall clock is so many seconds ahead
  ROOST_DATABASE_READ,   // pread of a push relay or link-feed: what SQLite reads by
  ROOST_PUSH_ACCEPT,     // accept, accept4 of a push relay
  ROOST_FAULTY_CALL_COUNT
};

struct roost_fault {
  int32_t code;    // errno of the calls that fail; 0 = none fails
  uint32_t every;  // each so many-th call fails; 1 = all
  uint32_t calls;  // counted by the library
  uint32_t hits;   // those of them that failed
};
