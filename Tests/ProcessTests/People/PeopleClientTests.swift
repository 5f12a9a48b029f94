import Addresses
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Nostr
import RoostClient
import Synchronization
import TestSupport
import Testing

extension ProcessTests {
  /// People and accounts as a Swift program uses them, and the examples.
  @Suite(
    "The Swift client and people",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct PeopleClientTests {
    private func profile(_ author: SecretKey, _ name: String, at time: Int64 = 1_000) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: time, kind: 0, tags: [], content: #"{"name":"\#(name)"}"#
      ).signed(by: author)
    }

    @Test("Profiles come as they are known, and each change once, through the death of the worker; people are found")
    func profiles() throws {
      try FeedRig.run { feed in
        let (bob, carol) = (SecretKey.generate(), SecretKey.generate())
        try feed.store(profile(bob, "bob"))
        try feed.follow([bob], at: 1_000)
        let client = try ClientRig(feed.rig.roost)
        let keys = [bob.publicKey, carol.publicKey]
        let once = try client.run { roost in
          var pages: [ProfilePage] = []
          for try await page in roost.profiles(keys, policy: .cacheOnly) { pages.append(page) }
          return pages
        }
        let states = Dictionary(uniqueKeysWithValues: once.flatMap(\.profiles).map { ($0.pubkey, $0.state) })
        #expect(states == ["\(bob.publicKey)": .known, "\(carol.publicKey)": .absent])
        #expect(once.compactMap(\.asked).count == 1)
        let names = Mutex<[String]>([])
        let live = client.client.profiles([bob.publicKey], policy: .cacheOnly, isLive: true)
        let task = EventLoopActor.task {
          do {
            for try await page in live { names.withLock { $0 += page.profiles.compactMap(\.name) } }
          } catch { Issue.record(error) }
        }
        try awaitSoon("the first") { names.withLock { $0 } == ["bob"] }
        try feed.store(profile(bob, "bobby", at: 2_000))
        try awaitSoon("a change") { names.withLock { $0 } == ["bob", "bobby"] }
        try feed.rig.kill("people")
        try feed.store(profile(bob, "robert", at: 3_000))
        try awaitSoon("a change after a death", within: 60) { names.withLock { $0 }.last == "robert" }
        #expect(names.withLock { $0 } == ["bob", "bobby", "robert"], "nothing twice")
        task.cancel()
        let found = try client.run { try await $0.find("rob") }
        #expect(found.map(\.pubkey) == ["\(bob.publicKey)"] && found.first?.isFollowed == true)
        let refused = try client.refusal { _ = try await $0.find("") }
        #expect(refused?.code == .badRequest)
        let status = try client.run { try await $0.peopleStatus() }
        #expect(status.waiting == 0)
        try client.close()
      }
    }

    @Test("Follows, mutes and fields of the profile are changed, listed, and taken back")
    func lists() throws {
      let relay = try RealRelay()
      try FeedRig.run([relay.url]) { feed in
        let client = try ClientRig(feed.rig.roost)
        let keys = (0..<3).map { _ in SecretKey.generate().publicKey }
        try client.run { roost in
          let followed = try await roost.follow(keys)
          #expect(followed.isNew && followed.after == 3)
          let again = try await roost.follow([keys[0]])
          #expect(!again.isNew)
          let unfollowed = try await roost.unfollow([keys[0]])
          #expect(unfollowed.after == 2 && unfollowed.before == 3)
          let versions = try await roost.versions(PeopleVersions(kind: 3))
          #expect(versions.map(\.entries) == [2, 3])
          let back = try await roost.undo(versions[0].id, of: 3)
          #expect(back.after == 3)
          let list = try await roost.list(PeopleList(kind: 3))
          #expect(Set(list.tags.compactMap(\.last)) == Set(keys.map { "\($0)" }))
          try await roost.mute([keys[1]])
          let mutes = try await roost.list(PeopleList(kind: 10_000))
          #expect(mutes.tags.isEmpty && mutes.privateTags == [["p", "\(keys[1])"]])
          try await roost.unmute([keys[1]])
          try await roost.editProfile(["name": "Alice", "about": "x"])
          try await roost.editProfile(["about": nil])
          let profile = try await roost.list(PeopleList(kind: 0))
          #expect(profile.content == #"{"name":"Alice"}"#)
        }
        try client.close()
      }
    }

