import PushDelivery
import Testing

@Suite("Wake classes")
struct WakeClassTests {
  @Test("6: each type goes its way", arguments: ["payment_received", "payment_request", "noise_connect", "news_of_1"])
  func loud(type: String) {
    let found = WakeClasses()[type]
    #expect(found.pushType == .alert && found.applePriority == .immediate && found.googlePriority == .high)
    #expect(found.timeToLiveSeconds == 60)
    #expect(found.collapseID == (type == "noise_connect" ? "noise_connect" : nil))
    guard case .mutableAlert = found.presentation else { return #expect(Bool(false), "the app may change it") }
  }

  @Test(
    "6: news that can wait goes quietly, with the priority that APNs demands",
    arguments: [
      "channel_update", "subscription_due",
    ])
  func quiet(type: String) {
    let found = WakeClasses()[type]
    #expect(found.pushType == .background && found.applePriority == .considerate && found.presentation == .silent)
    #expect(found.googlePriority == .normal && found.collapseID == type)
  }

  @Test("wakes for events of Nostr are loud, keep for a day, and the next takes the place of the last")
  func nostr() {
    let found = WakeClasses()[Wake.nostr]
    #expect(found.pushType == .alert && found.timeToLiveSeconds == 86_400 && found.collapseID == "nostr")
  }

  @Test("are changed by settings, and what turns quiet takes along what goes with it")
  func changed() throws {
    var connect = WakeClassSetting(type: "noise_connect")
    connect.pushType = "background"
    connect.collapseID = ""
    var other = WakeClassSetting(type: "default")
    other.timeToLiveSeconds = 30
    other.shows = "generic"
    other.title = "Hello"
    var mine = WakeClassSetting(type: "mine")
    mine.fcmPriority = "normal"
    let classes = try WakeClasses([mine, connect, other])
    #expect(classes["noise_connect"] == .quiet(collapseID: nil))
    #expect(classes["whatever"].presentation == .genericAlert(title: "Hello", body: "Open the app to see it."))
    #expect(classes["mine"].timeToLiveSeconds == 30 && classes["mine"].googlePriority == .normal)
    #expect(classes["payment_received"] == WakeClasses()["payment_received"])
  }

  static let refused: [(String, String, @Sendable (inout WakeClassSetting) -> Void)] = [
    ("channel_update", "priority 5, not 10", { $0.priority = 10 }),
    ("noise_connect", "APNs knows 10", { $0.priority = 1 }),
    ("noise_connect", "'alert' and 'background'", { $0.pushType = "voip" }),
    ("noise_connect", "'high' and 'normal'", { $0.fcmPriority = "urgent" }),
    ("noise_connect", "1 s to four weeks", { $0.timeToLiveSeconds = 0 }),
    ("noise_connect", "1 s to four weeks", { $0.timeToLiveSeconds = .max }),
    ("noise_connect", "up to 32 characters", { $0.collapseID = String(repeating: "a", count: 33) }),
    ("noise_connect", "up to 32 characters", { $0.collapseID = "a b" }),
    ("noise_connect", "an alert shows something", { $0.shows = "silent" }),
    (
      "channel_update", "shows nothing",
      {
        $0.shows = "mutable"; $0.title = "A"
      }
    ),
    ("channel_update", "no title", { $0.title = "A" }),
    ("noise_connect", "needs a title", { $0.title = "" }),
    ("noise_connect", "at most 256 bytes", { $0.body = String(repeating: "é", count: 129) }),
    ("noise_connect", "no control characters", { $0.body = "a\nb" }),
    ("noise_connect", "'silent', 'generic' and 'mutable'", { $0.shows = "loud" }),
    ("Noise", "1 to 64 characters", { _ in }),
    ("", "1 to 64 characters", { _ in }),
  ]

  @Test("refuse what APNs or FCM would, in words for a person", arguments: refused.indices)
  func refuse(index: Int) {
    let (type, words, change) = Self.refused[index]
    var setting = WakeClassSetting(type: type)
    change(&setting)
    do throws(WakeClassFault) {
      _ = try WakeClasses([setting])
      Issue.record("\(setting) is taken")
    } catch {
      #expect(error.description.contains(words) && error.description.hasPrefix("wake type '\(type)': "), "\(error)")
    }
    #expect(throws: WakeClassFault.self) {
      try WakeClasses([WakeClassSetting(type: "a"), WakeClassSetting(type: "a")])
    }
  }
}
