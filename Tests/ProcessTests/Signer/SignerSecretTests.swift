import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Where secrets of the signer are, and above all where they are not.
  @Suite("The signer's secrets")
  struct SignerSecretTests {
    private static let hex = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
    private static let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    private static let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    private static let passphrase = "correct horse battery"

    /// All that stands in files below a directory, by path.
    private static func files(below path: String) -> [(String, [UInt8])] {
      guard let folder = opendir(path) else { return SharedFolder.bytes(ofFile: path).map { [(path, $0)] } ?? [] }
      defer { closedir(folder) }
      var result: [(String, [UInt8])] = []
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        // Sockets cannot be read, and hold nothing.
        if name != ".", name != "..", !name.hasSuffix(".sock") { result += files(below: path + "/" + name) }
      }
      return result
    }

    @Test("Neither key nor passphrase stands in any file, log or recording when a passphrase was given")
    func noTrace() throws {
      try SignerRig.run { rig in
        let lines = "\(Self.nsec)\n\(Self.passphrase)\n"
        let answer = try rig.command(["key", "import", "alice"], lines)
        #expect(answer.status == .exited(0) && answer.output.contains(Self.npub))
        let wrong = try rig.command(["key", "import", "bob"], "\(Self.nsec.dropLast(3))\n\(Self.passphrase)\n")
        #expect(wrong.status == .exited(1) && !wrong.output.contains(Self.nsec.prefix(20)))
        _ = try rig.refusal("signer.sign", SignerSign(account: Self.nsec, event: SignerRig.template()))
        _ = try rig.refusal("signer.sign", SignerSign(account: Self.hex, event: SignerRig.template()))
        try rig.kill()
        #expect(try rig.unlock("alice", Self.passphrase + "x") == "wrong-passphrase")
        #expect(try rig.unlock("alice", Self.passphrase) == nil)
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(1, "private words"))) == nil)
        let secret = try #require(Hexadecimal.decode(Self.hex.utf8))
        let needles = [
          Array(Self.hex.utf8), Array(Self.nsec.utf8.dropFirst(5).prefix(24)), secret, Array(Self.passphrase.utf8),
          Array("private words".utf8),
        ]
        let files = Self.files(below: rig.roost.directory.path)
        #expect(files.contains { $0.0.hasSuffix("alice.key") } && files.contains { $0.0.contains("signer.log") })
        for (path, bytes) in files {
          for (number, needle) in needles.enumerated() { #expect(!bytes.contains(needle), "\(number) in \(path)") }
        }
        let audit = files.first { $0.0.contains("signer.log") }.map { String(decoding: $0.1, as: UTF8.self) } ?? ""
        #expect(audit.contains("signer.sign") && audit.contains("wrong-passphrase") && audit.contains("alice"))
        #expect(!audit.contains("signer.accounts"), "who asks for names alone uses no key")
      }
    }

    @Test("Another process of the same user cannot read the signer's memory")
    func unreadable() throws {
      // Root may read all memory by these rights; without them, root is a user as others are.
      let rights = "-sys_ptrace,-perfmon,-sys_admin"
      let prefix = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=\(rights)", "--inh-caps=\(rights)"] : []
      try SignerRig.run(SignerRig.layout(environment: ["LANG=C"] + prefix)) { rig in
        try rig.generate("alice")
        func look(_ pid: Int, _ file: String) throws -> String {
          let command = prefix + ["/usr/bin/head", "-c", "64", "/proc/\(pid)/\(file)"]
          return try SpawnedProcess(command[0], Array(command.dropFirst())).readAllOutput()
        }
        let signer = try rig.roost.worker("signer", rig.client)
        let pid = Int(try #require(signer.pid))
        let control = try look(Int(rig.roost.daemon.pid), "maps")
        #expect(!control.contains("denied"), "the look itself works")
        for file in ["maps", "mem", "environ"] { #expect(try look(pid, file).contains("denied"), "\(file)") }
        #expect(signer.sandbox?.contains("no-dump") == true)
      }
    }

    @Test("The commands make, import, show, lock, unlock and remove keys, with secrets on standard input")
    func commands() throws {
      try SignerRig.run { rig in
        #expect(try rig.command(["key", "generate", "alice"], "").status == .exited(1))
        #expect(try rig.command(["key", "generate", "alice"], "horse\n").status == .exited(0))
        #expect(try rig.command(["key", "generate", "alice"], "horse\n").status == .exited(1))
        #expect(try rig.command(["key", "import", "bob", "--no-passphrase"], Self.hex + "\n").status == .exited(0))
        let shown = try rig.command(["key", "show", "bob", "--json"], "")
        let bob = try JSONPayload.decode(SignerAccount.self, from: Array(shown.output.utf8))
        #expect(bob.npub == Self.npub && !bob.isEncrypted && bob.state == .unlocked)
        #expect(try rig.command(["key", "lock", "bob"], "").output.contains("without a passphrase"))
        #expect(try rig.command(["key", "lock"], "").status == .exited(0))
        #expect(try rig.command(["key", "unlock"], "wrong\n").output.contains("passphrase is wrong"))
        #expect(try rig.command(["key", "unlock"], "horse\n").output.contains("alice is unlocked"))
        #expect(try rig.command(["key", "unlock", Self.nsec], "").status == .exited(2))
        #expect(try rig.command(["key", "remove", "bob", "--confirm", "npub1x"], "").status == .exited(1))
        #expect(try rig.command(["key", "remove", "bob", "--confirm", Self.npub], "").status == .exited(0))
        #expect(try rig.accounts().accounts.map(\.name) == ["alice"])
      }
    }

    @Test("A passphrase is changed with the present one only; the key stays, and a restart asks for the new one")
    func passphraseChange() throws {
      try SignerRig.run { rig in
        let alice = try rig.generate("alice", "horse")
        #expect(try rig.command(["key", "passphrase"], "wrong\nnew\n").output.contains("passphrase is wrong"))
        #expect(try rig.command(["key", "passphrase"], "").status == .exited(1))
        #expect(try rig.command(["key", "passphrase"], "horse\n").status == .exited(1))
        let changed = try rig.command(["key", "passphrase", "alice"], "horse\nbattery\n")
        #expect(changed.status == .exited(0) && changed.output.contains("stored under the new passphrase"))
        #expect(try rig.accounts().accounts.map(\.state) == [.unlocked], "what was open stays open")
        try rig.kill()
        #expect(try rig.unlock("alice", "horse") == "wrong-passphrase")
        #expect(try rig.command(["key", "passphrase"], "battery\nstaple\n").status == .exited(0))
        #expect(try rig.accounts().accounts.map(\.state) == [.locked], "what was locked stays locked")
        #expect(try rig.unlock("alice", "staple") == nil)
        #expect(try rig.command(["key", "passphrase", "--no-passphrase"], "staple\n").status == .exited(0))
        let file = String(decoding: SharedFolder.bytes(ofFile: rig.keys + "/alice.key") ?? [], as: UTF8.self)
        #expect(file.contains("unencrypted-secret") && !file.contains("ncryptsec1"))
        try rig.kill()
        #expect(try rig.accounts().accounts.map(\.state) == [.unlocked])
        #expect(try rig.command(["key", "passphrase"], "horse\n").status == .exited(0), "it had none")
        try rig.kill()
        #expect(try rig.unlock("alice", "horse") == nil)
        #expect(try rig.accounts().accounts.map(\.publicKey) == [alice.publicKey])
        let signed = try rig.ask("signer.sign", SignerSign(event: SignerRig.template()), as: SignerSigned.self)
        #expect(try SignerRig.verified(signed.event).pubkey.description == alice.publicKey)
      }
    }

    @Test("A key under a passphrase that comes from elsewhere is opened by that passphrase and kept as it came")
    func importEncrypted() throws {
      let key = SecretKey.generate()
      let passphrase = try Array("horse".utf8).withUnsafeBytes { try Passphrase(utf8: $0) }
      let text = try EncryptedSecretKey(encrypting: key, with: passphrase, logN: 2).text
      try SignerRig.run { rig in
        let wrong = try rig.command(["key", "import", "a"], "\(text)\nwrong\n")
        #expect(wrong.output.contains("passphrase is wrong"))
        let right = try rig.command(["key", "import", "a"], "\(text)\nhorse\n")
        #expect(right.output.contains(key.publicKey.npub))
        let file = String(decoding: SharedFolder.bytes(ofFile: rig.keys + "/a.key") ?? [], as: UTF8.self)
        #expect(file.contains(text))
      }
    }

    @Test("A service manager's credentials are an account without a file, and an unlocked one")
    func credentials() throws {
      let directory = try TemporaryDirectory()
      func put(_ name: String, _ text: String) throws {
        let file = open(directory.path + "/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o400)
        try Descriptors.writeAll(text, to: file)
        Descriptors.close(file)
      }
      try put("roost.key.service", Self.hex)
      try put("roost.passphrase.alice", "horse\n")
      let layout = SignerRig.layout(environment: ["CREDENTIALS_DIRECTORY=\(directory.path)"])
      try SignerRig.run(layout) { rig in
        #expect(try rig.accounts().accounts.map(\.npub) == [Self.npub])
        try rig.generate("alice", "horse")
        try rig.kill()
        let accounts = try rig.accounts().accounts
        #expect(accounts.map(\.name) == ["alice", "service"] && accounts.map(\.state) == [.unlocked, .unlocked])
        #expect(accounts[1].origin == .credential)
        #expect(access(rig.keys + "/service.key", F_OK) != 0)
        let removal = SignerRemove(name: "service", publicKey: Self.npub)
        #expect(try rig.refusal("signer.remove", removal) == "bad-request")
      }
    }

    @Test("Refused key files are shown with the reason by key list, doctor and status, also while the signer runs")
    func refusedFiles() throws {
      try SignerRig.run { rig in
        for name in ["alice", "bob"] { try rig.generate(name) }
        chmod(rig.keys + "/alice.key", 0o644)
        func shown() throws -> [String] {
          let list = try rig.command(["key", "list"], "")
          let doctor = try rig.command(["doctor"], "")
          #expect(list.status == .exited(1) && doctor.status == .exited(1))
          try awaitSoon("status tells it") {
            try rig.roost.worker("signer", rig.client).text?.contains("refused: alice.key") ?? false
          }
          return [list.output, doctor.output].map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        }
        for output in try shown() {
          #expect(output.contains("alice.key") && output.contains("mode 644"), "\(output)")
          #expect(output.contains("continues with what was read"), "\(output)")
        }
        try rig.kill()
        #expect(try rig.accounts().accounts.map(\.name) == ["bob"])
        for output in try shown() {
          #expect(output.contains("mode 644") && !output.contains("continues with what was read"), "\(output)")
        }
        chmod(rig.keys + "/alice.key", 0o600)
        #expect(try rig.command(["doctor"], "").output.contains("roost restart signer"))
        try rig.kill()
        #expect(try rig.command(["key", "list"], "").status == .exited(0))
        #expect(try rig.command(["doctor"], "").output.contains("2 accounts, no key file refused"))
      }
    }

    @Test("A copy of a key file takes no account over, whatever its name sorts before")
    func copiedFile() throws {
      try SignerRig.run { rig in
        let alice = try rig.generate("alice")
        let bytes = try #require(SharedFolder.bytes(ofFile: rig.keys + "/alice.key"))
        let descriptor = open(rig.keys + "/aaa.key", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll(String(decoding: bytes, as: UTF8.self), to: descriptor)
        Descriptors.close(descriptor)
        try rig.kill()
        let found = try rig.accounts()
        #expect(found.accounts.map(\.name) == ["alice"] && found.accounts.map(\.publicKey) == [alice.publicKey])
        #expect(found.problems.count == 1)
        #expect(found.problems.first?.contains("aaa.key is not used: it is a copy of alice.key") == true)
      }
    }
  }
}
