import Cryptography
import Testing

@Suite struct SecretMemoryTests {
  private struct Refusal: Error {}

  @Test("Memory whose filling fails is given back once, and can be had again")
  func failedFilling() {
    for _ in 0..<(2 * SecretMemory.heapByteCount / 4_096) {
      #expect(throws: Refusal.self) { try SecretMemory(byteCount: 4_096) { _ in throw Refusal() } }
    }
    let memory = SecretMemory(byteCount: 4) { $0.copyBytes(from: [1, 2, 3, 4]) }
    #expect(memory.withBytes { Array($0) } == [1, 2, 3, 4])
  }
}
