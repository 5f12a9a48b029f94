import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import PushDelivery
import PushLedger
import Storage
import TestSupport
import Testing

// What tests of the platforms' behaviour need beside the rig: devices that want every wake, the fakes' journal by
// receiver, the worker's log, and another process of the same worker.

extension PushRig {
  /// A device with an owner of its own.
  struct Phone {
    let key: Ed25519SecretKey
    let platform: String
    /// As it is registered: a text, or an object for Web Push.
    let token: String
    let device: String
    /// What the fakes call it.
    let receiver: String
  }

  /// Registers a device that wants all wakes.
  func phone(
    _ platform: String = "ios", token: String? = nil, owner: Ed25519SecretKey = .generate(), device: String = "phone"
  ) throws -> Phone {
    let token = token ?? (platform == "ios" ? Self.appleToken() : Self.googleToken())
    let phone = Phone(key: owner, platform: platform, token: token, device: device, receiver: token)
    #expect(try renew(phone).status == 200)
    return phone
  }

  /// Registers a browser of the fakes, by its place in their list.
  func browser(_ index: Int, owner: Ed25519SecretKey = .generate()) throws -> Phone {
    let subscription = try #require(fakes.subscriptions.dropFirst(index).first)
    let token =
      #"{"endpoint":"\#(subscription.endpoint)","p256dh":"\#(subscription.p256dh)","auth":"\#(subscription.auth)"}"#
    let name = try #require(subscription.endpoint.split(separator: "/").last)
    let phone = Phone(key: owner, platform: "webpush", token: token, device: "browser", receiver: String(name))
    #expect(try renew(phone).status == 200)
    return phone
  }

