import Contracts
import Frames
import Testing
import Wording

@testable import Rendering

@Suite struct TableTests {
  private var status: SupervisorStatus {
    var connector = WorkerStatus(name: "relay-main", role: "relay-connector", state: "ready")
    connector.sinceMilliseconds = 8_040_000
    connector.pid = 4_312
    connector.restartLimit = 5
    connector.inHand = 2
    connector.residentBytes = 14 << 20
    connector.text = "3 relays connected"
    connector.sandbox = "landlock 3, seccomp"
    var store = WorkerStatus(name: "event-store", role: "event-store", state: "backoff")
    store.sinceMilliseconds = 900
    store.restarts = 4
    store.restartLimit = 5
    store.mailboxFrames = 117
    store.nextAttemptMilliseconds = 4_100
    store.lastExit = "killed by SIGSEGV\u{1B}[2J after 3 s, with two messages in hand and nothing to say"
    return SupervisorStatus(
      version: "0.1.0", pid: 4_300, uptimeMilliseconds: 8_100_000, configuration: "supervisor.conf", socket: "run/x",
      residentBytes: 18 << 20, keptBytes: 2_048, counters: [:], deadLetters: 0, workers: [connector, store],
      clients: [ClientStatus(name: "roost", pid: 9, outstanding: 1, mailboxFrames: 0)])
  }

