internal import Contracts
public import Cryptography
public import Frames
internal import Nostr

// Proofs of payments that come when a job has ended. A provider that is paid first may have its result here before its
// customer has the preimage from the wallet: then the job is settled, and that it was paid is a fact all the same. It
// changes nothing of how the job has ended, but what is told of the money.

extension JobBook {
  /// Whether a job has come to its end, written down or about to be.
  public func isOver(_ id: JobID) -> Bool {
    records[id].map { $0.picture.endedAt != nil || $0.picture.state.isFinal } ?? true
  }

  /// A payment of a job that has ended was made: its proof is noted.
  ///
  /// - Parameters:
  ///   - order: the job.
  ///   - facts: what is on the disk of it.
  ///   - provider: who was paid; whoever has shown the preimage's invoice when nil.
  ///   - preimage: the proof.
  ///   - now: milliseconds since 1970.
  /// - Throws: `nothing-to-pay`, `invoice-refused`.
  public mutating func proven(
    _ order: JobOrder, _ facts: [JobFact], provider: PublicKey?, preimage: Octets32, at now: Int64
  ) throws(Refusal) -> [JobAction] {
    let hash = SHA256.hash(preimage.bytes)
    let picture = JobPicture(order, facts)
    let billed = picture.pairs.values.filter {
      $0.bill != nil && (provider == nil || $0.provider == provider)
    }
    guard !billed.isEmpty else {
      throw Self.refusal(.nothingToPay, "the job has ended, and nobody has asked for a payment")
    }
    let payees = billed.filter { pair in
      pair.bill?.paymentHash == hash || Self.approved(facts, pair.provider, hash) != nil
    }
    guard let pair = payees.min(by: { $0.provider < $1.provider }) else {
      throw Self.refusal(.invoiceRefused, "the preimage is of no invoice that was shown for this job")
    }
    let isNoted = hasPending(order.id) { if case .paid(pair.provider, _, _) = $0 { true } else { false } }
    guard pair.payment != .paid, !isNoted else { return finish(at: now) }
    guard !isSpentElsewhere(hash, than: order.id, pair.provider) else { throw Self.spentElsewhere }
    let last = facts.map(\.at).max() ?? 0
    // A zap has no hash before its wallet makes an invoice.
    let isZapCounted = pair.intent.map { $0.zapTarget != nil && !picture.voidIntents.contains($0) } ?? false
    let isCounted = isZapCounted || Self.approved(facts, pair.provider, hash) != nil
    if !isCounted, let intent = Self.intent(pair, isAutomatic: false) {
      count(intent, of: order.id, at: now)
      noteLate(order.id, .approved(intent), behind: last, at: now)
    }
    noteLate(order.id, .paid(pair.provider, paymentHash: hash, preimage: preimage), behind: last, at: now)
    return finish(at: now)
  }

  /// Notes a fact of a job that has ended, whether it is in memory or not.
  ///
  /// - Parameters:
  ///   - id: the job.
  ///   - what: the fact.
  ///   - last: the time of a fact that is known to be there.
  ///   - now: milliseconds since 1970.
  mutating func noteLate(_ id: JobID, _ what: JobFact.What, behind last: Int64 = 0, at now: Int64) {
    guard records[id] == nil else { return note(id, what, at: now) }
    let stamp = max(now, max(last, lateStamps[id] ?? 0) + 1)
    lateStamps[id] = stamp
    queued.entries.append(JobBatch.Entry(job: id, fact: JobFact(at: stamp, what)))
  }
}