  /// Registers it again, with another token if one is given.
  func renew(_ phone: Phone, token: String? = nil) throws -> Answer {
    let token = token ?? phone.token
    let value = token.hasPrefix("{") ? token : "\"\(token)\""
    return try signed(
      phone.key, "POST", "/register",
      #"{"platform":"\#(phone.platform)","token":\#(value),"device_id":"\#(phone.device)"}"#)
  }

  /// Wakes all devices of its owner, for somebody new.
  func wake(_ phone: Phone, type: String = "noise_connect") throws {
    let answer = try wake(phone.key, by: .generate(), type: type)
    #expect(answer.status == 200 && answer["status"] == "queued", "\(answer.text)")
  }

  /// Has a service answer these to a receiver, one after the other; `"*"` for anybody.
  func order(_ service: PushFakes.Service, to receiver: String, _ answers: [String]) throws {
    try fakes.order(
      #"{"service":"\#(service.rawValue)","token":"\#(receiver)","answers":[\#(answers.joined(separator: ","))]}"#)
  }

  /// Puts a service into a mood.
  func mood(_ service: PushFakes.Service, _ name: String) throws {
    try fakes.order(#"{"service":"\#(service.rawValue)","mode":"\#(name)"}"#)
  }

  /// What came to a service for one receiver.
  func requests(_ service: PushFakes.Service, to receiver: String) throws -> [JSONValue] {
    try fakes.requests(to: service).filter { $0["receiver"] == .string(receiver) }
  }

  /// A number of the fakes, by the names that lead to it.
  func count(_ names: String...) throws -> Int64 {
    var value = try fakes.counters()
    for name in names { value = value[name] ?? .null }
    guard case .integer(let count) = value else { return 0 }
    return count
  }

  /// Waits until a service holds so many requests.
  func awaitHeld(_ count: Int64, _ service: PushFakes.Service) throws {
    try awaitSoon("\(count) requests are held", within: 60) {
      try self.count("held", service.rawValue) == count
    }
  }

  /// How a platform fares.
  func platform(_ name: String) throws -> PushStatus.Platform {
    try #require(try status().platforms.first { $0.name == name })
  }

  /// Waits until a platform fares so.
  @discardableResult
  func awaitPlatform(
    _ name: String, _ what: String, within seconds: Double = 60, _ condition: (PushStatus.Platform) -> Bool
  ) throws -> PushStatus.Platform {
    var last: PushStatus.Platform?
    do {
      try awaitSoon("\(name) \(what)", within: seconds) {
        let now = try platform(name)
        last = now
        return condition(now)
      }
    } catch { throw DeadlinePassed(description: "\(error): \(String(describing: last))") }
    return try #require(last)
  }

  /// Waits until so many wakes have ended in one way or another.
  func awaitEnded(_ count: UInt64) throws {
    try awaitSoon("\(count) wakes have ended", within: 60) { try status().ended.values.reduce(0, +) >= count }
  }

  /// Waits until no wake is in the ledger's queue any more: a process that dies before that brings it again.
  func awaitNothingQueued() throws { try awaitSoon("nothing is queued", within: 60) { try status().waiting == 0 } }

  /// Owners of devices, as the operator sees them.
  func owners() throws -> Set<String> {
    Set(
      try client.call("push.devices", #"{"limit":1000}"#).parts.compactMap { part in
        try JSONPayload.decode(PushDeviceRow.self, from: part.payload).owner
      })
  }

  func isRegistered(_ phone: Phone) throws -> Bool {
    try owners().contains(ZBase32.text(of: phone.key.publicKey.octets))
  }

  /// What the worker wrote.
  var log: String { roost.lines("log/push-relay.log").joined(separator: "\n") }

  /// How often it wrote this.
  func logCount(_ text: String) -> Int { roost.lines("log/push-relay.log").count { $0.contains(text) } }

  /// Waits until the log has this; it comes by way of roostd. With `times`, that often and not oftener.
  func awaitLog(_ text: String, times: Int? = nil) throws {
    try awaitSoon("the log says: \(text)") { logCount(text) >= times ?? 1 }
    if let times { #expect(logCount(text) == times, "\(text)") }
  }

  /// Kills the worker, and waits for the next one: what it had in memory alone is gone.
  func replaceWorker() throws {
    let before = try roost.worker("push-relay", client)
    Glibc.kill(pid_t(try #require(before.pid)), SIGKILL)
    try roost.awaitWorker("push-relay", "is back", within: 60, client) {
      $0.generation > before.generation && $0.state == "ready"
    }
  }
}

extension PushRig {
  /// Makes APNs' token of a relay older than it is, while the relay does not run: no test waits twenty minutes. The
  /// token is signed anew with the time that it is to be from, as the relay would have then.
  static func ageAppleToken(of roost: RunningRoost, _ fakes: PushFakes, bySeconds seconds: Int64) async throws {
    let directory = roost.directory.path + "/state/push-relay"
    let ring = try TokenKeyRing(SharedFolder.bytes(ofFile: directory + "/keys") ?? [])
    let ledger = try PushLedger(path: directory + "/push.db", keyRing: ring)
    let saved = try #require(try await ledger.credential("apns"))
    var kept = try JSONPayload.decode(AppleCredential.Kept.self, from: saved.bytes)
    kept.mintedAt -= seconds
    kept.token = WebToken.signed(
      header: JSONPayload.encode(["alg": "ES256", "kid": fakes.apns.keyIdentifier]),
      claims: JSONPayload.encode(
        JSONValue.object(["iss": .string(fakes.apns.team), "iat": .integer(kept.mintedAt)])),
      by: try #require(P256SecretKey(pem: fakes.apns.key)))
    _ = try await ledger.write([
      .saveCredential(name: "apns", value: JSONPayload.encode(kept), savedAt: WallClock.seconds)
    ])
    try ledger.close()
  }

  /// Runs a test with a relay that has brought one push, and whose token for APNs is so old.
  static func runAged(bySeconds seconds: Int64, _ body: (PushRig) throws -> Void) async throws {
    let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
    let roost = try RunningRoost(try layout(fakes, port: port, directory: directory.path))
    try bringOne(try PushRig(roost, fakes, port))
    try roost.killDaemonAndWorkers()
    try await ageAppleToken(of: roost, fakes, bySeconds: seconds)
    try roost.startAgain()
    try roost.awaitReady()
    try body(try PushRig(roost, fakes, port))
    try roost.finish()
  }

  private static func bringOne(_ rig: PushRig) throws {
    try rig.wake(try rig.phone())
    try rig.awaitEnded(1)
    try rig.awaitNothingQueued()
  }
}
