internal import Cryptography
public import Nostr

// From an event to a fact. Whether an answer counts depends on the request and on the event alone, so it is decided
// here, once.

extension JobAnswerFact {
  /// Reads an answer to one of our requests.
  ///
  /// - Parameters:
  ///   - event: of kind 6000 to 7000; its signature was verified.
  ///   - request: our request, which the event names.
  ///   - limits: how much of it is kept.
  /// - Returns: nil if the event is not an answer.
  public init?(_ event: Event, to request: JobRequest, _ limits: TrackingLimits) {
    // `try?`: an event that is not an answer does not matter here.
    if event.kind == EventKind.jobFeedback {
      guard let feedback = try? JobFeedback(event) else { return nil }
      self.init(feedback.answer, feedback.content, to: request, limits)
    } else {
      guard let result = try? JobResult(event) else { return nil }
      self.init(result.answer, result.content, to: request, limits)
      if request.terms.isEncrypted, case .clear = result.content { objection = objection ?? .inClear }
      if case .broken = result.schemaVerdict { objection = objection ?? .badForm }
    }
    if sealed != nil { sealed = event.json }
    if !counts { dropWords() }
  }

  /// An answer that does not count is kept without its text, which would take the room of answers that count.
  private mutating func dropWords() {
    (content, isCut, remark, bill, sealed) = (nil, false, nil, nil, nil)
  }

  /// The answer after its decryption.
  public func opened(_ plaintext: String, request: JobRequest, _ limits: TrackingLimits) -> JobAnswerFact {
    // `try?`, here and below: what cannot be read is kept as unreadable.
    guard let sealed, let event = try? Event(json: sealed) else { return unreadable }
    var opened: JobAnswerFact
    if isResult {
      guard let result = try? JobResult(event).decrypted(plaintext) else { return unreadable }
      opened = JobAnswerFact(result.answer, result.content, to: request, limits)
      if case .broken = result.schemaVerdict { opened.objection = opened.objection ?? .badForm }
    } else {
      guard let feedback = try? JobFeedback(event).decrypted(plaintext) else { return unreadable }
      opened = JobAnswerFact(feedback.answer, feedback.content, to: request, limits)
    }
    opened.sealed = nil
    opened.isOpened = true
    if !opened.counts { opened.dropWords() }
    return opened
  }

  /// The answer if it cannot be decrypted: it is kept, and does not count.
  public var unreadable: JobAnswerFact {
    var fact = self
    fact.sealed = nil
    fact.isOpened = true
    fact.objection = .unreadable
    return fact
  }

  private init(_ answer: JobAnswer, _ content: JobContent, to request: JobRequest, _ limits: TrackingLimits) {
    self.init(
      event: answer.id, request: request.id, provider: answer.provider, kind: answer.kind, createdAt: answer.createdAt)
    if !isResult { status = answer.status }
    remark = answer.remark.map { Self.cut($0, limits.remarkByteCountMaximum).text }
    bill = answer.amount.map { asked in
      let isCut = asked.millisatoshis == nil && answer.diagnostics[.beyondLimit] > 0
      return JobBill(asked, isNumber: answer.diagnostics[.badAmount] == 0 && !isCut)
    }
    for (diagnostic, count) in answer.diagnostics.counts { diagnostics[diagnostic.rawValue] = count }
    objection = Self.objection(answer, request)
    if case .encrypted = content {
      sealed = []
    } else if let text = content.text {
      (self.content, isCut) = Self.cut(text, isResult ? limits.resultByteCountMaximum : limits.partialByteCountMaximum)
    }
  }

  private static func objection(_ answer: JobAnswer, _ request: JobRequest) -> Objection? {
    guard request.addresses(answer.provider) else { return .stranger }
    for contradiction in answer.contradictions(to: request) {
      switch contradiction {
      case .otherRequest, .otherRepeated: return .otherRequest
      case .otherKind: return .otherKind
      case .otherCustomer: return .otherCustomer
      }
    }
    return nil
  }

  /// A text, cut to at most this many bytes between two code points. It is not cut between two characters: one
  /// character can be as long as the whole text (a letter with endless marks), and only a walk through all of it would
  /// find where it begins.
  static func cut(_ text: String, _ byteCountMaximum: Int) -> (text: String, isCut: Bool) {
    guard text.utf8.count > byteCountMaximum else { return (text, false) }
    var end = text.utf8.index(text.startIndex, offsetBy: byteCountMaximum)
    while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return (String(text[..<end]), true)
  }
}
