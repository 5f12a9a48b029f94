/* What verifying a signature costs without anything around it: BIP-340 over libsecp256k1, in a loop.

       verify EVENTS.jsonl [ROUNDS]

   Ids, keys and signatures are taken out of the file before the clock runs; keys are parsed for each signature, or,
   with the second figure, once. Prints one line of JSON, nanoseconds of processor time for one signature. */
#include <secp256k1.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  unsigned char id[32], key[32], signature[64];
  secp256k1_xonly_pubkey point;
} Event;

enum { VERIFICATIONS = 10000 };

static int take(const char *line, const char *name, unsigned char *out, size_t count) {
  const char *at = strstr(line, name);
  if (at == NULL) return 0;
  at += strlen(name);
  for (size_t i = 0; i < count; i++) {
    unsigned byte;
    if (sscanf(at + 2 * i, "%2x", &byte) != 1) return 0;
    out[i] = (unsigned char)byte;
  }
  return 1;
}

static double nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **arguments) {
  FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
  if (file == NULL) return fputs("usage: verify EVENTS.jsonl [ROUNDS]\n", stderr), 2;
  secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  Event *events = NULL;
  size_t length = 0, room = 0, capacity = 0;
  char *line = NULL;
  while (getline(&line, &capacity, file) > 0) {
    if (length == room) events = realloc(events, (room = room ? 2 * room : 1024) * sizeof *events);
    Event *event = &events[length];
    if (take(line, "\"id\":\"", event->id, 32) && take(line, "\"pubkey\":\"", event->key, 32) &&
        take(line, "\"sig\":\"", event->signature, 64) &&
        secp256k1_xonly_pubkey_parse(context, &event->point, event->key))
      length++;
  }
  if (length == 0) return fputs("verify: no events\n", stderr), 1;
  int rounds = count > 2 ? atoi(arguments[2]) : 5;
  for (int parse = 1; parse >= 0; parse--) {
    printf("%s\"%s\": [", parse ? "{" : ", ", parse ? "verify" : "verifyParsed");
    for (int round = 0; round < rounds; round++) {
      double start = nanoseconds();
      for (size_t i = 0; i < VERIFICATIONS; i++) {
        Event *event = &events[i % length];
        secp256k1_xonly_pubkey point = event->point;
        if (parse && !secp256k1_xonly_pubkey_parse(context, &point, event->key)) return 1;
        if (!secp256k1_schnorrsig_verify(context, event->signature, event->id, 32, &point)) return 1;
      }
      printf("%s%.1f", round ? ", " : "", (nanoseconds() - start) / VERIFICATIONS);
    }
    printf("]");
  }
  puts("}");
  return 0;
}
