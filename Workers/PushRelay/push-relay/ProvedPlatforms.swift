import Cryptography
import EventLoop
import Frames
import LinuxSystem
import PushDelivery
import PushLedger
import Storage

// That a push went through to a platform with the settings of now is worth knowing after a restart (`EarlierSuccess`).
// One row for each platform, beside its credential: a hash of the settings that a push went through with. It is written
// at the first success of a process, if it is not there: after a change of settings, that is. Should that fail, the
// next process does it.

/// Platforms that a push went through to, with the settings that there are now.
@EventLoopActor
final class ProvedPlatforms {
  /// Those that one went through to before this process began.
  let atStart: Set<PushPlatform>

  /// By platform, the hash of its settings; what is written or under way is out of it.
  private var unwritten: [PushPlatform: [UInt8]] = [:]
  private let writer: PushWriter

  /// Reads what there is.
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

  /// A platform took a push.
  func wentThrough(_ platform: PushPlatform) {
    guard let mark = unwritten.removeValue(forKey: platform) else { return }
    let command = PushWrite.saveCredential(
      name: Self.name(platform), value: mark, savedAt: WallClock.seconds)
    EventLoopActor.task { [writer] in _ = await writer.perform(command) }
  }

  /// What the row is called in the ledger.
  private static func name(_ platform: PushPlatform) -> String { "proved \(platform.rawValue)" }
}
