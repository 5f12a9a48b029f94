import Contracts
import Cryptography
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// The vectors over HTTP, at a relay whose clock stands where theirs does: byte for byte, but for the four whose
  /// clock is another one (asked at the time that stands as far off), and for valid wakes that would use a nonce twice.
  @Suite("Requests as phones send them, to a push relay")
  struct PushVectorTests {
    /// By how much a relay's clock must be ahead.
    private var offset: Int64 { PushVector.clock - WallClock.seconds }

    private func settings(_ more: [String: String] = [:]) -> [String: String] {
      PushRig.unlimited.merging(["audience": "\"push.example\""]) { $1 }.merging(more) { $1 }
    }

    @Test("are answered as each of them says (cases 1 to 3, 6, 8, 10, 14 to 26)")
    func requests() throws {
      let vectors = PushVector.all("requests").filter { $0.rules == PushVector.Rules() }
      #expect(vectors.count == 138)
      try PushRig.run(ahead: offset, settings()) { rig, clock in
        var wakes: Set<String> = []
        // The oldest first: what is signed before a removal is too late behind it.
        for vector in vectors.filter({ $0.now > PushVector.clock }) + vectors.filter({ $0.now <= PushVector.clock }) {
          var vector = try vector.twin(relayClock: clock.now)
          if vector.expect == "ok", vector.target == "/v1/wake", !wakes.insert(vector.body).inserted {
            #expect(vector.name.hasPrefix("10 version 2"), "the same body again")
          } else if vector.expect == "ok", vector.target == "/v1/wake", wakes.count > 1 {
            vector = try vector.withNonce(Hexadecimal.text(of: RandomBytes.make(16)))
          }
          try check(vector, rig)
        }
      }
    }

    @Test("are taken in version 2 alone where the operator says so (case 10)")
    func versions() throws {
      let vectors = PushVector.all("requests").filter { $0.rules.v1 != nil }
      #expect(vectors.count == 2)
      try PushRig.run(ahead: offset, settings(["version-1": "\"reject\""])) { rig, _ in
        for vector in vectors { try check(vector, rig) }
      }
    }

    @Test("may sign the path that they ask for where the operator says so, and the other one still (case 17)")
    func prefix() throws {
      let vectors = PushVector.all("requests").filter { $0.rules.prefixed != nil || $0.name.hasPrefix("01") }
      #expect(vectors.count == 2)
      try PushRig.run(ahead: offset, settings(["prefixed-paths": "true"])) { rig, _ in
        for vector in vectors { try check(vector, rig) }
      }
    }

    @Test("are refused where anybody could have signed, or where libraries disagree whether somebody has (case 19)")
    func forged() throws {
      let vectors = PushVector.all("forged")
      #expect(vectors.count == 27 && vectors.count { $0.expect == "ok" } == 2)
      try PushRig.run(ahead: offset, settings()) { rig, clock in
        for vector in vectors { try check(vector, rig) }
        #expect(try clock.status().devices == 2)
      }
    }

    private func check(_ vector: PushVector, _ rig: PushRig) throws {
      let answer = try rig.raw(vector.request)
      // A request line without a target is not HTTP, and never comes as far as to have a word.
      guard !vector.target.isEmpty else { return #expect(answer.status == 400, "\(vector.name): \(answer.head)") }
      // A whole URL is its path by the time that it is looked at (RFC 9112, 3.2.2), and this one signs another path.
      if vector.target.hasPrefix("http:") { return #expect(answer["error"] == "invalid_signature", "\(answer.text)") }
      #expect(answer.status == PushVector.statuses[vector.expect], "\(vector.name): \(answer.status) \(answer.text)")
      if vector.expect == "ok" { return }
      #expect(answer["error"] == vector.expect, "\(vector.name): \(answer.text)")
      #expect(!answer["message"].isEmpty)
      // Space around a field's value is none of it, so there the signature is what is wrong.
      guard vector.name.hasPrefix("16 "), !vector.name.hasSuffix(" '") else { return }
      guard case .integer(let time)? = answer.json["server_time"] else {
        return #expect(Bool(false), "\(vector.name): no server_time in \(answer.text)")
      }
      #expect(abs(time - PushVector.clock) < 600, "\(vector.name)")
    }
  }
}
