// What a caller of `job.submit` says of a job. How the job then does stands in JobContract.swift.

/// `job.submit`: a job for data vending machines. Answered with a ``Job`` when it is committed; the same `key` again
/// gives the same job and asks nobody twice.
///
/// Refused: `bad-request` for what NIP-90 does not allow, and for a secret key in it; `no-such-account`; `no-such-job`
/// when an input names one that is not there; `full` when too many are open; `disk-full`.
public struct JobSubmit: MethodArguments, Hashable {
  /// How it is asked.
  public static let example =
    #"{"key":"my-17","account":"alice","kind":5302,"inputs":[{"data":"nostr","type":"text","relay":"","marker":""}],"#
    + #""params":[["search","nostr"]],"output":"text/plain","bid":10000,"providers":["npub1…"],"turns":"all","#
    + #""retries":1,"topics":["bitcoin"],"relays":["wss://relay.example"],"encryption":"none","reach":"auto","#
    + #""payment":{"mode":"ask","jobMaximum":10000},"deadlines":{"answer":120},"choice":{"window":0},"allowSecrets":false}"#

  /// The caller's own name for it, 1 to ``keyByteCountMaximum`` bytes; made unless given.
  public var key: String?
  /// Whose job it is; unless said the only account of a person. While there is none it is the tracker's own, and from
  /// the first one on that one: which it was stands in ``Job/accountName``.
  public var account: String?
  /// 5000 … 5999.
  public var kind: UInt16
  /// What is to be worked on, ``inputMaximum`` at most.
  public var inputs: [JobInputArgument]?
  /// Names, each with its values: `["lang","es"]`; ``parameterMaximum`` at most.
  public var params: [[String]]?
  /// The MIME type wanted of the result.
  public var output: String?
  /// Most to be paid, in millisatoshi.
  public var bid: Int64?
  /// Who is asked: `npub` or 64 hexadecimal digits each, ``providerMaximum`` at most. Without any, whoever likes.
  public var providers: [String]?
  /// Whether the providers are asked all at once, or one after another; all unless said, and one after another when it
  /// is encrypted.
  public var turns: Turns?
  /// How often a provider that has fallen silent gets a new request before the next one is asked, or the job ends; 0 to
  /// ``retryMaximum``, 0 unless said. An answer to an earlier request counts all the same.
  public var retries: Int?
  /// Words by which providers find it (`t`).
  public var topics: [String]?
  /// Where the answers are to be published; as planned unless said.
  public var relays: [String]?
  /// How inputs and parameters are kept from others; not at all unless said. It needs ``providers``, unless the
  /// provider of this machine does it.
  public var encryption: Encryption?
  /// How far the request goes.
  public var reach: Reach?
  /// What may be paid.
  public var payment: Payment?
  /// How long each phase may last.
  public var deadlines: JobDeadlines?
  /// Which of several answers is taken.
  public var choice: Choice?
  /// Whether a secret key (`nsec1…`, `ncryptsec1…`) may stand in it; no unless said: providers read it.
  public var allowSecrets: Bool?

  /// Longest key.
  public static let keyByteCountMaximum = 128
  /// Most inputs.
  public static let inputMaximum = 64
  /// Most parameters.
  public static let parameterMaximum = 64
  /// Most providers.
  public static let providerMaximum = 32

  /// Most new requests to one provider.
  public static let retryMaximum = 10

