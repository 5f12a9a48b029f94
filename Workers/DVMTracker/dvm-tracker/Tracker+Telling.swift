import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobLedger
import JobTracking
import WorkerLedger
import Storage
import WorkerKit

// A job as callers are told it: what its facts make of it, and what of its surroundings keeps it from going on.

extension Tracker {
  /// A job as it is told, and as it fits into a frame.
  func told(_ id: JobID) async throws(Refusal) -> Job {
    var job = book.told(id, at: now)
    var isLocal = book.order(id)?.isLocal
    if job == nil {
      let kept: LedgerJob?
      do throws(StorageFault) { kept = try await ledger.job(id) } catch { throw health.refusal(error) }
      isLocal = kept?.order.isLocal
      job = kept.map { Job($0.order, $0.picture) }
    }
    guard var job else { throw Self.unknown(id.description) }
    job.accountName = accounts.name(of: job.account)
    explain(&job, id, isLocal: isLocal ?? true)
    let room = EventLimit.byteCountMaximum(frameLimit: bus.welcome.frameLimit)
    return job.fitted(byteCountMaximum: room)
  }

  /// Says why a job does not go on, where that is no fact of its own: its account is locked, or no relay is there.
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
    // A reason is one line, whoever's words are in it.
    job.reason = job.reason?.split(whereSeparator: \.isNewline).joined(separator: "; ")
  }

  /// Why nothing can be signed for a job's account, and for how long the job is kept meanwhile.
  private func hindrance(of account: String, _ id: JobID) -> String? {
    guard let text = accounts.hindrance(of: account), let order = book.order(id) else { return nil }
    let time = Amount.duration(milliseconds: UInt64(clamping: order.deadlines.publish) * 1_000)
    return "\(text); the job is kept meanwhile, for \(time) at most"
  }

  /// Why a request is not where it is to be; nil: nothing is known that keeps it.
  func noteObstacle(_ id: JobID, _ why: String?) {
    guard obstacles[id] != why else { return }
    obstacles[id] = why
    guard book.picture(id)?.state == .drafted else { return }
    for follower in followers[id] ?? [] { follower.changed() }
  }

  /// Whether its requests are in the store of this machine alone.
  private static func isUnseen(_ job: Job) -> Bool {
    !job.requests.isEmpty && job.requests.allSatisfy { $0.relays == 0 && $0.isStored }
  }

  /// Accounts were locked or unlocked: what waits for one continues, and who follows a job that waits for its own is
  /// told.
  func accountsChanged() {
    let unlocked = Set(accounts.lastTold.filter { $0.state != .locked }.compactMap { PublicKey($0.publicKey) })
    perform { $0.unlocked(unlocked, at: $1) }
    for (id, waiting) in followers where book.picture(id)?.state == .drafted {
      for follower in waiting { follower.changed() }
    }
  }
}
