// Fuzz entry for the first bytes of a client's connection: the head of an HTTP request, and what an upgrade makes of
// it. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: uv wslay z
// corpus: requests
// longest: 20000
//
// The input is a stream. It is read twice, whole and in pieces whose sizes follow from the input. Both must come to the
// same end: the same head at the same byte, or a refusal of the same status. A head that is taken has nothing in it
// that a proper one may not have, and is written again and read as the same. The 101 that answers it is one head.
import Glibc

@testable import WebSocket

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTPRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let stream = UnsafeRawBufferPointer(start: start, count: count)
  let whole = read(stream) { _ in count }
  var state = stream.reduce(UInt64(count)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  let parts = read(stream) { rest in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return min(rest, 1 + Int(truncatingIfNeeded: state >> 33) % (state >> 62 == 0 ? 200 : 11))
  }
  precondition(whole == parts, "a head reads the same at every split")
  guard let head = whole.head else { return 0 }
  check(head)
  accept(head)
  return 0
}

private struct Outcome: Equatable {
  var usedByteCount = 0
  var head: HTTPRequestHead?
  var status: Int?
}

private func read(_ stream: UnsafeRawBufferPointer, piece: (Int) -> Int) -> Outcome {
  var reader = HTTPRequestReader()
  var outcome = Outcome()
  do throws(HTTPRequestRefusal) {
    while outcome.usedByteCount < stream.count, outcome.head == nil {
      let rest = stream[outcome.usedByteCount...]
      let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(piece(rest.count)))
      let (used, head) = try reader.receive(bytes)
      precondition(used <= bytes.count && (head != nil || used == bytes.count), "an open head takes every byte")
      outcome.usedByteCount += used
      outcome.head = head
    }
    precondition(outcome.usedByteCount <= HTTPRequestReader.headByteCountMaximum, "a head is bounded")
  } catch {
    let words = error.description.unicodeScalars
    precondition(words.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a refusal is one line")
    outcome = Outcome(status: error.status)
    checkAnswer(HTTPAnswer(error).bytes())
  }
  return outcome
}

private func check(_ head: HTTPRequestHead) {
  precondition(head.fields.count <= HTTPRequestReader.fieldCountMaximum, "fields are bounded")
  precondition(head.path.hasPrefix("/") || head.path == "*" && head.method == "OPTIONS", "a path is a path")
  precondition(head.path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a path has no control characters")
  precondition(head.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a target is visible")
  precondition(head.values(of: "host").count == 1 || head.minorVersion == 0, "there is one host")
  precondition(head.values(of: "transfer-encoding").isEmpty, "there is no body")
  precondition(HTTPText.isHost(head.host) && !head.hostName.contains("["), "a host is a host")
  var text = "\(head.method) \(head.target) HTTP/1.\(head.minorVersion)\r\n"
  for field in head.fields {
    precondition(field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }, "a value is one line")
    text += "\(field.name):\(field.value)\r\n"
  }
  // What is no UTF-8 becomes longer when it is written.
  guard text.utf8.count + 2 <= HTTPRequestReader.headByteCountMaximum else { return }
  let again = Array((text + "\r\n").utf8).withUnsafeBytes { bytes in read(bytes) { _ in bytes.count } }
  precondition(again.head == head, "a head that is written reads as the same")
}

private func accept(_ head: HTTPRequestHead) {
  do throws(HTTPRequestRefusal) {
    let acceptance = try UpgradeAcceptance(head, fields: head.fields, allowsCompression: true)
    checkAnswer(acceptance.response)
    let bits = acceptance.compression?.sendingWindowBits ?? 15
    precondition((8...15).contains(bits), "a window has 8 to 15 bits")
  } catch {
    checkAnswer(HTTPAnswer(error).bytes(isHead: true))
  }
}

/// An answer is one head, and maybe a body; nothing of the client's makes a line.
private func checkAnswer(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  precondition(text.hasPrefix("HTTP/1.1 ") && text.contains("\r\n\r\n"), "an answer has a head")
  for (index, byte) in bytes.enumerated() where byte == 0x0D {
    precondition(index + 1 < bytes.count && bytes[index + 1] == 0x0A, "no line ends by itself")
  }
}
