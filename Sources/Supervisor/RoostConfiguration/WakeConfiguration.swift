internal import Contracts

/// `[worker.NAME.wake.TYPE]`: how one type of wake is brought to devices by a push-relay.
public struct WakeConfiguration: Sendable, Hashable {
  /// Whether the person sees something.
  enum PushType: String, Sendable, Hashable, CaseIterable {
    /// A notification; an app may change it before it is shown.
    case alert
    /// Nothing is shown. Apple brings two or three an hour.
    case background
  }
  /// FCM's priorities.
  enum GooglePriority: String, Sendable, Hashable, CaseIterable { case high, normal }
  /// What the person sees.
  enum Shown: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case silent
    /// The title and the body.
    case generic
    /// The same, and the app may change it first.
    case mutable
  }

  /// The wake's type, 1 to 64 characters of `a-z0-9_`; `default` for those that have no table.
  public var type: String
  var pushType = PushType.alert
  /// As APNs counts: 10 at once, 5 when it suits the device.
  public var priority = 10
  var googlePriority = GooglePriority.high
  /// After this a wake is worth nothing.
  public var timeToLive: Duration
  /// What wakes have in common of which a device that was away gets the last only; "" for nothing.
  public var collapseID = ""
  var shows = Shown.mutable
  /// What is shown when the app does not change it.
  public var title = ""
  /// The line below the title.
  public var body = ""

  /// A type of wakes; those that a push-relay knows as `WakeType` has them.
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

  /// What a push-relay knows without the file: what its clients send, what it sends itself, and all other types.
  static let standard = (WakeType.known + [.others]).map(\.name).sorted().map(WakeConfiguration.init)

  /// As the worker is sent it: names in camel case.
  var settings: ConfigurationValue {
    var entries: [String: ConfigurationValue] = [
      "type": .string(type), "pushType": .string(pushType.rawValue), "priority": .integer(priority),
      "fcmPriority": .string(googlePriority.rawValue),
      "timeToLiveSeconds": .integer(TimeSpan.milliseconds(timeToLive) / 1_000), "collapseID": .string(collapseID),
      "shows": .string(shows.rawValue),
    ]
    // What shows nothing has no words.
    if shows != .silent { (entries["title"], entries["body"]) = (.string(title), .string(body)) }
    return .table(entries)
  }
}