    @Test("The examples follow a person and show the feed with names, in Swift and in Python")
    func examples() throws {
      let relay = try RealRelay()
      try FeedRig.run([relay.url]) { feed in
        let bob = SecretKey.generate()
        try feed.store(profile(bob, "Bob\\u001b"))
        try feed.store(feed.event(bob, [], "first\u{1B}", at: 2_000))
        let environment = ["ROOST_SOCKET=\(feed.rig.roost.socket)"]
        let swift = try SpawnedProcess(
          SpawnedProcess.builtProgram("example-people"), [bob.publicKey.npub], environment: environment)
        _ = try swift.readLine(within: 60) { $0 == "followed: 1 people now" }
        let line = try swift.readLine { $0.hasSuffix(#": "first\u{1B}""#) }
        #expect(line.hasPrefix("Bob"), "\(line)")
        _ = try swift.readLine { $0 == "-- what follows is new --" }
        let python = try SpawnedProcess(
          "/usr/bin/env", ["python3", SharedFolder.repository + "/examples/people.py", "\(bob.publicKey)"],
          environment: environment + ["PATH=/usr/bin:/bin"])
        _ = try python.readLine(within: 60) { $0 == "followed already - 1 people" }
        _ = try python.readLine { $0.hasPrefix("Bob") && $0.hasSuffix(#": "first\u001b""#) }
        _ = try python.readLine { $0 == "-- what follows is new --" }
        try feed.store(feed.event(bob, [], "second"))
        for process in [swift, python] { _ = try process.readLine { $0.hasSuffix(#": "second""#) } }
        try feed.rig.kill("people")
        try feed.store(feed.event(bob, [], "third"))
        for process in [swift, python] { _ = try process.readLine(within: 60) { $0.hasSuffix(#": "third""#) } }
      }
    }

    @Test("Accounts are made, imported, locked, unlocked, chosen, left and forgotten; a topic says each change")
    func accounts() throws {
      try FeedRig.run { feed in
        let client = try ClientRig(feed.rig.roost)
        let secret = SecretKey.generate()
        let changes = Mutex(0)
        try client.run { roost in
          try await roost.subscribe(to: SignerTopic.changes) { (_: SignerChanges) in changes.withLock { $0 += 1 } }
          var words = Array("horse battery".utf8)
          let sealed = try await roost.sealed(&words)
          #expect(words.allSatisfy { $0 == 0 }, "wiped")
          let made = try await roost.makeAccount("carol", passphrase: sealed)
          #expect(made.state == .unlocked && made.isEncrypted)
          try await roost.lockAccount("carol")
          var wrong = Array("wrong".utf8)
          let wrongSealed = try await roost.sealed(&wrong)
          do {
            try await roost.unlockAccount("carol", passphrase: wrongSealed)
            Issue.record("it is unlocked by a wrong passphrase")
          } catch let refusal as Refusal { #expect(refusal.code == .wrongPassphrase) }
          words = Array("horse battery".utf8)
          let unlocked = try await roost.unlockAccount("carol", passphrase: try await roost.sealed(&words))
          #expect(unlocked.state == .unlocked)
          words = Array("horse battery".utf8)
          let present = try await roost.sealed(&words)
          let open = try await roost.changePassphrase(of: "carol", from: present, to: nil)
          #expect(!open.isEncrypted)
          var key = Array(secret.withSecret { Hexadecimal.text(of: $0) }.utf8)
          let imported = try await roost.importAccount("dave", secret: try await roost.sealed(&key))
          #expect(imported.publicKey == "\(secret.publicKey)")
          let used = try await roost.useAccount("dave")
          #expect(used.isUsed == true)
          let left = try await roost.leaveAccount("carol")
          #expect(left.isLeft == true)
          let details = try await roost.accountDetails()
          #expect(Set(details.accounts.map(\.name)) == ["alice", "carol", "dave"])
          let steps = SeenSteps()
          let forgotten = try await roost.forgetAccount(left) { steps.names.append($0.step) }
          #expect(steps.names.contains("key") && forgotten.relays.isEmpty)
          let names = try await roost.accounts().map(\.name)
          #expect(names == ["alice", "dave"])
        }
        try awaitSoon("the topic") { changes.withLock { $0 } >= 5 }
        let empty = try client.refusal { roost in
          var nothing: [UInt8] = []
          _ = try await roost.sealed(&nothing)
        }
        #expect(empty?.code == .badRequest)
        try client.close()
      }
    }
  }
}

/// The steps that a test has seen.
@EventLoopActor
private final class SeenSteps {
  var names: [String] = []
}