  @Test("The status is an aligned table, and a line of totals")
  func statusTable() {
    let lines = StatusTable.lines(status, .plain)
    let note = #"next try in 4s; killed by SIGSEGV\e[2J after 3 s, with two messages in hand and nothing to say"#
    #expect(
      lines == [
        "WORKER       STATE     SINCE   PID  RESTARTS  QUEUED  IN-FLIGHT  MEMORY  NOTE",
        "relay-main   ready    2h 14m  4312       0/5       0          2  14 MiB  3 relays connected",
        "event-store  backoff   900ms     -       4/5     117          0       -  \(note)",
        "",
        "2 workers, 1 ready · 1 client · 0 dead letters · 2.0 KiB queued · roostd pid 4300 up 2h 15m, 18 MiB",
      ])
  }

  @Test("Whether events can be sent has a line of its own, within 80 columns, and a member of the machine form")
  func sending() throws {
    let style = Style(isColoured: false, columns: 80)
    let without = StatusTable.lines(status, style)
    for state in SendingState.allCases {
      let lines = StatusTable.lines(status, sending: state, style)
      let line = try #require(lines.first { $0.hasPrefix("Sending: \(state.rawValue)") })
      #expect(line.count <= 80 && lines.count == without.count + 1)
    }
    let json = JSONPayload.encode(StatusJSON(status, sending: .readOnly))
    let value = try JSONPayload.decode(JSONValue.self, from: json)
    #expect(value["sending"] == .string("read-only") && value["pid"] == .integer(4_300))
    #expect(try JSONPayload.decode(SupervisorStatus.self, from: json).workers.count == 2)
    let unknown = try JSONPayload.decode(
      JSONValue.self, from: JSONPayload.encode(StatusJSON(status, sending: nil)))
    #expect(unknown["sending"] == nil)
  }

  @Test("Where the terminal has no room for a note it goes beneath its row, whole, and the totals take two lines")
  func narrowStatus() {
    let lines = StatusTable.lines(status, Style(isColoured: false, columns: 80))
    #expect(
      lines == [
        "WORKER       STATE     SINCE   PID  RESTARTS  QUEUED  IN-FLIGHT  MEMORY  NOTE",
        "relay-main   ready    2h 14m  4312       0/5       0          2  14 MiB",
        "    3 relays connected",
        "event-store  backoff   900ms     -       4/5     117          0       -",
        #"    next try in 4s; killed by SIGSEGV\e[2J after 3 s, with two messages in hand"#,
        "    and nothing to say",
        "",
        "2 workers, 1 ready · 1 client · 0 dead letters · 2.0 KiB queued",
        "roostd pid 4300 up 2h 15m, 18 MiB",
      ])
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test("A row without a note has no line beneath it, however narrow the terminal is")
  func emptyNote() {
    var quiet = status
    quiet.workers[0].text = nil
    let lines = StatusTable.lines(quiet, Style(isColoured: false, columns: 60))
    #expect(lines[1].hasPrefix("relay-main") && lines[2].hasPrefix("event-store"), "\(lines)")
  }

  @Test("Where not even the numbers have room, the process ids are left out")
  func narrowestStatus() {
    var wide = status
    wide.workers[0].proportionalBytes = 9 << 20
    wide.workers[0].name = "a-connector-here"
    let lines = StatusTable.lines(wide, Style(isColoured: false, columns: 80))
    #expect(lines[0] == "WORKER            STATE     SINCE  RESTARTS  QUEUED  IN-FLIGHT  MEMORY      PSS")
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test("Workers that are stopped are counted, so that the sum is clear")
  func stoppedTotals() {
    var half = status
    half.workers[1].state = "stopped"
    #expect(StatusTable.lines(half, .plain).last?.hasPrefix("2 workers, 1 ready, 1 stopped · ") == true)
  }

  @Test("Who was attached by hand is counted apart from those that are ready")
  func attachedTotals() {
    var attached = status
    attached.workers[1].state = "attached"
    #expect(StatusTable.lines(attached, .plain).last?.hasPrefix("2 workers, 1 ready, 1 attached · ") == true)
    attached.workers[0].state = "held"
    #expect(StatusTable.lines(attached, .plain).last?.hasPrefix("2 workers, 0 ready, 1 attached · ") == true)
  }

  @Test("On a terminal the state has a colour; the alignment is the same without its escapes")
  func colours() {
    let coloured = StatusTable.lines(status, Style(isColoured: true))
    #expect(coloured[1].contains("\u{1B}[32mready\u{1B}[0m  "))
    #expect(coloured[2].contains("\u{1B}[31mbackoff\u{1B}[0m"))
    let stripped = coloured.map { $0.replacing(#/\u{1B}\[\d+m/#, with: "") }
    #expect(stripped == StatusTable.lines(status, .plain))
  }

  @Test("A worker that owes progress says so before anything else")
  func quiet() {
    var quiet = status
    quiet.workers[0].busyMilliseconds = 65_000
    #expect(StatusTable.lines(quiet, .plain)[1].hasSuffix("has work, no progress for 1m 5s"))
  }

  @Test("Without workers there is a sentence instead of a table")
  func empty() {
    var empty = status
    empty.workers = []
    #expect(StatusTable.lines(empty, .plain)[0] == "No workers are configured.")
  }

  @Test("The sandbox table tells what each worker achieved")
  func sandbox() {
    #expect(
      SandboxTable.lines(status, .plain) == [
        "WORKER       ROLE             STATE    SANDBOX", "relay-main   relay-connector  ready    landlock 3, seccomp",
        "event-store  event-store      backoff  -",
      ])
  }

  @Test("The sandbox table has the memory, too, when it was asked for")
  func sandboxMemory() {
    var both = status
    both.workers[0].proportionalBytes = 9 << 20
    #expect(
      SandboxTable.lines(both, .plain) == [
        "WORKER       ROLE             STATE    MEMORY      PSS  SANDBOX",
        "relay-main   relay-connector  ready    14 MiB  9.0 MiB  landlock 3, seccomp",
        "event-store  event-store      backoff       -        -  -",
      ])
  }

  @Test("Wide letters take two columns, and a long name is cut")
  func widths() {
    #expect(DisplayWidth.of("日本é") == 5)
    #expect(DisplayWidth.cut("日本語", to: 5) == "日本…")
    #expect(DisplayWidth.cut("abc", to: 3) == "abc")
    #expect(DisplayWidth.wrap("one two three", to: 7) == ["one two", "three"])
    #expect(DisplayWidth.wrap("a-very-long-word b", to: 5) == ["a-very-long-word", "b"])
    #expect(DisplayWidth.wrap("", to: 5) == [""])
  }

  @Test("Log lines are aligned, with their fields, and cannot drive the terminal")
  func logs() {
    var lines = LogLines(.plain)
    let first = LogRecord(
      time: "2026-11-21T08:42:17.123Z", worker: "relay-main", level: "warning", category: "relay",
      message: "lost\u{1B}[31m", fields: ["url": "ws://a b", "n": "1"])
    #expect(
      lines.lines(first) == [#"11-21 08:42:17.123  relay-main    warning   relay     lost\e[31m  n=1  url="ws://a b""#])
    let name = "a-worker-with-a-very-long-name"
    let second = LogRecord(time: "?", worker: name, level: "info", category: "c", message: "m")
    #expect(lines.lines(second) == ["?  a-worker-with-a-ver…  info      c         m"])
  }

  @Test(
    "A log line that is longer than the terminal goes on under its worker, broken at blanks; in a file it is one line")
  func narrowLogs() {
    let message = "generation 3 was killed by SIGSEGV and is spawned as generation 4"
    let record = LogRecord(
      time: "2026-11-21T08:42:17.123Z", worker: "w", level: "info", category: "c", message: message, fields: ["n": "1"])
    var wide = LogLines(.plain)
    #expect(wide.lines(record).count == 1)
    var narrow = LogLines(Style(isColoured: false, columns: 80))
    #expect(
      narrow.lines(record) == [
        "11-21 08:42:17.123  w             info      c         generation 3 was killed by",
        "                    SIGSEGV and is spawned as generation 4  n=1",
      ])
    let words = wide.lines(record)[0].split(separator: " ")
    for columns in 60...130 {
      var lines = LogLines(Style(isColoured: false, columns: columns))
      let wrapped = lines.lines(record)
      #expect(wrapped.allSatisfy { DisplayWidth.of($0) <= columns }, "\(columns)")
      #expect(wrapped.joined(separator: " ").split(separator: " ") == words)
    }
  }

  @Test("Why is sentences and the last log lines")
  func why() {
    let record = LogRecord(
      time: "2026-11-21T08:42:17.123Z", worker: "w", level: "error", category: "stderr", message: "boom")
    let sentences = ["It crashed 5 times in 60 s."]
    let result = WhyResult(worker: "w", state: "failed", sentences: sentences, lastLines: [record])
    #expect(
      WhyText.lines(result, .plain) == [
        "w is failed.", "It crashed 5 times in 60 s.", "", "Its last log lines:",
        "  11-21 08:42:17.123  w             error     stderr    boom",
      ])
  }

  @Test("A sentence that is longer than the terminal is broken at a blank, and elsewhere not at all")
  func whyNarrow() {
    let long = "w has failed: 5 of 5 restarts in the last 42 s; limit 5 in 60 s. Find out why it dies, then start it."
    let result = WhyResult(worker: "w", state: "failed", sentences: [long], lastLines: [])
    #expect(
      WhyText.lines(result, Style(isColoured: false, columns: 80)) == [
        "w has failed: 5 of 5 restarts in the last 42 s; limit 5 in 60 s. Find out why it", "dies, then start it.",
      ])
    #expect(WhyText.lines(result, .plain) == [long])
  }

  @Test("The doctor lists checks with a mark, and counts those that need attention")
  func doctor() {
    let result = DoctorResult(checks: [
      .init(name: "socket", isGood: true, text: "mode 0600"),
      .init(name: "memory lock", isGood: false, text: "raise RLIMIT_MEMLOCK to 64 MiB"),
    ])
    #expect(
      DoctorText.lines(result, .plain) == [
        "✓ socket       mode 0600", "✗ memory lock  raise RLIMIT_MEMLOCK to 64 MiB", "", "1 check needs attention.",
      ])
    #expect(DoctorText.lines(DoctorResult(checks: []), .plain).last == "All is well.")
  }

  @Test("The doctor says which jobs have no relay, and that a decision about money is waited for, which is no failure")
  func doctorOfJobs() {
    var status = TrackingStatus()
    status.jobs = ["published": 2, "settled": 9]
    var checks = JobCheckText.checks(status)
    #expect(checks.map(\.isGood) == [true] && checks[0].text.hasPrefix("2 under way, none"))
    status.openPayments = JobPayments(count: 1, amount: 21_000)
    checks = JobCheckText.checks(status)
    #expect(checks.map(\.isGood) == [true] && checks[0].isPending == true)
    #expect(checks[0].text.hasPrefix("1 payment of 21 sat waits for a decision: roost job list"))
    status.unpaid = JobPayments(count: 2, amount: 5_500)
    checks = JobCheckText.checks(status)
    #expect(checks.map(\.isGood) == [true, true] && checks[1].isPending == true)
    #expect(checks[1].text.hasPrefix("2 payments of 5.5 sat are approved and not paid yet: roost job list --open"))
    status.unpaid = JobPayments()
    status.unseen = 2
    status.fault = "the disk is full"
    checks = JobCheckText.checks(status)
    #expect(checks.map(\.isGood) == [false, false, true] && checks[0].text == "the disk is full")
    #expect(checks[1].text.hasPrefix("2 open jobs have no relay, and are seen"))
  }

  @Test("The doctor says what was lost of events and what to do, and that nothing may be removed above the limit")
  func doctorOfEvents() {
    var status = StoreStatus()
    (status.events, status.usedBytes) = (3_400, 36_237_312)
    #expect(StoreText.checks(status).map(\.isGood) == [true])
    status.rescued = StoreStatus.Rescue(at: 1_763_700_000, saved: 3_400, lost: 3_044, aside: "/s/events.db.damaged-1")
    status.lost = StoreStatus.SeqRange(7...9)
    (status.isFull, status.limitBytes, status.damaged) = (true, 16 << 20, 2)
    let checks = StoreText.checks(status)
    #expect(checks.map(\.isGood) == [false, false, false, false])
    #expect(checks[0].text.contains("3400 events saved, 3044 events lost") && checks[0].text.contains("damaged-1"))
    #expect(checks[1].text.contains("seqs 7 to 9") && checks[3].text.contains("raise size-limit"))
    #expect(checks[2].text.hasPrefix("2 stored events were found damaged"))
  }

  @Test("What is held or on its way is no failure, and has a mark of its own")
  func doctorPending() {
    let check = DoctorResult.Check(name: "worker w", isGood: true, isPending: true, text: "is held, its mail kept.")
    #expect(
      DoctorText.lines(DoctorResult(checks: [check]), .plain) == [
        "– worker w  is held, its mail kept.", "",
        "Nothing needs fixing; – marks what is still starting, stopped on purpose, or worth a look.",
      ])
  }

  @Test("A check that is longer than the terminal goes on below its text")
  func doctorNarrow() {
    let check = DoctorResult.Check(
      name: "disk", isGood: true, text: "/a/directory/with/a/long/name has enough room for everything that will come")
    #expect(
      DoctorText.lines(DoctorResult(checks: [check]), Style(isColoured: false, columns: 60)).prefix(2) == [
        "✓ disk  /a/directory/with/a/long/name has enough room for", "        everything that will come",
      ])
  }

  @Test("A reload tells its warnings first, a line each, also when nothing differs")
  func reload() {
    let warning = "supervisor.conf:3: [log] levels.relya: nobody"
    let unchanged = ReloadResult(changes: [], isApplied: false, warnings: [warning])
    #expect(ReloadText.lines(unchanged, .plain) == ["warning: \(warning)", "The configuration is unchanged."])
    let changed = ReloadResult(changes: ["[log] changes"], isApplied: true, warnings: [warning])
    #expect(ReloadText.lines(changed, .plain) == ["warning: \(warning)", "Taken over:", "  [log] changes"])
    #expect(ReloadText.lines(ReloadResult(changes: [], isApplied: true), .plain).count == 1)
    let remark = "w stays failed: roost start w"
    #expect(ReloadText.lines(ReloadResult(changes: [], isApplied: true, remarks: [remark]), .plain).last == remark)
  }

  @Test("A level is told, and a category that is nobody's is doubted")
  func logLevel() {
    var result = LogLevelResult(category: "foo", level: "debug")
    #expect(LogLevelText.lines(result, .plain) == ["Category 'foo' now logs at level debug."])
    result.remark = "Nobody has logged in category 'foo' yet."
    #expect(LogLevelText.lines(result, .plain).last == "Nobody has logged in category 'foo' yet.")
    let all = LogLevelResult(category: "*", level: "info")
    #expect(LogLevelText.lines(all, .plain) == ["All other categories now log at level info."])
  }

  @Test("An attach grant is a command line alone on its line, and what it means")
  func attach() {
    let grant = AttachGrant(
      token: "t", name: "relay-main", role: "relay-connector", socket: "/s", command: "ROOST_TOKEN=t relay-connector",
      expiresMilliseconds: 60_000)
    let lines = AttachText.lines(grant, Style(isColoured: false, columns: 80))
    #expect(lines[0] == "ROOST_TOKEN=t relay-connector" && lines[1].isEmpty && lines[2].contains("within 1m"))
    #expect(lines.count == 6 && lines.allSatisfy { $0.count <= 80 })
  }

  @Test("An attach grant that cannot be run as it stands says why first")
  func attachRemark() {
    var grant = AttachGrant(
      token: "t", name: "p", role: "outbox-planner", socket: "/s", command: "ROOST_TOKEN=t YOUR-PROGRAM",
      expiresMilliseconds: 60_000)
    grant.remark = "There is no program /p."
    #expect(AttachText.lines(grant, .plain)[2] == "There is no program /p.")
  }

  @Test("An event is time, worker, change and reason")
  func event() {
    let event = SupervisorEvent(
      time: "2026-11-21T08:42:17.123Z", worker: "w", from: "ready", to: "backoff", sentence: "exited with code 1")
    #expect(
      WorkerEventLine.line(event, .plain)
        == "11-21 08:42:17.123  w               ready → backoff         exited with code 1")
    var remark = event
    remark.from = "backoff"
    remark.sentence = "a message was set aside"
    #expect(
      WorkerEventLine.line(remark, .plain)
        == "11-21 08:42:17.123  w               backoff                 a message was set aside")
    #expect(WorkerEventLine.gap(dropped: 1, .plain) == "-- 1 event missed here: this reader did not keep up")
  }

  @Test("Dead letters are a table; one is told whole, its payload indented")
  func deadLetters() {
    let letter = DeadLetterRecord(
      id: "17", time: "2026-11-21T08:42:17.123Z", worker: "w", method: "m.do", sender: "c", deliveries: 3, trace: "ab",
      isRaw: false, payload: #"{"a":1}"#, isBase64: false)
    #expect(
      DeadLetterText.table(DeadLettersResult(letters: [letter]), .plain) == [
        "ID  TIME                WORKER  METHOD  TRIES  FROM", "17  11-21 08:42:17.123  w       m.do        3  c",
      ])
    #expect(DeadLetterText.details(letter, .plain).suffix(4) == ["", "{", "  \"a\": 1", "}"])
    #expect(DeadLetterText.table(DeadLettersResult(letters: []), .plain) == ["No dead letters."])
  }
}

@Suite struct RefusalTests {
  @Test("A refusal is a sentence, and in brackets its code, outcome and when to ask again")
  func text() {
    let refusal = Refusal(.unavailable, "w is not running", outcome: .notStarted, retryAfterMilliseconds: 3_000)
    #expect(
      RefusalText.lines(refusal, .plain) == [
        "roost: w is not running", "       (unavailable; nothing was done; try again in 3s)",
      ])
  }

  @Test(
    "Each refusal has its exit code",
    arguments: [
      ("no-supervisor", 3), ("disconnected", 3), ("denied", 4), ("not-permitted", 4), ("no-access", 4),
      ("bad-token", 4), ("expired", 5), ("too-slow", 5), ("failed", 1), ("bad-request", 1), ("unknown-method", 1),
      ("anything-else", 1),
    ] as [(String, Int32)])
  func exitStatus(code: String, status: Int32) {
    #expect(ExitStatus(Refusal(RefusalCode(rawValue: code), "x")).rawValue == status)
  }
}
