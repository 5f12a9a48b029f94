import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// One limit for the bytes of an event, whichever way it takes.
  @Suite("The size of events")
  struct EventLimitTests {
    private static let maximum = 1_044_480
    private static let sentence = "the event has \(maximum + 1) bytes; at most \(maximum) are taken"

    /// A note that is so many bytes of JSON.
    private func note(byteCount: Int) -> [UInt8] {
      let key = SecretKey.generate()
      func event(_ contentByteCount: Int) -> [UInt8] {
        UnsignedEvent(
          pubkey: key.publicKey, createdAt: 1_700_000_000, kind: 1,
          content: String(repeating: "a", count: contentByteCount)
        ).signed(by: key).json
      }
      return event(byteCount - event(0).count)
    }

    @Test("The largest event is published, observed, exported and imported again, and comes from any relay")
    func largest() throws {
      let event = note(byteCount: Self.maximum)
      var exported: [UInt8] = []
      try withRoost(.store) { roost in
        let published = try roost.command(["publish", "--local", "@" + roost.write(event, to: "event.json")])
        #expect(published.status == .exited(0), "\(words(published.output))")
        let store = try StoreClient(roost)
        let observed = try store.observe(#"{"kinds":[1]}"#)
        try store.peer.wait("the stored event and its end") { store.peer.partCount(of: observed) == 2 }
        let file = roost.path("out.jsonl")
        #expect(try roost.command(["export", "-o", file]).status == .exited(0))
        exported = SharedFolder.bytes(ofFile: file) ?? []
      }
      #expect(exported == event + [0x0A])
      try withRoost(.store) { roost in
        let told = try roost.command(["import", roost.write(exported, to: "in.jsonl")])
        #expect(told.output == "1 line: 1 stored\n")
        let host = "wss://" + String(repeating: "a", count: 60) + ".example/"
        let url = host + String(repeating: "b", count: RelayURL.byteCountMaximum - host.utf8.count)
        var run: [UInt8] = []
        IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array(url.utf8), to: &run)
        IngestRecord.append(.event, relay: 1, receivedNanoseconds: 0, note(byteCount: Self.maximum), to: &run)
        let store = try StoreClient(roost)
        let answer = try store.peer.answer(to: store.sendRun(run))
        #expect(answer.text.contains(#""stored":1"#), "\(answer.text)")
      }
    }

    @Test("One byte more is refused alike, whether it is published, imported or signed")
    func tooLarge() throws {
      try withRoost(.storeAndSigner) { roost in
        let client = try roost.client()
        let event = note(byteCount: Self.maximum + 1)
        let file = try roost.write(event, to: "event.json")
        for arguments in [["publish", "--local", "@" + file], ["import", file]] {
          let refused = try roost.command(arguments)
          #expect(
            refused.status == .exited(1) && words(refused.output).contains(Self.sentence),
            "\(words(refused.output).prefix(300))")
        }
        let refusal = try client.call("store.publish", String(decoding: event, as: UTF8.self)).refusal
        #expect(refusal?.message == Self.sentence && refusal?.outcome == .notStarted)
        let store = try StoreClient(roost)
        let answer = try store.peer.answer(to: store.importRun([event]))
        #expect(answer.text.contains(Self.sentence), "\(answer.text.prefix(300))")
        _ = try client.call("signer.generate", #"{"name":"alice"}"#)
        let draft = #"{"kind":1,"content":"\#(String(repeating: "a", count: Self.maximum - 200))"}"#
        let unsigned = try client.call("signer.sign", #"{"event":\#(draft)}"#).refusal
        #expect(unsigned?.message.contains("bytes; at most \(Self.maximum) are taken") == true)
        #expect(unsigned?.outcome == .notStarted)
      }
    }

    @Test("Publishing to a store that is held says what it waits for, and gives up with nothing done")
    func held() throws {
      try withRoost(.store) { roost in
        #expect(try roost.client().call("supervisor.hold", #"{"worker":"event-store"}"#).isResponse)
        let event = String(decoding: makeNotes(0..<1)[0].json, as: UTF8.self)
        let refused = try roost.command(["publish", "--local", event])
        #expect(refused.status == .exited(5), "\(words(refused.output))")
        #expect(
          words(refused.output).contains("event-store is held: the call waits in the mailbox"),
          "\(words(refused.output))")
        #expect(words(refused.output).contains("nothing was done"), "\(words(refused.output))")
      }
    }
  }
}

extension RunningRoost {
  /// Writes a file into this roost's directory; its path.
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { Descriptors.close(descriptor) }
    try bytes.withUnsafeBytes { try Descriptors.writeAll($0, to: descriptor) }
    return path(name)
  }
}

/// A text without the line ends that a terminal's width makes.
func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
