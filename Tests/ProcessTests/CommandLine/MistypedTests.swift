import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What would find nothing, or be signed and found by nobody, without a word.
  @Suite("Mistyped filters, files and times")
  struct MistypedTests {
    private static let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    private static let hex = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"

    @Test("An npub or a note in a filter is refused with the digits to write, for authors and tags alike")
    func entities() throws {
      try withRoost(.store) { roost in
        let note = try #require(EventID(Self.hex)).note
        for (field, text) in [("#p", Self.npub), ("#e", note), ("authors", Self.npub), ("ids", note)] {
          let filter = #"{"\#(field)":["\#(text)"]}"#
          for method in ["store.query", "store.count", "store.observe"] {
            let refusal = try roost.client().call(method, #"{"filters":[\#(filter)]}"#).refusal
            #expect(refusal?.code == .badRequest, "\(method) \(field)")
            #expect(refusal?.message.contains("\(text) is \(Self.hex)") == true, "\(refusal?.message ?? "")")
          }
          for command in [["export", "--filter", filter], ["observe", filter]] {
            let refused = try roost.command(command)
            #expect(refused.status == .exited(2) && words(refused.output).contains(Self.hex), "\(refused.output)")
          }
        }
      }
    }

    @Test("An option that no command has is told as one, and not by what was made of its value")
    func options() throws {
      for (arguments, hint) in [
        (["publish", "--contnt", "hi"], "'--contnt'. Did you mean '--content'?"),
        (["observe", "--knd", "1"], "'--knd'. Did you mean '--kind'?"),
        (["plan", "read", "--knd", "1"], "'--knd'. Did you mean '--kind'?"),
        (["call", "store.count", "--timeot", "3 s"], "'--timeot'. Did you mean '--timeout'?"),
        (["key", "generate", "--nme", "A B"], "'--nme'"),
        (["--sockt", "x", "status"], "'--sockt'. Did you mean '--socket'?"),
        (["key", "unlock", "alice", "--socke", "x"], "'--socke'"),
      ] {
        let program = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), arguments)
        let told = words(try program.readAllOutput())
        #expect(told.contains("Unknown option \(hint)"), "\(arguments): \(told)")
        #expect(try program.waitForEnd() == .exited(2))
      }
      let early = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["--socket", "x", "status"])
      let told = words(try early.readAllOutput())
      #expect(told.contains("goes after the command, as in 'roost status --socket PATH'"))
      let wrong = try SpawnedProcess(SpawnedProcess.builtProgram("roost"), ["publish", "hi"])
      #expect(try wrong.readAllOutput().contains("That is no JSON object"))
    }

    @Test("UTF-16 without a mark and a zip are known for what they are, by publish as well")
    func forms() throws {
      try withRoost(.store) { roost in
        let json = makeNotes(0..<1)[0].json
        let forms: [([UInt8], String)] = [
          (json.flatMap { [$0, 0] }, "iconv -f UTF-16LE -t UTF-8"),
          (json.flatMap { [0, $0] }, "iconv -f UTF-16BE -t UTF-8"),
          ([0x50, 0x4B, 3, 4] + json, "unzip -p"), ([0x1F, 0x8B, 8, 0], "gunzip -c"),
        ]
        for (bytes, command) in forms {
          let file = try roost.write(bytes, to: "in")
          for (arguments, rest) in [
            (["import", file], "roost import -"), (["publish", "@" + file], "roost publish -"),
          ] {
            let refused = try roost.command(arguments)
            let text = words(refused.output)
            #expect(refused.status == .exited(1) && text.contains("\(command) \(file) | \(rest)"), "\(text)")
          }
        }
      }
    }

    @Test("A time in milliseconds is not signed, and of a signed event it is told")
    func milliseconds() throws {
      try withRoost(.storeAndSigner) { roost in
        let client = try roost.client()
        _ = try client.call("signer.generate", #"{"name":"alice"}"#)
        let draft = #"{"kind":1,"created_at":1763750000000}"#
        for refusal in [
          try client.call("signer.sign", #"{"event":\#(draft)}"#).refusal?.message,
          words(try roost.command(["publish", draft]).output),
        ] { #expect(refusal?.contains("looks like milliseconds") == true, "\(refusal ?? "")") }
        let missing = words(try roost.command(["publish", #"{"content":"x"}"#]).output)
        #expect(missing.contains("'kind' is missing"), "\(missing)")
        let key = SecretKey.generate()
        let signed = UnsignedEvent(pubkey: key.publicKey, createdAt: 1_763_750_000_000, kind: 1).signed(by: key)
        let told = try roost.command(["publish", "--local", String(decoding: signed.json, as: UTF8.self)])
        #expect(told.status == .exited(0) && words(told.output).contains("looks like milliseconds"), "\(told.output)")
      }
    }
  }
}
