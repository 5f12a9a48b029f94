import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import HTTPClient
import LinuxSystem
import Logging
import PushDelivery
import TLS
import WebSocket

/// A service account, as Google's console gives it: a JSON file.
struct GoogleAccount: Sendable {
  /// The Firebase project.
  var project: String
  /// The account that requests tokens.
  var email: String
  var key: RSASecretKey
  /// The addresses for tokens and for pushes.
  var tokenURL: String
  var sendURL: String

  private struct File: Decodable {
    var project: String
    var email: String
    var privateKey: String
    var tokenURL: String?

    enum CodingKeys: String, CodingKey {
      case project = "project_id"
      case email = "client_email"
      case privateKey = "private_key"
      case tokenURL = "token_uri"
    }
  }

  /// The settings that decide whether FCM accepts a push.
  var place: String { "\(sendURL) \(project) \(email)" }

  /// The account in the settings; nil if FCM is off.
  init?(_ settings: PushSettings) throws(Refusal) {
    guard let path = PushSettings.file(settings.fcmAccountFile) else { return nil }
    let text = try SecretFiles.text(path, what: "fcm-account-file")
    let file: File
    do throws(Refusal) { file = try JSONPayload.decode(File.self, from: Array(text.utf8)) } catch {
      throw Refusal(
        .failed,
        "fcm-account-file: \(path) is no service account of Google's: it lacks project_id, client_email or"
          + " private_key")
    }
    guard let key = RSASecretKey(pem: file.privateKey) else {
      throw Refusal(.failed, "fcm-account-file: the private_key in \(path) is no RSA key of 2,048 bits or more")
    }
    guard file.project.utf8.allSatisfy({ Self.isNameByte($0) }), !file.project.isEmpty else {
      throw Refusal(.failed, "fcm-account-file: \"\(file.project)\" is no project")
    }
    project = file.project
    email = file.email
    self.key = key
    tokenURL = file.tokenURL ?? "https://oauth2.googleapis.com/token"
    sendURL = try PlainURL(settings.fcmURL, or: "https://fcm.googleapis.com", setting: "fcm-url").text
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F: true
    default: false
    }
  }
}

/// Posts to FCM (v1), with a token that Google gives for an hour (`GoogleCredential`).
@EventLoopActor
final class GoogleCourier: Courier {
  let account: GoogleAccount
  private let client: HTTPClient
  private let log: Logger
  private var credential = GoogleCredential()
  /// Raised when a request for a token has ended.
  private let askingEnded = Signal()
  /// Why there is no token that FCM accepts; nil while there is one.
  private var complaint: PushReason?
  /// Why there was no connection the last time, to FCM or to the token's endpoint.
  private(set) var trouble: String?
  private var generator = SystemRandomNumberGenerator()

  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let answerMilliseconds: UInt64 = 15_000
  /// How long a push waits for a requested token: longer than the request may take.
  private static let askingMilliseconds = answerMilliseconds + 1_000

  init(_ account: GoogleAccount, client: HTTPClient, log: Logger) {
    self.account = account
    self.client = client
    self.log = log
  }

  func send(_ message: PushMessage) async -> PushVerdict {
    guard let (token, serial) = await authorisation() else {
      return .retry(afterMilliseconds: nil, complaint ?? "no-token-yet")
    }
    var request = HTTPRequest(
      .post, account.sendURL + message.target,
      fields: [HTTPField("authorization", "Bearer " + token)] + message.headers.map { HTTPField($0.name, $0.value) },
      body: message.body)
    request.totalMilliseconds = Self.answerMilliseconds
    let (verdict, trouble) = await client.verdict(on: request, of: .android)
    self.trouble = trouble
    switch verdict {
    case .renewCredential(let reason):
      credential.refused(serial: serial)
      complaint = reason
    case .delivered:
      credential.accepted(serial: serial)
      complaint = nil
    default: break
    }
    return verdict
  }

  // MARK: The token

