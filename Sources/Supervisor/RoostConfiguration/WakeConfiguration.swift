internal import Contracts

/// `[worker.NAME.wake.TYPE]`: how a push-relay delivers one type of wake to devices.
public struct WakeConfiguration: Sendable, Hashable {
  /// Whether the user sees something.
  enum PushType: String, Sendable, Hashable, CaseIterable {
    /// A notification; an app may change it before it is shown.
    case alert
    /// Nothing is shown. Apple delivers two or three an hour.
    case background
  }
  /// FCM's priorities.
  enum GooglePriority: String, Sendable, Hashable, CaseIterable { case high, normal }
  /// What the user sees.
  enum Shown: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case silent
    /// The title and the body.
    case generic
    /// The title and the body, and the app may change them first.
    case mutable
  }

  /// The wake's type, 1 to 64 characters of `a-z0-9_`; `default` for those that have no table.
  public var type: String
  var pushType = PushType.alert
  /// The priority of APNs: 10 at once, 5 when it suits the device.
  public var priority = 10
  var googlePriority = GooglePriority.high
  /// After this time a wake is worthless.
  public var timeToLive: Duration
  /// The name that wakes share if a device that was offline is to receive only the last of them; "" for none.
  public var collapseID = ""
  var shows = Shown.mutable
  /// What is shown when the app does not change it.
  public var title = ""
  /// The line below the title.
  public var body = ""

  /// A type of wake, with the defaults that `WakeType` has for it.
  public init(type: String) {
    self.type = type
    let standard = WakeType.known.first { $0.name == type } ?? .others
    timeToLive = .seconds(standard.timeToLiveSeconds)
    if standard.isCollapsed { collapseID = type }
    guard let words = standard.words else {
      pushType = .background
      priority = 5
      googlePriority = .normal
      shows = .silent
      return
    }
    (title, body) = (words.title, words.body)
  }

  /// The types that a push-relay knows without the file: what its clients send, what it sends itself, and all other
  /// types.
  static let standard = (WakeType.known + [.others]).map(\.name).sorted().map(WakeConfiguration.init)

  /// The form in which the worker receives it: names in camel case.
  var settings: ConfigurationValue {
    var entries: [String: ConfigurationValue] = [
      "type": .string(type), "pushType": .string(pushType.rawValue), "priority": .integer(priority),
      "fcmPriority": .string(googlePriority.rawValue),
      "timeToLiveSeconds": .integer(TimeSpan.milliseconds(timeToLive) / 1_000), "collapseID": .string(collapseID),
      "shows": .string(shows.rawValue),
    ]
    // A type that shows nothing has no title and no body.
    if shows != .silent { (entries["title"], entries["body"]) = (.string(title), .string(body)) }
    return .table(entries)
  }
}
