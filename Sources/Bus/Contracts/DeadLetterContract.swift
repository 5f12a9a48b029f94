// Dead letters: messages that killed each worker that received them. `supervisor.dead-letters`, and the file of each.

/// `supervisor.dead-letters`.
public struct DeadLettersRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"action":"show","id":"…"}"#

  /// `list`, `show`, `retry` or `drop`.
  public var action: String
  /// The dead letter, for all actions but `list`; `drop` also takes `all`.
  public var id: String?
  /// A request.
  public init(action: String, id: String? = nil) {
    self.action = action
    self.id = id
  }
}

/// The answer to ``DeadLettersRequest``.
public struct DeadLettersResult: Codable, Sendable {
  /// For `list` all dead letters (their payloads may be left out), for `show` one, for the other actions those that
  /// they changed.
  public var letters: [DeadLetterRecord]
  /// What was done, for `retry` and `drop`.
  public var sentence: String?
  /// For `retry`: the terminal answer of the worker, as text if it is UTF-8, else base64.
  public var answer: String?
  /// Whether ``answer`` is base64; absent = no.
  public var isAnswerBase64: Bool?

  /// A result.
  public init(
    letters: [DeadLetterRecord], sentence: String? = nil, answer: String? = nil, isAnswerBase64: Bool? = nil
  ) {
    self.letters = letters
    self.sentence = sentence
    self.answer = answer
    self.isAnswerBase64 = isAnswerBase64
  }
}

/// A dead letter as it is kept in its file and shown to people.
public struct DeadLetterRecord: Codable, Sendable {
  /// Its id among the dead letters.
  public var id: String
  /// When it was last set aside; RFC 3339.
  public var time: String
  /// The worker that it was sent to.
  public var worker: String
  /// The method, by name.
  public var method: String
  /// The caller that sent it.
  public var sender: String
  /// How many times it was delivered.
  public var deliveries: UInt16
  /// The trace number, in hexadecimal.
  public var trace: String
  /// Whether the payload is raw bytes.
  public var isRaw: Bool
  /// The payload: text if it is UTF-8, else base64 (see `isBase64`). Left out when it is empty, and in a list.
  public var payload: String
  /// Whether `payload` is base64. Left out when `payload` is.
  public var isBase64: Bool

  /// A record.
  public init(
    id: String, time: String, worker: String, method: String, sender: String, deliveries: UInt16, trace: String,
    isRaw: Bool, payload: String, isBase64: Bool
  ) {
    self.id = id
    self.time = time
    self.worker = worker
    self.method = method
    self.sender = sender
    self.deliveries = deliveries
    self.trace = trace
    self.isRaw = isRaw
    self.payload = payload
    self.isBase64 = isBase64
  }
  private enum CodingKeys: CodingKey {
    case id, time, worker, method, sender, deliveries, trace, isRaw, payload, isBase64
  }

  /// Reads a record; a missing payload is read as an empty one.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(String.self, forKey: .id)
    time = try fields.decode(String.self, forKey: .time)
    worker = try fields.decode(String.self, forKey: .worker)
    method = try fields.decode(String.self, forKey: .method)
    sender = try fields.decode(String.self, forKey: .sender)
    deliveries = try fields.decode(UInt16.self, forKey: .deliveries)
    trace = try fields.decode(String.self, forKey: .trace)
    isRaw = try fields.decode(Bool.self, forKey: .isRaw)
    payload = try fields.decodeIfPresent(String.self, forKey: .payload) ?? ""
    isBase64 = try fields.decodeIfPresent(Bool.self, forKey: .isBase64) ?? false
  }

  /// Writes the record. An empty payload is left out: in a list, payloads are omitted, and must not look like empty
  /// messages.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(time, forKey: .time)
    try fields.encode(worker, forKey: .worker)
    try fields.encode(method, forKey: .method)
    try fields.encode(sender, forKey: .sender)
    try fields.encode(deliveries, forKey: .deliveries)
    try fields.encode(trace, forKey: .trace)
    try fields.encode(isRaw, forKey: .isRaw)
    guard !payload.isEmpty else { return }
    try fields.encode(payload, forKey: .payload)
    try fields.encode(isBase64, forKey: .isBase64)
  }
}
