public import Contracts
internal import Frames

// Names are foreign text, and one may read "this machine's". So what this machine says about a provider is in a column
// of its own, left of the name, where no name reaches; names are in quotes; and only visible characters of a name are
// shown, so that no name moves the text beside it.

/// What `roost job providers` prints.
public enum JobProviderText {
  /// The columns of a terminal that a name may take, without its quotes.
  private static let nameColumnsMaximum = 24
  /// The characters of a name that are examined: an announced name may have a megabyte.
  private static let nameLengthMaximum = 200

  /// A table: provider, kinds, and experience with it here.
  public static func lines(_ providers: [JobProvider], _ style: Style) -> [String] {
    guard !providers.isEmpty else {
      return ["No provider has announced that to this machine; --fetch asks relays."]
    }
    var table = TextTable([
      TextTable.Column(title: "PROVIDER", columnsMaximum: 63), TextTable.Column(title: "HERE"),
      TextTable.Column(title: "NAME", columnsMaximum: nameColumnsMaximum + 2),
      TextTable.Column(title: "KINDS", columnsMaximum: 24), TextTable.Column(title: "ANSWERED", alignment: .right),
      TextTable.Column(title: "USUALLY IN", alignment: .right, isSpareable: true),
      TextTable.Column(title: "BAD BILLS", alignment: .right, isSpareable: true),
    ])
    for provider in providers {
      table.append([
        TextTable.Cell(JobText.name(provider.provider)),
        TextTable.Cell(provider.isHere == true ? "yes" : "", .good), TextTable.Cell(provider.name.map(quoted) ?? ""),
        TextTable.Cell(provider.kinds.map(String.init).joined(separator: " "), .dim),
        TextTable.Cell(provider.asked == 0 ? "" : "\(provider.answered)/\(provider.asked)"),
        TextTable.Cell(provider.medianMilliseconds.map { Amount.duration(milliseconds: UInt64(max(0, $0))) } ?? ""),
        TextTable.Cell(provider.contradictions == 0 ? "" : "\(provider.contradictions)", .warning),
      ])
    }
    return table.lines(style)
  }

  /// A foreign name: in quotes, with none inside, and without characters that show nothing or move text.
  private static func quoted(_ name: String) -> String {
    let shown = name.unicodeScalars.prefix(nameLengthMaximum).map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .spaceSeparator, .lineSeparator, .paragraphSeparator: " "
      case .control: scalar.properties.isWhitespace ? " " : "\u{FFFD}"
      case .format, .surrogate, .privateUse, .unassigned: "\u{FFFD}"
      default: scalar == "\"" ? "'" : Character(scalar)
      }
    }
    let words = String(shown.filter { $0 != "\u{FFFD}" }).split(separator: " ").joined(separator: " ")
    return words.isEmpty ? "" : "\"\(DisplayWidth.cut(words, to: nameColumnsMaximum))\""
  }
}