  private func authorisation() async -> (String, UInt64)? {
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.askingMilliseconds)
    while true {
      switch credential.wanted(at: EventLoop.process.now) {
      case .token(let token, let serial): return (token, serial)
      case .tokenAndAsk(let token, let serial):
        EventLoopActor.task { [self] in await ask() }
        return (token, serial)
      case .ask: await ask()
      case .asking: guard await askingEnded.wait(until: deadline) else { return nil }
      case .wait: return nil
      }
    }
  }

  private func ask() async {
    let now = WallClock.seconds
    let assertion = WebToken.signed(
      header: JSONPayload.encode(["alg": "RS256", "typ": "JWT"]),
      claims: JSONPayload.encode(
        JSONValue.object([
          "iss": .string(account.email), "scope": .string(Self.scope), "aud": .string(account.tokenURL),
          "iat": .integer(now), "exp": .integer(now + 3_600),
        ])), by: account.key)
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + assertion
    var request = HTTPRequest(
      .post, account.tokenURL, fields: [HTTPField("content-type", "application/x-www-form-urlencoded")],
      body: Array(form.utf8))
    request.totalMilliseconds = Self.answerMilliseconds
    let answer: GoogleTokenAnswer
    do throws(HTTPFault) {
      let response = try await client.send(request)
      trouble = nil
      answer = GoogleTokenAnswer(
        PushAnswer(status: response.status, retryAfter: response[field: "retry-after"], body: response.body),
        unixMilliseconds: WallClock.milliseconds)
    } catch {
      trouble = error.trouble
      answer = .failed(afterMilliseconds: nil, "unreachable")
    }
    take(answer)
  }

  private func take(_ answer: GoogleTokenAnswer) {
    defer { askingEnded.raise() }
    let now = EventLoop.process.now
    switch answer {
    case .granted(let token, let seconds): credential.granted(token, expiresInSeconds: seconds, at: now)
    case .refused(let reason):
      complaint = reason
      log.error("Google gives no token: look at fcm-account-file", metadata: ["why": "\(reason)"])
      credential.failed(afterMilliseconds: nil, at: now, using: &generator)
    case .failed(let wait, let reason):
      complaint = reason
      log.warning(
        "Google gives no token at present",
        metadata: ["why": "\(trouble ?? reason.description)", "at": "\(account.tokenURL)"])
      credential.failed(afterMilliseconds: wait, at: now, using: &generator)
    }
  }
}

extension HTTPClient {
  /// Sends a push, and returns the verdict, and why there was no connection if there was none.
  func verdict(on request: HTTPRequest, of platform: PushPlatform) async -> (PushVerdict, trouble: String?) {
    do throws(HTTPFault) {
      let response = try await send(request)
      let verdict = PushVerdict(
        PushAnswer(status: response.status, retryAfter: response[field: "retry-after"], body: response.body),
        of: platform, unixMilliseconds: WallClock.milliseconds)
      return (verdict, nil)
    } catch { return (error.verdict, error.trouble) }
  }
}

extension HTTPFault {
  /// Why there was no connection, for the operator; nil for other faults. It names only the origin of the URL: the path
  /// of a Web Push endpoint is a token.
  fileprivate var trouble: String? {
    switch code {
    case .nameLookup, .unreachable, .privateAddress, .unavailable, .tls, .trust, .timedOut, .cut: break
    default: return nil
    }
    let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
    let origin = scheme + url[scheme.endIndex...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // The detail is "… host port 443: Connection refused"; the origin already names the host.
    guard code == .unreachable, let place = detail.firstRange(of: " port "),
      let end = detail[place.upperBound...].firstRange(of: ": ")
    else { return ConnectionTrouble.words(String(origin), detail) }
    let reason = detail[end.upperBound...]
    return ConnectionTrouble.words(String(origin), reason.prefix(1).lowercased() + reason.dropFirst())
  }

  /// The verdict for the push.
  fileprivate var verdict: PushVerdict {
    switch code {
    case .full, .cancelled: PushVerdict(.notProcessed)
    case .nameLookup, .unreachable, .privateAddress, .unavailable: PushVerdict(.unreachable)
    case .tls, .trust: PushVerdict(.insecure)
    case .timedOut: PushVerdict(.timedOut)
    case .cut, .tooLarge, .redirected, .badAnswer: PushVerdict(.broken)
    case .badRequest: .messageFault("malformed")
    }
  }
}
