internal import Cryptography

/// Writes the parts of a ``PushMessage``.
struct PushMessageWriter {
  /// The form of the wake's fields.
  enum Content {
    /// The fields that the settings allow.
    case clear
    /// A sealed message, in base64.
    case sealed(String)
  }

  let wake: Wake
  let wakeClass: WakeClass
  let settings: PushMessageSettings

  // MARK: The wake

  /// All fields, as an object.
  private var fields: [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("wake_type", wake.type)
      if let topic = wake.topic { object.member("class", topic.rawValue) }
      object.member("wake_id", Hexadecimal.text(of: wake.id))
      if let sender = wake.sender {
        object.member("sender_pubkey", sender.name)
        if !wake.nonce.isEmpty { object.member("nonce", Hexadecimal.text(of: wake.nonce)) }
      }
      if let payload = wake.payload, !payload.isEmpty { object.member("payload", Base64.encode(payload)) }
    }
    return writer.bytes
  }

  /// The object with the wake's data that the platform can read.
  private func visible(_ content: Content) -> [UInt8] {
    var writer = JSONWriter()
    switch content {
    case .sealed(let text): writer.object { $0.member("sealed", text) }
    case .clear where settings.disclosure == .clear: return fields
    case .clear: writer.object { $0.member("wake_id", Hexadecimal.text(of: wake.id)) }
    }
    return writer.bytes
  }

  /// The maximum size of a sealed message, in bytes: the room of the push without it, in base64.
  func sealedRoom(on platform: PushPlatform) -> Int {
    let empty = visible(.sealed(""))
    let left =
      switch platform {
      case .ios: PushMessage.byteCountMaximum - appleText(.sealed("")).count
      case .android: PushMessage.byteCountMaximum - empty.count
      case .webPush: PushMessage.webByteCountMaximum - empty.count
      }
    return left / 4 * 3
  }

  /// The collapse id. Its text may name the type. Where the platform is to learn nothing, it receives a value derived
  /// from the text instead, which is the same only for this device.
  func collapseID(for device: PushDevice) -> String? {
    guard var text = wakeClass.collapseID else { return nil }
    if let topic = wake.topic { text += "-\(topic.rawValue)" }
    if device.sealingKey == nil, settings.disclosure == .clear, device.token.platform != .webPush { return text }
    let digest = SHA256.hash(Array("roost push-relay collapse \(device.relayID) \(text)".utf8))
    return Hexadecimal.text(of: digest.bytes[..<16])
  }

  // MARK: APNs

  func appleHeaders(id: String, collapseID: String?) -> [PushHeader] {
    var headers = [
      PushHeader("apns-topic", settings.topic), PushHeader("apns-push-type", wakeClass.pushType.rawValue),
      PushHeader("apns-priority", String(wakeClass.applePriority.rawValue)),
      PushHeader("apns-expiration", String((wake.expiresAt + 999) / 1_000)), PushHeader("apns-id", id),
    ]
    if let collapseID { headers.append(PushHeader("apns-collapse-id", collapseID)) }
    return headers
  }

  func appleBody(_ content: Content) throws(PushMessageFault) -> [UInt8] {
    let body = appleText(content)
    guard body.count <= PushMessage.byteCountMaximum else { throw .tooLarge(platform: .ios) }
    return body
  }

  private func appleText(_ content: Content) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { object in
      object.member("aps") { aps in
        switch wakeClass.presentation {
        case .silent: aps.member("content-available", 1)
        case .genericAlert(let title, let body): aps.member("alert") { Self.words(title, body, &$0) }
        case .mutableAlert(let title, let body):
          aps.member("alert") { Self.words(title, body, &$0) }
          aps.member("mutable-content", 1)
        }
      }
      object.members(of: visible(content))
    }
    return writer.bytes
  }

  private static func words(_ title: String, _ body: String, _ alert: inout JSONWriter) {
    alert.member("title", title)
    if !body.isEmpty { alert.member("body", body) }
  }

  // MARK: FCM

  func googleBody(
    _ content: Content, token: String, collapseID: String?, seconds: Int64
  ) throws(PushMessageFault) -> [UInt8] {
    let data = visible(content)
    guard data.count <= PushMessage.byteCountMaximum else { throw .tooLarge(platform: .android) }
    var writer = JSONWriter()
    writer.object { object in
      object.member("message") { message in
        message.member("token", token)
        message.member("data", json: data)
        message.member("android") { android in
          android.member("priority", wakeClass.googlePriority.rawValue)
          android.member("ttl", "\(seconds)s")
          if let collapseID { android.member("collapse_key", collapseID) }
        }
      }
    }
    return writer.bytes
  }

  // MARK: Web Push

  func webHeaders(collapseID: String?, seconds: Int64) -> [PushHeader] {
    var headers = [
      PushHeader("ttl", String(seconds)),
      PushHeader("urgency", wakeClass.googlePriority == .high ? "high" : "normal"),
      PushHeader("content-encoding", "aes128gcm"), PushHeader("content-type", "application/octet-stream"),
    ]
    if let collapseID { headers.append(PushHeader("topic", collapseID)) }
    return headers
  }

  /// White space after an object is valid JSON, so a reader need not handle the padding.
  func webBody(_ content: Content) throws(PushMessageFault) -> [UInt8] {
    var body = fields
    if case .sealed = content { body = visible(content) }
    guard let size = PushMessage.webSizes.first(where: { body.count <= $0 }) else {
      throw .tooLarge(platform: .webPush)
    }
    body.append(contentsOf: repeatElement(UInt8(ascii: " "), count: size - body.count))
    return body
  }
}
