import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import Storage
import TestSupport
import Testing

/// Two accounts with all workers that keep something for accounts, and what relays had of both.
///
/// Alice is forgotten; Bob stays. Carol is followed by Alice alone, Dave by both. Zoe is a contact of Alice alone, and
/// gets a link and a message; Dave is a contact of Bob.
struct ForgettingWorld {
  let alice = SecretKey.generate()
  let bob = SecretKey.generate()
  let carol = SecretKey.generate()
  let dave = SecretKey.generate()
  let erin = SecretKey.generate()
  let zoe = SecretKey.generate()
  /// Events that only Alice wanted, and those that must stay.
  var hers: [Event] = []
  var others: [Event] = []
  /// What `link-feed` had sealed of Alice's.
  var sealed: [[UInt8]] = []

  /// A word that is in each of Alice's texts and nowhere else.
  static let word = "quicksilver"

  init(count: Int = 20) {
    func event(
      _ author: SecretKey, _ number: Int, _ text: String, kind: UInt16 = 1, to tags: [[String]] = []
    ) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 500 * Int64(number) - 100, kind: kind, tags: tags,
        content: text
      ).signed(by: author)
    }
    let (toAlice, toBob) = (["p", "\(alice.publicKey)"], ["p", "\(bob.publicKey)"])
    for number in 0..<count {
      hers.append(event(alice, number, "\(Self.word) \(number)"))
      hers.append(event(carol, number, "\(Self.word) of a friend \(number)"))
      hers.append(event(erin, number, "\(Self.word) to her \(number)", to: [toAlice]))
      hers.append(event(SecretKey.generate(), number, "\(Self.word) wrapped \(number)", kind: 1_059, to: [toAlice]))
      others.append(event(bob, number, "bob \(number)"))
      others.append(event(dave, number, "dave \(number)"))
      others.append(event(erin, number, "to bob \(number)", to: [toBob]))
      others.append(event(SecretKey.generate(), number, "wrapped for bob \(number)", kind: 1_059, to: [toBob]))
    }
    hers.append(event(alice, 1, "", kind: 3, to: [["p", "\(carol.publicKey)"], ["p", "\(dave.publicKey)"]]))
    hers.append(event(alice, 1, #"{"name":"\#(Self.word)"}"#, kind: 0))
    hers.append(event(carol, 1, #"{"name":"\#(Self.word) too"}"#, kind: 0))
    others.append(event(bob, 1, "", kind: 3, to: [["p", "\(dave.publicKey)"]]))
    others.append(event(bob, 1, #"{"name":"bob"}"#, kind: 0))
  }

  static func layout(_ relay: String) throws -> Layout {
    var layout = PlannerRig.layout([relay])
    for index in layout.workers.indices where layout.workers[index].name == "outbox-planner" {
      // What is sent to contacts goes to the relay of this test.
      layout.workers[index].keys["allow-private-relays"] = "true"
    }
    for name in ["mirror", "people", "dvm-tracker", "link-feed"] {
      layout.workers.append(
        Layout.Worker(
          name: name,
          keys: [
            "role": "\"\(name)\"", "program": "\"\(SpawnedProcess.builtProgram(name))\"", "sandbox": "\"try\"",
          ]))
    }
    layout.workers[layout.workers.count - 1].keys["relays"] = "[]"
    return .localRelay(port: try RelayVisitor.freePort(), beside: layout)
  }

  /// The workers that are asked to forget, in their order.
  static let asked = ["mirror", "dvm-tracker", "link-feed", "outbox-planner", "local-relay", "event-store"]

  // MARK: Links

  /// Has an account name a contact, and send it a link and a message over a relay.
  func send(as account: String, to contact: PublicKey, named name: String, _ relay: String, _ rig: PlannerRig) throws {
    var kept = LinksContact(account: account, publicKey: contact.npub, name: name)
    kept.relays = [relay]
    _ = try rig.ask("links.contact", kept, as: LinkContact.self)
    let post = LinksPost(account: account, to: name, url: "https://\(name).example/", note: "\(name) rises")
    let message = MessagesSend(account: account, to: [name], text: "\(name) falls")
    for sent in [
      try rig.ask("links.post", post, as: SentLink.self), try rig.ask("messages.send", message, as: SentLink.self),
    ] {
      #expect(sent.stage == .sent, "\(sent)")
    }
  }

  /// Reads what `link-feed` has sealed of Alice: texts, names and keys of others cannot be searched for in it.
  mutating func readSealed(_ rig: PlannerRig) throws {
    let path = rig.roost.directory.path + "/state/link-feed/links.db"
    let file = try StorageFile(path: path, StorageSettings(durability: .full, readerCount: 1), migrations: [])
    defer { #expect(throws: Never.self) { try file.close() } }
    let account = alice.publicKey.octets
    sealed = try file.readNow { session in
      try ["item", "conversation", "contact", "copy"].flatMap { table in
        let rows = try session.rows(
          "SELECT sealed FROM \(table) WHERE account = (SELECT number FROM account WHERE account = ?)", account
        ) { $0.bytes(0) }
        #expect(!rows.isEmpty, "\(table)")
        return rows
      }
    }
  }

  // MARK: The search

  /// What must not be left of Alice: her secret, her key, and the keys, ids and texts of what only she wanted, as text
  /// and as bytes.
  private var traces: [(name: String, bytes: [UInt8])] {
    var traces: [(String, [UInt8])] = [("her word", Array(Self.word.utf8))]
    alice.withSecret { secret in
      traces.append(("her secret", Array(secret)))
      traces.append(("her secret as text", Array(Hexadecimal.text(of: secret).utf8)))
    }
    let keys = [("her key", alice), ("her friend's key", carol), ("her contact's key", zoe)]
    for (name, key) in keys.map({ ($0, $1.publicKey) }) {
      traces.append((name, Array(key.octets.bytes)))
      traces.append(("\(name) as text", Array("\(key)".utf8)))
      traces.append(("\(name) as npub", Array(key.npub.utf8)))
    }
    for event in hers {
      traces.append(("the id of kind \(event.kind) by \(event.pubkey.npub.prefix(9))", Array(event.id.octets.bytes)))
      traces.append(("the id as text of kind \(event.kind)", Array("\(event.id)".utf8)))
    }
    for (number, bytes) in sealed.enumerated() { traces.append(("sealed value \(number)", bytes)) }
    return traces
  }

  /// Where something of Alice is left below a directory.
  func traces(in directory: String) throws -> [String] {
    var found: [String] = []
    let traces = traces
    // By their first two bytes: most places of a file are looked at once.
    var byStart: [[Int]] = Array(repeating: [], count: 1 << 16)
    for (index, trace) in traces.enumerated() { byStart[Int(trace.bytes[0]) << 8 | Int(trace.bytes[1])].append(index) }
    for file in SharedFolder.files(below: directory) {
      let bytes = SharedFolder.bytes(ofFile: file) ?? []
      var seen: Set<Int> = []
      bytes.withUnsafeBufferPointer { bytes in
        for place in bytes.indices.dropLast() {
          for index in byStart[Int(bytes[place]) << 8 | Int(bytes[place + 1])]
          where bytes[place...].starts(with: traces[index].bytes) {
            seen.insert(index)
          }
        }
      }
      found += seen.sorted().map { "\(file.dropFirst(directory.count)) holds \(traces[$0].name)" }
    }
    return found
  }
}
