import Cryptography
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import KeyStore

@Suite("What is said of accounts")
struct AccountChoicesTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/keys" }

  init() throws { directory = try TemporaryDirectory() }

  @Test("comes back as it was stored, and is forgotten with its account")
  func roundTrip() throws {
    let (alice, bob, carol) = (key(), key(), key())
    var choices = AccountChoices()
    choices.used = alice
    choices.left = [bob: false, carol: true]
    #expect(AccountChoices(contents: choices.contents) == choices)
    let keys = try KeyDirectory(path: path)
    #expect(keys.choices() == AccountChoices())
    try keys.store(choices)
    #expect(keys.choices() == choices)
    choices.forget(carol)
    choices.forget(alice)
    try keys.store(choices)
    let stored = SharedFolder.bytes(ofFile: path + "/choices").map { String(decoding: $0, as: UTF8.self) } ?? ""
    #expect(stored.contains("left \(bob)") && !stored.contains("\(alice)") && !stored.contains("\(carol)"))
    var status = stat()
    #expect(stat(path + "/choices", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try keys.load().keys.isEmpty)
  }

  @Test("is nothing if its file is damaged at any place, and half a file is removed")
  func damage() throws {
    var choices = AccountChoices()
    choices.used = key()
    choices.left = [key(): false]
    let contents = choices.contents
    for count in 0..<contents.count { #expect(AccountChoices(contents: contents[..<count]) == nil) }
    for text in [
      "", "roost-choices 2\nend\n", "roost-choices 1\nleft x\nend\n", "roost-choices 1\nmeant \(key())\nend\n",
      "roost-choices 1\nused \(key())\nused \(key())\nend\n", "roost-choices 1\n",
    ] {
      #expect(AccountChoices(contents: text.utf8) == nil, "\(text)")
    }
    let keys = try KeyDirectory(path: path)
    for (name, text) in [("choices", "garbage"), ("choices.new", "half")] {
      let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(text, to: file)
      Descriptors.close(file)
    }
    #expect(try keys.load().problems.isEmpty)
    #expect(keys.choices() == nil)
    #expect(access(path + "/choices.new", F_OK) != 0)
    try keys.store(choices)
    #expect(keys.choices() == choices)
  }

  private func key() -> PublicKey { SecretKey.generate().publicKey }
}
