import Contracts
import Testing

@testable import StatusPages

@Suite("The status page")
struct StatusPageTests {
  @Test("says at once that all is well")
  func saysThatAllIsWell() {
    let html = StatusPage.html(makeSnapshot())
    #expect(html.contains("<title>All is well – Roost</title>"))
    #expect(html.contains("<span class=\"dot good\"></span>All is well"))
    #expect(html.contains("1,234,567 <small>stored</small>"))
    #expect(html.contains("3.0 GiB on disk"))
    #expect(html.contains("3 <small>connected</small>"))
    #expect(html.contains("1 <small>open of 1</small>"))
    #expect(html.contains("3 <small>on their way</small>"))
    #expect(html.contains("30 confirmed, 4 failed"))
    #expect(html.contains("<code>ws://127.0.0.1:4869</code>"))
    #expect(html.contains("Roost 1.2.3, up for 1h 2m"))
  }

  @Test("says what needs attention, and the command that tells more")
  func saysWhatNeedsAttention() {
    var snapshot = makeSnapshot()
    snapshot.changeWorker {
      $0.state = "backoff"
      $0.lastExit = "killed by SIGSEGV"
      $0.nextAttemptMilliseconds = 3_000
    }
    snapshot.store = .silent("it is away")
    let html = StatusPage.html(snapshot)
    #expect(html.contains("One thing needs attention"))
    #expect(html.contains("<strong>event-store:</strong> backoff, killed by SIGSEGV"))
    #expect(html.contains("<code>roost why event-store</code>"))
    #expect(html.contains("next try in 3s"))
    #expect(html.contains("the event store does not answer"))
  }

