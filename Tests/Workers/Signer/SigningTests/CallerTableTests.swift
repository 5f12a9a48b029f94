import Contracts
import Frames
import Testing

@testable import Signing

@Suite("Who asks the signer")
struct CallerTableTests {
  private static let provider = Role.dvmProvider

  private func registry(_ members: (name: String, seat: Int, turn: UInt32)...) -> Registry {
    Registry(
      methods: [:], topics: [:],
      roles: [Self.provider.name: Self.provider.number, Role.client.name: Role.client.number],
      members: members.map { member in
        Registry.Member(
          name: member.name, role: Self.provider.name,
          endpoint: Endpoint(seat: member.seat, turn: member.turn).rawValue, isReady: true)
      })
  }

  private func name(_ book: CallerTable, _ turn: UInt32) -> String? {
    do throws(Refusal) {
      return try book.caller(Endpoint(seat: 5, turn: turn), role: Self.provider.number).name
    } catch {
      #expect(error.code == .unavailable && error.outcome == .notStarted && error.retryAfterMilliseconds != nil)
      return nil
    }
  }

  @Test("Nobody who has a seat next is taken for its last worker, while the registry is under way")
  func nextTenant() {
    var book = CallerTable(registry(("alice", 5, 8)))
    // Who has a seat next is a turn further than a worker that is back: the hub reserves the seat for a turn.
    #expect(name(book, 8) == "alice" && name(book, 10) == nil)
    book.adopt(registry(("bob", 5, 10)))
    #expect(name(book, 10) == "bob")
    #expect(name(book, 8) == "alice", "its last requests are its own")
  }

  @Test("A worker that is back asks under its own name before the registry says so")
  func back() {
    let book = CallerTable(registry(("alice", 5, 8)))
    #expect(name(book, 9) == "alice")
  }
}
