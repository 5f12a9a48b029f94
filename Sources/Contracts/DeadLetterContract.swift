// Messages that killed each worker they came to: `supervisor.dead-letters`, and the file of each.

/// `supervisor.dead-letters`.
public struct DeadLettersRequest: Codable, Sendable {
  /// `list`, `show`, `retry` or `drop`.
  public var action: String
  /// Which one, for all but `list`; `all` with `drop` takes every one.
  public var id: String?
  /// A request.
  public init(action: String, id: String? = nil) {
    self.action = action
    self.id = id
  }
}

/// The answer to ``DeadLettersRequest``.
public struct DeadLettersResult: Codable, Sendable {
  /// The letters asked for: all for `list` (their payloads may be left empty), one for `show`;
  /// those acted on for the others.
  public var letters: [DeadLetterRecord]
  /// What was done, for `retry` and `drop`.
  public var sentence: String?
  /// For `retry`: the end of the worker's answer, as text if it is UTF-8, else base64.
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

/// A quarantined message as kept in its file and told to people.
public struct DeadLetterRecord: Codable, Sendable {
  /// Its name among the dead letters.
  public var id: String
  /// When it was quarantined last; RFC 3339.
  public var time: String
  /// The worker it was for.
  public var worker: String
  /// The method, by name.
  public var method: String
  /// Who sent it.
  public var sender: String
  /// How often it was delivered.
  public var deliveries: UInt16
  /// The trace number, in hexadecimal.
  public var trace: String
  /// Whether the payload is raw bytes.
  public var isRaw: Bool
  /// The payload: text if it is UTF-8, else base64 (see `isBase64`).
  public var payload: String
  /// Whether `payload` is base64.
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
}
