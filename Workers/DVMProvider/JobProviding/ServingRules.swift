public import Cryptography

/// Which requests for jobs are taken up, and how many at a time.
public struct ServingRules: Sendable, Hashable {
  /// Whose requests are taken.
  public enum Customers: Sendable, Hashable {
    /// Everybody's.
    case anyone
    /// Those of the accounts of this machine.
    case accounts
    /// Those of these keys.
    case listed(Set<PublicKey>)
  }

  /// One kind of job that is served.
  public struct Service: Sendable, Hashable {
    /// What it costs, in millisatoshi; 0: nothing.
    public var priceMillisatoshis: Int64
    /// Requests of this kind that are worked on at a time.
    public var concurrentMaximum: Int
    /// Whether a request that was begun and not ended is begun again.
    public var isRepeatable: Bool

    /// A service.
    public init(priceMillisatoshis: Int64 = 0, concurrentMaximum: Int = 1, isRepeatable: Bool = false) {
      self.priceMillisatoshis = priceMillisatoshis
      self.concurrentMaximum = concurrentMaximum
      self.isRepeatable = isRepeatable
    }
  }

  /// What is served, by the kind of its requests.
  public var services: [UInt16: Service]
  /// Whose requests are taken.
  public var customers: Customers
  /// Whether requests are taken that name nobody whom they are for.
  public var takesOpenRequests: Bool
  /// The oldest request that is taken, in seconds.
  public var ageMaximum: Int64
  /// Requests that are worked on at a time, of all kinds.
  public var concurrentMaximum: Int
  /// Requests that wait: for their turn, or until their answer is signed and taken, and bills of customers who are
  /// known; more are passed over. Strangers have a part of it: ``strangersMaximum``.
  public var waitingMaximum: Int
  /// How long a payment is waited for, in seconds.
  public var paymentSeconds: Int64
  /// How many of those that wait may be of strangers, all together: where customers are anyone, of those who have no
  /// account here. As many unpaid bills of theirs are kept besides, and as many that end until that is told.
  public var strangersMaximum: Int { max(1, waitingMaximum / 2) }
  /// How many of those that wait may be of one stranger, and how many unpaid bills.
  public var strangerMaximum: Int { max(1, waitingMaximum / 4) }

  /// How many of those for which there was no room are remembered, to be taken up when there is.
  public var turnedAwayMaximum: Int { min(waitingMaximum, Self.turnedAwayCountMaximum) }

  /// Requests without room that are remembered, at most: each takes some two hundred bytes, and a look of its own.
  static let turnedAwayCountMaximum = 1_000
  /// How far in the future a request may be dated, in seconds: clocks differ.
  public static let aheadMaximum: Int64 = 15 * 60
  /// Rules.
  public init(
    services: [UInt16: Service], customers: Customers = .accounts, takesOpenRequests: Bool = true,
    ageMaximum: Int64 = 3_600, concurrentMaximum: Int = 4, waitingMaximum: Int = 1_000, paymentSeconds: Int64 = 3_600
  ) {
    self.services = services
    self.customers = customers
    self.takesOpenRequests = takesOpenRequests
    self.ageMaximum = ageMaximum
    self.concurrentMaximum = concurrentMaximum
    self.waitingMaximum = waitingMaximum
    self.paymentSeconds = paymentSeconds
  }

  /// A number for what decides which requests are taken up. Where it is another one than it was, requests that were
  /// passed over may be taken now.
  ///
  /// - Parameter provider: who answers.
  public func mark(for provider: PublicKey) -> Int64 {
    let whose =
      switch customers {
      case .anyone: "anyone"
      case .accounts: "accounts"
      case .listed(let keys): keys.map(\.description).sorted().joined(separator: ",")
      }
    let text = "\(services.keys.sorted()) \(whose) \(takesOpenRequests) \(ageMaximum) \(provider)"
    // Kept from 0: a mark of the ledger is a number, and no two rules of one person meet by chance.
    return SHA256.hash(Array(text.utf8)).bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) } & .max
  }

  /// Whether this customer's requests are taken.
  ///
  /// - Parameters:
  ///   - customer: who asks.
  ///   - accounts: the accounts of this machine.
  public func serves(_ customer: PublicKey, accounts: Set<PublicKey>) -> Bool {
    switch customers {
    case .anyone: true
    case .accounts: accounts.contains(customer)
    case .listed(let keys): keys.contains(customer)
    }
  }
}

/// Why a request was not taken up, at first at least. The raw values are for counters and logs.
public enum PassedOver: String, Sendable, Hashable, CaseIterable {
  /// Its kind is not served.
  case notServed = "not-served"
  /// It was taken up before.
  case known
  /// It is for other providers.
  case addressedToOthers = "addressed-to-others"
  /// It is for nobody in particular, and such ones are not taken.
  case open
  /// Its customer is not served.
  case customerNotServed = "customer-not-served"
  /// It was made too long ago, or before the ledger began.
  case old
  /// It is dated too far in the future.
  case future
  /// Its time is over (NIP-40).
  case expired
  /// It was called off before it came.
  case cancelled
  /// Too many wait already. It may be taken up when there is room.
  case full
  /// Too many of this customer's wait already. Likewise.
  case customerFull = "customer-full"
}
