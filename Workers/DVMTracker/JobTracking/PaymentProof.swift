public import Cryptography
internal import Clocks

// What each payment hash has proven. The maker of invoices chooses their hashes, and can give two of them the same one:
// then one payment has one preimage, and it fits both. So each hash proves the payment of one provider for one job, by
// an invoice or by a zap; for anything else it is refused.
//
// That is decided when a proof comes, and the decision is written down: the state of a job follows from its own facts.

/// A payment that was proven.
public struct PaymentProof: Sendable, Hashable {
  /// The hash of the preimage.
  public var hash: Octets32
  /// The provider that was paid.
  public var provider: PublicKey
  /// When it became known, milliseconds since 1970.
  public var at: Int64

  /// A proof.
  public init(hash: Octets32, provider: PublicKey, at: Int64) {
    self.hash = hash
    self.provider = provider
    self.at = at
  }

  /// Orders proofs of the same hash; the earlier one counts.
  static func isEarlier(_ left: PaymentProof, _ right: PaymentProof) -> Bool {
    if left.at != right.at { return left.at < right.at }
    return left.provider == right.provider ? left.hash < right.hash : left.provider < right.provider
  }
}

/// Payment hashes that have proven a payment, of all jobs.
public struct ProvenHashes: Sendable {
  private struct Known {
    var job: JobID
    var proof: PaymentProof
  }

  private var known: [Octets32: Known] = [:]
  private var ages = Deadlines<Int64, Octets32>()

  /// Most hashes that are remembered; the one whose proof is the oldest is forgotten first.
  public static let maximum = 100_000

  /// How many there are.
  var count: Int { known.count }

  /// Remembers a proof, unless its hash has proven something before.
  mutating func add(_ proof: PaymentProof, of job: JobID) {
    guard known[proof.hash] == nil else { return }
    known[proof.hash] = Known(job: job, proof: proof)
    ages.add(proof.hash, at: proof.at)
    while known.count > Self.maximum, let (_, oldest) = ages.popDue(at: .max) { known[oldest] = nil }
  }

  /// Whether a hash has proven a payment to another provider, or for another job.
  func isOther(_ hash: Octets32, than job: JobID, _ provider: PublicKey) -> Bool {
    known[hash].map { $0.job != job || $0.proof.provider != provider } ?? false
  }

  /// Whether a hash has proven anything.
  func contains(_ hash: Octets32) -> Bool { known[hash] != nil }
}

extension JobTable {
  /// Whether a payment hash belongs to another job or provider: approved there, or proven. One payment settles one
  /// thing.
  func isSpentElsewhere(_ hash: Octets32, than job: JobID, _ provider: PublicKey) -> Bool {
    proven.isOther(hash, than: job, provider)
      || spendings.contains { $0.key == hash && ($0.job != job || $0.provider != provider) }
  }

  /// Takes a payment hash as the proof of a payment: from now on it proves no other.
  ///
  /// - Returns: false if it belongs to another payment.
  mutating func claim(_ hash: Octets32, _ job: JobID, _ provider: PublicKey, at now: Int64) -> Bool {
    guard !isSpentElsewhere(hash, than: job, provider) else { return false }
    guard !proven.contains(hash) else { return true }
    let proof = PaymentProof(hash: hash, provider: provider, at: now)
    proven.add(proof, of: job)
    queued.proofs.append((job, proof))
    return true
  }

  /// Takes in a payment that was proven, for a job that may be forgotten since.
  public mutating func restored(_ proof: PaymentProof, of job: JobID) { proven.add(proof, of: job) }
}
