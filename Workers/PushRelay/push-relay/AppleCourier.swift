import Addresses
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import HTTP2Client
import LinuxSystem
import Logging
import PushDelivery
import PushLedger

/// What is needed to send to APNs.
struct AppleAccount: Sendable {
  /// The address of APNs.
  var origin: HTTP2Origin
  /// The key from Apple's site, and the identifiers of the key and of the team.
  var key: P256SecretKey
  var keyID: String
  var teamID: String

  /// What a token depends on. APNs refuses one that was signed with another key, or for another team: after a
  /// correction of the settings the relay must not wait 20 minutes for the next token.
  var signature: String { "\(keyID) \(teamID) \(SHA256.hash(key.publicKey))" }

  /// The settings that decide, with the topic, whether APNs accepts a push.
  var place: String { "\(origin) \(signature)" }

  /// The account in the settings; nil if APNs is off.
  init?(_ settings: PushSettings) throws(Refusal) {
    guard let file = PushSettings.file(settings.apnsKeyFile) else { return nil }
    guard let key = P256SecretKey(pem: try SecretFiles.text(file, what: "apns-key-file")) else {
      throw Refusal(.failed, "apns-key-file: \(file) holds no P-256 key in PEM; Apple's is called AuthKey_….p8")
    }
    self.key = key
    keyID = settings.apnsKeyID
    teamID = settings.apnsTeamID
    let standard =
      settings.apnsEnvironment == .sandbox ? "https://api.sandbox.push.apple.com" : "https://api.push.apple.com"
    origin = try PlainURL(settings.apnsURL, or: standard, setting: "apns-url").origin
  }
}

/// Posts to APNs, over one connection, with one token for all pushes (`AppleCredential`).
@EventLoopActor
final class AppleCourier: Courier {
  let account: AppleAccount
  private let sender: HTTP2Sender
  private let writer: PushWriter
  private let log: Logger
  private var credential: AppleCredential
  /// Raised when the credential has changed, for pushes that wait for a token.
  private let credentialChanged = Signal()
  /// Why there was no connection the last time, as it was logged.
  private(set) var trouble: String?

  /// The credential's name in the ledger.
  nonisolated static let credentialName = "apns"
  private static let answerMilliseconds: UInt64 = 15_000
  /// How long a push waits for a token that is being made and saved.
  private static let mintingMilliseconds: UInt64 = 5_000

  init(
    _ account: AppleAccount, kept: [UInt8]?, writer: PushWriter, log: Logger, trust: HTTP2Trust, on loop: HTTP2Loop
  ) throws(Refusal) {
    self.account = account
    self.writer = writer
    self.log = log
    // An unreadable credential counts as none: at worst one token more is made.
    let saved = kept.flatMap { try? JSONPayload.decode(AppleCredential.Kept.self, from: $0) }
    credential = AppleCredential(keyID: account.signature, kept: saved, at: .now)
    var settings = HTTP2SenderSettings()
    settings.startsCautiously = true
    do throws(HTTP2TrustFault) {
      sender = try HTTP2Sender(origin: account.origin, settings: settings, trust: trust, on: loop) { origin in
        await Self.addresses(of: origin)
      }
    } catch { throw Refusal(.failed, "ca-file: \(error)") }
  }

  func send(_ message: PushMessage) async -> PushVerdict {
    let token: String
    let serial: UInt64
    switch await authorisation() {
    case .success(let found): (token, serial) = found
    case .failure(let wait): return wait.verdict
    }
    let headers =
      [HTTP2Header("authorization", "bearer " + token)]
      + message.headers.map { HTTP2Header($0.name, $0.value, isRepeated: $0.name != "apns-id") }
    let request = HTTP2Request(
      method: "POST", path: message.target, headers: headers, body: message.body,
      timeoutMilliseconds: Self.answerMilliseconds)
    let outcome = await sender.send(request)
    tellTrouble(outcome)
    let verdict = Self.verdict(outcome)
    defer { credentialChanged.raise() }
    switch verdict {
    case .renewCredential(let reason): return credential.refused(serial: serial, reason, at: EventLoop.process.now)
    case .providerFault("TooManyProviderTokenUpdates"): await keep(credential.updatedTooOften(at: .now))
    case .delivered, .tokenDead, .tokenSuspect: credential.accepted(serial: serial)
    default: break
    }
    return verdict
  }

