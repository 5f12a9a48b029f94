/* Finds processes by the mark in their environment. */
#pragma once

/* Sends SIGKILL to every process of our user, except ourselves, whose environment holds ROOST_INSTANCE=`instance`.
 * Returns how many were alive, or -1 with errno when /proc cannot be read. */
long processes_kill_instance(const char *instance);
