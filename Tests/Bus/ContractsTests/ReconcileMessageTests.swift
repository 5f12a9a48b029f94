import Contracts
import Testing

@Suite("A message of a reconciliation")
struct ReconcileMessageTests {
  @Test("is a number of eight bytes, the lowest first, and the message")
  func layout() {
    let message = ReconcileMessage(session: 0x0102, bytes: [0x61, 7])
    #expect(message.payload == [2, 1, 0, 0, 0, 0, 0, 0, 0x61, 7])
    #expect(ReconcileMessage(payload: message.payload) == message)
    #expect(ReconcileMessage(payload: [UInt8](repeating: 0xFF, count: 8)) == ReconcileMessage(session: -1, bytes: []))
    #expect(ReconcileMessage(payload: [UInt8](repeating: 0, count: 7)) == nil)
  }
}
