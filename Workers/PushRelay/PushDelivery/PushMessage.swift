public import Cryptography

// The bytes a platform is sent for one wake and one device.
//
// The fields of a wake, as clients read them, in this order; all values are strings:
//
//     {"wake_type":"noise_connect","wake_id":"<32 hex>","sender_pubkey":"<z-base-32, or hex for Nostr>",
//      "nonce":"<hex>","payload":"<base64>"}
//
// `sender_pubkey` and `nonce` are left out where there is no sender, `payload` where there is none. A wake for an event
// of Nostr has `"class":"mention"` behind its type (`WakeTopic`), and nothing else of the event. Three forms:
//
//     clear         the fields, as older clients want them: Apple and Google learn who wakes whom
//     content-free  {"wake_id":"…"} and nothing else: the app asks elsewhere; but for the proof of a token
//     sealed        {"sealed":"<base64>"}, for each device that registered a key, whatever the setting: `SealedMessage`
//
// APNs:      POST /3/device/<hex>                       {"aps":{…}, the fields}                  at most 4,096 bytes
// FCM:       POST /v1/projects/<project>/messages:send  {"message":{"token","data","android"}}   `data` at most 4,096
// Web Push:  POST the endpoint                          the fields, encrypted to the browser     at most 3,993 before
//
// Web Push encrypts by itself (RFC 8291), so its fields are always all there, and are filled with blanks to fixed
// lengths. `authorization` is the sender's to add: these bytes are the same for every attempt, but for the seconds that
// are left.

/// One header of a request; the name in lower case, as HTTP/2 wants it.
public struct PushHeader: Hashable, Sendable {
  /// As `apns-topic`.
  public var name: String
  /// Its value.
  public var value: String

  /// A header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// What all pushes of this relay have in common.
public struct PushMessageSettings: Hashable, Sendable {
  /// What platforms are shown of a wake.
  public enum Disclosure: String, Hashable, Sendable, CaseIterable, Codable {
    /// The fields, in clear.
    case clear
    /// The wake's id, and nothing else.
    case contentFree = "content-free"
  }

  /// The app's bundle id, for `apns-topic`.
  public var topic: String
  /// The Firebase project.
  public var project: String
  /// For devices without a key to seal to.
  public var disclosure: Disclosure

  /// Settings.
  public init(topic: String, project: String, disclosure: Disclosure = .clear) {
    self.topic = topic
    self.project = project
    self.disclosure = disclosure
  }

  /// The same for what shows that a token is its owner's: the code is shown whatever the setting, since without it
  /// there is no proof. It says nothing of anybody, and is of use only to who has the token.
  public var forChallenges: PushMessageSettings {
    PushMessageSettings(topic: topic, project: project, disclosure: .clear)
  }
}

/// Why there is no message for a device.
public enum PushMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than the platform takes.
  case tooLarge(platform: PushPlatform)
  /// The device's own key is none: nothing can be sealed or encrypted to it.
  case badKey

  /// A sentence without anything of the wake or the device.
  public var description: String {
    switch self {
    case .tooLarge(let platform): "the message is larger than \(platform.rawValue) takes"
    case .badKey: "the device registered a key that nothing can be sealed to"
    }
  }
}

/// A request to a platform, all but its authorisation.
public struct PushMessage: Hashable, Sendable {
  /// What a Web Push body is encrypted to.
  public struct Encryption: Hashable, Sendable {
    /// `p256dh`, 65 bytes.
    public let publicKey: [UInt8]
    /// `auth`, 16 bytes.
    public let authentication: [UInt8]
  }

  /// Who takes it.
  public let provider: PushProvider
  /// The path for APNs and FCM, the whole URL for Web Push. It holds the device's token, or leads to it: not for logs.
  public let target: String
  /// In this order.
  public let headers: [PushHeader]
  /// The body; where ``encryption`` is set, before it is encrypted.
  public let body: [UInt8]
  /// Whom the body has to be encrypted to (`aes128gcm`) before it is sent.
  public let encryption: Encryption?

