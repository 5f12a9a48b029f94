import Cryptography
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

@testable import KeyStore

@Suite("Key files")
struct KeyDirectoryTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/keys" }

  init() throws { directory = try TemporaryDirectory() }

  private func stored(_ name: String, passphrase: String? = nil) throws -> (StoredKey, SecretKey) {
    let key = SecretKey.generate()
    var secret = StoredKey.Secret.unencrypted(key)
    if let passphrase {
      let passphrase = try Array(passphrase.utf8).withUnsafeBytes { try Passphrase(utf8: $0) }
      secret = .encrypted(try EncryptedSecretKey(encrypting: key, with: passphrase, logN: 1))
    }
    return (StoredKey(name: name, publicKey: key.publicKey, createdAt: 1_700_000_000, secret: secret), key)
  }

  private func text(_ file: String) -> String {
    String(decoding: SharedFolder.bytes(ofFile: path + "/" + file) ?? [], as: UTF8.self)
  }

  private func write(_ text: String, _ file: String, mode: mode_t = 0o600) throws {
    let descriptor = open(path + "/" + file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    try Descriptors.writeAll(text, to: descriptor)
    fchmod(descriptor, mode)
    Descriptors.close(descriptor)
  }

  @Test("An account without its secret key comes back as that, and is replaced when the key comes")
  func readOnly() throws {
    let (whole, key) = try stored("alice")
    let bare = StoredKey(name: "alice", publicKey: key.publicKey, createdAt: 1_700_000_000, secret: .absent)
    let keys = try KeyDirectory(path: path)
    try keys.add(bare)
    #expect(text("alice.key").contains("secret none") && text("alice.key").contains("Nothing in this file is secret"))
    let read = try keys.look()
    #expect(read.problems.isEmpty && read.keys.map(\.isReadOnly) == [true] && read.keys.map(\.isEncrypted) == [false])
    try keys.replace(whole)
    #expect(try keys.look().keys.map(\.isReadOnly) == [false])
    let hex = key.withSecret { Hexadecimal.text(of: $0) }
    for line in ["secret some", "secret none\nunencrypted-secret \(hex)"] {
      try write("roost-key 1\npublic-key \(key.publicKey)\ncreated-at 1\n\(line)\n", "alice.key")
      let refused = try keys.look()
      #expect(refused.keys.isEmpty && refused.problems.first?.reason.contains("'secret'") == true)
    }
  }

  @Test("come back as they were stored, with and without passphrase, closed to others")
  func roundTrip() throws {
    let (alice, aliceKey) = try stored("alice", passphrase: "horse")
    let (bob, bobKey) = try stored("bob")
    do {
      let keys = try KeyDirectory(path: path)
      try keys.add(alice)
      try keys.add(bob)
      #expect(throws: KeyStoreFault.exists(path: path + "/bob.key")) { try keys.add(bob) }
    }
    let contents = try KeyDirectory(path: path).load()
    #expect(contents.problems.isEmpty)
    #expect(contents.keys.map(\.name) == ["alice", "bob"])
    #expect(contents.keys.map(\.publicKey) == [aliceKey.publicKey, bobKey.publicKey])
    #expect(contents.keys.map(\.isEncrypted) == [true, false])
    guard case .unencrypted(let read) = contents.keys[1].secret else {
      Issue.record("bob is unencrypted")
      return
    }
    #expect(read.withSecret { Array($0) } == bobKey.withSecret { Array($0) })
    let aliceHex = aliceKey.withSecret { Hexadecimal.text(of: $0) }
    #expect(!text("alice.key").contains(aliceHex))
    #expect(text("bob.key").contains("unencrypted-secret " + bobKey.withSecret { Hexadecimal.text(of: $0) }))
    var status = stat()
    #expect(stat(path + "/alice.key", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("are replaced whole by another form of the same key, and by no other key")
  func replacing() throws {
    let (alice, key) = try stored("alice", passphrase: "horse")
    let keys = try KeyDirectory(path: path)
    try keys.add(alice)
    let before = text("alice.key")
    let plain = StoredKey(name: "alice", publicKey: key.publicKey, createdAt: 5, secret: .unencrypted(key))
    try keys.replace(plain)
    #expect(text("alice.key").contains("unencrypted-secret") && text("alice.key") != before)
    #expect(try keys.load().keys.map(\.publicKey) == [key.publicKey])
    var status = stat()
    #expect(stat(path + "/alice.key", &status) == 0 && status.st_mode & 0o777 == 0o600)
    let now = text("alice.key")
    let other = SecretKey.generate()
    let foreign = StoredKey(name: "alice", publicKey: other.publicKey, createdAt: 5, secret: .unencrypted(other))
    #expect(throws: KeyStoreFault.self) { try keys.replace(foreign) }
    #expect(throws: KeyStoreFault.self) { try keys.replace(try stored("bob").0) }
    #expect(text("alice.key") == now && access(path + "/bob.key", F_OK) != 0)
    // Where the new file cannot be written, the old one stays.
    mkdir(path + "/alice.key.new", 0o700)
    #expect(throws: KeyStoreFault.self) { try keys.replace(plain) }
    #expect(text("alice.key") == now)
    rmdir(path + "/alice.key.new")
  }

  @Test("that others could read or change, or that are none, are refused with what to do, and the others are used")
  func distrust() throws {
    let keys = try KeyDirectory(path: path)
    for name in ["a", "b", "c", "d", "e"] { try keys.add(try stored(name).0) }
    chmod(path + "/a.key", 0o640)
    chmod(path + "/b.key", 0o602)
    rename(path + "/c.key", path + "/hidden")
    symlink(path + "/hidden", path + "/c.key")
    unlink(path + "/d.key")
    mkfifo(path + "/d.key", 0o600)
    let contents = try keys.load()
    #expect(contents.keys.map(\.name) == ["e"])
    let told = contents.problems.map(\.description)
    #expect(told.count == 4)
    #expect(told[0].contains("mode 640") && told[0].contains("chmod 600 '\(path)/a.key'"))
    #expect(told[2].contains("symbolic link") && told[3].contains("no plain file"))
  }

  @Test("that hold one key twice are refused, but for the one that was written under its name")
  func copies() throws {
    let keys = try KeyDirectory(path: path)
    let (alice, key) = try stored("m")
    try keys.add(alice)
    try write(text("m.key"), "a.key")
    try write(text("m.key"), "z.key")
    let contents = try keys.load()
    #expect(contents.keys.map(\.name) == ["m"] && contents.keys.map(\.publicKey) == [key.publicKey])
    let told = contents.problems.map(\.description)
    #expect(told.count == 2 && told[0].contains("/a.key is not used: it is a copy of m.key; move it"))
    #expect(told[1].contains("/z.key is not used"))
    // Moved, it goes on under its new name; beside another copy nobody can say which is which.
    unlink(path + "/m.key")
    unlink(path + "/z.key")
    #expect(try keys.load().keys.map(\.name) == ["a"])
    try write(text("a.key").replacing("account m\n", with: ""), "b.key")
    let unsure = try keys.look()
    #expect(unsure.keys.isEmpty && unsure.problems.count == 2)
    #expect(unsure.problems[0].description.contains("b.key has the same key"))
  }

  @Test("of another owner are refused", .enabled(if: geteuid() == 0, "only root can give files away"))
  func foreignOwner() throws {
    let keys = try KeyDirectory(path: path)
    try keys.add(try stored("a").0)
    chown(path + "/a.key", 65_534, 65_534)
    #expect(try keys.load().problems.first?.description.contains("chown 0") == true)
  }

  @Test("that are damaged are refused, and say nothing of what they hold")
  func damage() throws {
    let keys = try KeyDirectory(path: path)
    let (key, secret) = try stored("good")
    try keys.add(key)
    let good = text("good.key")
    let hex = secret.withSecret { Hexadecimal.text(of: $0) }
    let other = SecretKey.generate().publicKey.description
    let damaged = [
      "", "# nothing\n", good.replacing("roost-key 1", with: "roost-key 2"), good.replacing("roost-key 1\n", with: ""),
      good.replacing("unencrypted-secret", with: "encrypted-secret"), good + good,
      good.replacing(secret.publicKey.description, with: other), String(good.dropLast(10)),
      good + String(repeating: "#\n", count: 3_000), good.replacing("created-at 1700000000", with: "created-at -1"),
    ]
    for (number, text) in damaged.enumerated() { try write(text, "bad\(number).key") }
    let contents = try keys.load()
    #expect(contents.keys.map(\.name) == ["good"])
    #expect(contents.problems.count == damaged.count)
    for problem in contents.problems {
      #expect(!problem.description.contains(hex.prefix(16)))
      #expect(problem.description.contains("restore it from a backup, or move it away"))
    }
  }

  @Test("that a death left unfinished are removed")
  func unfinished() throws {
    let keys = try KeyDirectory(path: path)
    try write("half", "alice.key.new")
    let contents = try keys.load()
    #expect(contents.keys.isEmpty && contents.problems.isEmpty)
    #expect(access(path + "/alice.key.new", F_OK) != 0)
  }

  @Test("belong to one process")
  func lock() throws {
    let first = try KeyDirectory(path: path)
    #expect(throws: KeyStoreFault.self) { try KeyDirectory(path: path) }
    _ = first
  }

  @Test("removed are gone")
  func removal() throws {
    let keys = try KeyDirectory(path: path)
    try keys.add(try stored("a").0)
    try keys.remove("a")
    #expect(try keys.load().keys.isEmpty)
  }

  @Test("Credentials are keys and passphrases by their names; what others put there is passed over")
  func credentials() throws {
    mkdir(path, 0o700)
    let key = SecretKey.generate()
    try write(key.withSecret { Hexadecimal.text(of: $0) } + "\n", "roost.key.alice", mode: 0o400)
    try write("correct horse\n", "roost.passphrase.bob", mode: 0o440)
    try write("what", "other")
    try write("npub1", "roost.key.bad")
    try write("open", "roost.passphrase.loose", mode: 0o604)
    let credentials = Credentials(directory: path)
    #expect(credentials.keys.keys.sorted() == ["alice"])
    #expect(credentials.passphrases["bob"]?.withBytes { Array($0) } == Array("correct horse".utf8))
    #expect(credentials.passphrases.count == 1)
    #expect(credentials.problems.count == 2)
    #expect(Credentials(directory: path + "/none").problems.count == 1)
  }

  @Test("Secret keys are read as nsec, ncryptsec and digits of either case")
  func secretTexts() throws {
    let hex = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    for text in [hex, nsec, " \(nsec)\n", nsec.uppercased(), hex.uppercased()] {
      guard case .plain(let key) = try Array(text.utf8).withUnsafeBytes({ try SecretText($0) }) else {
        Issue.record("\(text) is plain")
        continue
      }
      #expect(key.publicKey.npub == "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg")
    }
    for text in [
      "", " ", String(repeating: "0", count: 64), String(hex.dropLast()), "nsec1abc", "ncryptsec1abc", "npub1",
    ] {
      #expect(throws: SecretTextFault.self) { try Array(text.utf8).withUnsafeBytes { try SecretText($0) } }
    }
  }
}