  @Test("says what relays say, with what to do, as text")
  func saysWhatRelaysSay() {
    var relay = RelayStates.Relay(relay: "wss://wall.example", state: "open")
    relay.remarks = [
      RelayRemark(kind: .authWall, text: "auth-required: <b>who</b>", count: 2, at: 1_700_000_000)
    ]
    var snapshot = makeSnapshot()
    snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: [relay])))]
    let html = StatusPage.html(snapshot)
    #expect(html.contains("<h2>What waits for you</h2>") && !html.contains("What relays say"))
    #expect(html.contains("<code>roost relay info wss://wall.example</code>"))
    #expect(html.contains("wants to know who asks, and was shown no account") && html.contains("supervisor.conf"))
    #expect(html.contains("&lt;b&gt;who&lt;/b&gt;") && !html.contains("<b>who"))
    #expect(!StatusPage.html(makeSnapshot()).contains("What waits for you"))
    // What was said long ago is no longer waited for, and still shown.
    snapshot.at = 1_700_010_000
    #expect(StatusPage.html(snapshot).contains("<h2>What relays say</h2>"))
  }

  @Test("shows text of others as text")
  func showsTextAsText() {
    var snapshot = makeSnapshot()
    let evil = "</title><script>alert('1')</script>\" onload=\"x\u{202E}\n"
    snapshot.changeWorker { $0.text = evil }
    var relay = RelayStates.Relay(relay: "wss://\(evil)", state: "waiting")
    relay.reason = evil
    snapshot.connectors = [.init(name: evil, relays: .told(RelayStates(relays: [relay])))]
    snapshot.waitingOrigins = [evil]
    snapshot.local.addresses = [evil]
    snapshot.version = evil
    let html = StatusPage.html(snapshot)
    #expect(html.components(of: "<script") == 1 && html.contains("<script>\(PageScript.text)</script>"))
    #expect(!html.contains("\" onload"))
    #expect(!html.contains("\u{202E}"))
    #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)"))
    #expect(html.contains("&quot; onload=&quot;x\\u{202E}\\n"))
  }

  @Test("has one script, and refers to nothing but itself and the figures")
  func refersToNothing() {
    let html = StatusPage.html(makeSnapshot())
    let references = ["src=", "url(", "@import", "<link", "<form", "<iframe", "javascript:", "http://", "https://"]
    for word in references { #expect(!html.contains(word), "\(word)") }
    let links = html.split(separator: "href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
    #expect(links == ["/metrics", "/"])
    let fields = Dictionary(uniqueKeysWithValues: StatusPage.fields.map { ($0.name, $0.value) })
    let policy = fields["Content-Security-Policy"] ?? ""
    #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
    #expect(policy.contains("script-src 'sha256-\(PageScript.hash)'; connect-src 'self';"))
    #expect(!policy.contains("unsafe"))
    #expect(fields["X-Frame-Options"] == "DENY" && fields["Referrer-Policy"] == "no-referrer")
    #expect(fields["Cache-Control"] == "no-store")
  }

  @Test("names pages that wait, with the command that lets each in")
  func namesWaitingPages() {
    var snapshot = makeSnapshot()
    #expect(!StatusPage.html(snapshot).contains("wait to be let in"))
    snapshot.waitingOrigins = ["https://client.example", "http://[::1]:3000"]
    let html = StatusPage.html(snapshot)
    #expect(html.contains("<code>roost client allow https://client.example</code>"))
    #expect(html.contains("<code>roost client allow &#39;http://[::1]:3000&#39;</code>"))
  }

  @Test("is bounded, however many relays and pages there are")
  func isBounded() {
    var snapshot = makeSnapshot()
    let long = String(repeating: "x", count: 10_000)
    let relays = (0..<1_000).map { number in
      var relay = RelayStates.Relay(relay: "wss://\(number).example", state: "waiting")
      relay.reason = long
      return relay
    }
    snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: relays)))]
    snapshot.waitingOrigins = (0..<1_000).map { "https://\($0).example" }
    let html = StatusPage.html(snapshot)
    #expect(html.contains("and 988 more: <code>roost relay list</code>"))
    #expect(html.contains("and 988 more: <code>roost client list</code>"))
    #expect(html.utf8.count < 64 << 10)
  }

  @Test("comes when nobody answers")
  func comesWhenNobodyAnswers() {
    var snapshot = RoostSnapshot(version: "1.2.3")
    #expect(StatusPage.html(snapshot).contains("no event store is running"))
    snapshot.supervisor = .silent("nothing in 2s")
    snapshot.store = .silent("nothing in 2s")
    snapshot.plan = .silent("nothing in 2s")
    snapshot.connectors = [.init(name: "relays", relays: .silent("nothing in 2s"))]
    let html = StatusPage.html(snapshot)
    #expect(html.contains("4 things need attention"))
    #expect(html.contains("no answer, nothing in 2s"))
  }

  @Test("tells how complete what is one's own is, and how many copies of it live")
  func tellsMirror() {
    let html = StatusPage.html(makeSnapshot())
    #expect(html.contains("<h2>Yours</h2>") && html.contains("complete at 1 of 2 relays"))
    #expect(html.contains("fewer than 3 of 204"))
    #expect(!StatusPage.html(RoostSnapshot(version: "1")).contains("<h2>Yours</h2>"))
  }

  @Test("tells jobs, and what of them waits for somebody")
  func tellsJobs() {
    var snapshot = makeSnapshot()
    var html = StatusPage.html(snapshot)
    #expect(html.contains("<h2>Jobs</h2>") && html.contains("<span>3 open</span>"))
    #expect(html.contains("40 settled, 3 failed") && html.contains("4 waiting, 2 with an unpaid bill, 9 passed over"))
    #expect(html.contains("search: 12 answered, 1 failed") && html.contains("All is well"))
    var jobs = makeJobs()
    jobs.openPayments = JobPayments(count: 1, amount: 50_000)
    jobs.unseen = 2
    jobs.fault = "the disk is full"
    snapshot.jobs = .told(jobs)
    snapshot.serving = .silent("nothing in 2s")
    html = StatusPage.html(snapshot)
    #expect(html.contains("1 payment of 50 sat to decide: roost job list, 2 jobs without a relay: roost relay add"))
    #expect(html.contains("the provider does not answer"))
    #expect(html.contains("<strong>Jobs:</strong> the disk is full"))
    #expect(html.contains("<strong>Jobs:</strong> 2 open jobs have no relay"))
    jobs = makeJobs()
    jobs.unpaid = JobPayments(count: 2, amount: 7_000)
    snapshot.jobs = .told(jobs)
    #expect(StatusPage.html(snapshot).contains("2 payments of 7 sat approved, to be paid: roost job list --open"))
    snapshot.jobs = .absent
    snapshot.serving = .absent
    #expect(!StatusPage.html(snapshot).contains("<h2>Jobs</h2>"))
  }

  @Test("says where the relay listens at every address, besides what is dialled")
  func saysEverywhere() {
    var snapshot = makeSnapshot()
    #expect(!StatusPage.html(snapshot).contains("It listens at"))
    snapshot.local.everywhere = ["every IPv4 address, port 4870"]
    #expect(StatusPage.html(snapshot).contains("It listens at every IPv4 address, port 4870."))
  }

  @Test("groups digits by three", arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (-123_456, "-123,456")])
  func groupsDigits(number: Int, text: String) {
    #expect(StatusPage.number(number) == text)
  }
}

@Suite("The verdict")
struct VerdictTests {
  @Test("is on its way while a worker starts", arguments: ["waiting", "starting", "draining", "stopping"])
  func isOnItsWay(state: WorkerStateWord) {
    var snapshot = makeSnapshot()
    snapshot.changeWorker { $0.state = state }
    #expect(Verdict(snapshot).level == .pending)
  }

