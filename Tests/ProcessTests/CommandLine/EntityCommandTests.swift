import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// `roost encode` and `roost decode`: the examples of NIP-19, without a running Roost.
  @Suite("Entities on the command line")
  struct EntityCommandTests {
    private static let hex = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"
    private static let npub = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
    private static let nprofile =
      "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p"

    private func run(
      _ arguments: [String], input: String? = nil
    ) throws -> (output: String, status: SpawnedProcess.Ending) {
      let line = "printf '%s' \"$IN\" | exec \"$@\""
      let process = try SpawnedProcess(
        "/bin/bash", ["-c", line, "-", SpawnedProcess.builtProgram("roost")] + arguments,
        environment: ["PATH=/usr/bin:/bin", "IN=\(input ?? "")", "ROOST_SOCKET=/nonexistent/roost.sock"])
      return (try process.readAllOutput(), try process.waitForEnd())
    }

    @Test("The entities of NIP-19 are decoded, plain and as JSON, with nostr: in front or without")
    func decode() throws {
      #expect(try run(["decode", Self.npub]).output == Self.hex + "\n")
      #expect(
        try run(["decode", "nostr:" + Self.npub.uppercased(), "--json"]).output
          == #"{"pubkey":"\#(Self.hex)","type":"npub"}"# + "\n")
      #expect(
        try run(["decode", Self.nprofile]).output
          == Self.hex + "\nrelay       wss://r.x.com\nrelay       wss://djbas.sadkb.com\n")
      let digits = try run(["decode", "-"], input: Self.hex + "\n").output.split(separator: "\n")
      #expect(digits.first == Substring(Self.npub) && digits.last?.hasPrefix("note1") == true, "\(digits)")
      let address = try run(["encode", "naddr", "30023:\(Self.hex):my: article", "-r", "wss://r.x.com"]).output
      let back = try run(["decode", String(address.dropLast()), "--json"]).output
      let value = try JSONPayload.decode(JSONValue.self, from: back.utf8)
      #expect(value["type"] == .string("naddr") && value["kind"] == .integer(30_023))
      #expect(value["identifier"] == .string("my: article") && value["author"] == .string(Self.hex))
      #expect(value["address"] == .string("30023:\(Self.hex):my: article"))
      #expect(value["relays"] == .array([.string("wss://r.x.com")]))
    }

    @Test("What is encoded is decoded again")
    func encode() throws {
      #expect(try run(["encode", "npub", Self.hex]).output == Self.npub + "\n")
      #expect(try run(["encode", "npub", Self.nprofile, "--uri"]).output == "nostr:" + Self.npub + "\n")
      let relays = ["--relay", "wss://r.x.com", "--relay", "wss://djbas.sadkb.com"]
      #expect(try run(["encode", "nprofile", Self.npub] + relays).output == Self.nprofile + "\n")
      let event = try run(["encode", "nevent", Self.hex, "-a", Self.npub, "-k", "1", "-r", "wss://r.x.com"]).output
      let told = try run(["decode", String(event.dropLast())]).output
      #expect(told == Self.hex + "\nkind        1\nauthor      \(Self.hex)\nrelay       wss://r.x.com\n")
      let parts = try run(["encode", "naddr", "-k", "30023", "-a", Self.npub, "-d", "x"]).output
      #expect(try run(["decode", String(parts.dropLast())]).output.hasPrefix("30023:\(Self.hex):x\n"))
      let json = try run(["encode", "note", Self.hex, "--json"]).output
      #expect(json.hasPrefix(#"{"text":"note1"#) && json.contains(#""uri":"nostr:note1"#), "\(json)")
    }

    @Test("What is no entity, or a secret key, is refused in words, and nothing of a key is shown")
    func refusals() throws {
      let secret = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
      let typed = try run(["decode", secret])
      #expect(typed.status == .exited(2) && typed.output.contains("A secret key is never an argument"))
      let piped = try run(["decode", "-"], input: secret)
      #expect(piped.status == .exited(1) && piped.output.contains("that is a secret key, and is not decoded"))
      #expect(!typed.output.contains("vl029") && !piped.output.contains("vl029"))
      for (arguments, status, told) in [
        (["decode"], 2, "text"), (["decode", "npub1x"], 1, "'npub1x' cannot be decoded"),
        (["decode", "bob@example.com"], 3, "no-supervisor"), (["encode", "npub", "alice"], 3, "no-supervisor"),
        (["encode", "npub"], 2, "What is to be encoded?"),
        (["encode", "nsec", Self.hex], 2, "A secret key is not encoded"),
        (["encode", "nbub", Self.hex], 2, "It is one of npub, nprofile, note, nevent, naddr."),
        (["encode", "npub", Self.hex, "-r", "wss://x.y"], 2, "nprofile has"),
        (["encode", "note", Self.hex, "-r", "wss://x.y"], 2, "nevent has"),
        (["encode", "naddr", "1:\(Self.hex):"], 1, "that is no address"), (["encode", "naddr", "-k", "1"], 2, "needs"),
        (["encode", "nevent", "note1x"], 1, "the id cannot be read"),
        (["encode", "note", Self.hex, "-k", "1"], 2, "go with"),
        (["encode", "nprofile", Self.hex, "-r", "http://x"], 2, "http"),
      ] as [([String], Int32, String)] {
        let refused = try run(arguments)
        #expect(refused.status == .exited(status), "\(arguments): \(refused.output)")
        #expect(words(in: refused.output).contains(told), "\(arguments): \(refused.output)")
      }
    }

    private func words(in text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
  }
}
