import Cryptography
import PushDelivery
import Testing

@Suite("Wakes for events of Nostr")
struct MatchedWakeTests {
  private let event = SHA256.hash([1])

  private func eventWake(_ number: Int64, _ topic: WakeTopic = .mention, at milliseconds: UInt64 = 0) -> Wake {
    var wake = wake(number, type: Wake.nostr, at: milliseconds)
    wake.sender = nil
    (wake.topic, wake.event) = (topic, event)
    return wake
  }

  private var wakeClass: WakeClass { .urgent(title: "New activity", body: "", collapseID: "nostr") }

  private func message(_ wake: Wake, _ device: PushDevice) throws -> PushMessage {
    try PushMessage(
      of: wake, to: device, as: wakeClass, settings, unixMilliseconds: beginning, ephemeral: X25519.generate)
  }

  @Test(
    "say their class and nothing of the event, and take the place of their class alone", arguments: WakeTopic.allCases)
  func contents(topic: WakeTopic) throws {
    for platform in PushPlatform.allCases {
      let message = try message(eventWake(1, topic), device(7, platform))
      let text = String(decoding: message.body, as: UTF8.self)
      #expect(text.contains(#""wake_type":"nostr","class":"\#(topic.rawValue)","wake_id""#))
      #expect(!text.contains(event.description) && !text.contains("pubkey") && !text.contains("nonce"))
    }
    let apple = try message(eventWake(1, topic), device(7))
    #expect(apple.headers.contains(PushHeader("apns-collapse-id", "nostr-\(topic.rawValue)")))
  }

  @Test("bring the event's id to a device that has a key to seal for")
  func sealed() throws {
    let secret = X25519.generate()
    var target = device(7)
    target.sealingKey = X25519.publicKey(of: secret)
    let text = String(decoding: try message(eventWake(1), target).body, as: UTF8.self)
    #expect(!text.contains("mention") && !text.contains("nostr"))
    let base64 = try #require(text.firstMatch(of: #/"sealed":"([^"]*)"/#)?.output.1)
    let message = try #require(Base64.decode(base64))
    let content = try #require(SealedMessage.opened(message, by: secret))
    #expect(content.type == "nostr" && content.sender == nil)
    #expect(
      String(decoding: content.payload, as: UTF8.self) == #"{"class":"mention","event":"\#(event.description)"}"#)
  }

  @Test("are pushes of their own, however soon one follows another: the phone has looked by then")
  func soon() {
    var board = DeliveryQueue(seed: 1)
    for number in 1...3 as ClosedRange<Int64> {
      let at = UInt64(number)
      let wake = eventWake(number, number == 3 ? .zap : .mention, at: at)
      #expect(board.accepted(wake, for: [device(1)], at: moment(at)).sends.map(\.wake.number) == [number])
      #expect(
        board.settled(wake: number, device: 1, .delivered, at: moment(at)).outcomes == [number: .delivered])
    }
  }

  @Test("are wanted by whoever wants `nostr` or `wake`")
  func kinds() {
    for (wants, isWanted) in [(["nostr"], true), (["wake"], true), ([], true), (["payment_received"], false)] {
      #expect(eventWake(1).isWanted(by: wants) == isWanted)
    }
    #expect(!wake(1, type: "nostr").isWanted(by: ["wake"]))
  }

  @Test("An id is a UUID of version 7: the time, and bits that nobody guesses")
  func identifiers() {
    let ids = (0..<100).map { _ in Wake.makeID(unixMilliseconds: 0x0197_1234_5678) }
    #expect(Set(ids).count == 100)
    for id in ids {
      #expect(id.count == 16 && Array(id[..<6]) == [0x01, 0x97, 0x12, 0x34, 0x56, 0x78])
      #expect(id[6] >> 4 == 7 && id[8] >> 6 == 2)
    }
  }
}
