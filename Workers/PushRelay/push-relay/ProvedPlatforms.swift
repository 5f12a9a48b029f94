import Cryptography
import EventLoop
import Frames
import LinuxSystem
import PushDelivery
import PushLedger
import Storage

// After a restart it helps to know that a push to a platform went through with the present settings (`EarlierSuccess`).
// The ledger has one row for each platform, beside its credential: a hash of the settings with which a push went
// through. It is written at the first success of a process if it is missing, which means after a change of settings. If
// that fails, the next process does it.

/// Platforms to which a push went through with the present settings.
@EventLoopActor
final class ProvedPlatforms {
  /// Platforms to which one went through before this process began.
  let atStart: Set<PushPlatform>

  /// The hash of its settings, by platform; without those that are written or being written.
  private var unwritten: [PushPlatform: [UInt8]] = [:]
  private let writer: PushWriter

  /// Reads what is stored.
  init(_ couriers: Couriers, topic: String, ledger: PushLedger, writer: PushWriter) async throws(Refusal) {
    self.writer = writer
    var places: [PushPlatform: String] = [:]
    places[.ios] = (couriers.running[.ios] as? AppleCourier).map { "\($0.account.place) \(topic)" }
    places[.android] = (couriers.running[.android] as? GoogleCourier)?.account.place
    var proved: Set<PushPlatform> = []
    for (platform, place) in places {
      let mark = SHA256.hash(Array(place.utf8)).bytes
      let kept: SavedBytes?
      do throws(StorageFault) { kept = try await ledger.credential(Self.name(platform)) } catch {
        throw Refusal(.unavailable, "\(error)")
      }
      if kept?.bytes == mark { proved.insert(platform) } else { unwritten[platform] = mark }
    }
    atStart = proved
  }

  /// A platform accepted a push.
  func wentThrough(_ platform: PushPlatform) {
    guard let mark = unwritten.removeValue(forKey: platform) else { return }
    let command = PushWrite.saveCredential(
      name: Self.name(platform), value: mark, savedAt: WallClock.seconds)
    EventLoopActor.task { [writer] in _ = await writer.perform(command) }
  }

  /// The name of the row in the ledger.
  private static func name(_ platform: PushPlatform) -> String { "proved \(platform.rawValue)" }
}
