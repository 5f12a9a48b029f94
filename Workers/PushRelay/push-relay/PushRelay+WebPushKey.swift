import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import WorkerLedger
import Logging
import PushLedger
import Storage
import WorkerKit

// A browser subscribes with one key (RFC 8292), and accepts no push that another key signed. So the relay reports a
// missing or different key: otherwise all of Web Push would fail while every wake would look as if it had been sent.
// The ledger remembers the public key with which browsers have subscribed.

/// What the ledger remembers of the keys of Web Push: 65 or 130 bytes.
struct WebPushMark: Equatable {
  /// The public key with which browsers have subscribed.
  var subscribed: [UInt8]
  /// The key that has replaced it; nil: not replaced.
  var successor: [UInt8]?

  private static let keyByteCount = 65

  /// The first key.
  init(_ key: [UInt8]) { subscribed = key }

  /// Reads ``bytes``; nil if they are invalid.
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.keyByteCount || bytes.count == 2 * Self.keyByteCount else { return nil }
    subscribed = Array(bytes.prefix(Self.keyByteCount))
    successor = bytes.count == Self.keyByteCount ? nil : Array(bytes.dropFirst(Self.keyByteCount))
  }

  /// The form in which it is stored.
  var bytes: [UInt8] { subscribed + (successor ?? []) }

  /// The relay now uses this key. The first key is remembered until no device that subscribed with it is left; if it is
  /// put back, the mark is as it was before.
  mutating func use(_ key: [UInt8]) { successor = key == subscribed ? nil : key }
}

extension PushRelay {
  /// The mark's name among the ledger's credentials.
  private static let markName = "web-push-key"

  /// The key that signs for Web Push. If it is missing and browsers have subscribed with it, no new one is made.
  func webPushKey() async throws(Refusal) -> P256SecretKey {
    let path = SecretFiles.webPushPath(in: directory)
    if access(path, F_OK) != 0 {
      let count = try await webPushDevices(upTo: .max)
      guard count == 0 else {
        throw Refusal(
          .failed,
          "the VAPID key, \(path), is gone while \(Amount.count(count, "device")) of Web Push subscribed under it: put"
            + " your copy of it back; without one make another, and every browser has to subscribe again:"
            + " (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \(path))")
      }
    }
    let key = try SecretFiles.webPushKey(in: directory)
    try await remember(key.publicKey)
    return key
  }

  /// Records the key in the ledger, and logs if browsers have subscribed with another one.
  private func remember(_ key: [UInt8]) async throws(Refusal) {
    let saved: SavedBytes?
    do throws(StorageFault) { saved = try await ledger.credential(Self.markName) } catch {
      throw writer.health.refusal(error)
    }
    let known = saved.flatMap { WebPushMark(bytes: $0.bytes) }
    var mark = known ?? WebPushMark(key)
    mark.use(key)
    let since = mark == known ? saved?.savedAt ?? WallClock.seconds : WallClock.seconds
    if mark.successor != nil {
      if try await webPushDevices(upTo: since) == 0 { mark = WebPushMark(key) } else { webPushChangedAt = since }
    }
    if mark != known {
      let command = PushWrite.saveCredential(name: Self.markName, value: mark.bytes, savedAt: since)
      // If it cannot be written now, the next process writes it.
      if case .failure(let fault) = await writer.perform(command) {
        log.warning("the key of Web Push cannot be noted", metadata: ["why": "\(fault)"])
      }
    }
    if let fault = try await webPushFault() { log.warning("Web Push has another key", metadata: ["why": "\(fault)"]) }
  }

  /// What is wrong with the key of Web Push; nil if it is right.
  func webPushFault() async throws(Refusal) -> String? {
    guard let since = webPushChangedAt else { return nil }
    let count = try await webPushDevices(upTo: since)
    guard count > 0 else {
      webPushChangedAt = nil
      return nil
    }
    return "web-push.pem is another key than the one under which \(Amount.count(count, "device")) subscribed: put that"
      + " one back, or have those browsers subscribe again"
  }

  private func webPushDevices(upTo time: Int64) async throws(Refusal) -> Int {
    do throws(StorageFault) {
      return try await ledger.webPushDevices(registeredUpTo: time, now: WallClock.seconds)
    } catch { throw writer.health.refusal(error) }
  }
}
