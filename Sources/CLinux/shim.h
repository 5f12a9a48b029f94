/* Linux calls that Swift's Glibc module does not import: variadic prctl, system calls without a wrapper in
   glibc 2.36, and structures hidden behind _GNU_SOURCE. Only LinuxSystem imports this. */
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
