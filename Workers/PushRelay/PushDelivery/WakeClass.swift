/// How wakes of one type travel: loud or quiet, how urgent, how long they are useful, what is shown.
///
/// Platforms distinguish two kinds of push. An *alert* is delivered at once and shows something; with `mutable-content`
/// the app's extension runs first and may change what is shown. A *background* push shows nothing, has priority 5, and
/// iOS delivers two or three of them an hour: enough for news that can wait, not for a peer that is calling.
public struct WakeClass: Hashable, Sendable {
  /// `apns-push-type`.
  public enum PushType: String, Hashable, Sendable, CaseIterable {
    /// Shows something.
    case alert
    /// Shows nothing.
    case background
  }

  /// `apns-priority`.
  public enum ApplePriority: Int, Hashable, Sendable, CaseIterable {
    /// Immediately.
    case immediate = 10
    /// When it suits the device's battery.
    case considerate = 5
  }

  /// FCM's `android.priority`.
  public enum GooglePriority: String, Hashable, Sendable, CaseIterable {
    /// Immediately, even when the device sleeps.
    case high = "HIGH"
    /// When the device is awake.
    case normal = "NORMAL"
  }

  /// What a person sees.
  public enum Presentation: Hashable, Sendable {
    /// Nothing: only the app is woken.
    case silent
    /// These words, unchanged.
    case genericAlert(title: String, body: String)
    /// These words, unless the app's extension replaces them.
    case mutableAlert(title: String, body: String)
  }

  /// Whether something is shown.
  public var pushType: PushType
  /// The priority for APNs.
  public var applePriority: ApplePriority
  /// The priority for FCM; Web Push derives its `Urgency` from it.
  public var googlePriority: GooglePriority
  /// Seconds from acceptance until a wake is worthless: 1 … 2,419,200, the maximum of FCM.
  public var timeToLiveSeconds: Int64
  /// At the platform, a newer push replaces an older one with the same collapse id; nil: none is replaced. 1 to 32
  /// characters of `A-Za-z0-9_-`, the form of a Web Push `Topic`.
  public var collapseID: String?
  /// What is shown.
  public var presentation: Presentation

  /// The longest time to live: FCM's four weeks.
  public static let timeToLiveSecondsMaximum: Int64 = 2_419_200
  /// The longest title or body, in bytes: they reduce the room for the payload.
  public static let wordsByteCountMaximum = 256
  /// The longest collapse id, in bytes.
  public static let collapseIDByteCountMaximum = 32

  /// A class without any check; see ``WakeClasses``.
  public init(
    pushType: PushType, applePriority: ApplePriority, googlePriority: GooglePriority, timeToLiveSeconds: Int64 = 60,
    collapseID: String? = nil, presentation: Presentation
  ) {
    self.pushType = pushType
    self.applePriority = applePriority
    self.googlePriority = googlePriority
    self.timeToLiveSeconds = timeToLiveSeconds
    self.collapseID = collapseID
    self.presentation = presentation
  }

  /// An alert that the app's extension may change, delivered at once.
  public static func urgent(title: String, body: String, collapseID: String? = nil) -> WakeClass {
    WakeClass(
      pushType: .alert, applePriority: .immediate, googlePriority: .high, collapseID: collapseID,
      presentation: .mutableAlert(title: title, body: body))
  }

  /// Shows nothing, and is delivered when it suits the device.
  public static func quiet(collapseID: String?) -> WakeClass {
    WakeClass(
      pushType: .background, applePriority: .considerate, googlePriority: .normal, collapseID: collapseID,
      presentation: .silent)
  }
}
