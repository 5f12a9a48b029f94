/// A built-in type of wake: the types that clients send, the type that the push relay sends itself, and ``others``.
/// This is the table of defaults, for the supervisor that reads the file and for the push relay that applies it; every
/// value is a setting (`[worker.push-relay.wake.TYPE]`).
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
/// `noise_connect` is an alert because its sender tries again two seconds later, and as a background push it would
/// arrive two or three times an hour. An event of Nostr is still of use after a day. An unknown type is an alert too:
/// its purpose cannot be known, and a late wake is useless.
public struct WakeType: Hashable, Sendable {
  /// The type's name; see ``isName(_:)``.
  public let name: String
  /// The words to show; nil: nothing is shown, and the device chooses the moment of delivery.
  public let words: Words?
  /// Seconds from acceptance until a wake is worthless.
  public let timeToLiveSeconds: Int64
  /// Whether a new push of this type replaces an undelivered older one.
  public let isCollapsed: Bool

  /// Two lines, which the app may change before they are shown.
  public struct Words: Hashable, Sendable {
    /// The first line.
    public let title: String
    /// The second line.
    public let body: String
  }

  /// All types with a name.
  public static let known = [
    WakeType("payment_received", title: "Payment received"),
    WakeType("payment_request", title: "Payment request"),
    WakeType(
      "noise_connect", title: "Incoming connection", body: "Someone is trying to reach you.", isCollapsed: true),
    WakeType("channel_update", words: nil, isCollapsed: true),
    WakeType("subscription_due", words: nil, isCollapsed: true),
    WakeType("nostr", timeToLiveSeconds: 86_400, isCollapsed: true),
  ]

  /// All other types, which settings call `default`.
  public static let others = WakeType("default")

  /// The maximum number of bytes of a name.
  public static let nameByteCountMaximum = 64

  /// Whether a text is a valid name of a type: 1 to 64 characters of `a-z0-9_`.
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
