// What a caller of `job.submit` says about a job. JobContract.swift describes how the job is then doing.

/// `job.submit`: a job for data vending machines. Answered with a ``Job`` when it is committed; a repeated call with
/// the same `key` returns the same job and sends no second request.
///
/// Refused: `bad-request` for what NIP-90 does not allow, and for a secret key in it; `no-such-account`; `no-such-job`
/// when an input names an unknown job; `full` when too many jobs are open; `disk-full`.
public struct JobSubmit: MethodArguments, Hashable {
  /// An example of the arguments.
  public static let example =
    #"{"key":"my-17","account":"alice","kind":5302,"inputs":[{"data":"nostr","type":"text","relay":"","marker":""}],"#
    + #""params":[["search","nostr"]],"output":"text/plain","bid":10000,"providers":["npub1…"],"turns":"all","#
    + #""retries":1,"topics":["bitcoin"],"relays":["wss://relay.example"],"encryption":"none","reach":"auto","#
    + #""payment":{"mode":"ask","jobMaximum":10000},"deadlines":{"answer":120},"choice":{"window":0},"allowSecrets":false}"#

  /// The caller's own key for it, 1 to ``keyByteCountMaximum`` bytes; the tracker makes one when absent.
  public var key: String?
  /// The account that the job belongs to. Default: the only account of a person, or the tracker's own account while no
  /// person has one. ``Job/accountName`` says which it is.
  public var account: String?
  /// 5000 … 5999.
  public var kind: UInt16
  /// The inputs, at most ``inputMaximum``.
  public var inputs: [JobInputArgument]?
  /// Parameters: a name and its values, such as `["lang","es"]`; at most ``parameterMaximum``.
  public var params: [[String]]?
  /// The wanted MIME type of the result.
  public var output: String?
  /// The highest price, in millisatoshi.
  public var bid: Int64?
  /// The providers to ask: `npub` or 64 hexadecimal digits each, at most ``providerMaximum``. Without any, every
  /// provider may answer.
  public var providers: [String]?
  /// Whether all providers get the request together, or one after another. Default: together, but one after another
  /// when the request is encrypted.
  public var turns: Turns?
  /// How many new requests a provider that stopped answering gets before the next provider is asked or the job ends; 0
  /// to ``retryMaximum``, default 0. An answer to an earlier request still counts.
  public var retries: Int?
  /// Topics by which providers find it (`t` tags).
  public var topics: [String]?
  /// Relays where providers are to publish their answers; the planner chooses them when absent.
  public var relays: [String]?
  /// How inputs and parameters are encrypted; default: not at all. Needs ``providers``, unless this machine's own
  /// provider does the job.
  public var encryption: Encryption?
  /// How far the request is sent.
  public var reach: Reach?
  /// What may be paid.
  public var payment: Payment?
  /// How long each phase may take.
  public var deadlines: JobDeadlines?
  /// Which of several answers is accepted.
  public var choice: Choice?
  /// Whether it may contain a secret key (`nsec1…`, `ncryptsec1…`); default: no, because providers read it.
  public var allowSecrets: Bool?

  /// The longest key, in bytes.
  public static let keyByteCountMaximum = 128
  /// The maximum number of inputs.
  public static let inputMaximum = 64
  /// The maximum number of parameters.
  public static let parameterMaximum = 64
  /// The maximum number of providers.
  public static let providerMaximum = 32

  /// The maximum number of new requests to one provider.
  public static let retryMaximum = 10

  /// The order in which providers are asked.
  public enum Turns: String, Codable, Sendable, Hashable, CaseIterable {
    /// One request to all of them.
    case all
    /// A request to the next provider when one has failed or did not answer in time.
    case oneByOne = "one-by-one"
  }
  /// How inputs and parameters are encrypted.
  public enum Encryption: String, Codable, Sendable, Hashable, CaseIterable {
    /// Not encrypted: everyone can read them.
    case none
    /// NIP-04, as NIP-90 says.
    case nip04
    /// NIP-44, for providers that announce it.
    case nip44
    /// NIP-44 when the provider has announced it, else NIP-04.
    case auto
  }
  /// How far a request is sent.
  public enum Reach: String, Codable, Sendable, Hashable, CaseIterable {
    /// `local`, for this machine's own provider, when it serves this kind and the caller names no other provider and no
    /// relays; otherwise `relays`.
    case auto
    /// Only into this machine's store: for the named providers, else for this machine's own provider if it serves this
    /// kind, else for any client of the local relay.
    case local
    /// To relays.
    case relays
  }
  /// What may be paid.
  public struct Payment: Codable, Sendable, Hashable {
    /// What decides about a payment.
    public enum Mode: String, Codable, Sendable, Hashable, CaseIterable {
      /// The caller, by `job.approve` and `job.deny`.
      case ask
      /// Nothing is paid; the tracker does not wait for a provider that wants money.
      case never
      /// The tracker approves a payment within the bounds at once: for providers that were named, for the provider
      /// whose result is accepted, and, where offers are collected (``Choice/window``), for any provider. The caller
      /// decides about all others.
      case auto
    }
    /// What decides about a payment; default: the caller.
    public var mode: Mode?
    /// The maximum for this job, in millisatoshi; default: its bid.
    public var jobMaximum: Int64?
    /// The maximum in 24 hours for all jobs together, in millisatoshi; default and upper bound: the configured one.
    public var dayMaximum: Int64?
    /// The maximum in 24 hours for one provider, in millisatoshi; default and upper bound: the configured one.
    public var providerMaximum: Int64?

