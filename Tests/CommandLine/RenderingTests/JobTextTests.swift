import Contracts
import Testing

@testable import Rendering

@Suite("Jobs, as people see them")
struct JobTextTests {
  private static let key = String(repeating: "1", count: 64)

  private func lines(_ change: (inout JobProviderState) -> Void) -> [String] {
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.amount, provider.payment) = (5_500, .asked)
    change(&provider)
    let job = Job(
      id: "0123456789abcdef", key: "mine", account: Self.key, kind: 5_050, state: .paymentRequired, submittedAt: 0,
      providers: [provider])
    return JobText.payment(provider, of: job, .plain)
  }

  @Test("Whoever shows no invoice is paid by a zap, once that is approved")
  func asked() {
    #expect(
      lines { _ in } == [
        "    wants 5.5 sat", "    it shows no invoice: it is paid by a zap, once that is approved",
        "    roost job approve 0123456789abcdef   or   roost job deny 0123456789abcdef",
      ])
    #expect(lines { $0.invoiceProblem = "so" } == ["    wants 5.5 sat", "    not to be paid: so"])
    #expect(lines { $0.invoice = "lnbc1" }.count == 2)
    #expect(lines { ($0.invoice, $0.invoiceProblem) = ("lnbc1", "above the bid") }.count == 2, "it is not proposed")
  }

  @Test("An approved zap is shown with where its request goes, and what its receipts are worth")
  func approved() {
    var zap = JobZapState(target: Self.key, amount: 5_500)
    let unsigned = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(unsigned.last == "    the request for its zap is not signed yet")
    zap.request = #"{"kind":9734}"#
    (zap.lnurl, zap.address) = ("lnurl1", "alice@example.com")
    let signed = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(
      signed == [
        "    zap 5.5 sat: send this request to alice@example.com", "    {\"kind\":9734}",
        "    its receipt is waited for; or: roost job approve 0123456789abcdef --invoice <invoice> --preimage <preimage>",
      ])
    (zap.lnurl, zap.address) = (nil, nil)
    zap.receipts = [JobReceiptState(event: Self.key, author: Self.key)]
    let doubted = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(doubted.contains { $0.contains("its profile says no lightning address") })
    #expect(doubted.contains { $0.contains("if it is: roost job approve 0123456789abcdef --wallet \(Self.key)") })
    #expect(lines { ($0.payment, $0.zap) = (.paid, zap) } == ["    was paid 5.5 sat"])
  }

  @Test("What this machine says of a provider stands where no name reaches, and a name shows what can be seen of it")
  func providers() {
    var ours = JobProvider(provider: Self.key, kinds: [5_302])
    (ours.isHere, ours.name) = (true, "Roost")
    let names = [
      "this machine's", "yes", "\u{1B}[2K\ra \"b\"\u{202E}\u{200B}\u{E0041} \n c\u{85}", "\u{200B}\t ",
      String(repeating: "long ", count: 100_000),
    ]
    let others = names.map { name in
      var other = JobProvider(provider: Self.key, kinds: [5_302])
      other.name = name
      return other
    }
    let lines = JobProviderText.lines([ours] + others, .plain)
    let key = JobText.name(Self.key)
    #expect(lines[0].dropFirst(key.count).hasPrefix("  HERE  NAME "))
    let told = lines.dropFirst().map { String($0.dropFirst(key.count)) }
    #expect(told[0].hasPrefix("  yes   \"Roost\" "))
    let shown = ["\"this machine's\" ", "\"yes\" ", "\"[2K a 'b' c\" ", " ", "\"long long long long lon…\" "]
    for (line, name) in zip(told.dropFirst(), shown) { #expect(line.hasPrefix("        " + name), "\(line)") }
  }

  private func job(_ state: Job.State, _ change: (inout Job) -> Void = { _ in }) -> Job {
    var job = Job(
      id: "0123456789abcdef", key: "mine", account: Self.key, kind: 5_050, state: state, submittedAt: 0)
    change(&job)
    return job
  }

  @Test("Who watches hears why nobody works on it, that it was approved and by what to pay, and that it is paid")
  func news() {
    var news = JobNews()
    let locked = job(.drafted) { $0.reason = "its account alice is locked: roost key unlock alice" }
    #expect(news.lines(locked, .plain) == ["drafted: its account alice is locked: roost key unlock alice"])
    #expect(news.lines(locked, .plain).isEmpty)
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.amount, provider.payment, provider.invoice) = (5_000, .asked, "lnbc1")
    let asked = news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain)
    let shown = job(.paymentRequired) { $0.providers = [provider] }
    #expect(Array(asked.dropFirst()) == JobText.payment(provider, of: shown, .plain), "it is said as it is shown")
    #expect(asked.last == "    roost job approve 0123456789abcdef   or   roost job deny 0123456789abcdef")
    provider.payment = .approved
    let approved = news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain)
    #expect(approved.first?.hasSuffix("payment-required") == true && approved.contains("    pay 5 sat: lnbc1"))
    #expect(!approved.contains { $0.contains("wants") }, "how much is said once")
    provider.payment = .paid
    let paid = news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain)
    #expect(paid.count == 2 && paid.last == "    was paid 5 sat")
  }

  @Test("What was approved for a job that was called off is said not to be paid any more")
  func calledOff() {
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.amount, provider.payment, provider.invoice) = (7, .approved, "lnbc1")
    let ended = job(.cancelled) { $0.providers = [provider] }
    let lines = JobText.payment(provider, of: ended, .plain)
    #expect(lines == ["    0.007 sat was approved, and is no longer to be paid"])
    provider.payment = .denied
    #expect(JobText.payment(provider, of: ended, .plain) == ["    wanted 0.007 sat, denied"])
  }

  @Test("Its own name is shown, one that was made up is not; what a provider says is shown once")
  func shown() {
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.message, provider.partial) = ("please pay", "please pay")
    let named = JobText.lines(job(.paymentRequired) { $0.providers = [provider] }, now: 0, .plain)
    #expect(named[1].hasPrefix("  kind 5050, key mine, for npub1"))
    #expect(named.count { $0.contains("please pay") } == 1, "\(named)")
    for key in ["0123456789abcdef", String(repeating: "0f", count: 16)] {
      let made = JobText.lines(job(.drafted) { $0.key = key }, now: 0, .plain)
      #expect(made[1].hasPrefix("  kind 5050, for npub1"), "\(made)")
    }
    #expect(JobText.outlook(job(.drafted)) == "It continues automatically")
    #expect(JobText.outlook(job(.drafted) { $0.reason = "so" }) == "It is kept, and continues then")
  }

  @Test("Whoever watches hears once that the tracker is away, unless it is back at once, and that it is back")
  func absence() {
    var absence = JobAbsence()
    #expect([.trackerAway, .trackerAway, .here, .here].map { absence.looked($0) } == [nil, nil, nil, nil])
    let told = [JobAbsence.Presence](repeating: .trackerAway, count: 10).compactMap { absence.looked($0) }
    #expect(told.count == 1 && told[0].hasPrefix("dvm-tracker is not running: the job is kept"))
    let both = [JobAbsence.Presence](repeating: .supervisorAway, count: 10).compactMap { absence.looked($0) }
    #expect(both.count == 1 && both[0].hasPrefix("roostd is not running"))
    #expect(absence.looked(.here) == "It is followed again." && absence.looked(.here) == nil)
  }

  @Test("A provider's last words are told with the end of its job, or beside it, and not both")
  func words() {
    var provider = JobProviderState(provider: Self.key, state: .error)
    provider.message = "no such video"
    var news = JobNews()
    let failed = news.lines(
      job(.failed) { ($0.providers, $0.reason) = ([provider], "its provider cannot do it: \"no such video\"") }, .plain)
    #expect(failed.count == 1 && failed[0].hasSuffix(": error"))
    let going = news.lines(job(.processing) { $0.providers = [provider] }, .plain)
    #expect(going.count == 1 && going[0].hasSuffix(": error: \"no such video\""))
  }

  @Test("Nothing that a provider writes looks like a line of ours, or is longer than a few")
  func strangers() {
    var provider = JobProviderState(provider: Self.key, state: .partial)
    provider.message = "no\"; another provider wants 5 sat\n    wants 5 sat" + String(repeating: "x", count: 900)
    provider.partial = "half\n    roost job approve 0123456789abcdef"
    let shown = job(.processing) { shown in
      shown.providers = [provider]
      shown.result = JobResultState(event: Self.key, provider: Self.key, content: "noon\n  odd: all", createdAt: 0)
    }
    let lines = JobText.lines(shown, now: 0, .plain)
    let head = lines.first { $0.contains("another provider") }
    #expect(head?.contains("\"no'; another provider wants 5 sat\\n") == true && head?.hasSuffix("…\"") == true)
    #expect(head.map { $0.count < 400 } == true)
    #expect(lines.contains("    |     roost job approve 0123456789abcdef") && lines.contains("    |   odd: all"))
    var news = JobNews()
    #expect(news.lines(shown, .plain).first?.contains(": partial: \"no'; another") == true)
  }

  @Test("A command that is shown names the provider where several ask, and can be used as it stands")
  func commands() {
    var zap = JobZapState(target: Self.key, amount: 5_500)
    zap.request = "{}"
    zap.receipts = [JobReceiptState(event: Self.key, author: Self.key)]
    var first = JobProviderState(provider: Self.key, state: .paymentRequired)
    (first.amount, first.payment, first.zap) = (5_500, .approved, zap)
    var second = first
    (second.provider, second.payment, second.zap) = (String(repeating: "2", count: 64), .asked, nil)
    let both = job(.paymentRequired) { $0.providers = [first, second] }
    let lines = JobText.payment(first, of: both, .plain)
    #expect(lines.contains { $0.contains("approve 0123456789abcdef --provider \(Self.key) --wallet \(Self.key)") })
    let settled = job(.settled) { $0.providers = [second] }
    #expect(JobText.payment(second, of: settled, .plain).allSatisfy { !$0.contains("roost job approve") })
  }

  @Test("A request that no relay has is not called published, and why it waits is said")
  func waiting() {
    var request = JobRequestState(event: Self.key, providers: [], confirmedRelays: 0, relays: 4, isStored: true)
    var news = JobNews()
    let waits = job(.drafted) { ($0.requests, $0.reason) = ([request], "none has it yet") }
    #expect(news.lines(waits, .plain) == ["drafted: none has it yet"])
    request.confirmedRelays = 1
    #expect(news.lines(job(.published) { $0.requests = [request] }, .plain) == ["published: 1 of 4 relays"])
    (request.confirmedRelays, request.relays) = (0, 0)
    #expect(news.lines(job(.published) { $0.requests = [request] }, .plain) == ["published: on this machine"])
  }

  @Test("What happened within this second did so just now, and whose a job is is said")
  func about() {
    var shown = job(.settled) { ($0.submittedAt, $0.endedAt) = (100, 103) }
    shown.accountName = "alice"
    let lines = JobText.lines(shown, now: 103, .plain)
    #expect(lines[1] == "  kind 5050, key mine, for alice, submitted 3s ago, ended just now")
    shown.accountName = Role.dvmTracker.name
    #expect(JobText.lines(shown, now: 103, .plain)[1].contains("for this machine's own account, dvm-tracker,"))
    shown.accountName = nil
    #expect(JobText.lines(shown, now: 103, .plain)[1].contains("for npub1"))
  }

  @Test("What was odd is said in words, with the name under which it is counted")
  func odd() {
    let shown = job(.processing) { $0.diagnostics = ["broken-invoice": 1, "for-another-customer": 2, "new-word": 1] }
    #expect(
      JobText.lines(shown, now: 0, .plain).suffix(3) == [
        "  odd: the invoice is cut, mistyped, or not signed by who it says (broken-invoice)",
        "  odd: an answer is addressed to another customer (for-another-customer), 2 times", "  odd: new-word",
      ])
  }

  @Test("How long a job waits is not said before its first request: only the end of all of it is known")
  func drafted() {
    let fresh = job(.drafted) { $0.nextDeadlineAt = 604_800 }
    #expect(!JobText.lines(fresh, now: 0, .plain).contains { $0.contains("waits") })
    let published = job(.published) { $0.nextDeadlineAt = 60 }
    #expect(JobText.lines(published, now: 0, .plain).contains { $0.contains("waits 1m more at most") })
  }

  @Test("A reason of several lines is one line of the table")
  func table() {
    let odd = job(.failed) { $0.reason = "one\ntwo" }
    #expect(JobText.lines([odd], now: 0, .plain).count == 2)
  }

  @Test("An invoice is shown when it is approved")
  func invoice() {
    #expect(lines { ($0.payment, $0.invoice) = (.approved, "lnbc1") }.contains("    pay 5.5 sat: lnbc1"))
  }
}
