import RoostConfiguration
import Contracts
import FoundationEssentials
import Frames
import Logs
import MessageHub

// The supervisor's own answers keep to the frame limit of the caller: log lines come in as many parts as they need,
// what is shown of one thing is cut, and says so. What is too long all the same is refused by the hub like any worker's
// answer.
extension ControlService {
  /// Sends log lines as parts; false when the caller has no room for more now.
  func sendLines(_ call: HubCall, _ records: [LogRecord]) -> Bool {
    payloads(records, for: call).reduce(true) { hasRoom, payload in part(call, payload) && hasRoom }
  }

  /// Answers with log lines, in parts but for the last of them.
  func replyLines(_ call: HubCall, _ records: [LogRecord]) {
    var payloads = payloads(records, for: call)
    let last = payloads.popLast() ?? Array("[]".utf8)
    for payload in payloads { _ = part(call, payload) }
    reply(call, last)
  }

  /// Lists of records in JSON, each as long as the caller takes and ``LogStream/partMaximum`` allows.
  private func payloads(_ records: [LogRecord], for call: HubCall) -> [[UInt8]] {
    let maximum = payloadMaximum(for: call)
    var payloads: [[UInt8]] = []
    var payload: [UInt8] = []
    var count = 0
    for record in records {
      var bytes = JSONPayload.encode(record)
      if bytes.count + 2 > maximum { bytes = JSONPayload.encode(record.shortened(toByteCount: maximum / 8)) }
      if count == LogStream.partMaximum || count > 0 && payload.count + bytes.count + 2 > maximum {
        payloads.append(payload + [UInt8(ascii: "]")])
        payload = []
        count = 0
      }
      payload += [UInt8(ascii: count == 0 ? "[" : ",")] + bytes
      count += 1
    }
    if count > 0 { payloads.append(payload + [UInt8(ascii: "]")]) }
    return payloads
  }

  /// A letter as it fits into the caller's frames, and a sentence about where the rest is.
  func fitting(_ letter: DeadLetterRecord, for call: HubCall) -> DeadLettersResult {
    let maximum = payloadMaximum(for: call)
    let whole = DeadLettersResult(letters: [letter])
    guard JSONPayload.encode(whole).count > maximum else { return whole }
    var letter = letter
    letter.payload = letter.payload.shortened(toByteCount: maximum / 8)
    let file = "\(daemon.configuration.supervisor.stateDirectory)/dead-letters/\(letter.id).json"
    return DeadLettersResult(
      letters: [letter], sentence: "The payload is cut: it does not fit into a frame. All of it is in \(file).")
  }

  /// The answer to a letter that was tried again, with a result that says so; what does not fit is cut, and said.
  func fitting(_ result: DeadLettersResult, answer: [UInt8], for call: HubCall) -> DeadLettersResult {
    let maximum = payloadMaximum(for: call)
    var whole = result
    let text = String(validating: answer, as: UTF8.self)
    whole.answer = text ?? Data(answer).base64EncodedString()
    whole.isAnswerBase64 = text == nil ? true : nil
    guard JSONPayload.encode(whole).count > maximum else { return whole }
    whole.answer = whole.answer?.shortened(toByteCount: maximum / 8)
    whole.sentence = (result.sentence.map { $0 + " " } ?? "") + "The answer is cut: it does not fit into a frame."
    return whole
  }

  /// The list of letters, the newest of them if not all fit.
  func fitting(_ letters: [DeadLetterRecord], for call: HubCall) -> DeadLettersResult {
    let maximum = payloadMaximum(for: call)
    var shown = letters[...]
    while shown.count > 1, JSONPayload.encode(DeadLettersResult(letters: Array(shown))).count > maximum - 1_024 {
      shown = shown.suffix(shown.count / 2)
    }
    let isWhole = shown.count == letters.count
    return DeadLettersResult(
      letters: Array(shown),
      sentence: isWhole ? nil : "These are the newest \(shown.count) of \(letters.count); more do not fit into a frame."
    )
  }
}

extension LogRecord {
  /// The record with at most so many bytes of text; each may take up to six in JSON.
  func shortened(toByteCount maximum: Int) -> LogRecord {
    var record = self
    record.message = message.shortened(toByteCount: maximum)
    let rest = maximum - min(maximum, record.message.utf8.count)
    if let fields, fields.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) > rest { record.fields = nil }
    return record
  }
}

extension String {
  /// The text if it has at most so many bytes, else its beginning and an ellipsis.
  func shortened(toByteCount maximum: Int) -> String {
    guard utf8.count > maximum else { return self }
    return String(decoding: utf8.prefix(maximum), as: UTF8.self) + "…"
  }
}