  @Test("is good where a worker is as somebody wanted it", arguments: ["stopped", "held", "exited", "attached"])
  func isGoodAsWanted(state: WorkerStateWord) {
    var snapshot = makeSnapshot()
    snapshot.changeWorker { $0.state = state }
    snapshot.store = .silent("it is stopped")
    #expect(Verdict(snapshot).level == (state == "attached" ? .bad : .good))
  }

  @Test(
    "is bad for states that need somebody, and for words it does not know",
    arguments: ["failed", "backoff", "exec-failed", "new"])
  func isBad(state: WorkerStateWord) {
    var snapshot = makeSnapshot()
    snapshot.changeWorker { $0.state = state }
    #expect(Verdict(snapshot).sentence == "One thing needs attention")
  }

  @Test("notices a worker that does not get on, and a store that cannot write")
  func noticesStandstill() {
    var snapshot = makeSnapshot()
    snapshot.changeWorker { $0.busyMilliseconds = Verdict.quietMilliseconds }
    var store = StoreStatus()
    store.fault = "the disk is full"
    snapshot.store = .told(store)
    let matters = Verdict(snapshot).matters
    #expect(matters.map(\.text) == ["has work, and no progress for 10s", "the disk is full"])
  }

  @Test("passes over a relay that is away while another is there")
  func passesOverRelay() {
    var snapshot = makeSnapshot()
    let away = RelayStates.Relay(relay: "wss://away.example", state: "waiting")
    let idle = RelayStates.Relay(relay: "wss://idle.example", state: "idle")
    let open = RelayStates.Relay(relay: "wss://open.example", state: "open")
    func tone(_ relays: [RelayStates.Relay]) -> StatusLevel {
      snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: relays)))]
      return Verdict(snapshot).level
    }
    #expect(tone([away, open]) == .good)
    #expect(tone([idle]) == .good)
    #expect(tone([]) == .good)
    #expect(tone([away, idle]) == .bad)
  }

  @Test("has what the doctor says of lists, of publications that wait and of relays that refuse, and names no account")
  func agreesWithTheDoctor() {
    var snapshot = makeSnapshot()
    var plan = PlanStatus()
    (plan.overdue, plan.overdueRelays) = (1, ["wss://a.example"])
    var list = ReplacedList(
      id: "", kind: 3, author: "", identifier: "", replacedAt: 0, before: 9, after: 1)
    list.account = "alice"
    plan.shrunkLists = [list]
    snapshot.plan = .told(plan)
    var relay = RelayStates.Relay(relay: "wss://open.example", state: "open")
    relay.isConfigured = true
    relay.remarks = [RelayRemark(kind: .authWall, text: "auth-required: x", count: 1, at: snapshot.at)]
    snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: [relay])))]
    let verdict = Verdict(snapshot)
    #expect(verdict.sentence == "3 things need attention", "\(verdict.matters.map(\.text))")
    #expect(!verdict.matters.contains { $0.text.contains("alice") })
  }

  @Test("says that keys are locked, and how to unlock them, without the names of accounts")
  func saysThatKeysAreLocked() {
    func account(_ name: String, _ state: SignerAccount.State) -> SignerAccount {
      SignerAccount(
        name: name, publicKey: "", npub: "", state: state, isEncrypted: true, origin: .file, createdAt: 0)
    }
    var snapshot = makeSnapshot()
    func told(_ accounts: [SignerAccount]) -> String {
      snapshot.keys = .told(
        SignerAccounts(accounts: accounts, problems: [], sealingKey: "", isMemoryLocked: true, waiting: 0))
      return StatusPage.html(snapshot)
    }
    #expect(told([account("alice", .unlocked)]).contains("All is well"))
    let html = told([account("alice", .unlocked), account("bob", .locked)])
    #expect(html.contains("Nothing needs fixing") && html.contains("1 of 2 accounts is locked"))
    #expect(html.contains("<code>roost key unlock</code>") && !html.contains("bob"))
    #expect(html.contains("nothing is signed for it"))
    let both = told([account("alice", .locked), account("bob", .locked)])
    #expect(both.contains("2 of 2 accounts are locked, and nothing is signed for them"))
    #expect(both.contains("<code>roost key unlock ACCOUNT</code>") && !both.contains("bob"))
  }

  @Test("says that the kernel does not tell whose programs connect")
  func saysThatUsersAreUnknown() {
    var snapshot = makeSnapshot()
    snapshot.local.knowsUsers = true
    #expect(StatusPage.html(snapshot).contains("All is well"))
    snapshot.local.knowsUsers = false
    let html = StatusPage.html(snapshot)
    #expect(html.contains("One thing needs attention") && html.contains("modprobe tcp_diag"))
  }
}

extension String {
  /// How often a text is in this one.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
