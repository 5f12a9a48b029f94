import Contracts
import Logs
import Testing

@Suite("Log lines for the journal")
struct JournalEntryTests {
  @Test("A record is its message, its priority and its fields, a line each")
  func fields() {
    let record = LogRecord(
      time: "2026-01-01T00:00:00.000Z", worker: "signer", level: "warning", category: "audit",
      message: "refused\nPRIORITY=0 \u{1B}[2J", fields: ["trace": "2a", "relay-url": "wss://a.example", "": "x"])
    let lines = JournalEntry.text(record).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 8 && lines.last == "")
    #expect(lines[0].hasPrefix("MESSAGE=refused") && !lines[0].contains("\u{1B}"))
    #expect(lines[1...4] == ["PRIORITY=4", "SYSLOG_IDENTIFIER=roost", "ROOST_WORKER=signer", "ROOST_CATEGORY=audit"])
    #expect(lines[5...6] == ["ROOST_RELAY_URL=wss://a.example", "ROOST_TRACE=2a"])
  }

  @Test("A datagram stays small, whatever a worker writes")
  func bounds() {
    let long = String(repeating: "é", count: 400_000)
    let fields = Dictionary(uniqueKeysWithValues: (0..<500).map { ("field-\($0)", long) })
    let record = LogRecord(time: "", worker: "x", level: "trace", category: "y", message: long, fields: fields)
    let text = JournalEntry.text(record)
    #expect(text.utf8.count < 128 << 10 && text.contains("PRIORITY=7\n"))
  }
}
