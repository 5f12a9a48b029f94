// Fuzz entry for what a relay may send: its messages, the JSON in them, and the addresses of other relays.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: relay-messages
//
// The input is the text of one message. Whatever is accepted names ranges that lie inside it; the range of an event is
// one value, read alone as it was read inside; a text read out of it, written again and read again, is the same. The
// input is read as an address as well, and as raw filters and a raw event as an application gives them: what is
// accepted is canonical already, or becomes so once.
import Addresses
import JSON
import Nostr

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRelayMessage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  readMessage(bytes)
  readValue(bytes)
  readString(bytes)
  readGlance(bytes)
  readAddress(bytes)
  readFromApplication(Array(bytes))
  return 0
}

private func check(_ fault: JSONFault, in bytes: UnsafeRawBufferPointer) {
  precondition(0...bytes.count ~= fault.byteOffset, "a fault is inside the text")
}

private func readMessage(_ bytes: UnsafeRawBufferPointer) {
  do throws(RelayMessageFault) {
    let message = try RelayMessage(bytes)
    switch message {
    case .event(let subscription, let event):
      checkValue(UnsafeRawBufferPointer(rebasing: bytes[event]))
      precondition(bytes[event.lowerBound] == UInt8(ascii: "{"), "an event is an object")
      checkMessage("EVENT", subscription, String(decoding: bytes[event], as: UTF8.self)) { read, text in
        guard case .event(subscription, let range) = read else { return false }
        return text[range].elementsEqual(Array(String(decoding: bytes[event], as: UTF8.self).utf8))
      }
    case .count(let subscription, let count, let isApproximate, let body):
      checkValue(UnsafeRawBufferPointer(rebasing: bytes[body]))
      checkMessage("COUNT", subscription, String(decoding: bytes[body], as: UTF8.self)) { read, _ in
        guard case .count(subscription, count, isApproximate, _) = read else { return false }
        return true
      }
    case .closed(let subscription, let reason):
      precondition(reason.text.utf8.count <= RelayReason.byteCountMaximum, "a reason is bounded")
      checkMessage("CLOSED", subscription, quoted(reason.text)) { read, _ in read == message }
    case .ok(let id, let isAccepted, let reason):
      let rest = "\(isAccepted),\(quoted(reason.text))"
      checkMessage("OK", id?.description ?? "", rest) { read, _ in read == message }
    case .notice(let reason): checkMessage("NOTICE", reason.text, nil) { read, _ in read == message }
    case .authentication(let challenge): checkMessage("AUTH", challenge, nil) { read, _ in read == message }
    case .endOfStoredEvents(let subscription, _):
      precondition(subscription.utf8.count <= 3 * RelayMessage.subscriptionByteCountMaximum, "an id is bounded")
    case .reconciliation(let subscription, let message):
      precondition(subscription.utf8.count <= 3 * RelayMessage.subscriptionByteCountMaximum, "an id is bounded")
      precondition(message.count <= bytes.count / 2, "two digits are a byte")
    case .reconciliationRefused(let subscription, let reason, _):
      precondition(subscription.utf8.count <= 3 * RelayMessage.subscriptionByteCountMaximum, "an id is bounded")
      precondition(reason.text.utf8.count <= RelayReason.byteCountMaximum, "a reason is bounded")
    case .unknown: break
    }
  } catch {
    check(error.fault, in: bytes)
    precondition(!"\(error)".isEmpty, "a fault says what it is")
  }
}

private func quoted(_ text: String) -> String {
  var json: [UInt8] = []
  JSONString.append(text, to: &json)
  return String(decoding: json, as: UTF8.self)
}

/// A message written out of what was read must be read as the same.
private func checkMessage(
  _ label: String, _ first: String, _ rest: String?, isSame: (RelayMessage, UnsafeRawBufferPointer) -> Bool
) {
  // A subscription may be longer once broken UTF-8 in it has been replaced.
  if first.utf8.count > RelayMessage.subscriptionByteCountMaximum && rest != nil { return }
  let text = "[\(quoted(label)),\(quoted(first))\(rest.map { ",\($0)" } ?? "")]"
  Array(text.utf8).withUnsafeBytes { bytes in
    do throws(RelayMessageFault) {
      let read = try RelayMessage(bytes)
      precondition(isSame(read, bytes), "a message is read as it is written: \(text)")
    } catch {
      preconditionFailure("a message written out is refused: \(error)")
    }
  }
}

