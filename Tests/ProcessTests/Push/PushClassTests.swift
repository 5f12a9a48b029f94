import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What platforms are sent by a push relay")
  struct PushClassTests {
    private let phone = Ed25519SecretKey.generate()

    /// A type of wakes, and how it is to travel.
    private struct Travel {
      var type: String
      var pushType = "alert"
      var priority = "10"
      var collapseID: String?
      var googlePriority = "HIGH"

      static let all = [
        Travel(type: "noise_connect", collapseID: "noise_connect"), Travel(type: "payment_received"),
        Travel(type: "payment_request"), Travel(type: "unheard_of"),
        Travel(
          type: "channel_update", pushType: "background", priority: "5", collapseID: "channel_update",
          googlePriority: "NORMAL"),
        Travel(
          type: "subscription_due", pushType: "background", priority: "5", collapseID: "subscription_due",
          googlePriority: "NORMAL"),
      ]
    }

    @Test("has the push type, priority, life, collapse id and topic of its type (case 6)")
    func types() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        for (platform, token) in [("ios", PushRig.appleToken()), ("android", PushRig.googleToken())] {
          let body = #"{"platform":"\#(platform)","token":"\#(token)","device_id":"\#(platform)"}"#
          #expect(try rig.signed(phone, "POST", "/register", body).status == 200)
        }
        var ids: [String: Travel] = [:]
        let before = WallClock.seconds
        for travel in Travel.all {
          let wake = try rig.wake(phone, by: phone, type: travel.type)
          #expect(wake.status == 200, "\(wake.text)")
          ids[wake["wake_id"]] = travel
        }
        let apple = try rig.await(Travel.all.count, at: .apns)
        let google = try rig.await(Travel.all.count, at: .fcm)
        for request in apple { try checkApple(request, ids, before) }
        for request in google { try checkGoogle(request, ids) }
        #expect(
          apple.allSatisfy { $0["status"] == .integer(200) } && google.allSatisfy { $0["status"] == .integer(200) })
      }
    }

    private func checkApple(_ request: JSONValue, _ ids: [String: Travel], _ before: Int64) throws {
      let payload = try JSONPayload.decode(JSONValue.self, from: Array(request.text("payload").utf8))
      let travel = try #require(ids[payload.text("wake_id")], "\(request)")
      let headers = try #require(request["headers"])
      #expect(payload.text("wake_type") == travel.type)
      #expect(headers.text("apns-push-type") == travel.pushType, "\(travel.type)")
      #expect(headers.text("apns-priority") == travel.priority, "\(travel.type)")
      #expect(headers.text("apns-collapse-id") == travel.collapseID ?? "", "\(travel.type)")
      #expect(headers.text("apns-topic") == "app.example.wallet")
      let expiration = Int64(headers.text("apns-expiration")) ?? 0
      #expect((before + 60...WallClock.seconds + 61).contains(expiration), "\(travel.type): \(expiration)")
      let isSilent = payload["aps"] == .object(["content-available": .integer(1)])
      #expect(isSilent == (travel.pushType == "background"), "\(payload)")
    }

    private func checkGoogle(_ request: JSONValue, _ ids: [String: Travel]) throws {
      let message = try JSONPayload.decode(JSONValue.self, from: Array(request.text("payload").utf8))["message"]
      let data = try #require(message?["data"]), android = try #require(message?["android"])
      let travel = try #require(ids[data.text("wake_id")], "\(request)")
      #expect(data.text("wake_type") == travel.type)
      #expect(android.text("priority") == travel.googlePriority, "\(travel.type)")
      #expect(android.text("collapse_key") == travel.collapseID ?? "", "\(travel.type)")
      let life = android.text("ttl")
      #expect(life.hasSuffix("s") && (1...60).contains(Int(life.dropLast()) ?? 0), "\(travel.type): \(life)")
    }

    @Test("is 4,096 bytes at the most: one more is refused, that many are sent (case 26)")
    func size() throws {
      // Words that are shown take their room from the payload, and Apple's is the smallest then.
      let words = String(repeating: "w", count: 250)
      let keys = PushRig.unlimited.merging(["wake.default.body": "\"\(words)\""]) { $1 }
      try PushRig.run(keys) { rig in
        let body = #"{"platform":"ios","token":"\#(PushRig.appleToken())"}"#
        #expect(try rig.signed(phone, "POST", "/register", body).status == 200)
        try rig.wake(phone, by: phone, type: "a", payload: [1, 2, 3])
        let small = try rig.await(1, at: .apns)[0].text("payload").utf8.count
        let room = 4_096 - small
        let payload = RandomBytes.make(3 + room / 4 * 3)
        let type = String(repeating: "b", count: 1 + room % 4)
        let fitting = try rig.wake(phone, by: phone, type: type, payload: payload)
        #expect(fitting.status == 200, "\(fitting.text)")
        let sent = try rig.await(2, at: .apns)[1]
        #expect(sent.text("payload").utf8.count == 4_096 && sent["status"] == .integer(200))
        let larger = try rig.wake(phone, by: phone, type: type + "b", payload: payload)
        #expect(larger.status == 400 && larger["error"] == "invalid_payload", "\(larger.status) \(larger.text)")
        // The same answer to a stranger of whom nothing is known: it tells nothing of who is there.
        let nobody = Ed25519SecretKey.generate()
        #expect(try rig.wake(nobody, by: phone, type: type + "b", payload: payload).text == larger.text)
      }
    }
  }
}
