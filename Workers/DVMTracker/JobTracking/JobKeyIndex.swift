/// The keys of all jobs that are kept, found by either side. Each submission looks here, and those that are done with
/// can be many.
struct JobKeyIndex: Sendable {
  private var jobs: [String: JobID] = [:]
  private var ids: Set<JobID> = []

  /// The job with this key.
  subscript(key: String) -> JobID? { jobs[key] }

  /// Whether a job has a key here.
  func contains(_ id: JobID) -> Bool { ids.contains(id) }

  /// A job has a key; another one that had it has none any more.
  mutating func add(_ id: JobID, keyed key: String) {
    if let other = jobs.updateValue(id, forKey: key) { ids.remove(other) }
    ids.insert(id)
  }

  /// A job does not have a key any more. Nothing happens when the key is another one's.
  mutating func remove(_ id: JobID, keyed key: String) {
    guard jobs[key] == id else { return }
    jobs[key] = nil
    ids.remove(id)
  }
}