    /// What may be paid.
    public init(mode: Mode? = nil, jobMaximum: Int64? = nil, dayMaximum: Int64? = nil, providerMaximum: Int64? = nil) {
      self.mode = mode
      self.jobMaximum = jobMaximum
      self.dayMaximum = dayMaximum
      self.providerMaximum = providerMaximum
    }
  }
  /// Which of several answers is accepted.
  public struct Choice: Codable, Sendable, Hashable {
    /// How many seconds offers are collected before one is approved, at most ``JobDeadlines/maximum``; default 0: the
    /// first offer counts.
    public var window: Int64?
    /// How many providers must have sent the same result, at most ``providerMaximum``; default 1.
    public var agreement: Int?

    /// A rule for the choice.
    public init(window: Int64? = nil, agreement: Int? = nil) {
      self.window = window
      self.agreement = agreement
    }
  }

  /// A job of a kind.
  public init(kind: UInt16) { self.kind = kind }

  /// Amounts and the window are at least 0.
  public static var ranges: [FieldRange<Self>] {
    [
      FieldRange("bid", \.bid), FieldRange("payment.jobMaximum", { $0.payment?.jobMaximum }),
      FieldRange("payment.dayMaximum", { $0.payment?.dayMaximum }),
      FieldRange("payment.providerMaximum", { $0.payment?.providerMaximum }),
      FieldRange("choice.window", { $0.choice?.window }),
    ]
  }

  /// What NIP-90 does not allow, or exceeds a maximum.
  public var objection: String? {
    if !(5_000...5_999).contains(kind) { return "'kind' is \(kind); requests for jobs are 5000 to 5999" }
    if let key, !(1...Self.keyByteCountMaximum).contains(key.utf8.count) {
      return "'key' has \(key.utf8.count) bytes; 1 to \(Self.keyByteCountMaximum) are taken"
    }
    if let count = inputs?.count, count > Self.inputMaximum {
      return "'inputs' has \(count) inputs; \(Self.inputMaximum) are taken at most"
    }
    if let count = params?.count, count > Self.parameterMaximum {
      return "'params' has \(count) parameters; \(Self.parameterMaximum) are taken at most"
    }
    if params?.contains(where: { $0.isEmpty || $0[0].isEmpty }) == true {
      return "'params' has one without a name; a parameter is a list of its name and its values: [\"lang\",\"es\"]"
    }
    if output?.isEmpty == true { return "'output' is empty; it is a MIME type such as \"text/plain\"" }
    if topics?.contains(where: \.isEmpty) == true { return "'topics' has one that is empty" }
    if let count = providers?.count, count > Self.providerMaximum {
      return "'providers' has \(count) providers; \(Self.providerMaximum) are taken at most"
    }
    if let retries, !(0...Self.retryMaximum).contains(retries) {
      return "'retries' is \(retries); 0 to \(Self.retryMaximum) are taken"
    }
    if let agreement = choice?.agreement, !(1...Self.providerMaximum).contains(agreement) {
      return "'choice.agreement' is \(agreement); 1 to \(Self.providerMaximum) are taken"
    }
    if let window = choice?.window, window > JobDeadlines.maximum {
      return "'choice.window' is \(window); \(JobDeadlines.maximum) seconds are taken at most"
    }
    return deadlines?.objection ?? tooMany(relays)
  }
}

/// One input of a ``JobSubmit``.
public struct JobInputArgument: Codable, Sendable, Hashable {
  /// A URL, the id of an event, a job, or the text itself.
  public var data: String
  /// `url`, `event`, `job` or `text`. With `job`, the data is the `id` or `key` of a job of this tracker, which then
  /// waits for that job's result, or the id of any other request event.
  public var type: String
  /// The relay where the event or job was published.
  public var relay: String?
  /// What the input is for.
  public var marker: String?

  /// An input.
  public init(data: String, type: String, relay: String? = nil, marker: String? = nil) {
    self.data = data
    self.type = type
    self.relay = relay
    self.marker = marker
  }
}

/// The seconds that each phase of a job may take; the configured value when absent. Each says what happens then.
public struct JobDeadlines: Codable, Sendable, Hashable {
  /// Until a relay has a request, or this machine's store for a request that stays here. Then: expired.
  public var publish: Int64?
  /// From there to the first answer of a provider. Then: a new request, the next provider, or expired.
  public var answer: Int64?
  /// From a provider's last answer to its result. Then: a new request, the next provider, or expired.
  public var result: Int64?
  /// For a decision about a requested payment. Then: as denied.
  public var decision: Int64?
  /// From a payment to the result. Then: expired, paid and not delivered.
  public var delivery: Int64?
  /// For the whole job.
  public var total: Int64?

  /// The maximum of each, in seconds.
  public static let maximum: Int64 = 30 * 86_400

  /// The configured values.
  public init() {}

  /// A deadline out of its bounds.
  var objection: String? {
    let named = [
      ("publish", publish), ("answer", answer), ("result", result), ("decision", decision), ("delivery", delivery),
      ("total", total),
    ]
    for case let (name, seconds?) in named where !(1...Self.maximum).contains(seconds) {
      return "'deadlines.\(name)' is \(seconds); 1 to \(Self.maximum) seconds are taken"
    }
    return nil
  }
}
