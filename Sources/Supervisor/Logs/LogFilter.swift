/// How severe a line is, the least severe first. The words are those of the log's files.
public enum LogSeverity: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Every step.
  case trace
  /// What helps in finding a defect.
  case debug
  /// What a person may want to read later; plain lines of standard output.
  case info
  /// Something unusual that is in order; plain lines of standard error.
  case notice
  /// Something that may become an error.
  case warning
  /// Something failed.
  case error
  /// Something without which the program cannot continue.
  case critical

  private var rank: Int {
    switch self {
    case .trace: 0
    case .debug: 1
    case .info: 2
    case .notice: 3
    case .warning: 4
    case .error: 5
    case .critical: 6
    }
  }

  /// Orders by severity.
  public static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rank < right.rank }
}

/// Which lines are kept: a least level for each category, which can be changed while everything runs.
///
/// Roost's own workers check the same table before they write; for all other workers it is applied here.
public struct LogFilter: Sendable, Hashable {
  /// The category that means all categories without a level of their own.
  public static let general = "*"
  /// The maximum number of categories with a level of their own.
  public static let categoryCountMaximum = 256
  /// The longest name, in bytes, of a category that can have a level.
  public static let categoryByteCountMaximum = 128

  private var generalLevel: LogSeverity
  private var own: [String: LogSeverity] = [:]

  /// A table in which every category has the same level.
  public init(general: LogSeverity = .info) { generalLevel = general }

  /// Whether a line of this category and level is kept.
  public func shouldKeep(category: String, level: LogSeverity) -> Bool { level >= (own[category] ?? generalLevel) }

  /// Sets the least level of a category, or of all without one of their own (``general``).
  ///
  /// - Returns: false, and nothing changes, if the table is full or the name too long.
  public mutating func set(_ category: String, _ level: LogSeverity) -> Bool {
    if category == Self.general {
      generalLevel = level
      return true
    }
    guard category.utf8.count <= Self.categoryByteCountMaximum else { return false }
    guard own[category] != nil || own.count < Self.categoryCountMaximum else { return false }
    own[category] = level
    return true
  }

  /// The whole table as words, in the form that workers receive.
  public var words: [String: String] {
    var words = own.mapValues(\.rawValue)
    words[Self.general] = generalLevel.rawValue
    return words
  }
}