  /// What APNs takes as a body, and FCM as `data`.
  public static let byteCountMaximum = 4_096
  /// What one record of `aes128gcm` holds.
  public static let webByteCountMaximum = 3_993
  /// Bytes of a payload that fits whatever stands beside it. Beside the longest words of an alert, each byte of them
  /// escaped, and the longest of everything else, 2,000 bytes are left in the smallest of pushes; base64 takes a third.
  public static let certainPayloadByteCount = 1_024
  /// Lengths that the body of a Web Push is filled to.
  public static let webSizes = [512, 1_024, 2_048, 3_072, webByteCountMaximum]

  /// The request for one device.
  ///
  /// - Parameters:
  ///   - wake: what happened.
  ///   - device: who is told.
  ///   - wakeClass: how.
  ///   - settings: what all have in common.
  ///   - unixMilliseconds: now, for the seconds that are left.
  ///   - ephemeral: makes an X25519 secret for this message; asked only if the device has a key to seal to.
  /// - Throws: ``PushMessageFault``.
  public init(
    of wake: Wake, to device: PushDevice, as wakeClass: WakeClass, _ settings: PushMessageSettings,
    unixMilliseconds: Int64, ephemeral: () -> SecretMemory
  ) throws(PushMessageFault) {
    let writer = PushMessageWriter(wake: wake, wakeClass: wakeClass, settings: settings)
    var content = PushMessageWriter.Content.clear
    if let key = device.sealingKey {
      let platform = device.token.platform
      let room = writer.sealedRoom(on: platform)
      guard SealedMessage.byteCount(for: wake, within: room) != nil else { throw .tooLarge(platform: platform) }
      guard let sealed = SealedMessage.seal(wake, to: key, within: room, ephemeral: ephemeral()) else { throw .badKey }
      content = .sealed(Base64.encode(sealed))
    }
    provider = device.token.provider
    let collapseID = writer.collapseID(for: device)
    let seconds = max(1, (wake.expiresAt - unixMilliseconds + 999) / 1_000)
    switch device.token {
    case .apple(let token):
      target = "/3/device/" + Hexadecimal.text(of: token)
      headers = writer.appleHeaders(id: Self.id(of: wake, device: device.number), collapseID: collapseID)
      body = try writer.appleBody(content)
      encryption = nil
    case .google(let token):
      target = "/v1/projects/\(settings.project)/messages:send"
      headers = [PushHeader("content-type", "application/json")]
      body = try writer.googleBody(content, token: token, collapseID: collapseID, seconds: seconds)
      encryption = nil
    case .web(let endpoint, let publicKey, let authentication):
      target = endpoint
      headers = writer.webHeaders(collapseID: collapseID, seconds: seconds)
      body = try writer.webBody(content)
      encryption = Encryption(publicKey: publicKey, authentication: authentication)
    }
  }

  /// Whether a wake could be brought to every kind of device, whatever its recipient has: the answer to a request must
  /// not depend on who is registered.
  public static func fits(_ wake: Wake, as wakeClass: WakeClass, _ settings: PushMessageSettings) -> Bool {
    let byteCount = wake.payload?.count ?? 0
    guard byteCount <= Wake.payloadByteCountMaximum else { return false }
    if byteCount <= certainPayloadByteCount { return true }
    let writer = PushMessageWriter(wake: wake, wakeClass: wakeClass, settings: settings)
    do throws(PushMessageFault) {
      _ = try writer.appleBody(.clear)
      _ = try writer.googleBody(.clear, token: "", collapseID: nil, seconds: 1)
      _ = try writer.webBody(.clear)
    } catch { return false }
    return PushPlatform.allCases.allSatisfy {
      SealedMessage.byteCount(for: wake, within: writer.sealedRoom(on: $0)) != nil
    }
  }

  /// The `apns-id`: the same for each attempt, so that whoever looks for one push finds one.
  ///
  /// - Returns: a UUID of version 8 (RFC 9562), from SHA-256 over the wake's id and the device's number.
  public static func id(of wake: Wake, device: Int64) -> String {
    var bytes = Array("roost push-relay apns-id".utf8) + wake.id
    withUnsafeBytes(of: device.bigEndian) { bytes.append(contentsOf: $0) }
    var id = Array(SHA256.hash(bytes).bytes[..<16])
    id[6] = id[6] & 0x0F | 0x80
    id[8] = id[8] & 0x3F | 0x80
    let parts = [id[..<4], id[4..<6], id[6..<8], id[8..<10], id[10...]]
    return parts.map { Hexadecimal.text(of: $0) }.joined(separator: "-")
  }
}
