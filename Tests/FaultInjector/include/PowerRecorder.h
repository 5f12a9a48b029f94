// What a test and the recorder share: a mapped file in which every change of the state directory stands, in one order
// over all processes, as a disk would have to do it.
//
//     0   u64  where the next record begins; the first is at 4,096
//     8   u64  1 when a record found no room
//
// A record, at a multiple of 8:
//
//     0   u32  its bytes with this header, a multiple of 8
//     4   u16  its kind
//     6   u16  bytes of its first path; 0 = none
//     8   u64  the inode
//    16   i64  `first`: as the kind says
//    24   i64  `second`
//    32   u32  bytes of its data, or of its second path
//    36   u32  1 when it is whole
//    40        the first path, then the data
//
// Numbers are little-endian, and written by hand in Tests/ProcessTests (PowerLog.swift), for the reason that stands in
// FaultInjector.h.
#pragma once
#include <stdint.h>
#include <sys/types.h>

enum roost_power_kind {
  ROOST_POWER_CREATE = 1,    // a file was opened with O_CREAT; it may have been there
  ROOST_POWER_WRITE = 2,     // data at `first`
  ROOST_POWER_TRUNCATE = 3,  // to `first` bytes
  ROOST_POWER_EXTEND = 4,    // to `first` bytes at least
  ROOST_POWER_RENAME = 5,    // second path: the new name
  ROOST_POWER_UNLINK = 6,
  ROOST_POWER_MAKE_DIRECTORY = 7,
  ROOST_POWER_REMOVE_DIRECTORY = 8,
  ROOST_POWER_SYNC = 9,  // a file, or a directory, of which the path is told; what stands before `first` is on the disk
};

// Each is called when the call that it tells of has succeeded.
void roost_power_opened(int descriptor, const char *path, int flags);
void roost_power_closing(int descriptor);
void roost_power_wrote(int descriptor, const void *bytes, ssize_t count, off_t offset);
// Before a sync: what to give to `roost_power_synced`.
uint64_t roost_power_mark(void);
void roost_power_synced(int descriptor, uint64_t mark);
