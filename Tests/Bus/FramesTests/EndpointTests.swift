import Frames
import Testing

@Suite("An endpoint")
struct EndpointTests {
  @Test("keeps seat and turn apart")
  func keepsSeatAndTurnApart() {
    for seat in [1, 7, 4_095] {
      for turn: UInt32 in [0, 1, 0x7FFFF] {
        let endpoint = Endpoint(seat: seat, turn: turn)
        #expect(endpoint.seat == seat)
        #expect(endpoint.rawValue >> 12 == turn)
        #expect(endpoint.role == nil)
      }
    }
  }

  @Test("never becomes a role, also when its turn overflows 19 bits")
  func neverBecomesRole() {
    #expect(Endpoint(seat: 1, turn: 0x8_0000) == Endpoint(seat: 1, turn: 0))
    #expect(Endpoint(seat: 1, turn: .max).role == nil)
  }

  @Test("of a role carries the role's number")
  func carriesRole() {
    for role: UInt16 in [0, 1, 0xFFFF] { #expect(Endpoint(role: role).role == role) }
  }

  @Test("is written for people")
  func isWrittenForPeople() {
    #expect(Endpoint.hub.description == "hub")
    #expect(Endpoint(role: 3).description == "role 3")
    #expect(Endpoint(seat: 7, turn: 2).description == "7.2")
  }
}
