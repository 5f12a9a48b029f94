import Contracts
import Testing

@testable import StatusPages

/// A Roost in which something of each kind waits for a person.
func makeWaitingSnapshot(letters: Int = 2, publications: Int = 2) -> RoostSnapshot {
  var snapshot = makeSnapshot()
  snapshot.at = 1_700_000_000
  snapshot.waitingOrigins = ["https://client.example"]
  var wall = RelayStates.Relay(relay: "wss://wall.example", state: "open")
  wall.isConfigured = true
  wall.remarks = [RelayRemark(kind: .authWall, text: "auth-required: who?", count: 2, at: snapshot.at - 60)]
  var paid = RelayStates.Relay(relay: "wss://paid.example", state: "open")
  var refusal = RelayRemark(kind: .refusedEvent, text: "restricted: pay 21 sat", count: 1, at: snapshot.at - 90)
  refusal.about = "restricted"
  paid.remarks = [refusal]
  var slow = RelayStates.Relay(relay: "wss://slow.example", state: "open")
  var rate = RelayRemark(kind: .refusedRequest, text: "rate-limited: slow down", count: 1, at: snapshot.at)
  rate.about = "rate"
  slow.remarks = [rate]
  snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: [wall, paid, slow])))]
  if case .told(var plan) = snapshot.plan {
    plan.publications["failed"] = publications
    snapshot.plan = .told(plan)
  }
  snapshot.failedPublications = (0..<min(publications, RoostSnapshot.failedMaximum)).map { index in
    Publication(
      id: String(repeating: "a", count: 62) + "\(10 + index)", kind: 1, author: String(repeating: "b", count: 64),
      state: .failed, acceptedAt: snapshot.at - 3_600, expiresAt: snapshot.at,
      targets: [
        PublicationTarget(relay: "wss://paid.example", state: .failed, why: "configured", message: "blocked: <b>no</b>")
      ])
  }
  var jobs = makeJobs()
  jobs.openPayments = JobPayments(count: 1, amount: 50_000)
  snapshot.jobs = .told(jobs)
  if case .told(var status) = snapshot.supervisor {
    status.deadLetters = letters
    status.latestDeadLetters = (0..<min(letters, SupervisorStatus.latestMaximum)).map { index in
      DeadLetterRecord(
        id: "20260301T120000000-00000\(index)", time: "2026-03-01T12:00:00Z", worker: "event-store",
        method: "store.ingest", sender: "relay-connector", deliveries: 3, trace: "0", isRaw: false, payload: "",
        isBase64: false)
    }
    snapshot.supervisor = .told(status)
  }
  return snapshot
}

@Suite("What waits for a person")
struct WaitingTests {
  @Test(
    "is on the page with the command to type",
    arguments: [
      "roost client allow https://client.example", "roost relay info wss://wall.example",
      "roost relay info wss://paid.example", "roost queue show \(String(repeating: "a", count: 62))10",
      "roost queue retry \(String(repeating: "a", count: 62))10", "roost job list",
      "roost dead-letters show 20260301T120000000-000000", "roost dead-letters retry 20260301T120000000-000001",
    ])
  func isOnThePage(command: String) {
    let html = StatusPage.html(makeWaitingSnapshot())
    #expect(html.contains("<code>\(command)</code>"))
  }

  @Test("is in groups, and shown in one place: a relay that only wants time is not among it")
  func isInGroups() {
    let snapshot = makeWaitingSnapshot()
    let waiting = Waiting(snapshot)
    #expect(waiting.groups.map(\.id) == ["origins", "relays", "publications", "payments", "letters"])
    #expect(waiting.groups[1].items.map(\.subject) == ["wss://wall.example", "wss://paid.example"])
    let html = StatusPage.html(snapshot)
    #expect(html.ranges(of: "auth-required: who?").count == 1)
    #expect(html.contains("blocked: &lt;b&gt;no&lt;/b&gt;"))
    #expect(html.contains("2 things need attention"), "the configured relay with a wall, and the dead letters")
    #expect(!html.contains("<h2>What needs attention</h2>"))
    #expect(html.contains("<h2>What relays say</h2>") && html.contains("slow down"))
  }

  @Test("is bounded: 10,000 of a kind are a dozen lines, their number, and the command that lists all")
  func isBounded() {
    let html = StatusPage.html(makeWaitingSnapshot(letters: 10_000, publications: 10_000))
    #expect(html.contains("and 9,992 more: <code>roost dead-letters list</code>"))
    #expect(html.contains("and 9,988 more: <code>roost queue list --state failed</code>"))
    #expect(html.utf8.count < 64 << 10)
  }

  @Test("is over for a publication after a week, and for a relay after an hour")
  func ends() {
    var snapshot = makeWaitingSnapshot()
    snapshot.at += 8 * 86_400
    #expect(Waiting(snapshot).groups.map(\.id) == ["origins", "payments", "letters"])
  }

  @Test("has a worker that is given up with the commands that explain it and start it")
  func givenUpWorker() {
    var snapshot = makeSnapshot()
    snapshot.changeWorker { $0.state = .failed }
    let html = StatusPage.html(snapshot)
    #expect(html.contains("<code>roost why event-store</code> <code>roost restart event-store</code>"))
  }

  @Test("has no command that is cut, or shown otherwise than it is to be typed")
  func commandsAreWhole() {
    #expect(StatusPage.command("roost relay info wss://\(String(repeating: "a", count: 400)).example").html.isEmpty)
    #expect(StatusPage.command("roost relay info 'wss://a\u{202E}'").html.isEmpty)
  }
}
