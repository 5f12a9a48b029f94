internal import Cryptography
internal import Frames

/// The device to forget: `DELETE /register` with `{"device_id":"…"}`, `{"relay_id":"…"}` or the same in the query, and
/// `POST /unregister`.
///
/// The clients in the field keep the `relay_id` "for later unregistration" and then send the `device_id`; a device may
/// have been registered without a name. So both are accepted, and an empty object means the devices without a name.
public enum DeviceSelection: Hashable, Sendable {
  /// The device with this name of its owner.
  case device(String)
  /// The device with this name of the relay: 32 lower-case hexadecimal digits.
  case relay(String)
  /// The devices that were registered without a name.
  case unnamed

  /// Reads a selection.
  ///
  /// - Parameters:
  ///   - target: the request's path, and its query, which may name a device if the body does not.
  ///   - bytes: the body, which was signed; no bytes count as `{}`.
  /// - Throws: `invalid_request`.
  public init(target: PushTarget, body bytes: [UInt8]) throws(PushRefusal) {
    let body = bytes.isEmpty ? RequestBody() : try RequestBody(bytes)
    try self.init(query: target.query, body: body)
  }

  /// The same, for a body that was already read.
  public init(query: String?, body: RequestBody) throws(PushRefusal) {
    let inBody = try Self.selection(deviceID: body.deviceID(), relayID: body.text("relay_id", byteCountMaximum: 64))
    guard let query else {
      self = inBody
      return
    }
    guard inBody == .unnamed else { throw .invalid("a device is named in the query and in the body: name it once") }
    self = try Self.selection(query: query)
  }

  private static func selection(deviceID: String?, relayID: String?) throws(PushRefusal) -> DeviceSelection {
    switch (deviceID, relayID) {
    case (nil, nil): return .unnamed
    case (let deviceID?, nil): return .device(deviceID)
    case (nil, let relayID?):
      guard relayID.utf8.count == 32, Hexadecimal.decode(relayID.utf8) != nil else {
        throw .invalid("'relay_id' is not what registering answered: 32 lower-case hexadecimal digits")
      }
      return .relay(relayID)
    default: throw .invalid("both 'device_id' and 'relay_id' are there: name one of them")
    }
  }

  /// Exactly one of `device_id=…` and `relay_id=…`, with `%XX` for bytes. A plus sign is a plus sign (RFC 3986).
  private static func selection(query: String) throws(PushRefusal) -> DeviceSelection {
    let parts = query.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let isOne = parts.count == 2 && !query.utf8.contains(UInt8(ascii: "&"))
    let name = parts.first.map { String(Substring($0)) }
    guard isOne, let name, let value = decoded(parts[1]) else {
      throw .invalid("the query is not device_id=… or relay_id=…, with %XX for what is no letter or digit")
    }
    switch name {
    case "device_id": return .device(try RequestBody.checked(deviceID: value))
    case "relay_id": return try selection(deviceID: nil, relayID: value)
    default: throw .invalid("the query names neither device_id nor relay_id")
    }
  }

  private static func decoded(_ text: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
      guard digits.utf8.count == 2, let value = Hexadecimal.decode(digits.utf8) else { return nil }
      bytes += value
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
