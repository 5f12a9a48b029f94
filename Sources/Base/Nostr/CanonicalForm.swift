internal import Cryptography
internal import JSON

// What an event's id is the hash of:
//
//     [0,"<pubkey>",<created_at>,<kind>,<tags>,"<content>"]
//
// without white space, with strings escaped in one way only (NIP-01). The text of nearly all events is already in this
// form, which is then assembled from slices of the text. The others are written again, string by string.
//
// Control characters: NIP-01 names seven escapes and requires "all other characters" verbatim. The other control
// characters, verbatim, would not be JSON. All implementations that were examined write them as `\u0001`, and so does
// this one. U+007F is not a control character in JSON and stays verbatim.

extension ScannedEvent {
  /// Appends the canonical form to `form`.
  ///
  /// - Parameters:
  ///   - form: receives the canonical form.
  ///   - bytes: the text this event was read from.
  public func appendCanonicalForm(of bytes: UnsafeRawBufferPointer, to form: inout [UInt8]) {
    CanonicalForm.begin(pubkey: pubkey, createdAt: createdAt, kind: kind, &form)
    if isCanonical {
      form.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[tags]))
      form.append(UInt8(ascii: ","))
      // With the quotes around it.
      let quoted = (content.content.lowerBound - 1)..<(content.content.upperBound + 1)
      form.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[quoted]))
    } else {
      var scratch: [UInt8] = []
      appendTags(of: bytes, to: &form, &scratch)
      form.append(UInt8(ascii: ","))
      CanonicalForm.append(content, of: bytes, to: &form, &scratch)
    }
    form.append(UInt8(ascii: "]"))
  }

  /// Appends the event as JSON with the seven keys of NIP-01 in their usual order, strings in canonical form, without
  /// white space: the form that is stored and passed on when ``isCompact`` is false.
  public func appendCompactForm(of bytes: UnsafeRawBufferPointer, to json: inout [UInt8]) {
    var scratch: [UInt8] = []
    json.append(
      contentsOf: "{\"id\":\"\(id)\",\"pubkey\":\"\(pubkey)\",\"created_at\":\(createdAt),\"kind\":\(kind),".utf8)
    json.append(contentsOf: "\"tags\":".utf8)
    appendTags(of: bytes, to: &json, &scratch)
    json.append(contentsOf: ",\"content\":".utf8)
    CanonicalForm.append(content, of: bytes, to: &json, &scratch)
    json.append(contentsOf: ",\"sig\":\"".utf8)
    json.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[signatureDigits]))
    json.append(contentsOf: "\"}".utf8)
  }

  private func appendTags(of bytes: UnsafeRawBufferPointer, to form: inout [UInt8], _ scratch: inout [UInt8]) {
    form.append(UInt8(ascii: "["))
    var reader = TagReader(self, in: bytes)
    var isFirstTag = true
    while reader.nextTag() {
      form.append(contentsOf: isFirstTag ? [UInt8(ascii: "[")] : [UInt8(ascii: ","), UInt8(ascii: "[")])
      isFirstTag = false
      var isFirst = true
      while let text = reader.nextString() {
        if !isFirst { form.append(UInt8(ascii: ",")) }
        isFirst = false
        CanonicalForm.append(text, of: bytes, to: &form, &scratch)
      }
      form.append(UInt8(ascii: "]"))
    }
    form.append(UInt8(ascii: "]"))
  }
}

enum CanonicalForm {
  /// `[0,"<pubkey>",<created_at>,<kind>,`
  static func begin(pubkey: PublicKey, createdAt: Int64, kind: UInt16, _ form: inout [UInt8]) {
    form.append(contentsOf: [UInt8(ascii: "["), UInt8(ascii: "0"), UInt8(ascii: ","), UInt8(ascii: "\"")])
    pubkey.octets.appendHexadecimal(to: &form)
    form.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ",")])
    appendDecimal(UInt64(createdAt), to: &form)
    form.append(UInt8(ascii: ","))
    appendDecimal(UInt64(kind), to: &form)
    form.append(UInt8(ascii: ","))
  }

  /// A string of the text in canonical form, with its quotes.
  static func append(
    _ text: JSONString, of bytes: UnsafeRawBufferPointer, to form: inout [UInt8], _ scratch: inout [UInt8]
  ) {
    scratch.removeAll(keepingCapacity: true)
    do {
      try text.unescape(in: bytes, into: &scratch, loneSurrogates: .refused)
    } catch {
      preconditionFailure("a scanned event has no lone surrogate and no unknown escape: \(error)")
    }
    JSONString.append(utf8: scratch, to: &form)
  }

  /// Tags as JSON without white space, in canonical form.
  static func append(_ tags: [[String]], to form: inout [UInt8]) {
    // A long list has tags of a key of 64 digits each.
    form.reserveCapacity(form.count + 80 * tags.count)
    form.append(UInt8(ascii: "["))
    for (index, tag) in tags.enumerated() {
      if index > 0 { form.append(UInt8(ascii: ",")) }
      form.append(UInt8(ascii: "["))
      for (index, text) in tag.enumerated() {
        if index > 0 { form.append(UInt8(ascii: ",")) }
        JSONString.append(text, to: &form)
      }
      form.append(UInt8(ascii: "]"))
    }
    form.append(UInt8(ascii: "]"))
  }

  private static func appendDecimal(_ number: UInt64, to form: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = number
      var start = digits.count
      repeat {
        start -= 1
        digits[start] = 0x30 + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      form.append(contentsOf: digits[start...])
    }
  }
}
