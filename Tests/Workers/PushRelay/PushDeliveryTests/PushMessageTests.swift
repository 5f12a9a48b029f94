import Cryptography
import PushDelivery
import Testing

@Suite("Push messages")
struct PushMessageTests {
  let classes = WakeClasses()
  let now = beginning + 100

  func message(
    _ wake: Wake, _ device: PushDevice, _ settings: PushMessageSettings = settings
  ) throws -> PushMessage {
    try PushMessage(
      of: wake, to: device, as: classes[wake.type], settings, unixMilliseconds: now, ephemeral: X25519.generate)
  }

  func text(_ message: PushMessage) -> String { String(decoding: message.body, as: UTF8.self) }

  @Test("6: to APNs are these bytes and headers")
  func apple() throws {
    let message = try message(wake(1, type: "noise_connect", payload: [1, 2, 3]), device(7))
    #expect(message.target == "/3/device/07" + (1..<32).map { Hexadecimal.text(of: [UInt8($0)]) }.joined())
    #expect(
      message.headers == [
        PushHeader("apns-topic", "to.bitkit"), PushHeader("apns-push-type", "alert"),
        PushHeader("apns-priority", "10"), PushHeader("apns-expiration", "1700000060"),
        PushHeader("apns-id", PushMessage.id(of: wake(1), device: 7)),
        PushHeader("apns-collapse-id", "noise_connect"),
      ])
    let key = ZBase32.text(of: octets(200))
    #expect(
      text(message)
        == #"{"aps":{"alert":{"title":"Incoming connection","body":"Someone is trying to reach you."},"#
        + #""mutable-content":1},"wake_type":"noise_connect","wake_id":"0102030405060708090a0b0c0d0e0f10","#
        + #""sender_pubkey":"\#(key)","nonce":"abababababababababababababababab","payload":"AQID"}"#)
  }

  @Test("A payload has as much room as is told, and not a byte more")
  func room() {
    for type in ["noise_connect", "channel_update"] {
      let room = PushMessage.payloadByteCountMaximum(of: wake(1, type: type), as: classes[type], settings)
      #expect((2_000..<3_072).contains(room))
      func fits(_ count: Int) -> Bool {
        PushMessage.fits(
          wake(1, type: type, payload: Array(repeating: 1, count: count)), as: classes[type], settings)
      }
      #expect(fits(room) && !fits(room + 1))
    }
  }

  @Test("What a platform says has a setting to look at, where there is one")
  func advice() {
    #expect(PushAdvice.text("InvalidProviderToken", of: .ios)?.contains("apns-team-id") == true)
    #expect(PushAdvice.text("BadDeviceToken", of: .ios)?.contains("apns-environment") == true)
    #expect(PushAdvice.text("SENDER_ID_MISMATCH", of: .android)?.contains("fcm-account-file") == true)
    #expect(
      PushAdvice.text("ServiceUnavailable", of: .ios) == nil && PushAdvice.text("unreachable", of: .android) == nil)
  }

  @Test("6: a quiet one to APNs has content-available, priority 5, and nothing else in `aps`")
  func quiet() throws {
    let message = try message(wake(1, type: "channel_update"), device(7))
    #expect(text(message).hasPrefix(#"{"aps":{"content-available":1},"wake_type":"channel_update","#))
    #expect(message.headers.contains(PushHeader("apns-push-type", "background")))
    #expect(message.headers.contains(PushHeader("apns-priority", "5")))
  }

  @Test("6: to FCM are data of texts, a priority, and the seconds that are left")
  func google() throws {
    let message = try message(wake(1, type: "noise_connect"), device(7, .android))
    #expect(message.target == "/v1/projects/bitkit-1/messages:send")
    #expect(text(message).hasPrefix(#"{"message":{"token":"fcm-token_of:device-000000000000000000007","data":{"wake_"#))
    #expect(
      text(message).hasSuffix(#"},"android":{"priority":"HIGH","ttl":"60s","collapse_key":"noise_connect"}}}"#))
    let late = try PushMessage(
      of: wake(1), to: device(7, .android), as: classes["payment_received"], settings,
      unixMilliseconds: beginning + 59_700, ephemeral: X25519.generate)
    #expect(text(late).hasSuffix(#""android":{"priority":"HIGH","ttl":"1s"}}}"#))
  }

  @Test("6: to Web Push are filled to fixed lengths, with a topic that says nothing")
  func web() throws {
    let target = device(7, .webPush)
    let message = try message(wake(1, type: "noise_connect"), target)
    #expect(message.target == "https://push7.example/send/7" && message.provider == .web("push7.example:443"))
    #expect(message.body.count == 512 && message.body.last == UInt8(ascii: " "))
    #expect(message.encryption?.authentication == [UInt8](repeating: 9, count: 16))
    #expect(message.headers.prefix(3).map(\.value) == ["60", "high", "aes128gcm"])
    let topic = try #require(message.headers.first { $0.name == "topic" }?.value)
    #expect(topic.utf8.count == 32 && topic != "noise_connect")
    let encrypted = WebPushEncryption.body(
      message.body, publicKey: P256SecretKey.generate().publicKey, authentication: [UInt8](repeating: 9, count: 16))
    #expect(encrypted != nil)
  }

  @Test(
    "A challenge has its code in it whatever platforms are shown, sealed where there is a key",
    arguments: [
      PushMessageSettings.Disclosure.clear, .contentFree,
    ])
  func challenge(_ disclosure: PushMessageSettings.Disclosure) throws {
    var given = settings
    given.disclosure = disclosure
    var wake = wake(1, type: "registration_challenge", payload: Array("code".utf8))
    wake.sender = nil
    for platform in [PushPlatform.ios, .android, .webPush] {
      let text = text(try message(wake, device(7, platform), given.forChallenges))
      #expect(text.contains(#""wake_type":"registration_challenge""#) && text.contains(#""payload":"Y29kZQ==""#))
      var sealing = device(7, platform)
      sealing.sealingKey = X25519.publicKey(of: X25519.generate())
      #expect(!self.text(try message(wake, sealing, given.forChallenges)).contains("Y29kZQ=="))
    }
  }

  @Test("5: two devices get two messages of one wake, each with an apns-id that stays")
  func stableID() {
    let id = PushMessage.id(of: wake(1), device: 7)
    #expect(id == PushMessage.id(of: wake(1), device: 7))
    #expect(id != PushMessage.id(of: wake(1), device: 8) && id != PushMessage.id(of: wake(2), device: 7))
    let form = #/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
    #expect(id.wholeMatch(of: form) != nil)
  }

  @Test("that are content-free name neither type nor sender, in no header either")
  func contentFree() throws {
    var free = settings
    free.disclosure = .contentFree
    for platform in [PushPlatform.ios, .android] {
      let message = try message(wake(1, type: "noise_connect", payload: [1]), device(7, platform), free)
      #expect(text(message).contains(#""wake_id":"01"#))
      let all = text(message) + message.headers.map(\.value).joined()
      for word in ["noise_connect", "sender", "payload", "nonce"] { #expect(!all.contains(word)) }
    }
  }

  @Test("a Nostr sender is told in hex, and the relay itself not at all")
  func senders() throws {
    var note = wake(1)
    note.sender = owner(5, .nostr)
    let hex = String(repeating: "05", count: 32)
    #expect(text(try message(note, device(7))).contains(#""sender_pubkey":"\#(hex)""#))
    note.sender = nil
    #expect(!text(try message(note, device(7))).contains("sender_pubkey"))
  }

  @Test("26: of 4,096 bytes are sent, of 4,097 are not, and a request is told so before")
  func size() throws {
    // The words of an alert set the length to the byte.
    for platform in [PushPlatform.ios, .android] {
      let type = platform == .ios ? "payment_received" : String(repeating: "t", count: 64)
      var largest = 0
      for count in stride(from: 2_760, through: 2_880, by: 3) {
        var big = wake(1, type: type)
        big.payload = [UInt8](repeating: 1, count: count)
        do throws(PushMessageFault) {
          let message = try PushMessage(
            of: big, to: device(7, platform), as: classes[type], settings, unixMilliseconds: now,
            ephemeral: X25519.generate)
          largest = max(largest, message.body.count)
        } catch {
          #expect(error == .tooLarge(platform: platform))
          #expect(!PushMessage.fits(big, as: classes[type], settings))
        }
      }
      if platform == .ios { #expect((4_093...4_096).contains(largest)) }
    }
    var exact = WakeClassSetting(type: "payment_received")
    exact.body = ""
    let fields = try message(wake(1, payload: [UInt8](repeating: 1, count: 2_700)), device(7)).body.count
    let missing = 4_096 - fields
    for (more, isSent) in [(0, true), (1, false)] {
      exact.body = "Open the app to see it." + String(repeating: ".", count: missing + more)
      guard missing + more < 200 else { return #expect(Bool(false), "the words can make up for it") }
      let long = try WakeClasses([exact])["payment_received"]
      let big = wake(1, payload: [UInt8](repeating: 1, count: 2_700))
      let sent = try? PushMessage(
        of: big, to: device(7), as: long, settings, unixMilliseconds: now, ephemeral: X25519.generate)
      #expect(sent?.body.count == (isSent ? 4_096 : nil))
      #expect(PushMessage.fits(big, as: long, settings) == isSent)
    }
  }

  @Test("a payload that is said to fit without a look fits beside the longest of everything else")
  func certain() throws {
    var words = WakeClassSetting(type: String(repeating: "t", count: 64))
    words.title = String(repeating: "\"", count: WakeClass.wordsByteCountMaximum)
    words.body = words.title
    words.collapseID = String(repeating: "c", count: WakeClass.collapseIDByteCountMaximum)
    let longest = try WakeClasses([words])[words.type]
    var big = wake(1, type: words.type, payload: [UInt8](repeating: 1, count: PushMessage.certainPayloadByteCount))
    big.sender = owner(5, .nostr)
    big.topic = .reaction
    for platform in PushPlatform.allCases {
      var target = device(7, platform)
      for key in [nil, X25519.publicKey(of: X25519.generate())] {
        target.sealingKey = key
        _ = try PushMessage(
          of: big, to: target, as: longest, settings, unixMilliseconds: now, ephemeral: X25519.generate)
      }
    }
  }

  @Test("whatever fits in a request fits for every kind of device, sealed or not")
  func fitsAll() throws {
    for type in ["a", "noise_connect", String(repeating: "t", count: 64)] {
      func big(_ count: Int) -> Wake { wake(1, type: type, payload: [UInt8](repeating: 1, count: count)) }
      // Halving: what fits stays below, what does not above.
      var (fitting, failing) = (2_400, 3_072)
      while fitting + 1 < failing {
        let middle = (fitting + failing) / 2
        if PushMessage.fits(big(middle), as: classes[type], settings) { fitting = middle } else { failing = middle }
      }
      #expect((2_700...2_900).contains(fitting))
      for count in [0, 1, 1_000, fitting - 1, fitting] {
        for platform in PushPlatform.allCases {
          var target = device(7, platform)
          _ = try message(big(count), target)
          target.sealingKey = X25519.publicKey(of: X25519.generate())
          let sealed = try message(big(count), target)
          #expect(platform != .ios || sealed.body.count <= 4_096)
        }
      }
    }
  }
}