  /// Logs once why there is no connection: name lookup, firewall or authority, and not only that it failed.
  private func tellTrouble(_ outcome: HTTP2Outcome) {
    switch outcome {
    case .answered: trouble = nil
    case .notSent(.unreachable(let reason, _)), .unknown(.connectionLost(let reason)):
      let words = ConnectionTrouble.words("https://\(account.origin)", reason)
      guard words != trouble else { return }
      trouble = words
      log.warning("no connection to APNs", metadata: ["why": "\(words)"])
    default: break
    }
  }

  /// The verdict of an outcome.
  private static func verdict(_ outcome: HTTP2Outcome) -> PushVerdict {
    switch outcome {
    case .answered(let answer):
      PushVerdict(
        PushAnswer(status: answer.status, retryAfter: answer.header("retry-after"), body: answer.body), of: .ios,
        unixMilliseconds: WallClock.milliseconds)
    case .notSent(.malformed): .messageFault("malformed")
    case .notSent(.unreachable(_, let wait)): .retry(afterMilliseconds: wait, "unreachable")
    case .notSent(.timedOut): PushVerdict(.timedOut)
    case .notSent(.forbidden): PushVerdict(.unreachable)
    case .notSent(.queueFull), .notSent(.refused), .notSent(.closed): PushVerdict(.notProcessed)
    case .unknown(.timedOut): PushVerdict(.timedOut)
    case .unknown: PushVerdict(.broken)
    }
  }

  // MARK: The token

  /// Why there is no token now.
  private struct Wait: Error {
    var milliseconds: UInt64
    /// Apple's reason to refuse the present token. If it is set, the operator must correct something, and single pushes
    /// test whether that was done.
    var complaint: PushReason?
    var verdict: PushVerdict {
      complaint.map { .providerFault($0) } ?? .retry(afterMilliseconds: milliseconds, "no-token-yet")
    }
  }

  private func authorisation() async -> Result<(String, UInt64), Wait> {
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.mintingMilliseconds)
    while true {
      switch credential.wanted(at: EventLoop.process.now) {
      case .token(let token, let serial): return .success((token, serial))
      case .wait(let milliseconds):
        return .failure(Wait(milliseconds: milliseconds, complaint: credential.complaint))
      case .minting:
        guard await credentialChanged.wait(until: deadline) else { return .failure(Wait(milliseconds: 1_000)) }
      case .mint: if await !mint() { return .failure(Wait(milliseconds: 1_000)) }
      }
    }
  }

  /// Makes a token, and saves it before it is used: the next process continues with it.
  private func mint() async -> Bool {
    let moment = PushMoment.now
    let token = WebToken.signed(
      header: JSONPayload.encode(["alg": "ES256", "kid": account.keyID]),
      claims: JSONPayload.encode(
        JSONValue.object([
          "iss": .string(account.teamID), "iat": .integer(moment.unixSeconds),
        ])), by: account.key)
    let kept = credential.minted(token, at: moment)
    // APNs may have answered during the wait: `credential` then has a newer state, and must be asked now.
    guard await keep(kept) else {
      let kept = credential.mintingFailed()
      credentialChanged.raise()
      await keep(kept)
      return false
    }
    let forbidden = credential.written()
    credentialChanged.raise()
    await keep(forbidden)
    log.info("made a token for APNs", metadata: ["number": "\(kept.serial)"])
    return true
  }

  @discardableResult
  private func keep(_ kept: AppleCredential.Kept?) async -> Bool {
    guard let kept else { return true }
    let command = PushWrite.saveCredential(
      name: Self.credentialName, value: JSONPayload.encode(kept), savedAt: WallClock.seconds)
    guard case .success(.done) = await writer.perform(command) else { return false }
    return true
  }

  /// The name's addresses, from the system's resolver.
  private static func addresses(of origin: HTTP2Origin) async -> HTTP2Resolution {
    if let literal = origin.literal { return .addresses([literal]) }
    do throws(LoopFault) {
      return .addresses(try await SocketAddress.resolve(host: origin.host, port: origin.port).map(\.address))
    } catch { return .failed("\(error)") }
  }
}
