/* The events of canned.c: read from a file, in the order of their times, and the filters that match them.

   Events are as archive-bench writes them; filters may have `authors`, `kinds`, `since`, `until` and `limit`. */
#pragma once
#include "frame.h"
#include <limits.h>
#include <stdbool.h>

enum {
  EVENT_MAXIMUM = 60 << 10,
  AUTHOR_MAXIMUM = 1 << 16, /* different ones in the file; a power of two */
  KEY_BYTES = 64,           /* hexadecimal */
  KIND_MAXIMUM = 64,        /* kinds of a filter */
  FEW_AUTHORS = 8,          /* so many are looked up one by one, for more all events are looked at */
};

struct event {
  const char *json;
  size_t count;
  long created_at, kind;
  uint32_t author; /* place in `authors` */
  uint32_t older;  /* the next event of the author, UINT32_MAX for none */
};

struct author {
  const char *key; /* NULL: a free place */
  uint32_t newest;
  unsigned long wanted; /* the last filter that names it */
};

struct filter {
  bool names_authors, is_known;
  long since, until, limit;
  uint32_t few[FEW_AUTHORS];
  size_t author_count; /* that have events here */
  long kinds[KIND_MAXIMUM];
  size_t kind_count;
};

/* The newest first; of one second, the lower id. */
static struct event *events;
static size_t event_count;
static struct author authors[AUTHOR_MAXIMUM];
static unsigned long filter_count;

/* The text behind `"name":` of an event, as archive-bench writes it. */
static const char *member(const char *json, size_t count, const char *name) {
  const char *found = memmem(json, count, name, strlen(name));
  if (!found) {
    fprintf(stderr, "canned: an event without %s\n", name);
    exit(2);
  }
  return found + strlen(name);
}

/* The place of a key: where it is, or is to be. */
static uint32_t author_place(const char *key) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < KEY_BYTES; i++) hash = (hash ^ (uint8_t)key[i]) * 1099511628211u;
  uint32_t place = (uint32_t)(hash >> 32) & (AUTHOR_MAXIMUM - 1);
  while (authors[place].key && memcmp(authors[place].key, key, KEY_BYTES) != 0) {
    place = (place + 1) & (AUTHOR_MAXIMUM - 1);
  }
  return place;
}

static int newest_first(const void *left, const void *right) {
  const struct event *a = left, *b = right;
  if (a->created_at != b->created_at) return a->created_at < b->created_at ? 1 : -1;
  return memcmp(member(a->json, a->count, "\"id\":\""), member(b->json, b->count, "\"id\":\""), KEY_BYTES);
}

/* Reads what filters ask for, and puts the events in order. */
static void order(void) {
  for (size_t i = 0; i < event_count; i++) {
    struct event *event = &events[i];
    event->created_at = strtol(member(event->json, event->count, "\"created_at\":"), NULL, 10);
    event->kind = strtol(member(event->json, event->count, "\"kind\":"), NULL, 10);
  }
  qsort(events, event_count, sizeof *events, newest_first);
  size_t author_count = 0;
  for (size_t i = event_count; i-- > 0;) {
    const char *key = member(events[i].json, events[i].count, "\"pubkey\":\"");
    struct author *author = &authors[events[i].author = author_place(key)];
    if (!author->key) {
      *author = (struct author){key, UINT32_MAX, 0};
      if (++author_count > AUTHOR_MAXIMUM / 2) {
        fprintf(stderr, "canned: more than %d authors\n", AUTHOR_MAXIMUM / 2);
        exit(2);
      }
    }
    events[i].older = author->newest;
    author->newest = (uint32_t)i;
  }
}

static void load(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  size_t capacity = 0, room = 0;
  char *line = NULL;
  for (ssize_t count; (count = getline(&line, &room, file)) > 0; line = NULL, room = 0) {
    if (line[count - 1] == '\n') count--;
    if (count == 0 || count > EVENT_MAXIMUM) {
      fprintf(stderr, "canned: a line of %zd bytes\n", count);
      exit(2);
    }
    if (event_count == capacity) {
      capacity = capacity ? capacity * 2 : 1024;
      events = realloc(events, capacity * sizeof *events);
      if (!events) fail("realloc");
    }
    events[event_count++] = (struct event){.json = line, .count = (size_t)count};
  }
  free(line);
  fclose(file);
  order();
}

/* Reads one filter from its `{`; where it ends, NULL for what cannot be read. Text is compact JSON, as programs send
   it, and ends with a 0. */
static const char *read_filter(const char *text, struct filter *filter) {
  *filter = (struct filter){.is_known = true, .until = LONG_MAX, .limit = LONG_MAX};
  filter_count++;
  for (text++; *text && *text != '}'; text += *text == ',') {
    char *end;
    long *number = strncmp(text, "\"since\":", 8) == 0   ? &filter->since
                   : strncmp(text, "\"until\":", 8) == 0 ? &filter->until
                   : strncmp(text, "\"limit\":", 8) == 0 ? &filter->limit
                                                         : NULL;
    if (number) {
      *number = strtol(text + 8, &end, 10);
      text = end;
    } else if (strncmp(text, "\"kinds\":[", 9) == 0) {
      for (text += 9; *text && *text != ']'; text = end + (*end == ',')) {
        long kind = strtol(text, &end, 10);
        if (end == text || filter->kind_count == KIND_MAXIMUM) return NULL;
        filter->kinds[filter->kind_count++] = kind;
      }
      text++;
    } else if (strncmp(text, "\"authors\":[", 11) == 0) {
      filter->names_authors = true;
      for (text += 11; *text == '"'; text += *text == ',') {
        if (strnlen(text, KEY_BYTES + 2) < KEY_BYTES + 2 || text[KEY_BYTES + 1] != '"') return NULL;
        uint32_t place = author_place(text + 1);
        if (authors[place].key && authors[place].wanted != filter_count) {
          authors[place].wanted = filter_count;
          if (filter->author_count < FEW_AUTHORS) filter->few[filter->author_count] = place;
          filter->author_count++;
        }
        text += KEY_BYTES + 2;
      }
      if (*text++ != ']') return NULL;
    } else {
      filter->is_known = false;
      return text;
    }
  }
  return *text == '}' ? text + 1 : NULL;
}

static bool is_match(const struct event *event, const struct filter *filter) {
  if (event->created_at < filter->since || event->created_at > filter->until) return false;
  if (filter->names_authors && authors[event->author].wanted != filter_count) return false;
  for (size_t i = 0; i < filter->kind_count; i++) {
    if (filter->kinds[i] == event->kind) return true;
  }
  return filter->kind_count == 0;
}

/* The first event that is not newer than `until`. */
static size_t first_until(long until) {
  size_t low = 0, high = event_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (events[middle].created_at > until) low = middle + 1;
    else high = middle;
  }
  return low;
}
