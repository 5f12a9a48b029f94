internal import Contracts

// The class of each wake type. The table of the original design says `background` and `high`, and mixes two of Apple's
// words; here each type has a push type, a priority, a time to live, a collapse id and what is shown, and all of it is
// a setting. The defaults are those of the table in `WakeType`.

/// The settings of one wake type; nil members keep their default.
public struct WakeClassSetting: Hashable, Sendable, Codable {
  /// The wake type: 1 to 64 characters of `a-z0-9_`; `default` for all types without a name in the settings.
  public var type: String
  /// `alert` or `background`.
  public var pushType: String?
  /// APNs' priority, 10 or 5.
  public var priority: Int?
  /// FCM's priority, `high` or `normal`.
  public var fcmPriority: String?
  /// The time to live, 1 … 2,419,200 seconds.
  public var timeToLiveSeconds: Int64?
  /// The collapse id; "" for no collapsing.
  public var collapseID: String?
  /// `silent`, `generic` or `mutable`.
  public var shows: String?
  /// The first line of an alert, unless the app changes it.
  public var title: String?
  /// The second line of an alert, unless the app changes it.
  public var body: String?

  /// A setting that changes nothing.
  public init(type: String) { self.type = type }
}

/// An invalid setting of a wake type, as a text for people.
public struct WakeClassFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The wake type.
  public let type: String
  /// What is wrong, and which values are allowed.
  public let reason: String

  /// `wake type 'noise_connect': a background push has priority 5, not 10: …`
  public var description: String { "wake type '\(type)': \(reason)" }
}

/// The classes of all wake types.
public struct WakeClasses: Hashable, Sendable {
  /// The class of types without a name.
  public private(set) var standard: WakeClass
  private var classes: [String: WakeClass]

  /// The maximum number of types that settings may name.
  public static let countMaximum = 64
  /// The name in settings for all types without a name.
  public static let standardName = WakeType.others.name

  /// The table of `WakeType`.
  public init() {
    standard = WakeClass(.others)
    classes = Dictionary(uniqueKeysWithValues: WakeType.known.map { ($0.name, WakeClass($0)) })
  }

  /// The table of `WakeType`, with these changes. A new type starts with the class of types without a name.
  ///
  /// - Throws: ``WakeClassFault`` for the first invalid setting.
  public init(_ settings: [WakeClassSetting]) throws(WakeClassFault) {
    self.init()
    var seen: Set<String> = []
    for setting in settings {
      guard Wake.isType(setting.type) else {
        throw WakeClassFault(type: setting.type, reason: "a wake type is 1 to 64 characters of a-z, 0-9 and '_'")
      }
      guard seen.insert(setting.type).inserted else {
        throw WakeClassFault(type: setting.type, reason: "it is there twice")
      }
      guard seen.count <= Self.countMaximum else {
        throw WakeClassFault(type: setting.type, reason: "more than \(Self.countMaximum) types are named")
      }
    }
    // The default class first, because new types start with it.
    for setting in settings where setting.type == Self.standardName { standard = try setting.applied(to: standard) }
    for setting in settings where setting.type != Self.standardName {
      classes[setting.type] = try setting.applied(to: self[setting.type])
    }
  }

  /// The class of a type.
  public subscript(type: String) -> WakeClass { classes[type] ?? standard }

  /// The types that have a class of their own, in order.
  public var types: [String] { classes.keys.sorted() }
}

extension Wake {
  /// Whether a text can be a wake type: 1 to 64 characters of `a-z0-9_`.
  public static func isType(_ text: String) -> Bool { WakeType.isName(text) }
}

extension WakeClass {
  fileprivate init(_ type: WakeType) {
    let collapseID = type.isCollapsed ? type.name : nil
    if let words = type.words {
      self = .urgent(title: words.title, body: words.body, collapseID: collapseID)
    } else {
      self = .quiet(collapseID: collapseID)
    }
    timeToLiveSeconds = type.timeToLiveSeconds
  }
}

// MARK: - One setting