private func readValue(_ bytes: UnsafeRawBufferPointer) {
  var scanner = JSONScanner(bytes)
  do throws(JSONFault) {
    let range = try scanner.skipValue()
    precondition(range.upperBound == scanner.position && range.upperBound <= bytes.count, "a value is inside the text")
    checkValue(UnsafeRawBufferPointer(rebasing: bytes[range]))
  } catch {
    check(error, in: bytes)
  }
}

/// A value that was stepped over is one value, wherever it stands.
private func checkValue(_ value: UnsafeRawBufferPointer) {
  var scanner = JSONScanner(value)
  do throws(JSONFault) {
    let range = try scanner.skipValue()
    precondition(range == 0..<value.count, "a value alone is the same value")
    try scanner.expectEnd()
  } catch {
    preconditionFailure("a value that was accepted is refused alone: \(error)")
  }
}

private func readString(_ bytes: UnsafeRawBufferPointer) {
  var scanner = JSONScanner(bytes)
  do throws(JSONFault) {
    let string = try scanner.scanString()
    let value = string.string(in: bytes)
    var strict: [UInt8] = []
    do throws(JSONFault) {
      try string.unescape(in: bytes, into: &strict, loneSurrogates: .refused)
      precondition(String(decoding: strict, as: UTF8.self) == value, "both ways of reading a string agree")
    } catch {
      precondition(error.problem == .loneSurrogate, "a scanned string holds no other fault")
    }
    var json: [UInt8] = []
    JSONString.append(value, to: &json)
    precondition(wholeString(json) == value, "a string written out is read as it was")
  } catch {
    check(error, in: bytes)
  }
}

/// The value of a text that is one string.
private func wholeString(_ json: [UInt8]) -> String? {
  json.withUnsafeBytes { bytes in
    var scanner = JSONScanner(bytes)
    do throws(JSONFault) {
      let string = try scanner.scanString()
      try scanner.expectEnd()
      return string.string(in: bytes)
    } catch {
      return nil
    }
  }
}

private func readGlance(_ bytes: UnsafeRawBufferPointer) {
  do throws(EventGlanceFault) {
    let glance = try EventGlance(bytes)
    let text = "{\"kind\":\(glance.kind),\"id\":\"\(glance.id)\"}"
    Array(text.utf8).withUnsafeBytes { bytes in
      precondition((try? EventGlance(bytes)) == glance, "an event is glanced at the same way twice")
    }
    checkTrimmed(bytes)
  } catch {
    if case .notJSON(let fault) = error { check(fault, in: bytes) }
  }
}

/// What is taken for an event is one JSON value with white space around.
private func checkTrimmed(_ bytes: UnsafeRawBufferPointer) {
  var scanner = JSONScanner(bytes)
  do throws(JSONFault) {
    _ = try scanner.skipValue()
    try scanner.expectEnd()
  } catch {
    preconditionFailure("an event is no JSON: \(error)")
  }
}

private func readAddress(_ bytes: UnsafeRawBufferPointer) {
  let text = String(decoding: bytes, as: UTF8.self)
  do throws(RelayURLFault) {
    let url = try RelayURL(text)
    precondition(url.text.utf8.count <= 2 * RelayURL.byteCountMaximum, "an address is bounded")
    precondition(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address is printable ASCII")
    precondition(url.requestTarget.hasPrefix("/"), "a request has a target")
    let again = try RelayURL(url.text)
    precondition(
      again.text == url.text && again.host == url.host && again.port == url.port
        && again.requestTarget == url.requestTarget && again.isSecure == url.isSecure,
      "the canonical spelling \(url.text) of \(text) is canonical, not \(again.text)")
  } catch {
    precondition(!error.description.isEmpty, "a refusal says why")
    precondition(error.address.count <= 80, "a refusal is short")
    let isCanonical = (try? RelayURL(text)) != nil
    precondition(!isCanonical, "an address is refused twice, or its canonical spelling was refused: \(error)")
  }
}

private func readFromApplication(_ bytes: [UInt8]) {
  do throws(JSONFault) {
    let filters = try RawFilters(json: bytes)
    precondition(1...RawFilters.countMaximum ~= filters.count, "filters are counted")
    let again = try RawFilters(json: [UInt8(ascii: "[")] + filters.bytes + [UInt8(ascii: "]")])
    precondition(again == filters, "filters are read as they are written")
  } catch {
    precondition(0...bytes.count + 2 ~= error.byteOffset, "a fault is inside the text")
  }
}
