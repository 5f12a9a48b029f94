import Contracts
import Rendering
import Testing
import Wording

@Suite("The push relay, as it is shown")
struct PushTextTests {
  @Test("says of each platform how it fares and why, and what became of wakes")
  func status() {
    var status = PushStatus()
    status.platforms = [
      .init(name: "ios", state: "away", reason: "BadTopic"),
      .init(name: "android", state: "off", reason: "fcm-account-file is not set"),
    ]
    (status.platforms[0].failed, status.platforms[0].expired) = (3, 12)
    status.devices = 1
    status.waiting = 2
    status.accepted = 7
    status.ended = ["delivered": 4, "expired": 1]
    status.underOlderKeys = 3
    status.countedSince = 1_000
    let lines = PushText.status(status, now: 1_090, Style(isColoured: false, columns: 120))
    #expect(lines[1].hasPrefix("APNs") && lines[1].contains("away") && lines[1].hasSuffix("BadTopic"))
    #expect(lines[0].contains("FAILED  EXPIRED  FORGOTTEN") && lines[1].contains("3       12          0  BadTopic"))
    #expect(lines[2].hasPrefix("FCM") && lines[2].contains("fcm-account-file is not set"))
    #expect(lines.contains("1 device, 2 wakes under way, 7 accepted in all"))
    #expect(lines.contains { $0.hasSuffix(": 4 delivered, 1 expired") })
    #expect(lines.contains("3 tokens are under an older key: roost push rekey"))
  }

