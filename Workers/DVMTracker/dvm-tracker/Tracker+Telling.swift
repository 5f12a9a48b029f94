import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobLedger
import JobTracking
import Storage
import WorkerKit

// A job as callers see it: the state that follows from its facts, and what outside of it delays it.

extension Tracker {
  /// A job as callers see it, cut to fit into a frame.
  func told(_ id: JobID) async throws(Refusal) -> Job {
    var job = jobs.told(id, at: now)
    var isLocal = jobs.order(id)?.isLocal
    if job == nil {
      let kept = try await ledger.read { ledger throws(StorageFault) in try await ledger.job(id) }
      isLocal = kept?.order.isLocal
      job = kept.map { Job($0.order, $0.picture) }
    }
    guard var job else { throw Self.unknown(id.description) }
    job.accountName = accounts.name(of: job.account)
    explain(&job, id, isLocal: isLocal ?? true)
    let room = EventLimit.byteCountMaximum(frameLimit: bus.welcome.frameLimit)
    return job.fitted(byteCountMaximum: room)
  }

  /// Says why a job does not continue, where that is no fact of its own: its account is locked, or no relay is there.
  private func explain(_ job: inout Job, _ id: JobID, isLocal: Bool) {
    switch job.state {
    case .drafted where job.requests.isEmpty:
      job.reason = hindrance(of: job.account, id) ?? job.reason ?? obstacles[id]
    case .drafted:
      job.reason = job.reason ?? obstacles[id]
    case .published where !isLocal && Self.isUnseen(job):
      job.reason = job.reason ?? "no relay has its request: none is known for it, and it is on this machine alone"
    case .expired where !isLocal && Self.isUnseen(job) && job.providers.isEmpty:
      job.reason = job.reason.map { "\($0); no relay was known for its request" }
    default: break
    }
    // A reason is one line, also with the words of a relay or a provider in it.
    job.reason = job.reason?.split(whereSeparator: \.isNewline).joined(separator: "; ")
  }

  /// Why nothing can be signed for a job's account, and for how long the job is kept meanwhile.
  private func hindrance(of account: String, _ id: JobID) -> String? {
    guard let text = accounts.hindrance(of: account), let order = jobs.order(id) else { return nil }
    let time = Amount.duration(milliseconds: UInt64(clamping: order.deadlines.publish) * 1_000)
    return "\(text); the job is kept meanwhile, for \(time) at most"
  }

  /// Whether no relay has its requests: they are in this machine's store alone.
  private static func isUnseen(_ job: Job) -> Bool {
    !job.requests.isEmpty && job.requests.allSatisfy { $0.relays == 0 && $0.isStored }
  }

  /// Accounts were locked or unlocked: jobs that wait for one continue, and their followers look again.
  func accountsChanged() {
    let unlocked = Set(accounts.lastReported.filter { $0.state != .locked }.compactMap { PublicKey($0.publicKey) })
    perform { $0.unlocked(unlocked, at: $1) }
    followers.changed { jobs.picture($0)?.state == .drafted }
  }
}
