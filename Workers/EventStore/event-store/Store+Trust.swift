import Addresses
import Bus
import Contracts
import EventArchive
import EventGate
import EventLoop
import Frames
import Logging
import Nostr
import WorkerKit

extension Store {
  /// Takes over which relays are sampled.
  func sample(_ settings: StoreSettings) throws(Refusal) {
    var sampled: Set<Int64> = []
    for text in settings.verification == .sample ? settings.sampleRelays : [] {
      do throws(RelayURLFault) {
        if let number = relays.number(of: try RelayURL(text).text) { sampled.insert(number) }
      } catch { throw Refusal(.failed, "sample-relays: \(error)") }
    }
    let rate = Double(settings.sampleRate) / 100
    gate.trust.sample(sampled, SamplingSettings(rate: rate, floor: min(rate, Double(settings.sampleFloor) / 100)))
  }

  /// A relay has shown what it is: a person hears of it, once for each step.
  func tell(_ report: TrustReport) {
    switch report {
    case .distrusted(let relay):
      let url = relays.url(of: relay) ?? "\(relay)"
      log.error(
        "a relay sent what no author signed: from now on all it sends is checked, and so is what was taken unchecked",
        metadata: ["relay": "\(url)"])
      tellStatus()
      writeDistrust(of: relay)
    case .forgeries(let relay, let count):
      log.warning(
        "a relay sends what no author signed",
        metadata: ["relay": "\(relays.url(of: relay) ?? "\(relay)")", "events": "\(count)"])
    }
  }

  /// A slice of what distrusted relays had brought was checked.
  func rechecked(_ slice: RecheckSlice) {
    gate.removed(slice.removed)
    if !slice.isComplete { isRecheckDue = true }
    guard !slice.removed.isEmpty else { return }
    log.error(
      "forged events were stored unchecked, and are removed",
      metadata: ["removed": "\(slice.removed.count)", "sound": "\(slice.soundCount)"])
  }
}
