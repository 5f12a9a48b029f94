/* An HTTP/1.1 server behind nginx that answers each request 200, so many milliseconds late.

     slowly MILLISECONDS

   Listens on a port of 127.0.0.1, prints it, and ends with its standard input. One thread and epoll(7); answers leave in
   the order of their requests, since all wait alike. nginx asks one thing at a time on a connection, and sends a body
   with its head. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  CLIENT_MAXIMUM = 4096, /* also the largest descriptor, and so the most that wait */
  INPUT_BYTES = 16 << 10,
};

struct client {
  size_t count;
  uint32_t turn; /* of the descriptor, so that an answer does not go to who came later */
  char input[INPUT_BYTES];
};

struct answer {
  int fd;
  uint32_t turn;
  uint64_t due; /* nanoseconds */
};

static const char REPLY[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
static struct client clients[CLIENT_MAXIMUM];
static struct answer answers[CLIENT_MAXIMUM];
static size_t first, waiting;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Whether a request is there as a whole; then it is taken away. */
static bool take(struct client *client) {
  char *end = memmem(client->input, client->count, "\r\n\r\n", 4);
  if (end == NULL) return false;
  size_t length = (size_t)(end - client->input) + 4;
  *end = 0;
  const char *field = strcasestr(client->input, "\r\nContent-Length:");
  if (field != NULL) length += strtoul(field + 17, NULL, 10);
  *end = '\r';
  if (client->count < length) return false;
  memmove(client->input, client->input + length, client->count - length);
  client->count -= length;
  return true;
}

static void leave(int fd) {
  clients[fd].turn++;
  close(fd);
}

static void hear(int fd, uint64_t delay) {
  struct client *client = &clients[fd];
  ssize_t count = read(fd, client->input + client->count, INPUT_BYTES - client->count);
  if (count <= 0) {
    leave(fd);
    return;
  }
  client->count += (size_t)count;
  while (take(client)) {
    if (waiting == CLIENT_MAXIMUM) fail("too many wait");
    answers[(first + waiting++) % CLIENT_MAXIMUM] = (struct answer){fd, client->turn, now() + delay};
  }
  if (client->count == INPUT_BYTES) leave(fd);
}

static void welcome(int listener, int poller) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (fd >= CLIENT_MAXIMUM) {
    close(fd);
    return;
  }
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  clients[fd].count = 0;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
}

/* Sends what is due; milliseconds until the next is, -1 for none. */
static int answer(void) {
  for (; waiting > 0; waiting--) {
    struct answer next = answers[first];
    uint64_t time = now();
    if (next.due > time) return (int)((next.due - time) / 1000000) + 1;
    if (clients[next.fd].turn == next.turn && send(next.fd, REPLY, sizeof REPLY - 1, MSG_NOSIGNAL) < 0) leave(next.fd);
    first = (first + 1) % CLIENT_MAXIMUM;
  }
  return -1;
}

int main(int count, char **words) {
  if (count != 2) return fprintf(stderr, "usage: slowly MILLISECONDS\n"), 2;
  uint64_t delay = strtoull(words[1], NULL, 10) * 1000000;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), poller = epoll_create1(EPOLL_CLOEXEC);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1024) < 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &length);
  for (int fd = 0; fd <= listener; fd = fd == 0 ? listener : listener + 1) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  while (true) {
    struct epoll_event events[64];
    int ready = epoll_wait(poller, events, 64, answer());
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) {
      int fd = events[index].data.fd;
      if (fd == 0) return 0;
      if (fd == listener) {
        welcome(listener, poller);
      } else {
        hear(fd, delay);
      }
    }
  }
}
