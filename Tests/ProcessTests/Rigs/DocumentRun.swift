import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// A Roost with the shipped configuration, alice as its account, and a friend, bob; and a folder to type in.
struct DocumentRun {
  let roost: RunningRoost
  let relay: String
  let bob = SecretKey.generate()
  /// What alice wrote, in digits: where a page has an event that its reader fills in.
  private var note = ""
  let folder: TemporaryDirectory

  static func with(_ body: (DocumentRun) throws -> Void) throws {
    let relay = try KeepingRelay()
    let port = try RelayVisitor.freePort()
    let layout = try Layout.shipped(relays: [relay.url], port: port, page: try RelayVisitor.freePort())
    try withRoost(layout, awaitsReady: false) { roost in
      var run = DocumentRun(roost: roost, relay: relay.url, folder: try TemporaryDirectory())
      try run.prepare()
      // A page of the web that waits to be let in.
      let waiting = try PlainClient.webSocket(port: port, ["Origin: https://client.example"])
      let prepared = run
      try withExtendedLifetime(waiting) { try body(prepared) }
    }
  }

  private mutating func prepare() throws {
    let client = try roost.client()
    try awaitSoon("all workers are ready", within: 60) {
      try roost.status(client).workers.allSatisfy { $0.state == "ready" || $0.state == "stopped" }
    }
    for name in ["examples", "clients", "Tests"] {
      symlink(SharedFolder.repository + "/" + name, folder.path + "/" + name)
    }
    symlink(roost.directory.path + "/supervisor.conf", folder.path + "/supervisor.conf")
    let events = [
      event(0, #"{"name":"bob","display_name":"Bob"}"#), event(10_002, "", [["r", relay]]),
      event(10_050, "", [["relay", relay]]), event(1, "a soup of birds"),
    ]
    let lines = events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined()
    for name in ["bob.jsonl", "events.jsonl", "some.jsonl"] { try write(name, lines) }
    for arguments in [
      ["setup", "--new", "--name", "alice", "--no-passphrase", "--yes", "--no-wait"],
      ["key", "generate", "weather", "--no-passphrase"], ["account", "use", "alice"],
      ["import", folder.path + "/bob.jsonl"], ["follow", bob.publicKey.npub],
      ["lists", "add", "people", bob.publicKey.npub, "--name", "friends"],
    ] {
      let (output, ending) = try roost.tool(arguments)
      #expect(ending == .exited(0), "\(arguments): \(output)")
    }
    let published = try roost.tool(["publish", "--content", "a larger pot", "--json"]).output
    note = try #require(published.firstMatch(of: /"id":"([0-9a-f]{64})"/)).output.1.description
  }

  private func event(_ kind: UInt16, _ content: String, _ tags: [[String]] = []) -> Event {
    UnsignedEvent(pubkey: bob.publicKey, createdAt: WallClock.seconds - 60, kind: kind, tags: tags, content: content)
      .signed(by: bob)
  }

  private func write(_ name: String, _ text: String) throws {
    let file = try #require(fopen(folder.path + "/" + name, "w"))
    fputs(text, file)
    fclose(file)
  }

  /// A text of a page with bob and the relay of this test in the place of the page's.
  func filledIn(_ text: String) -> String {
    var text = text
    let npub = bob.publicKey.npub
    for (shown, meant) in [
      ("npub1ww03602x606vcer9p5lpwrt9fyktnpsuf2kzxvtckd7g6x3g7y4qu0vyke", npub), ("npub1ww0360…", npub),
      ("npub180cvv07t…", npub), ("npub1…", npub), ("bob@example.com", npub), ("note1…", note),
      ("queue show ID", "queue show \(note)"), ("\"…\"", "\"\(bob.publicKey)\""),
      ("wss://relay.example", relay), ("ws://127.0.0.1:7777", relay),
    ] { text.replace(shown, with: meant) }
    return text
  }

  /// Runs commands in one bash, and says what they printed. What the reader fills in is filled in.
  func bash(_ statements: [String], at block: CodeBlock, following: [String]) throws -> String {
    let script = filledIn(statements.joined(separator: "\n"))
    let cases = following.joined(separator: "|").replacing(" ", with: "\\ ")
    try write(
      "environment",
      """
      died() {
        kill -9 "$(command roost status --json | jq '.workers[] | select(.name == "relay-connector").pid')"
        until command roost why relay-connector | grep -q 'is ready (generation 2.*, for'; do sleep 0.1; done
      }
      roost() {
        case "$*" in
          \(cases)) timeout -s INT 1.5 roost "$@" || [[ $? == 124 ]] ;;
          doctor*) command roost "$@" || [[ $? == 1 ]] ;;
          follow*) command roost un"$@" > unfollowed; command roost "$@" ;;
          why\\ relay-connector) died; command roost "$@" ;;
          links\\ contacts\\ relays*) command roost "$@" --yes ;;
          *) command roost "$@" ;;
        esac
      }
      """)
    let programs = SpawnedProcess.builtProgram("roost").split(separator: "/").dropLast().joined(separator: "/")
    let process = try SpawnedProcess(
      "/usr/bin/env", ["--chdir=\(folder.path)", "bash", "-euo", "pipefail", "-c", script],
      environment: [
        "PATH=/\(programs):/usr/bin:/bin", "HOME=\(folder.path)", "ROOST_SOCKET=\(roost.socket)", "COLUMNS=120",
        "BASH_ENV=\(folder.path)/environment", "LANG=C.UTF-8",
      ])
    let output = try process.readAllOutput(within: 60)
    let ending = try process.waitForEnd()
    #expect(ending == .exited(0), "\(block): \(ending): \(script): \(output)")
    return output
  }

  /// A line without what differs from run to run: numbers, keys, addresses, and how wide its columns are.
  static func shape(_ line: Substring) -> String {
    line.split(separator: " ").map { word in
      word.contains { $0.isNumber } || word.contains("…") ? "#" : String(word)
    }.joined(separator: " ")
  }
}
