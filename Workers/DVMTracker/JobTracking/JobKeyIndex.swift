/// The keys of all kept jobs, found by key or by job. Each submission looks here, and closed jobs can be many.
struct JobKeyIndex: Sendable {
  private var jobs: [String: JobID] = [:]
  private var ids: Set<JobID> = []

  /// The job with this key.
  subscript(key: String) -> JobID? { jobs[key] }

  /// Whether a job has a key here.
  func contains(_ id: JobID) -> Bool { ids.contains(id) }

  /// Gives a key to a job, and takes it from another job that had it.
  mutating func add(_ id: JobID, keyed key: String) {
    if let other = jobs.updateValue(id, forKey: key) { ids.remove(other) }
    ids.insert(id)
  }

  /// Takes a key from a job. Nothing happens if it is the key of another job.
  mutating func remove(_ id: JobID, keyed key: String) {
    guard jobs[key] == id else { return }
    jobs[key] = nil
    ids.remove(id)
  }
}
