internal import Storage

// The tables.
//
//   event      every event that is kept, by seq: its compact JSON, and what retention needs without reading it
//   identity   id → seq, as terms; ids of the newest events are in memory until their segment is written
//   address    the place of a replaceable or addressable event → seq
//   segment    runs of events whose postings are on disk
//   posting    term → events, newest first, in blocks; one segment is written in the order of its keys
//   tombstone  what its author deleted: an id (for ever), an address or everything (up to a second)
//   expiry     when events end (NIP-40)
//   relay      numbers for relay URLs; seen: which relay had an event, and when first
//   vanishing  authors whose events are being removed, a slice at a time (NIP-62)
//   fetch      filters (by FilterKey) → when they were fetched, of one relay or (0) of all that were planned
//   wholeFilter  the filters of `coverage` that are no single author or tag value (CoverageCuts)
//   coverage   a filter's subject and a relay → the times of creation of which all is here (CoverageIntervals)
//   mark       named observations → the last seq their observer has dealt with
//   unchecked  events whose signatures were not checked → the relay that brought them
//   distrust   relays that brought forgeries while they were sampled
//   search     words → events, up to the property `searched-seq`
//   property   the database's own key for terms, the last seq given, how many events there are
//
// The order of `seq` is the order of commits and nothing else. A seq is never given twice, even when its event is gone.

enum ArchiveSchema {
  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE event (
        seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind INTEGER NOT NULL, flags INTEGER NOT NULL, json BLOB NOT NULL);
      CREATE TABLE identity (term INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (term, seq)) WITHOUT ROWID;
      CREATE TABLE address (term INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
      CREATE TABLE segment (
        number INTEGER PRIMARY KEY, firstSeq INTEGER NOT NULL, lastSeq INTEGER NOT NULL, isComplete INTEGER NOT NULL);
      CREATE TABLE posting (
        segment INTEGER NOT NULL, term INTEGER NOT NULL, oldest INTEGER NOT NULL, block INTEGER NOT NULL,
        entries BLOB NOT NULL, PRIMARY KEY (segment, term, oldest, block)) WITHOUT ROWID;
      CREATE TABLE tombstone (term INTEGER PRIMARY KEY, until INTEGER NOT NULL);
      CREATE TABLE expiry (time INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (time, seq)) WITHOUT ROWID;
      CREATE TABLE relay (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);
      CREATE TABLE seen (
        seq INTEGER NOT NULL, relay INTEGER NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (seq, relay)) WITHOUT ROWID;
      CREATE TABLE vanishing (author TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE property (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
      """),
    search, retention, fetches, coverage, sampling, foreign, wholeFilters,
  ]

  /// Words (NIP-50). The text of an event is only in `event`, so this table keeps the positions of words and nothing
  /// else. `ArchiveIndexing` makes the words.
  private static let search = StorageMigration(
    version: 2, "CREATE VIRTUAL TABLE search USING fts5 (title, body, content = '', tokenize = 'ascii')")

  /// The order in which events are removed when room is needed, and how many events of a segment are gone.
  private static let retention = StorageMigration(
    version: 3,
    """
    UPDATE event SET flags = flags | 2 WHERE kind IN (0, 3, 5, 62, 10002, 10050);
    CREATE INDEX evictedFirst ON event (time) WHERE flags = 0;
    CREATE INDEX evictedLast ON event (time) WHERE flags = 2;
    ALTER TABLE segment ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE segment ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
    UPDATE segment SET events = lastSeq - firstSeq + 1;
    """)

  private static let fetches = StorageMigration(
    version: 4,
    """
    CREATE TABLE fetch (
      filter BLOB NOT NULL, relay INTEGER NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (filter, relay)) WITHOUT ROWID;
    CREATE INDEX fetchByTime ON fetch (time);
    CREATE TABLE mark (
      owner TEXT NOT NULL, id TEXT NOT NULL, plan BLOB NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL,
      PRIMARY KEY (owner, id)) WITHOUT ROWID;
    """)

  private static let coverage = StorageMigration(
    version: 5,
    """
    CREATE TABLE coverage (
      filter BLOB NOT NULL, relay INTEGER NOT NULL, time INTEGER NOT NULL, intervals BLOB NOT NULL,
      PRIMARY KEY (filter, relay)) WITHOUT ROWID;
    CREATE INDEX coverageByTime ON coverage (time);
    """)

  private static let sampling = StorageMigration(
    version: 6,
    """
    CREATE TABLE unchecked (seq INTEGER PRIMARY KEY, relay INTEGER NOT NULL);
    CREATE INDEX uncheckedByRelay ON unchecked (relay);
    CREATE TABLE distrust (relay INTEGER PRIMARY KEY, time INTEGER NOT NULL);
    """)

  /// Foreign events, in the order in which they are removed.
  private static let foreign = StorageMigration(
    version: 7, "CREATE INDEX evictedForeign ON event (seq) WHERE flags = 4")

  /// The filters of `coverage` that do not follow from an event, so that its removal finds them.
  private static let wholeFilters = StorageMigration(
    version: 8, "CREATE TABLE wholeFilter (filter BLOB NOT NULL UNIQUE, json BLOB NOT NULL)")
}