  @Test("says how many devices Nostr keys have, what woke them, and what did not")
  func events() {
    var status = PushStatus()
    let style = Style(isColoured: false, columns: 120)
    #expect(!PushText.status(status, now: 0, style).contains { $0.hasPrefix("Nostr") })
    var events = PushStatus.Events()
    (events.devices, events.keys, events.state, events.wakes) = (2, 1, "following", 7)
    (events.waking, events.dismissed) = (9, ["old": 3, "muted": 1])
    status.events = events
    let lines = PushText.status(status, now: 0, style)
    #expect(
      lines.contains(
        "Nostr: 2 devices, 7 of the wakes accepted for events; the event store is followed for 1 key"))
    #expect(lines.contains("events: 9 that wake; that wake no phone: 1 muted, 3 old"))
  }

  @Test("says what to look at, when a platform is tried again, and that a certificate is not taken")
  func advice() {
    var status = PushStatus()
    var apple = PushStatus.Platform(name: "ios", state: "away", reason: "InvalidProviderToken")
    (apple.advice, apple.againSeconds) = ("are they of one team?", 90)
    status.platforms = [apple, .init(name: "android", state: "off", reason: "fcm-account-file is not set")]
    (status.certificateFault, status.dropped) = ("it has expired", 1)
    let lines = PushText.status(status, now: 0, Style(isColoured: false, columns: 120))
    #expect(lines.contains("APNs: InvalidProviderToken; are they of one team?; tried again in 1m 30s"), "\(lines)")
    #expect(lines.contains { $0.contains("the certificate in the files is not taken") })
    #expect(lines.contains("1 wake of strangers dropped, without their hearing of it"))
    let checks = PushCheckText.checks(status)
    #expect(checks.map(\.name) == ["push APNs", "push certificate"] && checks.allSatisfy { !$0.isGood }, "\(checks)")
  }

  @Test("has the doctor be content with platforms that deliver, and not with one whose every push is refused")
  func checks() {
    var status = PushStatus()
    var (good, bad, odd) = (
      PushStatus.Platform(name: "ios", state: "ready"),
      PushStatus.Platform(name: "android", state: "ready", reason: "SENDER_ID_MISMATCH"),
      PushStatus.Platform(name: "webpush", state: "ready", reason: "status-403")
    )
    (good.delivered, bad.failed, odd.delivered) = (3, 2, 1)
    status.platforms = [good, bad, odd]
    #expect(PushCheckText.checks(status).map(\.isGood) == [true, false, true])
    status.platforms = [.init(name: "ios", state: "off")]
    #expect(PushCheckText.checks(status).map(\.isGood) == [false])
  }

  @Test("tells what became of a wake, device by device, and why a relay that is configured does not answer")
  func outcomes() {
    let style = Style(isColoured: false, columns: 120)
    let sent = PushSent(
      wake: "00", devices: 2,
      outcomes: [
        .init(device: "phone", platform: "ios", state: "delivered"),
        .init(device: "tablet", platform: "android", state: "refused", reason: "NOT_FOUND", advice: "look"),
      ])
    let lines = PushText.sent(sent, style)
    #expect(lines.contains { $0.hasPrefix("phone") && $0.hasSuffix("delivered") })
    #expect(lines.contains { $0.hasPrefix("tablet") && $0.hasSuffix("NOT_FOUND: look") })
  }

  @Test("tells the present cause of an absence, and none of an earlier one")
  func absence() {
    let line = LogRecord(
      time: "", worker: "push-relay", level: "error", category: "worker", message: "cannot start",
      fields: ["why": "listen: taken"])
    let failed = WhyResult(
      worker: "push-relay", state: "failed", sentences: [], lastLines: [line],
      complaint: "cannot start: listen: taken")
    #expect(
      PushText.absence(failed)
        == "the push relay is not ready (failed): cannot start: listen: taken; 'roost why push-relay' has more")
    let stopped = WhyResult(worker: "push-relay", state: "stopped", sentences: [], lastLines: [line])
    #expect(PushText.absence(stopped) == "the push relay is not ready (stopped); 'roost why push-relay' has more")
  }

  @Test("waits for a relay that is on its way, and for none that has said what is missing")
  func waiting() {
    func result(_ state: WorkerStateWord, _ complaint: String? = nil) -> WhyResult {
      WhyResult(worker: "push-relay", state: state, sentences: [], lastLines: [], complaint: complaint)
    }
    for state: WorkerStateWord in ["starting", "held", "draining", "stopping", "waiting", "backoff"] {
      #expect(!PushText.isAbsent(result(state)), "\(state)")
      #expect(PushText.isAbsent(result(state), afterWaiting: true), "\(state)")
    }
    for state: WorkerStateWord in ["failed", "stopped", "exited", "exec-failed"] {
      #expect(PushText.isAbsent(result(state)))
    }
    #expect(PushText.isAbsent(result("backoff", "the port is taken")))
    #expect(!PushText.isAbsent(result("ready"), afterWaiting: true))
  }

  @Test("shows keys whole: a key that is cut is none")
  func wholeKeys() {
    let owner = String(repeating: "y", count: 52)
    let row = PushDeviceRow(
      owner: owner, device: "phone", relayID: "0", platform: "ios", capabilities: [], registeredAt: 0,
      expiresAt: 3_600, isVerified: true)
    #expect(PushText.devices([row], now: 0, .plain)[1].hasPrefix(owner + " "))
    // NIP-19's own example: of Nostr, a key is shown as people have it.
    var other = row
    other.owner = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
    let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    #expect(PushText.devices([other], now: 0, .plain)[1].hasPrefix(npub + " "))
  }

  @Test("says which devices are sealed, and of whom there is none")
  func sealedAndNone() {
    let row = PushDeviceRow(
      owner: "y", device: "phone", relayID: "0", platform: "ios", capabilities: [], registeredAt: 0,
      expiresAt: 3_600, isVerified: true, isSealed: true)
    #expect(PushText.devices([row], now: 0, .plain)[1].hasSuffix("everything; sealed"))
    #expect(PushText.devices([], of: "npub1x", now: 0, .plain) == ["No device of npub1x is registered."])
    #expect(PushText.devices([], now: 0, .plain) == ["No device is registered."])
  }

  @Test("says that older keys can go when nothing is under them, and not before")
  func rekeyed() {
    let style = Style(isColoured: false, columns: 120)
    func words(_ changed: Int, _ unreadable: Int, _ remaining: Int, keys: Int = 2) -> String {
      PushText.rekeyed(
        PushRekeyed(changed: changed, keys: keys, unreadable: unreadable, remaining: remaining), style
      ).joined(separator: "\n")
    }
    #expect(words(3, 0, 0).contains("3 tokens are under the newest key now") && words(3, 0, 0).contains("can go"))
    #expect(
      words(0, 0, 0).hasPrefix("All tokens are under the newest key already") && words(0, 0, 0).contains("can go"))
    #expect(words(3, 1, 2).contains("2 tokens are under an older key still") && !words(3, 1, 2).contains("can go"))
    #expect(words(3, 1, 2).contains("1 tokens cannot be opened"))
    #expect(!words(0, 0, 2).contains("All tokens") && !words(0, 0, 0, keys: 1).contains("can go"))
  }

  @Test("names what a device wants, and never what its token is")
  func devices() {
    let row = PushDeviceRow(
      owner: "y", device: "phone\u{1B}[2J", relayID: "0", platform: "webpush", capabilities: [], registeredAt: 0,
      expiresAt: 3_600, isVerified: true)
    let style = Style(isColoured: false, columns: 120)
    let lines = PushText.devices([row], now: 0, style)
    #expect(lines[1].contains("Web Push") && lines[1].hasSuffix("everything"))
    #expect(!lines.joined().contains("\u{1B}"))
    var broken = row
    (broken.isReadable, broken.isVerified) = (false, false)
    #expect(PushText.devices([broken], now: 0, style)[1].hasSuffix("cannot be opened until it registers again"))
    #expect(PushText.devices([], now: 0, style) == ["No device is registered."])
  }
}