extension WakeClassSetting {
  func applied(to standard: WakeClass) throws(WakeClassFault) -> WakeClass {
    var result = standard
    if let pushType {
      guard let value = WakeClass.PushType(rawValue: pushType) else {
        throw fault("push type '\(pushType)' is unknown; there are 'alert' and 'background'")
      }
      if value != result.pushType { result = Self.turned(result, into: value, title, body) }
    }
    if let priority {
      guard let value = WakeClass.ApplePriority(rawValue: priority) else {
        throw fault("priority \(priority) is unknown; APNs knows 10 (at once) and 5 (when it suits the battery)")
      }
      result.applePriority = value
    }
    if let fcmPriority {
      guard let value = WakeClass.GooglePriority(rawValue: fcmPriority.uppercased()) else {
        throw fault("FCM priority '\(fcmPriority)' is unknown; there are 'high' and 'normal'")
      }
      result.googlePriority = value
    }
    if let timeToLiveSeconds {
      guard (1...WakeClass.timeToLiveSecondsMaximum).contains(timeToLiveSeconds) else {
        throw fault("a time to live is 1 s to four weeks (\(WakeClass.timeToLiveSecondsMaximum) s)")
      }
      result.timeToLiveSeconds = timeToLiveSeconds
    }
    if let collapseID { result.collapseID = try checked(collapseID: collapseID) }
    result.presentation = try presentation(of: result)
    try check(result)
    return result
  }

  /// What belongs to the other push type, unless the settings say more.
  private static func turned(
    _ old: WakeClass, into type: WakeClass.PushType, _ title: String?, _ body: String?
  ) -> WakeClass {
    var result = old
    result.pushType = type
    result.applePriority = type == .alert ? .immediate : .considerate
    result.googlePriority = type == .alert ? .high : .normal
    result.presentation =
      type == .background
      ? .silent : .mutableAlert(title: title ?? "New activity", body: body ?? "Open the app to see it.")
    return result
  }

  private func checked(collapseID: String) throws(WakeClassFault) -> String? {
    if collapseID.isEmpty { return nil }
    guard collapseID.utf8.count <= WakeClass.collapseIDByteCountMaximum, collapseID.utf8.allSatisfy(Self.isPlain) else {
      throw fault(
        "a collapse id is up to \(WakeClass.collapseIDByteCountMaximum) characters of A-Z, a-z, 0-9, '_' and '-'")
    }
    return collapseID
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private func presentation(of result: WakeClass) throws(WakeClassFault) -> WakeClass.Presentation {
    let (oldTitle, oldBody, isGeneric): (String, String, Bool) =
      switch result.presentation {
      case .silent: ("", "", false)
      case .genericAlert(let title, let body): (title, body, true)
      case .mutableAlert(let title, let body): (title, body, false)
      }
    let words = (title: title ?? oldTitle, body: body ?? oldBody)
    let standard = result.presentation == .silent ? "silent" : isGeneric ? "generic" : "mutable"
    switch shows ?? standard {
    case "silent":
      guard title == nil, body == nil else { throw fault("a push that shows nothing has no title and no body") }
      return .silent
    case "generic": return .genericAlert(title: words.title, body: words.body)
    case "mutable": return .mutableAlert(title: words.title, body: words.body)
    case let other: throw fault("'\(other)' cannot be shown; there are 'silent', 'generic' and 'mutable'")
    }
  }

  private func check(_ result: WakeClass) throws(WakeClassFault) {
    switch (result.pushType, result.presentation) {
    case (.background, .silent):
      if result.applePriority != .considerate {
        throw fault("a background push has priority 5, not 10: APNs refuses anything else")
      }
    case (.background, _): throw fault("a background push shows nothing: say 'silent', or make it an alert")
    case (.alert, .silent):
      throw fault("an alert shows something: say 'generic' or 'mutable', or make it a background push")
    case (.alert, .genericAlert(let title, let body)), (.alert, .mutableAlert(let title, let body)):
      guard !title.isEmpty else { throw fault("an alert needs a title") }
      for words in [title, body] {
        guard words.utf8.count <= WakeClass.wordsByteCountMaximum else {
          throw fault("a title and a body have at most \(WakeClass.wordsByteCountMaximum) bytes each")
        }
        guard !words.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
          throw fault("a title and a body have no control characters")
        }
      }
    }
  }

  private func fault(_ reason: String) -> WakeClassFault { WakeClassFault(type: type, reason: reason) }
}
