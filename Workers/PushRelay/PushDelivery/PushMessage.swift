public import Cryptography

// The bytes that a platform receives for one wake and one device.
//
// The fields of a wake, in the order in which clients read them; all values are strings:
//
//     {"wake_type":"noise_connect","wake_id":"<32 hex>","sender_pubkey":"<z-base-32, or hex for Nostr>",
//      "nonce":"<hex>","payload":"<base64>"}
//
// `sender_pubkey` and `nonce` are left out without a sender, `payload` without a payload. A wake for an event of Nostr
// has `"class":"mention"` after its type (`WakeTopic`), and nothing else about the event. There are three forms:
//
//     clear         the fields, as older clients need them: Apple and Google learn who wakes whom
//     content-free  {"wake_id":"…"} and nothing else: the app fetches the rest elsewhere. Not for the proof of a token
//     sealed        {"sealed":"<base64>"}, for each device that registered a key, whatever the setting: `SealedMessage`
//
// APNs:      POST /3/device/<hex>                       {"aps":{…}, the fields}                  at most 4,096 bytes
// FCM:       POST /v1/projects/<project>/messages:send  {"message":{"token","data","android"}}   `data` at most 4,096
// Web Push:  POST the endpoint                          the fields, encrypted to the browser     at most 3,993 before
//
// Web Push itself encrypts (RFC 8291), so its fields are always complete, and are padded with blanks to fixed lengths.
// The sender adds `authorization`. The bytes are the same for every attempt, except for the seconds that are left.

/// One header of a request; the name in lower case, as HTTP/2 requires.
public struct PushHeader: Hashable, Sendable {
  /// Such as `apns-topic`.
  public var name: String
  /// Its value.
  public var value: String

  /// A header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The settings that apply to all pushes of this relay.
public struct PushMessageSettings: Hashable, Sendable {
  /// What platforms can see of a wake.
  public enum Disclosure: String, Hashable, Sendable, CaseIterable, Codable {
    /// The fields, in clear.
    case clear
    /// Only the wake's id.
    case contentFree = "content-free"
  }

  /// The app's bundle id, for `apns-topic`.
  public var topic: String
  /// The Firebase project.
  public var project: String
  /// For devices that registered no key to seal to.
  public var disclosure: Disclosure

  /// Settings.
  public init(topic: String, project: String, disclosure: Disclosure = .clear) {
    self.topic = topic
    self.project = project
    self.disclosure = disclosure
  }

  /// The same for the proof that a token belongs to its owner: the code is sent in clear whatever the setting, because
  /// the proof needs it. It contains nothing about any person, and is useful only with the token.
  public var forChallenges: PushMessageSettings {
    PushMessageSettings(topic: topic, project: project, disclosure: .clear)
  }
}

/// Why no message can be made for a device.
public enum PushMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than the platform accepts.
  case tooLarge(platform: PushPlatform)
  /// The device's own key is invalid: nothing can be sealed or encrypted to it.
  case badKey

  /// A sentence without any data of the wake or the device.
  public var description: String {
    switch self {
    case .tooLarge(let platform): "the message is larger than \(platform.rawValue) takes"
    case .badKey: "the device registered a key that nothing can be sealed to"
    }
  }
}

/// A request to a platform, without its authorisation.
public struct PushMessage: Hashable, Sendable {
  /// The keys that a Web Push body is encrypted to.
  public struct Encryption: Hashable, Sendable {
    /// `p256dh`, 65 bytes.
    public let publicKey: [UInt8]
    /// `auth`, 16 bytes.
    public let authentication: [UInt8]
  }

  /// The provider that receives it.
  public let provider: PushProvider
  /// The path for APNs and FCM, the whole URL for Web Push. It contains the device's token, or leads to it: not for
  /// logs.
  public let target: String
  /// The headers, in this order.
  public let headers: [PushHeader]
  /// The body; with ``encryption``, before it is encrypted.
  public let body: [UInt8]
  /// The keys that the body must be encrypted to (`aes128gcm`) before it is sent.
  public let encryption: Encryption?

  /// The maximum size of an APNs body, and of `data` for FCM.
  public static let byteCountMaximum = 4_096
  /// The contents of one record of `aes128gcm`, in bytes.
  public static let webByteCountMaximum = 3_993
  /// A payload of this size fits with any other fields. With the longest words of an alert, each byte of them escaped,
  /// and the longest of all other fields, 2,000 bytes are left in the smallest push; base64 adds a third.
  public static let certainPayloadByteCount = 1_024
  /// The lengths that the body of a Web Push is padded to.
  public static let webSizes = [512, 1_024, 2_048, 3_072, webByteCountMaximum]

  /// The request for one device.
  ///
  /// - Parameters:
  ///   - wake: the wake.
  ///   - device: the device.
  ///   - wakeClass: the class of the wake.
  ///   - settings: the relay's settings.
  ///   - unixMilliseconds: now, for the seconds that are left.
  ///   - ephemeral: makes an X25519 secret for this message; called only if the device has a key to seal to.
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

  /// Whether a wake fits for every kind of device, whichever devices its recipient has: the answer to a request must
  /// not reveal which devices are registered.
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

  /// The `apns-id`: the same for each attempt, so that a search for one push finds one.
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
