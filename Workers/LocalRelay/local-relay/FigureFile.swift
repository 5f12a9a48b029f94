import Storage
import StatusPages

/// The ring of samples on disk: `figures.db` in the worker's directory. A row is a place of the ring, so the file has
/// at most as many rows as the ring has places, about 1.4 MB. A sample is written in one transaction: after any crash
/// it is whole or absent.
struct FigureFile {
  private let file: StorageFile
  private let ledger: LedgerFile
  /// The result of the rescue, if the file was damaged.
  let rescue: LedgerRescue?
  /// The samples that could be read.
  let samples: [FigureSample]

  private static let migrations = [
    StorageMigration(version: 1, "CREATE TABLE sample (place INTEGER PRIMARY KEY, record BLOB NOT NULL)")
  ]

  /// - Parameters:
  ///   - directory: the worker's directory.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(path: directory + "/figures.db", .small, Self.migrations, table: "sample", noun: "samples")
    (file, samples, rescue) = try ledger.open(now: now) { file throws(StorageFault) in
      try file.readNow { session in
        // A record that is not whole is no sample; the next one in its place overwrites it.
        try session.rows("SELECT record FROM sample") { FigureSample(record: $0.bytes(0)) }
      }
    }
  }

  /// Writes a sample in its place.
  func write(_ sample: FigureSample) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "INSERT OR REPLACE INTO sample (place, record) VALUES (?, ?)", FigureHistory.place(of: sample.at),
        sample.record)
    }
  }

  /// Marks the file as damaged: the next start rescues it.
  func markDamaged() { ledger.markDamaged() }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try file.close() }
}
