public import Contracts
internal import Frames

// A log line in the native protocol of systemd's journal: `NAME=value` lines in one datagram to
// /run/systemd/journal/socket (https://systemd.io/JOURNAL_NATIVE_PROTOCOL). So the journal has the worker, the category
// and the trace as fields, and `journalctl ROOST_WORKER=signer` finds what a worker said.

/// Log records as the journal takes them.
public enum JournalEntry {
  /// Where the journal listens.
  public static let socket = "/run/systemd/journal/socket"
  /// The longest message, in bytes: a datagram must fit the socket's buffer. The rest of a longer one is left out.
  public static let messageByteCountMaximum = 48 << 10

  /// The datagram for a record. Values are one line each; control characters in them are escaped.
  public static func text(_ record: LogRecord) -> String {
    var lines = [
      "MESSAGE=" + value(record.message), "PRIORITY=\(priority(record.level))", "SYSLOG_IDENTIFIER=roost",
      "ROOST_WORKER=" + value(record.worker), "ROOST_CATEGORY=" + value(record.category),
    ]
    for (name, text) in (record.fields ?? [:]).sorted(by: { $0.key < $1.key }).prefix(fieldMaximum) {
      guard let field = fieldName(name) else { continue }
      lines.append("\(field)=" + value(text, fieldByteCountMaximum))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The maximum number of fields of a record that are passed on.
  private static let fieldMaximum = 32
  /// The longest name of a field (journald).
  private static let nameByteCountMaximum = 64

  /// The longest value of a field, in bytes.
  private static let fieldByteCountMaximum = 1_024

  private static func value(_ text: String, _ maximum: Int = messageByteCountMaximum) -> String {
    let escaped = ControlCharacters.escaped(text)
    guard escaped.utf8.count > maximum else { return escaped }
    return String(decoding: escaped.utf8.prefix(maximum), as: UTF8.self) + "…"
  }

  /// `relay-url` → `ROOST_RELAY_URL`; nil for a name that the journal would not take.
  private static func fieldName(_ name: String) -> String? {
    let letters = name.uppercased().utf8.map { byte in
      (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) ? byte : UInt8(ascii: "_")
    }
    let field = "ROOST_" + String(decoding: letters, as: UTF8.self)
    return letters.isEmpty || field.utf8.count > nameByteCountMaximum ? nil : field
  }

  /// The levels of syslog(3).
  private static func priority(_ level: String) -> Int {
    switch level {
    case "critical": 2
    case "error": 3
    case "warning": 4
    case "notice": 5
    case "info": 6
    default: 7
    }
  }
}
