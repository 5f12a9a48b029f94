import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What is observed as text")
  struct ObserveTextTests {
    @Test("'roost observe' as text shows 1,200 stored notes of 1,200 authors, each by the name its author has")
    func manyAuthors() throws {
      try withRoost(.storeAndSigner) { roost in
        var lines = ""
        for number in 0..<1_200 {
          let author = SecretKey.generate()
          for (kind, content) in [(UInt16(0), #"{"name":"Author \#(number)"}"#), (1, "note \(number)")] {
            let draft = UnsignedEvent(
              pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(number), kind: kind, tags: [],
              content: content)
            lines += String(decoding: draft.signed(by: author).json, as: UTF8.self) + "\n"
          }
        }
        let file = try roost.write(Array(lines.utf8), to: "notes.jsonl")
        #expect(try roost.command(["import", file]).status == .exited(0))
        let program = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"),
          ["observe", "--kind", "1", "--policy", "cache-only", "--socket", roost.socket])
        _ = try program.readLine(within: 120) { $0.hasPrefix("-- that was stored") }
        program.send(SIGINT)
        let shown = try program.readAllOutput().split(separator: "\n")
        #expect(try program.waitForEnd() == .exited(130))
        for number in [0, 1, 599, 1_138, 1_199] {
          #expect(shown.contains { $0.contains("  Author \(number) npub1") && $0.hasSuffix("  note \(number)") })
        }
        #expect(shown.count == 1_201)
      }
    }
  }
}
