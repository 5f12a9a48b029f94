import Contracts
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and platforms that are in trouble")
  struct ProviderTroubleTests {
    /// A type of wakes that is worth something for a day: nothing here depends on who is quick.
    private static let type = "lasting"

    /// One device on each platform.
    private struct Three {
      let apple: PushRig.Phone
      let google: PushRig.Phone
      let web: PushRig.Phone

      init(_ rig: PushRig) throws {
        (apple, google, web) = (try rig.phone("ios"), try rig.phone("android"), try rig.browser(0))
      }

      func wake(_ rig: PushRig, type: String = ProviderTroubleTests.type) throws {
        for phone in [apple, google, web] { try rig.wake(phone, type: type) }
      }
    }

    @Test("is reset, half closed and spoken to in other tongues by APNs: FCM and Web Push never know (case 47)")
    func rudeConnections() throws {
      try PushRig.run { rig in
        let three = try Three(rig)
        for (round, mode) in ["cut", "half-closed", "garbage"].enumerated() {
          let before = try rig.platform("ios")
          // Wakes of one type within two seconds would be one.
          let type = ["lasting", "default_a", "default_b"][round]
          try rig.mood(.apns, mode)
          try three.wake(rig, type: type)
          for name in ["android", "webpush"] {
            try rig.awaitPlatform(name, "has taken it while APNs is \(mode)") { $0.delivered == round + 1 }
          }
          try rig.awaitPlatform("ios", "is tried again while it is \(mode)") { $0.repeated > before.repeated }
          #expect(try rig.platform("ios").delivered == before.delivered)
          try rig.mood(.apns, "normal")
          try rig.awaitPlatform("ios", "has taken it after it was \(mode)") {
            $0.delivered == before.delivered + 1 && $0.state == "ready"
          }
        }
        try rig.awaitLog("no connection to APNs")
        #expect(try rig.fakes.requests(to: .apns).count == 3)
        #expect(try rig.platform("ios").pruned == 0)
      }
    }

    @Test(
      "says why APNs cannot be had, and brings what is for the others (case 47)",
      arguments: [
        (name: "https://apns.invalid", certificate: nil, word: "no address"),
        (name: "https://localhost", certificate: "named", word: "no subject alternative name"),
      ] as [(name: String, certificate: String?, word: String)])
    func wrongHost(name: String, certificate: String?, word: String) throws {
      let other = try certificate.map { try PushFakes(certificate: $0) }
      let url = name + (other.map { ":\($0.port(.apns))" } ?? "")
      try PushRig.run(["apns-url": "\"\(url)\""]) { rig in
        let three = try Three(rig)
        try three.wake(rig)
        for name in ["android", "webpush"] { try rig.awaitPlatform(name, "has taken it") { $0.delivered == 1 } }
        try rig.awaitPlatform("ios", "is tried again") { $0.repeated >= 1 && $0.inFlight == 0 }
        try awaitSoon("it says why") { rig.log.contains("no connection to APNs") && rig.log.contains(word) }
        #expect(try rig.fakes.requests(to: .apns).isEmpty)
        if let other { #expect(try other.requests(to: .apns).isEmpty) }
        #expect(try rig.status().waiting == 1)
      }
    }

    @Test("waits for no platform longer than 15 seconds, and for none because of another (case 47)")
    func silence() throws {
      let slow = #"{"status":200,"delayMilliseconds":30000}"#
      // Two relays, so that both waits are one.
      try PushRig.run { first in
        try PushRig.run { second in
          let (one, other) = (try Three(first), try Three(second))
          try first.mood(.apns, "black-hole")
          try first.order(.fcm, to: one.google.receiver, [slow])
          try second.order(.apns, to: other.apple.receiver, [slow])
          try second.mood(.webpush, "black-hole")
          for (rig, three) in [(first, one), (second, other)] { try three.wake(rig) }
          try first.awaitPlatform("webpush", "has taken it") { $0.delivered == 1 }
          try second.awaitPlatform("android", "has taken it") { $0.delivered == 1 }
          for (rig, names) in [(first, ["ios", "android"]), (second, ["ios", "webpush"])] {
            for name in names { try rig.awaitPlatform(name, "is given up and tried again") { $0.repeated >= 1 } }
          }
          try first.mood(.apns, "normal")
          try second.mood(.webpush, "normal")
          for rig in [first, second] {
            for name in ["ios", "android", "webpush"] {
              try rig.awaitPlatform(name, "has taken it at last", within: 90) { $0.delivered == 1 }
            }
            #expect(try rig.status().devices == 3)
          }
        }
      }
    }

    @Test("repeats nothing in its log that a platform says in other than single words (case 38)")
    func words() throws {
      try PushRig.run { rig in
        let three = try Three(rig)
        let secret = three.apple.receiver
        let foul = #"x\nforged: \#(secret)"#
        // A goodbye to a connection that has brought nothing is told with its reason.
        try rig.fakes.order(#"{"service":"apns","mode":"goaway","count":1,"left":1,"reason":"\#(foul)"}"#)
        try rig.order(
          .apns, to: secret,
          [
            #"{"status":503,"reason":"\#(foul)"}"#,
            #"{"status":400,"reason":"\#(foul)","headers":{"x-a":"\#(secret)"}}"#,
          ])
        try rig.order(.oauth, to: "token", [#"{"status":400,"reason":"\#(foul)"}"#])
        try rig.order(
          .fcm, to: three.google.receiver,
          [#"{"status":403,"reason":"\#(foul)"}"#, #"{"status":400,"reason":"\#(foul)","errorCode":"\#(secret)"}"#])
        try rig.order(
          .webpush, to: three.web.receiver,
          [#"{"status":403,"body":"\#(foul)"}"#, #"{"status":400,"body":"\#(foul)"}"#])
        try three.wake(rig)
        try rig.awaitEnded(3)
        try awaitSoon("all is told") {
          // A stranger's service of Web Push may understand as little as it likes.
          rig.logCount("does not understand a push") == 2 && rig.log.contains("Google gives no token")
            && rig.log.contains("for no reason that is a word")
        }
        // FCM does; what a stranger's service says of its own endpoint is no news.
        try rig.awaitLog("refuses our pushes", times: 1)
        let log = rig.log + rig.roost.lines("log/roostd.log").joined()
        for text in ["forged", secret, three.google.receiver, three.web.receiver] { #expect(!log.contains(text)) }
        let shown = "\(try rig.status().platforms)"
        #expect(!shown.contains("forged") && !shown.contains(secret))
        #expect(try rig.status().devices == 3)
      }
    }
  }
}
