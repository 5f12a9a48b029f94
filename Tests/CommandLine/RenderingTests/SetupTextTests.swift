import Contracts
import Testing

@testable import Rendering

@Suite("The words of setup")
struct SetupTextTests {
  private func figure(
    _ relay: String, _ kind: MirrorClass, _ count: Int?, bytes: Int64? = nil, reason: String? = nil
  ) -> SetupFigure {
    var figure = SetupFigure(relay: relay, kind: kind)
    (figure.count, figure.averageBytes, figure.reason) = (count, bytes, reason)
    figure.source = count == nil ? nil : .count
    return figure
  }

  @Test("Relays share much: the largest of each class is the least, and the sum the most")
  func total() {
    let lines = SetupText.table(
      [
        figure("wss://a.org", .own, 100, bytes: 500), figure("wss://a.org", .named, 40, bytes: 500),
        figure("wss://b.org", .own, 80, bytes: 500),
      ], .plain)
    #expect(lines.count == 5)
    #expect(lines[1].hasPrefix("wss://a.org  written       100  ~48 KiB"), "\(lines[1])")
    #expect(lines[4].hasPrefix("In all: 140 events (about 68 KiB) to 220 events"), "\(lines[4])")
  }

  @Test("A relay that tells nothing is named once, with its reason and without its own name in it")
  func unknown() {
    let why = "wss://c.org cannot be reached: look up c.org: unknown node"
    let lines = SetupText.table(
      [
        figure("wss://a.org", .own, 3), figure("wss://c.org", .own, nil, reason: why),
        figure("wss://c.org", .named, nil, reason: why),
      ], .plain)
    #expect(lines.filter { $0.contains("c.org") } == ["wss://c.org  cannot be reached: unknown node"])
    #expect(lines.last == "In all: 3 events, and what other relays do not say.")
    let none = SetupText.table([figure("wss://c.org", .own, nil)], .plain).joined(separator: " ")
    #expect(none.contains("it did not answer in time") && none.contains("No relay says how much it has."))
  }

  @Test("Every line fits a terminal of 80 columns, and a read-only account is not told to follow")
  func end() {
    var account = SignerAccount(
      name: "alice", publicKey: String(repeating: "a", count: 64), npub: "npub1x", state: .locked, isEncrypted: false,
      origin: .file, createdAt: 0)
    let whole = SetupText.end(["ws://127.0.0.1:4869"], account, .plain)
    #expect(whole.allSatisfy { $0.count <= 80 } && whole.contains { $0.contains("roost follow") })
    #expect(whole.contains { $0.contains("roost client allow") })
    account.isReadOnly = true
    let bare = SetupText.end([], account, .plain)
    #expect(!bare.contains { $0.contains("roost follow") || $0.contains("nak") })
  }

  @Test("What relays say steers no terminal")
  func visible() {
    let lines = SetupText.table([figure("wss://a.org", .own, nil, reason: "no\u{1B}[2J")], .plain)
    #expect(!lines.joined().contains("\u{1B}"))
    #expect(!SetupText.line(figure("wss://a.org", .own, nil, reason: "no\u{1B}[2J")).contains("\u{1B}"))
  }
}
