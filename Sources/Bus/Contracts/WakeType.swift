/// A type of wakes that a push relay knows without being told: what its clients send, what it sends itself, and
/// ``others``. The table of defaults, for the file that the supervisor reads and for the relay that acts by it; all of
/// it is a setting (`[worker.push-relay.wake.TYPE]`).
///
///     type               push type   APNs  FCM     seconds  collapses  shows
///     payment_received   alert       10    high    60       no         words, changeable
///     payment_request    alert       10    high    60       no         words, changeable
///     noise_connect      alert       10    high    60       yes        words, changeable
///     channel_update     background  5     normal  60       yes        nothing
///     subscription_due   background  5     normal  60       yes        nothing
///     nostr              alert       10    high    86,400   yes        words, changeable
///     any other          alert       10    high    60       no         words, changeable
///
/// `noise_connect` is an alert because its sender tries again two seconds later, and as a background push it would come
/// two or three times an hour. What an event of Nostr is about keeps for a day. A type nobody knows is one too: what it
/// is for cannot be known, and a late wake is none.
public struct WakeType: Hashable, Sendable {
  /// What it is called; see ``isName(_:)``.
  public let name: String
  /// What is shown; nil: nothing, and it comes when it suits the device.
  public let words: Words?
  /// Seconds from acceptance until a wake is worth nothing.
  public let timeToLiveSeconds: Int64
  /// Whether the next of its pushes takes the place of one that was not brought.
  public let isCollapsed: Bool

  /// Two lines that the app may change before they are shown.
  public struct Words: Hashable, Sendable {
    /// The first.
    public let title: String
    /// The second.
    public let body: String
  }

  /// All that are known by their names.
  public static let known = [
    WakeType("payment_received", title: "Payment received"),
    WakeType("payment_request", title: "Payment request"),
    WakeType(
      "noise_connect", title: "Incoming connection", body: "Someone is trying to reach you.", isCollapsed: true),
    WakeType("channel_update", words: nil, isCollapsed: true),
    WakeType("subscription_due", words: nil, isCollapsed: true),
    WakeType("nostr", timeToLiveSeconds: 86_400, isCollapsed: true),
  ]

  /// All others, which settings call `default`.
  public static let others = WakeType("default")

  /// Most bytes of a name.
  public static let nameByteCountMaximum = 64

  /// Whether a text can be a type's name: 1 to 64 characters of `a-z0-9_`.
  public static func isName(_ text: String) -> Bool {
    (1...nameByteCountMaximum).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "_")
      }
  }

  private init(
    _ name: String, title: String = "New activity", body: String = "Open the app to see it.",
    timeToLiveSeconds: Int64 = 60, isCollapsed: Bool = false
  ) {
    self.init(name, words: Words(title: title, body: body), timeToLiveSeconds, isCollapsed: isCollapsed)
  }

  private init(_ name: String, words: Words?, _ timeToLiveSeconds: Int64 = 60, isCollapsed: Bool) {
    self.name = name
    self.words = words
    self.timeToLiveSeconds = timeToLiveSeconds
    self.isCollapsed = isCollapsed
  }
}
