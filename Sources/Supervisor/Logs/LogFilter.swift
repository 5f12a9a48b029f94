/// How grave a line is, the least first. The words are those of the log's files.
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
  /// Something without which the program cannot go on.
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

  /// Order by gravity.
  public static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rank < right.rank }
}

/// Which lines are worth keeping: a least level for each category, changeable while everything runs.
///
/// Workers of ours ask before they write, from the same table; for all others it is held here.
public struct LogFilter: Sendable, Hashable {
  /// The category that stands for all without a level of their own.
  public static let general = "*"
  /// Most categories with a level of their own.
  public static let categoryCountMaximum = 256
  /// Longest name of a category in bytes that gets a level.
  public static let categoryByteCountMaximum = 128

  private var generalLevel: LogSeverity
  private var own: [String: LogSeverity] = [:]

  /// A table in which every category has the same level.
  public init(general: LogSeverity = .info) { generalLevel = general }

  /// Whether a line of this category and level is kept.
  public func shouldKeep(category: String, level: LogSeverity) -> Bool { level >= (own[category] ?? generalLevel) }

  /// Sets the least level of a category, or of all without one of their own (``general``).
  ///
  /// - Returns: false, and nothing is changed, when the table is full or the name too long.
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

  /// The whole table by words, as workers are sent it.
  public var words: [String: String] {
    var words = own.mapValues(\.rawValue)
    words[Self.general] = generalLevel.rawValue
    return words
  }
}
