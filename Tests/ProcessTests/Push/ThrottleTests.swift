import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay that is told to wait")
  struct ThrottleTests {
    /// What a `Retry-After` says, and for how long nothing is sent then, in milliseconds; nil: longer than any wake.
    private struct Word {
      let text: String?
      let waitMilliseconds: Int64?
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func date(_ seconds: Int64) -> String {
      var (time, parts) = (time_t(seconds), tm())
      gmtime_r(&time, &parts)
      var text = [CChar](repeating: 0, count: 64)
      strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func answer(_ word: Word) -> String {
      let headers = word.text.map { #","headers":{"retry-after":"\#($0)"}"# } ?? ""
      return #"{"status":429,"reason":"TooManyRequests"\#(headers)}"#
    }

    private func times(_ rig: PushRig, _ service: PushFakes.Service, _ phone: PushRig.Phone) throws -> [Int64] {
      try rig.requests(service, to: phone.receiver).compactMap { request in
        if case .integer(let time) = request["milliseconds"] { time } else { nil }
      }
    }

    @Test("leaves one token alone for as long as its 429 says, in any words, and no other (case 48)")
    func perToken() throws {
      try PushRig.run { rig in
        let words = [
          Word(text: "2", waitMilliseconds: 2_000),
          // A date has no fractions of a second.
          Word(text: Self.date(WallClock.seconds + 4), waitMilliseconds: 1_000),
          Word(text: "soon", waitMilliseconds: 10_000), Word(text: nil, waitMilliseconds: 10_000),
          Word(text: "-1", waitMilliseconds: 10_000), Word(text: "1000000000", waitMilliseconds: nil),
          Word(text: "99999999999999999999999999", waitMilliseconds: nil),
        ]
        let phones = try words.map { _ in try rig.phone() }
        let other = try rig.phone()
        for (phone, word) in zip(phones, words) {
          try rig.order(.apns, to: phone.receiver, [Self.answer(word)])
          try rig.wake(phone)
        }
        try rig.awaitPlatform("ios", "was told all") { $0.inFlight == 0 }
        try rig.wake(other)
        try awaitSoon("others are woken meanwhile") { try times(rig, .apns, other).count == 1 }
        for phone in phones.prefix(2) {
          try awaitSoon("it is woken when it may be", within: 60) { try times(rig, .apns, phone).count == 2 }
        }
        try rig.awaitPlatform("ios", "has taken three") { $0.delivered >= 3 }
        for (phone, word) in zip(phones, words) {
          let times = try times(rig, .apns, phone)
          guard let wait = word.waitMilliseconds else {
            #expect(times.count == 1, "\(word)")
            continue
          }
          if times.count > 1 { #expect(times[1] - times[0] >= wait - 5, "\(word): \(times)") }
        }
        let apple = try rig.platform("ios")
        #expect(apple.state == "ready" && apple.pruned == 0)
        #expect(try rig.status().devices == phones.count + 1)
      }
    }

    @Test("does the same with FCM and Web Push (case 48)")
    func others() throws {
      try PushRig.run { rig in
        let endless = Word(text: "1000000000", waitMilliseconds: nil)
        let short = Word(text: "2", waitMilliseconds: 2_000)
        for (service, platform, phones) in [
          (PushFakes.Service.fcm, "android", try (0..<3).map { _ in try rig.phone("android") }),
          (.webpush, "webpush", try (0..<3).map { try rig.browser($0) }),
        ] {
          for (phone, word) in zip(phones, [short, endless]) {
            try rig.order(service, to: phone.receiver, [Self.answer(word)])
          }
          for phone in phones { try rig.wake(phone) }
          try rig.awaitPlatform(platform, "has taken two") { $0.delivered == 2 }
          let times = try times(rig, service, phones[0])
          #expect(times.count == 2 && times[1] - times[0] >= 1_995, "\(times)")
          #expect(try rig.requests(service, to: phones[1].receiver).count == 1)
          #expect(try rig.requests(service, to: phones[2].receiver).count == 1)
          #expect(try rig.platform(platform).state == "ready")
        }
        #expect(try rig.status().devices == 6)
      }
    }
  }
}
