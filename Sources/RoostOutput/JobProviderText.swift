public import Contracts
internal import Frames

/// What `roost job providers` prints.
public enum JobProviderText {
  /// A table: who, what, and how it went here.
  public static func lines(_ providers: [JobProvider], _ style: Style) -> [String] {
    guard !providers.isEmpty else {
      return ["Nobody has announced that as far as this machine knows; --fetch asks relays."]
    }
    var table = TextTable([
      TextTable.Column(title: "PROVIDER", columnsMaximum: 63), TextTable.Column(title: "NAME", columnsMaximum: 24),
      TextTable.Column(title: "KINDS", columnsMaximum: 24), TextTable.Column(title: "ANSWERED", alignment: .right),
      TextTable.Column(title: "USUALLY IN", alignment: .right, isSpareable: true),
      TextTable.Column(title: "BAD BILLS", alignment: .right, isSpareable: true),
    ])
    for provider in providers {
      table.append([
        TextTable.Cell(JobText.name(provider.provider)),
        TextTable.Cell(VisibleText.make(provider.name ?? (provider.isHere == true ? "this machine's" : ""))),
        TextTable.Cell(provider.kinds.map(String.init).joined(separator: " "), .dim),
        TextTable.Cell(provider.asked == 0 ? "" : "\(provider.answered)/\(provider.asked)"),
        TextTable.Cell(provider.medianMilliseconds.map { Amount.duration(milliseconds: UInt64(max(0, $0))) } ?? ""),
        TextTable.Cell(provider.contradictions == 0 ? "" : "\(provider.contradictions)", .warning),
      ])
    }
    return table.lines(style)
  }
}
