import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Clients that must show themselves and do not: their connections are bounded apart from those of the owner. They
  /// come as a proxy's, which needs no second user.
  @Suite("The local relay and clients that do not show themselves")
  struct LocalRelayOutsideTests {
    private static let field = "X-Forwarded-For: 203.0.113.9"

    /// What `roost doctor` says of the clients.
    private func doctor(_ house: LocalRelayHouse) throws -> String {
      try house.roost.tool(["doctor"]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("They give way to each other and to the owner, who finds room for clients and figures; doctor tells of it")
    func flood() throws {
      try LocalRelayHouse.run(["connections-maximum": "16"]) { house in
        #expect(try doctor(house).contains("0 of 16 connections to the local relay are taken"))
        var outside: [RelayVisitor] = []
        // Each is told its refusal, so that it is in before the next one comes.
        for _ in 0..<20 {
          outside.append(try house.visitor(Self.field))
          #expect(try outside.last?.request(#"{"limit":1}"#, name: "a").refusal?.hasPrefix("auth-required:") == true)
        }
        let figures = try RelayVisitor.exchange(
          port: house.port, ["GET /metrics HTTP/1.1", "Host: 127.0.0.1", "Connection: close"])
        #expect(figures.hasPrefix("HTTP/1.1 200 "), "\(figures)")
        #expect(figures.contains("\nroost_local_displaced_total 18\n"), "\(figures)")
        let status: LocalRelayStatus = try house.ask("local.status")
        #expect(status.outside == 2 && status.outsideMaximum == 2 && status.displaced == 18, "\(status)")
        #expect(status.turnedAway == 0 && status.connections == 2)
        let words = try doctor(house)
        #expect(words.contains("(2): 18 connections gave way, the last"), "\(words)")
        let inside = try (0..<16).map { _ in try house.visitor() }
        for visitor in inside { #expect(try visitor.request(#"{"limit":1}"#).refusal == nil) }
        _ = try RelayVisitor(port: house.port)
        let full = try doctor(house)
        #expect(full.contains("1 connection to the local relay was answered 503, the last"), "\(full)")
      }
    }

    @Test("A message of theirs has 16 KiB at most; who has shown himself sends as much as others")
    func messages() throws {
      try LocalRelayHouse.run(beside: PlannerRig.layout([])) { house in
        let author = Author()
        try house.account(of: author)
        let large = author.event(String(repeating: "x", count: 40_000))
        let stranger = try house.visitor(Self.field)
        stranger.send("[\"EVENT\",\(String(decoding: large.json, as: UTF8.self))]")
        try stranger.awaitEnd()
        #expect(stranger.closeCode == 1009)
        let owner = try house.visitor(Self.field)
        #expect(try owner.request(#"{"limit":1}"#).refusal?.hasPrefix("auth-required:") == true)
        try owner.wait("the challenge") { owner.challenge != nil }
        #expect(try owner.authenticate(author, for: house.url).isAccepted)
        let verdict = try owner.publish(large)
        #expect(!verdict.reason.hasPrefix("auth-required:") && owner.closeCode == nil, "\(verdict)")
        // The relay waits a moment for the stranger to have read its close.
        try awaitSoon("the stranger has left, and the owner is inside") {
          let status: LocalRelayStatus = try house.ask("local.status")
          return status.outside == 0
        }
        #expect(try owner.request(#"{"limit":1}"#).refusal == nil)
      }
    }
  }
}
