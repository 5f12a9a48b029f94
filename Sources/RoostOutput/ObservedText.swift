internal import Contracts
internal import Frames

/// What `roost observe` prints for a part of the store's answer.
public enum ObservedText {
  private struct Part: Decodable {
    struct Event: Decodable {
      var pubkey: String
      var createdAt: Int64
      var kind: Int
      var content: String

      enum CodingKeys: String, CodingKey {
        case pubkey, kind, content
        case createdAt = "created_at"
      }
    }
    var seq: Int64?
    var event: Event?
    var isStoredEnd: Bool?
  }

  /// Longest part of a content that is shown, in characters.
  static let contentMaximum = 200

  /// One line: when, who, what kind, and the beginning of the content. Nil for what is nothing of that.
  public static func line(_ part: [UInt8], _ style: Style) -> String? {
    guard let part = try? JSONPayload.decode(Part.self, from: part) else { return nil }  // Told as nothing, see above.
    if part.isStoredEnd == true { return style.paint("-- that was stored; what comes now is new", .dim) }
    guard let event = part.event else { return nil }
    let author = VisibleText.make(event.pubkey.prefix(8))
    let content = event.content.count > contentMaximum ? event.content.prefix(contentMaximum) + "…" : event.content[...]
    return style.paint("\(time(event.createdAt))  \(author)", .dim) + "  "
      + style.paint("\(event.kind)", .strong) + "  " + VisibleText.make(content)
  }

  /// `2025-11-21 12:30:05` (UTC), by the rule of the calendar: days to years, months and days.
  static func time(_ seconds: Int64) -> String {
    guard (0..<253_402_300_800).contains(seconds) else { return "\(seconds)" }
    let (days, rest) = (seconds / 86_400, seconds % 86_400)
    // Years that begin in March have the leap day at their end.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month < 10 ? month + 3 : month - 9))-\(two(day)) "
      + "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
  }
}