  /// In which order providers are asked.
  public enum Turns: String, Codable, Sendable, Hashable, CaseIterable {
    /// One request to all of them.
    case all
    /// A request to the next one when one has failed or said nothing in time.
    case oneByOne = "one-by-one"
  }
  /// How inputs and parameters are encrypted.
  public enum Encryption: String, Codable, Sendable, Hashable, CaseIterable {
    /// Everybody may read them.
    case none
    /// As NIP-90 says.
    case nip04
    /// For providers that announce it.
    case nip44
    /// NIP-44 when the provider has announced that, else NIP-04.
    case auto
  }
  /// How far a request goes.
  public enum Reach: String, Codable, Sendable, Hashable, CaseIterable {
    /// Into the store of this machine only, when the provider here serves this kind, nobody else is named, and no
    /// relays are: it is for that provider then. Else to relays.
    case auto
    /// Into the store of this machine only: to whoever is named, else to the provider here when it serves this kind,
    /// else to whatever client of the local relay likes.
    case local
    /// To relays.
    case relays
  }
  /// What may be paid.
  public struct Payment: Codable, Sendable, Hashable {
    /// Who decides.
    public enum Mode: String, Codable, Sendable, Hashable, CaseIterable {
      /// The caller, by `job.approve` and `job.deny`.
      case ask
      /// Nothing is paid; who wants money is not waited for.
      case never
      /// What is within the bounds is approved at once: of providers that were named, of one whose result is taken, and
      /// where offers are collected (``Choice/window``) of anybody; else the caller decides.
      case auto
    }
    /// Who decides; the caller unless said.
    public var mode: Mode?
    /// Most millisatoshi for this job; its bid unless said.
    public var jobMaximum: Int64?
    /// Most millisatoshi in 24 hours, all jobs together; as configured unless said, and never more than that.
    public var dayMaximum: Int64?
    /// Most millisatoshi for one provider in 24 hours; as configured unless said, and never more than that.
    public var providerMaximum: Int64?

    /// What may be paid.
    public init(mode: Mode? = nil, jobMaximum: Int64? = nil, dayMaximum: Int64? = nil, providerMaximum: Int64? = nil) {
      self.mode = mode
      self.jobMaximum = jobMaximum
      self.dayMaximum = dayMaximum
      self.providerMaximum = providerMaximum
    }
  }
  /// Which of several answers is taken.
  public struct Choice: Codable, Sendable, Hashable {
    /// Seconds for which offers are collected before one is approved, ``JobDeadlines/maximum`` at most; 0 unless said:
    /// the first one counts.
    public var window: Int64?
    /// How many providers must have given the same result, ``providerMaximum`` at most; 1 unless said.
    public var agreement: Int?

    /// Which one is taken.
    public init(window: Int64? = nil, agreement: Int? = nil) {
      self.window = window
      self.agreement = agreement
    }
  }

  /// A job of a kind.
  public init(kind: UInt16) { self.kind = kind }

  /// Amounts, and a window, from 0.
  public static var ranges: [FieldRange<Self>] {
    [
      FieldRange("bid", \.bid), FieldRange("payment.jobMaximum", { $0.payment?.jobMaximum }),
      FieldRange("payment.dayMaximum", { $0.payment?.dayMaximum }),
      FieldRange("payment.providerMaximum", { $0.payment?.providerMaximum }),
      FieldRange("choice.window", { $0.choice?.window }),
    ]
  }

  /// What NIP-90 does not allow, or is too much.
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
  /// A URL, an event's id, a job, or the text itself.
  public var data: String
  /// `url`, `event`, `job` or `text`. Of `job` the data is the `id` or `key` of a job here, whose result is then waited
  /// for, or the id of anybody's request event.
  public var type: String
  /// Where the event or job was published.
  public var relay: String?
  /// What it is for.
  public var marker: String?

  /// An input.
  public init(data: String, type: String, relay: String? = nil, marker: String? = nil) {
    self.data = data
    self.type = type
    self.relay = relay
    self.marker = marker
  }
}

/// Seconds that each phase of a job may last; as configured where nothing is said. What follows stands at each.
public struct JobDeadlines: Codable, Sendable, Hashable {
  /// Until a relay has a request, or the store here one that stays here. Then: expired.
  public var publish: Int64?
  /// From there to the first sign of a provider. Then: a new request, the next provider, or expired.
  public var answer: Int64?
  /// From a provider's last sign to its result. Then: a new request, the next provider, or expired.
  public var result: Int64?
  /// For a decision about a payment that is asked for. Then: as denied.
  public var decision: Int64?
  /// From a payment to the result. Then: expired, paid and undelivered.
  public var delivery: Int64?
  /// For all of it.
  public var total: Int64?

  /// Longest of any, in seconds.
  public static let maximum: Int64 = 30 * 86_400

  /// As configured.
  public init() {}

  /// One that is no time.
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
