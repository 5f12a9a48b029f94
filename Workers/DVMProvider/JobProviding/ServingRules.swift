public import Cryptography

/// Which requests are taken up, and how many at a time.
public struct ServingRules: Sendable, Hashable {
  /// Whose requests are taken.
  public enum Customers: Sendable, Hashable {
    /// Any customer's.
    case anyone
    /// Those of accounts of this machine.
    case accounts
    /// Those of these keys.
    case listed(Set<PublicKey>)
  }

  /// One kind of job that is served.
  public struct Service: Sendable, Hashable {
    /// What it costs, in millisatoshi; 0: nothing.
    public var priceMillisatoshis: Int64
    /// Most requests of this kind that are worked on at a time.
    public var concurrentMaximum: Int
    /// Whether work that was started and not ended is started again.
    public var isRepeatable: Bool

    /// A service.
    public init(priceMillisatoshis: Int64 = 0, concurrentMaximum: Int = 1, isRepeatable: Bool = false) {
      self.priceMillisatoshis = priceMillisatoshis
      self.concurrentMaximum = concurrentMaximum
      self.isRepeatable = isRepeatable
    }
  }

  /// What is served, by the kind of the requests.
  public var services: [UInt16: Service]
  /// Whose requests are taken.
  public var customers: Customers
  /// Whether requests are taken that name no provider.
  public var takesOpenRequests: Bool
  /// How old a request may be, in seconds.
  public var ageMaximum: Int64
  /// Most requests of all kinds that are worked on at a time.
  public var concurrentMaximum: Int
  /// Most requests that wait: for their turn, until their answer is signed and accepted, and, if the customer is known,
  /// for a payment. Further requests are passed over. Strangers have a share of it: ``strangersMaximum``.
  public var waitingMaximum: Int
  /// How long a bill waits for its payment, in seconds.
  public var paymentSeconds: Int64
  /// Most waiting requests of all strangers together. Strangers are the customers without an account here, where
  /// customers are `anyone`. The same number limits their unpaid bills, and their ended bills whose error is not
  /// published yet; both are counted separately.
  public var strangersMaximum: Int { max(1, waitingMaximum / 2) }
  /// Most waiting requests of one stranger; also most unpaid bills of one stranger.
  public var strangerMaximum: Int { max(1, waitingMaximum / 4) }

  /// Most requests without room that are remembered until there is room.
  public var turnedAwayMaximum: Int { min(waitingMaximum, Self.turnedAwayCountMaximum) }

  /// Upper limit of the requests without room that are remembered: each takes about 200 bytes, and a lookup of its own.
  static let turnedAwayCountMaximum = 1_000
  /// How far in the future a request may be dated, in seconds, because clocks differ.
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

  /// A number computed from everything that decides which requests are taken up. If it has changed, requests that were
  /// passed over before may be taken up now.
  ///
  /// - Parameter provider: the key that answers.
  public func mark(for provider: PublicKey) -> Int64 {
    let whose =
      switch customers {
      case .anyone: "anyone"
      case .accounts: "accounts"
      case .listed(let keys): keys.map(\.description).sorted().joined(separator: ",")
      }
    let text = "\(services.keys.sorted()) \(whose) \(takesOpenRequests) \(ageMaximum) \(provider)"
    // Without the sign bit: a mark in the ledger is not negative. Two sets of rules of one operator do not collide by
    // chance.
    return SHA256.hash(Array(text.utf8)).bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) } & .max
  }

  /// Whether this customer's requests are taken.
  ///
  /// - Parameters:
  ///   - customer: the author of the request.
  ///   - accounts: the accounts of this machine.
  public func serves(_ customer: PublicKey, accounts: Set<PublicKey>) -> Bool {
    switch customers {
    case .anyone: true
    case .accounts: accounts.contains(customer)
    case .listed(let keys): keys.contains(customer)
    }
  }
}

/// Why a request was not taken up when it came. The raw values are for counters and logs.
public enum PassedOver: String, Sendable, Hashable, CaseIterable {
  /// Its kind is not served.
  case notServed = "not-served"
  /// It was taken up before.
  case known
  /// It is for other providers.
  case addressedToOthers = "addressed-to-others"
  /// It names no provider, and such requests are not taken.
  case open
  /// Its customer is not served.
  case customerNotServed = "customer-not-served"
  /// It is too old, or older than what the ledger knows.
  case old
  /// It is dated too far in the future.
  case future
  /// It has expired (NIP-40).
  case expired
  /// It was cancelled before it came.
  case cancelled
  /// Too many requests wait already. It may be taken up when there is room.
  case full
  /// Too many requests of this customer wait already. It may be taken up when there is room.
  case customerFull = "customer-full"
}
