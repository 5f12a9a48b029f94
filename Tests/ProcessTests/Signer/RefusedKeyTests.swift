import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// An account whose key file the signer does not use: nobody is told that it never was, and nobody else signs for it.
  @Suite("Refused key files")
  struct RefusedKeyTests {
    private static let told = "a key file bob.key is there but not used: others may read or change it (mode 644)"

    /// A signer with alice, and bob's file closed to nobody.
    private func withRefusedBob(_ body: (SignerRig) throws -> Void) throws {
      try SignerRig.run(.storeAndSigner) { rig in
        for name in ["alice", "bob"] { try rig.generate(name) }
        chmod(rig.keys + "/bob.key", 0o644)
        try rig.kill()
        try body(rig)
      }
    }

    @Test("Who names the account is told why its key is not used, and what to do")
    func named() throws {
      try withRefusedBob { rig in
        for arguments in [
          ["publish", "--content", "x", "--as", "bob"], ["key", "remove", "bob", "--confirm", "npub1x"],
          ["key", "show", "bob"], ["key", "unlock", "bob"], ["key", "passphrase", "bob"],
          ["key", "generate", "bob", "--no-passphrase"], ["key", "generate", "bob"],
        ] {
          let refused = try rig.command(arguments, "")
          let text = words(refused.output)
          #expect(refused.status == .exited(1), "\(arguments)")
          #expect(text.contains(Self.told) && text.contains("chmod 600"), "\(arguments): \(text)")
          #expect(text.contains("nothing was done"), "\(arguments): \(text)")
        }
        for (method, arguments) in [
          ("signer.sign", #"{"account":"bob","event":{"kind":1}}"#), ("signer.generate", #"{"name":"bob"}"#),
        ] {
          let refusal = try rig.client.call(method, arguments).refusal
          #expect(refusal?.outcome == .notStarted, "\(method)")
          #expect(refusal?.message.contains(Self.told) == true, "\(method): \(refusal?.message ?? "")")
        }
      }
    }

    @Test("Who names none is asked to, as long as a key file is refused, however many accounts are left")
    func unnamed() throws {
      try withRefusedBob { rig in
        let publishing = try rig.command(["publish", "--content", "x"], "")
        let text = words(publishing.output)
        #expect(publishing.status == .exited(1) && text.contains("--as") && text.contains(Self.told), "\(text)")
        let peer = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
        let uses = [
          ("signer.sign", #"{"event":{"kind":1}}"#),
          ("signer.wrap", #"{"recipient":"\#(peer)","rumor":{"kind":14,"content":"x"}}"#),
          ("signer.nip44.encrypt", #"{"peer":"\#(peer)","text":"x"}"#),
          ("signer.nip04.encrypt", #"{"peer":"\#(peer)","text":"x"}"#),
        ]
        for (method, arguments) in uses {
          let refusal = try rig.client.call(method, arguments).refusal
          #expect(refusal?.code == .badRequest && refusal?.message.contains(Self.told) == true, "\(method)")
        }
        #expect(try rig.command(["publish", "--local", "--content", "x", "--as", "alice"], "").status == .exited(0))
        rename(rig.keys + "/bob.key", rig.keys + "/../bob.away")
        #expect(try rig.command(["publish", "--local", "--content", "y"], "").status == .exited(0))
        for (method, arguments) in uses { #expect(try rig.client.call(method, arguments).isResponse, "\(method)") }
      }
    }

    @Test("For every reason the doctor says what to do about it")
    func remedies() throws {
      try SignerRig.run { rig in
        let file = rig.keys + "/bob.key"
        for (make, remedy) in [
          ({ _ = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }, "restore it from a backup, or move it away"),
          (
            {
              unlink(file); mkdir(file, 0o700)
            }, "move it away"
          ),
          (
            {
              rmdir(file); symlink("/dev/null", file)
            }, "put the file itself there"
          ),
        ] as [(() -> Void, String)] {
          make()
          let text = words(try rig.command(["doctor"], "").output)
          #expect(text.contains("bob.key") && text.contains(remedy), "\(text)")
        }
      }
    }
  }
}
