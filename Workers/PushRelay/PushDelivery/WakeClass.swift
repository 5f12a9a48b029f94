/// How wakes of one type travel: loud or quiet, how urgent, how long they are worth something, what is shown.
///
/// Platforms tell two kinds of push apart. An *alert* is brought at once and shows something; with `mutable-content`
/// the app's extension is run first and may change what is shown. A *background* push shows nothing, has priority 5,
/// and iOS brings two or three of them an hour: good enough for news that can wait, not for a peer that is calling.
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
    /// At once.
    case immediate = 10
    /// When it suits the device's battery.
    case considerate = 5
  }

  /// FCM's `android.priority`.
  public enum GooglePriority: String, Hashable, Sendable, CaseIterable {
    /// At once, also when the device sleeps.
    case high = "HIGH"
    /// When the device is awake.
    case normal = "NORMAL"
  }

  /// What a person sees.
  public enum Presentation: Hashable, Sendable {
    /// Nothing: the app is woken.
    case silent
    /// These words, as they are.
    case genericAlert(title: String, body: String)
    /// These words, unless the app's extension puts others in their place.
    case mutableAlert(title: String, body: String)
  }

  /// Shown, or not.
  public var pushType: PushType
  /// For APNs.
  public var applePriority: ApplePriority
  /// For FCM; Web Push takes its `Urgency` from it.
  public var googlePriority: GooglePriority
  /// Seconds from acceptance until a wake is worth nothing: 1 … 2,419,200, which is the most that FCM takes.
  public var timeToLiveSeconds: Int64
  /// Pushes with the same text take each other's place at the platform; nil: each stands for itself. 1 to 32
  /// characters of `A-Za-z0-9_-`, which is what Web Push takes as a `Topic`.
  public var collapseID: String?
  /// What is shown.
  public var presentation: Presentation

  /// Longest time to live: FCM's four weeks.
  public static let timeToLiveSecondsMaximum: Int64 = 2_419_200
  /// Longest text of a title or a body, in bytes: it takes its room from the payload.
  public static let wordsByteCountMaximum = 256
  /// Longest collapse id.
  public static let collapseIDByteCountMaximum = 32

  /// A class; nothing is checked here, see ``WakeClasses``.
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

  /// An alert that the app's extension may change, at once.
  public static func urgent(title: String, body: String, collapseID: String? = nil) -> WakeClass {
    WakeClass(
      pushType: .alert, applePriority: .immediate, googlePriority: .high, collapseID: collapseID,
      presentation: .mutableAlert(title: title, body: body))
  }

  /// Shows nothing, and comes when it suits the device.
  public static func quiet(collapseID: String?) -> WakeClass {
    WakeClass(
      pushType: .background, applePriority: .considerate, googlePriority: .normal, collapseID: collapseID,
      presentation: .silent)
  }
}
